//! Running flashmark.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use flashmark_core::record::Record;

/// What no test should ever need; a program that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `condition` holds.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A command line of flashmark.
pub struct Line {
    args: Vec<OsString>,
    dir: Option<PathBuf>,
    file_limit: Option<u32>,
}

/// A command line, word by word.
pub fn flashmark(words: &str) -> Line {
    Line { args: Vec::new(), dir: None, file_limit: None }.words(words)
}

/// `flashmark run TARGET`.
pub fn run(target: impl AsRef<OsStr>) -> Line {
    flashmark("run").arg(target)
}

impl Line {
    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments that have no spaces in them.
    pub fn words(mut self, words: &str) -> Self {
        self.args.extend(words.split_whitespace().map(OsString::from));
        self
    }

    /// Runs in this directory.
    pub fn in_dir(mut self, dir: &Path) -> Self {
        self.dir = Some(dir.to_owned());
        self
    }

    /// Lets no file grow beyond so many blocks of 512 bytes (1024 in some shells): what is written after that fails, as on
    /// a full medium.
    pub fn limited_to(mut self, blocks: u32) -> Self {
        self.file_limit = Some(blocks);
        self
    }

    pub fn start(self) -> Running {
        let program = env!("CARGO_BIN_EXE_flashmark");
        let mut command = match self.file_limit {
            None => Command::new(program),
            Some(blocks) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("ulimit -f {blocks}; exec \"$@\""), "sh", program]);
                shell
            }
        };
        command.args(&self.args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("LC_ALL", "C").env_remove("FLASHMARK_REQUIRE_ALL");
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        let mut child = command.spawn().unwrap();
        let out = collect(child.stdout.take().unwrap());
        let err = collect(child.stderr.take().unwrap());
        Running { args: self.args, child, outputs: Some((out, err)) }
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn end(self) -> Ran {
        self.start().end()
    }

    /// Runs it to its end, which must be this exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        self.end().exited(code)
    }
}

/// Reads all of a pipe, so that the program never waits for a reader.
fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).expect("the output is UTF-8")
    })
}

/// flashmark at work; ended when dropped.
pub struct Running {
    args: Vec<OsString>,
    child: Child,
    outputs: Option<(JoinHandle<String>, JoinHandle<String>)>,
}

impl Running {
    /// Waits for its end.
    #[track_caller]
    pub fn end(mut self) -> Ran {
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() > PATIENCE => panic!("flashmark {:?} does not end", self.args),
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        let (out, err) = self.outputs.take().unwrap();
        Ran { args: std::mem::take(&mut self.args), status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it is still there.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

#[cfg(target_os = "linux")]
impl Running {
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, signal);
    }

    /// How many bytes it has written so far, to whatever (proc(5), `wchar`).
    pub fn written_bytes(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/io", self.child.id())).unwrap_or_default();
        text.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok()).unwrap_or(0)
    }

    /// How many times it has `path` open.
    pub fn times_open(&self, path: &Path) -> usize {
        let fds = std::fs::read_dir(format!("/proc/{}/fd", self.child.id()));
        fds.into_iter()
            .flatten()
            .filter(|fd| fd.as_ref().is_ok_and(|fd| fd.path().read_link().is_ok_and(|to| to == path)))
            .count()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of it.
pub struct Ran {
    args: Vec<OsString>,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { args, status, stdout, stderr } = self;
        write!(f, "flashmark {args:?}: {status}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

impl Ran {
    #[track_caller]
    pub fn exited(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// Standard error holds all of these.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "nothing of `{part}`: {self}");
        }
        self
    }

    /// Nothing was printed on standard output.
    #[track_caller]
    pub fn printed_nothing(self) -> Self {
        assert_eq!(self.stdout, "", "{self}");
        self
    }

    /// The records on standard output, of `--format json`.
    #[track_caller]
    pub fn records(&self) -> Vec<Record> {
        let parsed = serde_json::from_str::<serde_json::Value>(&self.stdout);
        let mut value = parsed.unwrap_or_else(|error| panic!("no JSON: {error}: {self}"));
        serde_json::from_value(value["records"].take()).unwrap_or_else(|error| panic!("no records: {error}: {self}"))
    }

    /// The only record on standard output.
    #[track_caller]
    pub fn record(&self) -> Record {
        let mut records = self.records();
        assert_eq!(records.len(), 1, "{self}");
        records.remove(0)
    }
}
