//! Records of simulated boards are written several at once: what is in the file is the start of the whole at any time,
//! whatever ends the run.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use support::devices::Mounted;
use support::process::{Line, flashmark, run, until};
use support::records::lines_in;
use support::{Scratch, can_run, records};

/// Some hundred targets, each done in a few milliseconds.
fn sweep() -> Line {
    let seeds: Vec<String> = (1..=150).map(|seed| seed.to_string()).collect();
    let line = run("lab:esp32/fatfs").words("--suite esp-idf --set tries=1 --set target-size=4k");
    line.arg("--only").arg("): write tiny").arg("--sweep").arg(format!("board.seed={}", seeds.join(",")))
}

fn whole(out: &Scratch) -> Vec<u8> {
    let file = out.join("whole.jsonl");
    sweep().words("-o").arg(&file).exits(0);
    std::fs::read(file).unwrap()
}

/// The file, up to a torn record at most, is the start of the whole; resumed, it is the whole.
#[track_caller]
fn is_start_of(file: &Path, whole: &[u8], may_be_torn: bool) {
    let found = std::fs::read(file).unwrap();
    assert!(whole.starts_with(&found), "{} bytes are no start of the run", found.len());
    assert!(may_be_torn || found.last() == Some(&b'\n'), "a record is torn");
    flashmark("run --resume").arg(file).exits(0);
    assert!(std::fs::read(file).unwrap() == whole);
}

fn started(file: &PathBuf, threads: &str) -> support::process::Running {
    let running = sweep().words("--threads").arg(threads).words("-o").arg(file).start();
    until("the first records are there", || lines_in(file) > 0);
    running
}

#[test]
fn a_killed_run_left_the_start_of_the_whole() {
    let out = Scratch::new();
    let whole = whole(&out);
    for (name, threads) in [("one.jsonl", "1"), ("three.jsonl", "3")] {
        let file = out.join(name);
        let running = started(&file, threads);
        running.signal(Signal::KILL);
        running.end();
        is_start_of(&file, &whole, true);
    }
}

#[test]
fn an_interrupted_run_left_the_start_of_the_whole() {
    let out = Scratch::new();
    let whole = whole(&out);
    let file = out.join("run.jsonl");
    let running = started(&file, "2");
    running.signal(Signal::INT);
    let ran = running.end();
    // A fast machine may have been through.
    assert!(matches!(ran.status.code(), Some(0 | 130)), "{ran}");
    is_start_of(&file, &whole, false);
}

/// The file system is full in the middle of several records: those that are whole stay, and the run goes on.
#[test]
fn a_full_file_system_keeps_whole_records() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let out = Scratch::new();
    let whole = whole(&out);
    let tmpfs = Mounted::tmpfs("64k");
    let file = tmpfs.path().join("run.jsonl");
    let ran = sweep().words("--format csv -o").arg(&file).exits(1);
    let shown = flashmark("show --format csv").arg(out.join("whole.jsonl")).exits(0).stdout;
    assert_eq!(ran.stdout, shown, "nothing is missing of what is shown");
    ran.says(&["run.jsonl", "No space left", "the run goes on without the file"]);
    let found = std::fs::read(&file).unwrap();
    assert!(whole.starts_with(&found) && found.last() == Some(&b'\n'), "{} bytes", found.len());
    let next = whole[found.len()..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    assert!(found.len() + next > 64 << 10, "there was room for another record: {} bytes", found.len());
}

/// A record waits for others, but not for long.
#[test]
fn a_record_does_not_wait_for_a_long_workload() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    let suite = "name = \"long\"\n[defaults]\nop = \"write\"\nfile = \"new\"\nblock = \"4k\"\n\
                 [[workload]]\nname = \"short\"\nsize = \"8k\"\n\
                 [[workload]]\nname = \"long\"\nrepeats = 100000\nsize = \"64k\"\n";
    let suite = out.write("long.toml", suite);
    let running = run("lab:esp32/fatfs").words("--suite").arg(&suite).words("-o").arg(&file).start();
    until("the first record is there", || lines_in(&file) == 1);
    running.signal(Signal::KILL);
    running.end();
    assert_eq!(records::of_file(&file)[0].workload.name, "short");
}

/// A table of a sweep shows the same with a file, which needs more of a record than the table does, and without.
#[test]
fn what_is_shown_does_not_depend_on_the_file() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    let line = || {
        let line = run("lab:esp32/fatfs").words("--op mixed --size 16k --block 4k --order random");
        line.words("--sweep read-percent=25,75 --sweep board.seed=1,2")
    };
    let shown = line().exits(0).stdout;
    assert_eq!(line().words("-o").arg(&file).exits(0).stdout, shown);
    assert_eq!(flashmark("show --sort rate").arg(&file).exits(0).stdout, shown);
    for part in ["read-percent", "board.seed", " 25 ", " 75 "] {
        assert!(shown.contains(part), "nothing of {part}: {shown}");
    }
    let kept = records::of_file(&file);
    assert!(kept.iter().all(|record| record.run.settings == kept[0].run.settings));
    assert!(kept.iter().all(|record| record.outcome.ops.iter().all(|op| op.histogram.histogram().count() == op.count)));
}
