//! Directories that cannot be written, or that go away.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::Path;

use flashmark_core::record::Status;
use flashmark_core::target::FaultKind;
use support::devices::Mounted;
use support::process::{run, until};
use support::{Scratch, can_run, names_in, records, sh, test_file_in};

#[test]
fn a_read_only_file_system_is_no_place_for_a_test_file() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let mounted = Mounted::tmpfs("1m");
    std::fs::write(mounted.path().join("data.bin"), vec![7; 64 << 10]).unwrap();
    sh(&format!("mount -o remount,ro {}", mounted.path().display()));
    let dir = Scratch::new();
    let file = dir.join("run.jsonl");
    let line = run(mounted.path()).words("--size 64k --file-size 64k --block 4k -o").arg(&file);
    line.exits(2).printed_nothing().says(&["is read-only", "name a directory that can be written", "or a file in it"]);
    assert!(!file.exists(), "a run that never began has no file");
    // The advice is good.
    run(mounted.path().join("data.bin")).words("--op read --block 4k").exits(0);
    // Consent does not help.
    let data = mounted.path().join("data.bin");
    let ran = run(&data).words("--op write --size 4k --block 4k --destroy").arg(&data).exits(2).printed_nothing();
    ran.says(&["data.bin", "read-only"]);
    assert_eq!(names_in(mounted.path()), ["data.bin"]);
}

#[test]
fn without_the_right_to_write_the_message_says_so() {
    if !can_run(true, &["setpriv"]) {
        return;
    }
    // Root may write anywhere, so the program runs as nobody, from a place that nobody can reach.
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().display();
    std::fs::copy(env!("CARGO_BIN_EXE_flashmark"), dir.path().join("flashmark")).unwrap();
    sh(&format!("chmod 755 {at} {at}/flashmark; mkdir -m 755 {at}/closed; head -c 4096 /dev/zero > {at}/mine"));
    let nobody = format!("setpriv --reuid 65534 --regid 65534 --clear-groups {at}/flashmark run");
    let ended = |words: &str, code: i32, says: &str| {
        let out = support::try_sh(&format!("{nobody} {words}"));
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
    };
    ended(&format!("{at}/closed"), 2, "/closed: permission denied: choose another path");
    ended(&format!("{at}/mine --op write --size 4k --block 4k --destroy {at}/mine"), 2, "no right to open");
    ended(&format!("{at}/mine --op read --block 4k"), 0, "");
}

/// Two workloads with a pause within the first; `happen` comes in the pause, while nothing but the test file's lock is
/// open. What follows finds nothing.
fn away(target: &Path, happen: impl FnOnce()) {
    let dir = Scratch::new();
    let suite = dir.write(
        "away.toml",
        "name = \"away\"\n[defaults]\nop = \"write\"\nfile = \"existing\"\nblock = \"4k\"\nsize = \"64k\"\n\
         [[workload]]\nname = \"before\"\n\
         [[workload]]\nname = \"during\"\nrepeats = 1000\npause = \"50ms\"\n\
         [[workload]]\nname = \"after\"\n",
    );
    let file = dir.join("run.jsonl");
    let running = run(target).words("--format json --suite").arg(&suite).words("-o").arg(&file).start();
    until("the first workload is done", || records::lines_in(&file) == 1);
    happen();
    let ran = running.end().exited(1);
    let records = ran.records();
    let expected = [("before", Status::Done), ("during", Status::Failed), ("after", Status::Skipped)];
    assert_eq!(records::statuses(&records), expected, "{ran}");
    assert_eq!(records::fault(&records[1]).fault.kind, FaultKind::Gone, "{ran}");
    assert_eq!(records::of_file(&file), records);
    ran.says(&["is not there any more"]);
}

#[test]
fn a_directory_is_removed_during_the_run() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    away(&target, || std::fs::remove_dir_all(&target).unwrap());
    assert_eq!(names_in(dir.path()), Vec::<String>::new());
}

#[test]
fn a_test_file_is_removed_during_the_run() {
    let dir = Scratch::new();
    away(dir.path(), || std::fs::remove_file(test_file_in(dir.path()).unwrap()).unwrap());
    assert_eq!(names_in(dir.path()), Vec::<String>::new());
}

#[test]
fn a_file_system_is_unmounted_during_the_run() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let mounted = Mounted::tmpfs("4m");
    away(mounted.path(), || mounted.unmount_lazily());
    assert_eq!(names_in(mounted.path()), Vec::<String>::new());
}
