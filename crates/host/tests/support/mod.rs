//! What the tests of real devices share: a test that lacks something says so, and what a test makes goes away.
#![allow(dead_code)]

pub mod devices;
#[cfg(target_os = "linux")]
pub mod holder;
pub mod tree;

use std::path::Path;
use std::process::{Command, Output};

/// Whether a test that needs root and `programs` can run. If not, says on stderr what is missing, and panics if
/// `FLASHMARK_REQUIRE_ALL=1`, so that a test can't pass silently where it must run.
pub fn can_run(root: bool, programs: &[&str]) -> bool {
    let missing: Vec<&str> = programs.iter().copied().filter(|program| !is_installed(program)).collect();
    if root && !rustix::process::geteuid().is_root() {
        skip("the rights of root");
    } else if !missing.is_empty() {
        skip(&missing.join(", "));
    } else {
        return true;
    }
    false
}

/// Reports that a test can't run.
pub fn skip(missing: &str) {
    assert!(
        std::env::var_os("FLASHMARK_REQUIRE_ALL").is_none_or(|v| v != "1"),
        "FLASHMARK_REQUIRE_ALL=1, but missing: {missing}"
    );
    say(&format!("SKIPPED: {missing}"));
}

/// Reports that this kernel can't do what a test is about. No program or right would help, so that it is never an error.
pub fn not_in_this_kernel(missing: &str) {
    say(&format!("NOT IN THIS KERNEL: {missing}"));
}

/// The test harness would swallow what print macros write.
fn say(line: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
}

fn is_installed(program: &str) -> bool {
    // /usr/sbin need not be in a user's path.
    let paths = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    paths.split(':').any(|dir| Path::new(dir).join(program).exists())
}

/// Runs a shell command that must succeed.
pub fn sh(command: &str) -> String {
    let Output { status, stdout, stderr } = run(command);
    assert!(status.success(), "{command}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap().trim().to_owned()
}

/// Runs a shell command, whatever comes of it.
pub fn run(command: &str) -> Output {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    Command::new("sh").args(["-c", command]).env("PATH", path).env("LC_ALL", "C").output().unwrap()
}
