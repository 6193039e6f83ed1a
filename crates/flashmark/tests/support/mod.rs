//! What the end-to-end tests share. They run the built program as a user does, and undo whatever they make: see
//! [`devices`].
#![allow(dead_code, reason = "each test file uses its own part of this")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers stop a test by panicking")]

#[cfg(target_os = "linux")]
pub mod devices;
pub mod process;
pub mod records;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory on the disk that the program is built on, for test files; removed when dropped.
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("e2e-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { dir }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A path in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Makes a directory in it, to be measured.
    pub fn subdir(&self, name: &str) -> PathBuf {
        let path = self.join(name);
        std::fs::create_dir(&path).unwrap();
        path
    }
}

/// The names of what is in a directory.
pub fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The test file that a run has in `dir`, if there is one.
pub fn test_file_in(dir: &Path) -> Option<PathBuf> {
    names_in(dir).into_iter().find(|name| name.starts_with("flashmark-test-")).map(|name| dir.join(name))
}

/// Stops the test unless `dir` is empty.
#[track_caller]
pub fn assert_nothing_left(dir: &Path) {
    assert_eq!(names_in(dir), Vec::<String>::new(), "left in {}", dir.display());
}

/// Whether a test that needs root and `programs` can run. If not, says on stderr what is missing, and panics if
/// `FLASHMARK_REQUIRE_ALL=1`, so that a test can't pass silently where it must run.
pub fn can_run(root: bool, programs: &[&str]) -> bool {
    let missing: Vec<&str> = programs.iter().copied().filter(|program| !is_installed(program)).collect();
    if root && !is_root() {
        skip("the rights of root");
    } else if !missing.is_empty() {
        skip(&missing.join(", "));
    } else {
        return true;
    }
    false
}

fn skip(missing: &str) {
    assert!(
        std::env::var_os("FLASHMARK_REQUIRE_ALL").is_none_or(|v| v != "1"),
        "FLASHMARK_REQUIRE_ALL=1, but missing: {missing}"
    );
    // The test harness would swallow what print macros write.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("SKIPPED: {missing}\n").as_bytes());
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}

fn is_installed(program: &str) -> bool {
    system_path().split(':').any(|dir| Path::new(dir).join(program).exists())
}

/// /usr/sbin need not be in a user's path.
fn system_path() -> String {
    std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin"
}

/// Runs a shell command that must succeed, and gives its output without the last newline.
#[track_caller]
pub fn sh(command: &str) -> String {
    let Output { status, stdout, stderr } = try_sh(command);
    assert!(status.success(), "{command}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap().trim().to_owned()
}

/// Runs a shell command, whatever comes of it.
pub fn try_sh(command: &str) -> Output {
    Command::new("sh").args(["-c", command]).env("PATH", system_path()).env("LC_ALL", "C").output().unwrap()
}

/// Bytes that look like somebody's data: no two blocks alike, and the same in every run.
pub fn somebodys_data(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..bytes.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(bytes).collect()
}
