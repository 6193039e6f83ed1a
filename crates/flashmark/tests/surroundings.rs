//! What happens around a run: media that are unmounted under it, a standard error that takes nothing, `nohup`, signals
//! that end programs, another directory or card at the same path.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use flashmark_core::record::{OpKind, Reached, Status};
use flashmark_core::target::FaultKind;
use rustix::process::{Signal, kill_process};
use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::{flashmark, run, until};
use support::{Scratch, assert_nothing_left, can_run, names_in, records, sh, test_file_in};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashmark"));
    command.stdin(Stdio::null());
    command
}

/// The run goes on on the medium that it began on, says then that it is gone, and leaves nothing on either.
#[test]
fn a_medium_that_is_unmounted_is_not_exchanged_for_the_one_below() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let at = ext4.path().to_owned();
    let dir = Scratch::new();
    let suite = dir.write(
        "two.toml",
        "name = \"two\"\n[defaults]\nop = \"write\"\nblock = \"4k\"\nsize = \"64k\"\n\
         [[workload]]\nname = \"first\"\nreopen = \"once\"\nrepeats = 2\npause = \"1s\"\n\
         [[workload]]\nname = \"second\"\n",
    );
    let running = run(&at).words("--format json --suite").arg(&suite).start();
    until("the first repeat is over", || {
        test_file_in(&at).is_some_and(|file| file.metadata().is_ok_and(|meta| meta.len() == 64 << 10))
    });
    sh(&format!("umount -l {}", at.display()));
    let ran = running.end().exited(1);
    let records = ran.records();
    assert_eq!(records::statuses(&records), [("first", Status::Failed), ("second", Status::Skipped)], "{ran}");
    assert_eq!(records::fault(&records[0]).fault.kind, FaultKind::Gone, "{ran}");
    // Both repeats were made, on the medium.
    assert_eq!(records[0].outcome.bytes, 2 * (64 << 10), "{ran}");
    assert_nothing_left(&at);
    let again = Mounted::with(&ext4.device.node.display().to_string());
    assert_eq!(
        names_in(again.path()),
        Vec::<String>::new(),
        "the test file was removed from the medium it was made on"
    );
}

/// Messages are lost then, and nothing else.
#[test]
fn a_standard_error_that_takes_nothing_costs_no_result() {
    let dir = Scratch::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let words = ["--op", "write", "--size", "64k", "--block", "4k", "--direct", "buffered", "--format", "json"];
    let out = program().arg("run").arg(dir.path()).args(words).stderr(full).output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    let printed: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(printed["records"].as_array().map(Vec::len), Some(1));
}

