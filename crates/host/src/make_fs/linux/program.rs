//! Running mkfs.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::super::error::MakeError;
use super::super::registry::FsEntry;
use super::available::program_path;

/// What is shown of a program's words at most.
const SAID_BYTES_MAX: usize = 2000;

/// As one would type it, without the device.
pub(super) fn command_line(entry: &FsEntry, words: &[String]) -> String {
    std::iter::once(entry.program).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// Makes the file system on the device.
///
/// The program stays in the process group, so that Ctrl-C reaches it too.
pub(super) fn make(entry: &FsEntry, words: &[String], node: &Path, stop: &dyn Fn() -> bool) -> Result<(), MakeError> {
    let path = program_path(entry.program).ok_or_else(|| MakeError::Unavailable {
        file_system: entry.name.to_owned(),
        reasons: vec![format!("{} is missing: install the package {}", entry.program, entry.package)],
    })?;
    let mut command = Command::new(path);
    command.args(words).arg(node).stdin(Stdio::null()).env("LC_ALL", "C");
    let output = command.output().map_err(|source| MakeError::Program { program: entry.program.into(), source })?;
    // Ctrl-C ends the program, perhaps before this process has heard of it.
    let start = Instant::now();
    while output.status.signal().is_some() && !stop() && start.elapsed() < Duration::from_millis(200) {
        thread::sleep(Duration::from_millis(1));
    }
    if stop() {
        return Err(MakeError::Interrupted);
    }
    if output.status.success() {
        return Ok(());
    }
    // Some say on standard output what is wrong (mkfs.f2fs).
    let said = [output.stderr, output.stdout].into_iter().find(|text| !text.trim_ascii().is_empty());
    let said = String::from_utf8_lossy(&said.unwrap_or_default()).trim().to_owned();
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut said = lines.join("; ");
    if let Some((at, _)) = said.char_indices().find(|(at, _)| *at >= SAID_BYTES_MAX) {
        said.truncate(at);
    }
    Err(MakeError::Mkfs {
        command: format!("{} {}", command_line(entry, words), node.display()),
        status: output.status.to_string(),
        said: if said.is_empty() { "it said nothing".into() } else { said },
    })
}
