//! Programs: finding them, running them, and the time and memory that they took.
#![allow(
    unsafe_code,
    reason = "wait4, the only call that tells one child's time and memory; rustix and std do not have it"
)]

use std::env;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::Instant;

use crate::linux::failure::Failure;
use crate::linux::interrupt;

/// The flashmark to measure: as given, or the one that was built beside this program.
///
/// # Errors
/// [`Failure::NotBuilt`].
pub fn flashmark(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let beside = || env::current_exe().ok()?.parent().map(|dir| dir.join("flashmark"));
    let path = given.map(Path::to_owned).or_else(beside).unwrap_or_else(|| "flashmark".into());
    if path.is_file() { Ok(path) } else { Err(Failure::NotBuilt(path)) }
}

/// # Errors
/// [`Failure::Missing`] if no directory of `PATH` has the program.
pub fn require(program: &'static str, package: &'static str) -> Result<(), Failure> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Plain users often lack the directories of the system's own tools.
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let found = env::split_paths(&path).chain(more).any(|dir| dir.join(program).is_file());
    if found { Ok(()) } else { Err(Failure::Missing { program, package }) }
}

/// Runs a command to its end, with nothing to read and in the C locale.
///
/// # Errors
/// [`Failure::Program`] unless it succeeds; [`Failure::Interrupted`].
pub fn run(command: &mut Command) -> Result<Output, Failure> {
    command.env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().map_err(Failure::io(text_of(command)))?;
    if output.status.success() {
        return Ok(output);
    }
    // Ctrl-C reaches the child as well; that is no failure of its own.
    interrupt::check()?;
    Err(failed(command, output.status, String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// What a program that succeeded printed, and what it took.
#[derive(Debug)]
pub struct Finished {
    /// Its standard output.
    pub output: String,
    /// Time on all processors together, of the program and of the kernel for it, in seconds.
    pub cpu_s: f64,
    /// Time from its start to its end, in seconds.
    pub wall_s: f64,
    /// The most memory that was resident, in bytes.
    ///
    /// The kernel counts what the process held before `exec` too (`exec_mmap` keeps the old high-water mark), which is this
    /// program's own size where it starts children by `vfork`: a floor of a few MiB.
    pub peak_resident_bytes: u64,
}

/// Runs a command as [`run`] does, and tells what it took.
///
/// # Errors
/// As [`run`].
pub fn measured(command: &mut Command) -> Result<Finished, Failure> {
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(Failure::io(text_of(command)))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both at once: a full pipe would stop the child.
    let (output, stderr) = thread::scope(|scope| {
        let stderr = scope.spawn(|| all_of(stderr));
        (all_of(stdout), stderr.join().unwrap_or_default())
    });
    let (status, usage) = wait(child.id()).map_err(Failure::io(text_of(command)))?;
    let wall_s = start.elapsed().as_secs_f64();
    if status.success() {
        let cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
        // getrusage(2): in units of 1024 bytes.
        let peak_resident_bytes = u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024;
        return Ok(Finished { output, cpu_s, wall_s, peak_resident_bytes });
    }
    interrupt::check()?;
    Err(failed(command, status, stderr))
}

/// [`Finished::peak_resident_bytes`] of a command.
///
/// # Errors
/// As [`run`].
pub fn peak_resident_bytes(command: &mut Command) -> Result<u64, Failure> {
    measured(command).map(|finished| finished.peak_resident_bytes)
}

/// What cannot be read is not told; the status still is.
fn all_of(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// Waits for a child; its status and what it took.
fn wait(pid: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    loop {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both pointers are to memory of the right types that lives across the call.
        let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
        if waited == pid {
            // SAFETY: zeroed, which is a valid value, and filled in by the successful call.
            let usage = unsafe { usage.assume_init() };
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn failed(command: &Command, status: ExitStatus, stderr: String) -> Failure {
    Failure::Program { command: text_of(command), status: status.to_string(), stderr }
}

fn text_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_the_childs() {
        let small = peak_resident_bytes(&mut Command::new("true")).unwrap();
        let large = peak_resident_bytes(Command::new("dd").args(["if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"]));
        assert!(small < 32 << 20, "{small}");
        assert!(large.unwrap() > 64 << 20);
    }

    #[test]
    fn output_and_time_are_the_childs() {
        // More on both pipes than one of them holds.
        let script = "head -c 200000 /dev/zero >&2; head -c 200000 /dev/zero | tr '\\0' x";
        let finished = measured(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(finished.output.len(), 200_000);
        let asleep = measured(Command::new("sleep").arg("0.2")).unwrap();
        assert!(asleep.wall_s >= 0.2 && asleep.cpu_s < asleep.wall_s, "{asleep:?}");
    }

    #[test]
    fn failures_tell_the_command_and_its_words() {
        let error = run(Command::new("dd").arg("if=/nonexistent")).unwrap_err().to_string();
        assert!(error.starts_with("dd if=/nonexistent\nended with exit status: 1:\ndd: failed to open"), "{error}");
        assert!(peak_resident_bytes(&mut Command::new("false")).is_err());
    }

    #[test]
    fn missing_programs_name_their_package() {
        assert!(require("sh", "dash").is_ok());
        let error = require("no-such-program", "its-package").unwrap_err();
        assert!(error.to_string().contains("apt install its-package"), "{error}");
    }
}