/// Starts a run in a pause, through a shell that sets it up.
fn paused(dir: &Path, setup: &str) -> std::process::Child {
    let program = env!("CARGO_BIN_EXE_flashmark");
    let words = "--op write --block 4k --size 64k --repeats 2 --pause 2s --format json";
    let line = format!("{setup} exec {program} run {} {words}", dir.display());
    let child = Command::new("sh").args(["-c", &line]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    until("it pauses", || {
        test_file_in(dir).is_some_and(|file| file.metadata().is_ok_and(|meta| meta.len() == 64 << 10))
    });
    child
}

fn send(child: &std::process::Child, signal: Signal) {
    kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

#[test]
fn nohup_means_it() {
    let dir = Scratch::new();
    let child = paused(dir.path(), "trap '' HUP;");
    send(&child, Signal::HUP);
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert_nothing_left(dir.path());
}

#[test]
fn a_quit_ends_it_at_once_and_leaves_nothing() {
    let dir = Scratch::new();
    let child = paused(dir.path(), "ulimit -c 0;");
    send(&child, Signal::QUIT);
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(128 + 3));
    assert_nothing_left(dir.path());
}

#[test]
fn a_limit_of_file_sizes_is_a_full_medium() {
    let dir = Scratch::new();
    let program = env!("CARGO_BIN_EXE_flashmark");
    let words = "--op write --block 4k --size 64k --direct buffered --format json";
    let line = format!("ulimit -f 16; exec {program} run {} {words}", dir.path().display());
    let out = Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let printed: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(printed["records"][0]["outcome"]["faults"][0]["fault"]["kind"], "no-space");
    assert_nothing_left(dir.path());
}

/// A sync at the end that never came has made nothing durable.
#[test]
fn an_interrupted_row_does_not_claim_the_sync_it_never_made() {
    let dir = Scratch::new();
    let words = "--op write --file existing --block 4k --file-size 1m --time 60s --direct buffered --sync end";
    let running = run(dir.path()).words(words).words("--format json").start();
    until("more is written than the layout", || running.written_bytes() > 2 << 20);
    running.signal(Signal::INT);
    let ran = running.end().exited(130);
    let record = ran.record();
    assert!(record.outcome.op(OpKind::Write).is_some() && record.outcome.op(OpKind::Sync).is_none(), "{ran}");
    assert_eq!(record.outcome.reached, Some(Reached::Cache), "{ran}");
}

/// `--resume` from another directory, or with another card in: the run would be of two media.
#[test]
fn a_run_is_not_resumed_on_other_storage() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let (one, other) = (Scratch::new(), Mounted::tmpfs("3m"));
    let file = one.join("run.jsonl");
    one.subdir("card");
    std::fs::create_dir(other.path().join("card")).unwrap();
    let words = "--suite quick --size 64k --file-size 64k --block 4k --only read --format json";
    let ran = run("card").words(words).words("-o").arg(&file).in_dir(one.path()).exits(0);
    let lines = std::fs::read_to_string(&file).unwrap();
    let first = lines.lines().next().unwrap();
    std::fs::write(&file, format!("{first}\n")).unwrap();
    assert!(ran.records().len() > 1);
    let refused = flashmark("run --resume").arg(&file).in_dir(other.path()).exits(2).printed_nothing();
    refused.says(&["card", "is not what the run began on", "tmpfs"]);
    flashmark("run --resume").arg(&file).in_dir(one.path()).exits(0);
}

/// What is read and checked has to be laid out, and that needs, and gets, consent.
#[test]
fn a_device_is_laid_out_to_be_checked_if_its_loss_is_allowed() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    let words = "--op read --block 4k --file-size all --verify full --format json";
    run(&device.node).words(words).exits(2).printed_nothing().says(&["verify", "--destroy"]);
    let ran = run(&device.node).words(words).words("--destroy").arg(&device.node).exits(0);
    assert_eq!(ran.record().outcome.verified_bytes, 1 << 20, "{ran}");
}

/// A new file "all" on a device is all of it.
#[test]
fn all_of_a_device_is_written() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    let words = "--op write --block 64k --file-size all --format json --destroy";
    let ran = run(&device.node).words(words).arg(&device.node).exits(0);
    assert_eq!(ran.record().outcome.bytes, 1 << 20, "{ran}");
}

/// Direct I/O cannot go on from where such a file ends.
#[test]
fn appending_to_an_odd_end_goes_through_the_cache() {
    let dir = Scratch::new();
    let data = dir.write("odd.bin", [7; 1000]);
    let words = "--op write --file append --size 64k --block 4k --format json --destroy";
    let record = run(&data).words(words).arg(&data).exits(0).record();
    assert_eq!((record.outcome.status, record.target.direct), (Status::Done, Some(false)));
    assert_eq!(data.metadata().unwrap().len(), 1000 + (64 << 10));
}

/// Somebody who may write in the directory puts a link to another file in the test file's place, between two repeats.
#[test]
fn a_link_in_the_place_of_the_test_file_leads_nowhere() {
    let dir = Scratch::new();
    let victim = dir.write("victim.bin", [9; 1000]);
    let target = dir.subdir("target");
    let words = "--op write --block 4k --size 64k --repeats 2 --pause 1s --direct buffered --format json";
    let running = run(&target).words(words).start();
    until("the first repeat is over", || {
        test_file_in(&target).is_some_and(|file| file.metadata().is_ok_and(|meta| meta.len() == 64 << 10))
    });
    let test_file = test_file_in(&target).unwrap();
    let link = dir.join("link");
    std::os::unix::fs::symlink(&victim, &link).unwrap();
    std::fs::rename(&link, &test_file).unwrap();
    let ran = running.end().exited(1);
    assert_eq!(std::fs::read(&victim).unwrap(), [9; 1000], "{ran}");
    assert_eq!(records::fault(&ran.record()).fault.kind, FaultKind::Gone, "{ran}");
}

#[test]
fn a_test_file_that_cannot_be_removed_is_told() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "chattr"]) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let at = ext4.path().display();
    let running = run(ext4.path()).words("--op write --block 4k --size 64k --repeats 2 --pause 1s").start();
    until("it runs", || test_file_in(ext4.path()).is_some_and(|file| file.metadata().is_ok_and(|meta| meta.len() > 0)));
    sh(&format!("chattr +i {at}"));
    let ran = running.end().exited(1);
    sh(&format!("chattr -i {at}"));
    ran.says(&["cannot remove the test file", "flashmark clean"]);
    flashmark("clean").arg(ext4.path()).exits(0).says(&["removed"]);
    assert_nothing_left(ext4.path());
}

#[test]
fn memory_that_is_not_there_is_asked_for_before_anything_is_made() {
    let dir = Scratch::new();
    let program = env!("CARGO_BIN_EXE_flashmark");
    let words = "--op mixed --block 1g --file-size 2g --size 2g";
    let line = format!("ulimit -v 400000; exec {program} run {} {words}", dir.path().display());
    let out = Command::new("sh").args(["-c", &line]).output().unwrap();
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("no memory") && stderr.contains("make block smaller"), "{stderr}");
    assert_nothing_left(dir.path());
}

/// Whatever the engine cuts a block into, an operation moves all of it.
#[test]
fn large_blocks_are_moved_whole() {
    for engine in ["sync", "tokio"] {
        let dir = Scratch::new();
        let words = "--op write --block 8m --size 16m --verify --direct buffered --format json --engine";
        let record = run(dir.path()).words(words).arg(engine).exits(0).record();
        assert_eq!((record.outcome.status, record.outcome.verified_bytes), (Status::Done, 16 << 20), "{engine}");
    }
}

/// Spaces and line ends in a text are part of it, on the command line and in a file of records alike.
#[test]
fn texts_are_resumed_as_they_were_given() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    let file = dir.join("run.jsonl");
    let line = run(&target).words("--suite quick --only write --size 64k --file-size 64k --block 4k --data");
    line.arg("text:ab ").arg("--data-end").arg("\r\n").arg("-o").arg(&file).exits(0);
    let lines = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{}\n", lines.lines().next().unwrap())).unwrap();
    flashmark("run --resume").arg(&file).exits(0);
    assert_eq!(records::lines_in(&file), 4);
}

/// A file system that reports no sizes is not taken for a full one.
#[test]
fn a_file_system_without_sizes_is_measured() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    sh(&format!("mount -t ramfs ramfs {}", dir.path().display()));
    let ran = run(dir.path()).words("--op write --size 64k --block 4k --format json").end();
    sh(&format!("umount {}", dir.path().display()));
    assert_eq!(ran.exited(0).record().outcome.status, Status::Done);
}

/// Records that go to a file that is not there any more are lost, and that is told.
#[test]
fn a_file_of_records_that_is_removed_is_told() {
    let dir = Scratch::new();
    let (target, file) = (dir.subdir("target"), dir.join("run.jsonl"));
    let words = "--suite quick --only write --size 64k --file-size 64k --block 4k --repeats 2 --pause 500ms -o";
    let running = run(&target).words(words).arg(&file).start();
    until("the file is there", || file.exists());
    std::fs::remove_file(&file).unwrap();
    running.end().exited(1).says(&["the file was removed", "the run goes on without the file"]);
    assert_nothing_left(&target);
}

/// A pipe without a reader is waited for before anything is made, and Ctrl-C ends the waiting.
#[test]
fn a_pipe_without_a_reader_can_be_interrupted() {
    let dir = Scratch::new();
    let (target, pipe) = (dir.subdir("target"), dir.join("pipe"));
    sh(&format!("mkfifo {}", pipe.display()));
    let mut child =
        program().arg("run").arg(&target).args(["--op", "write", "--size", "64k", "-o"]).arg(&pipe).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_nothing_left(&target);
    send(&child, Signal::INT);
    assert!(!child.wait().unwrap().success());
}

#[test]
fn a_single_workload_can_be_named() {
    let dir = Scratch::new();
    let words = "--op write --size 64k --block 4k --direct buffered --name mine --format json";
    assert_eq!(run(dir.path()).words(words).exits(0).record().workload.name, "mine");
}
