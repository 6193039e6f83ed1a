//! A full file system: the record says so, the test file is gone, and nothing is begun that cannot fit.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{OpKind, Status};
use flashmark_core::target::FaultKind;
use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::run;
use support::{Scratch, assert_nothing_left, can_run, records, sh};

/// Appends with nothing but a time limit, until it is full.
fn fills(target: &std::path::Path) {
    let dir = Scratch::new();
    let file = dir.join("run.jsonl");
    let suite = dir.write(
        "fill.toml",
        "name = \"fill\"\n[defaults]\nop = \"write\"\nblock = \"64k\"\n\
         [[workload]]\nname = \"fill\"\nfile = \"append\"\ntime = \"10min\"\n\
         [[workload]]\nname = \"go on\"\nfile = \"new\"\nsize = \"64k\"\n",
    );
    let ran = run(target).words("--format json --suite").arg(&suite).words("-o").arg(&file).exits(1);
    let records = ran.records();
    // The next workload starts with a new file, for which there is room again.
    assert_eq!(records::statuses(&records), [("fill", Status::Failed), ("go on", Status::Done)], "{ran}");
    let outcome = &records[0].outcome;
    let failed = records::fault(&records[0]);
    assert_eq!((failed.op, failed.fault.kind), (OpKind::Write, FaultKind::NoSpace), "{ran}");
    assert_eq!(failed.offset, outcome.bytes, "{ran}");
    assert!(outcome.bytes >= 1 << 20, "the figures cover what had run: {ran}");
    assert_eq!(outcome.ops[0].bytes, outcome.bytes);
    assert_eq!(records::of_file(&file), records);
    assert_nothing_left(target);
    ran.says(&["No space left on device", "fill: failed"]);
}

#[test]
fn a_tmpfs_fills_up() {
    if can_run(true, &["mount"]) {
        fills(Mounted::tmpfs("4m").path());
    }
}

#[test]
fn an_ext4_fills_up() {
    if can_run(true, EXT4_NEEDS) {
        fills(Ext4::new(8 << 20).path());
    }
}

#[test]
fn a_file_that_would_not_fit_is_not_begun() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let tmpfs = Mounted::tmpfs("4m");
    for words in [
        "--op write --size 8m",
        "--op read --file-size 8m --time 1s",
        "--op write --file append --size 2m --repeats 3",
        "--op write --file append --size 2m --repeats 1 --warm-up 2",
    ] {
        let ran = run(tmpfs.path()).words("--block 64k --format json").words(words).exits(2).printed_nothing();
        assert_nothing_left(tmpfs.path());
        ran.says(&["bytes are free", "make size or file-size smaller"]);
    }
    run(tmpfs.path()).words("--op write --block 64k --size 3m --repeats 5").exits(0);
}

/// The run goes on when its records can no longer be kept, and the file ends with a whole record.
#[test]
fn the_file_of_records_fills_up() {
    if !can_run(true, &["mount"]) {
        return;
    }
    // A page and a half: room for at least one record and not for six.
    let tmpfs = Mounted::tmpfs("8k");
    let file = tmpfs.path().join("run.jsonl");
    let target = Scratch::new();
    let words = "--size 64k --file-size 64k --block 4k --format json -o";
    let ran = run(target.path()).words(words).arg(&file).exits(1);
    let shown = ran.records();
    assert!(shown.len() == 6 && shown.iter().all(|record| record.outcome.status == Status::Done), "{ran}");
    let kept = records::of_file(&file);
    assert!(!kept.is_empty() && kept.len() < 6, "{}", kept.len());
    assert_eq!(kept, shown[..kept.len()]);
    ran.says(&["run.jsonl", "No space left", "the run goes on without the file"]);
    assert_nothing_left(target.path());
}

/// The file's own bytes are free, but not the blocks that say where they are.
#[test]
fn it_fills_up_during_the_layout() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let image = Image::new(4 << 20);
    sh(&format!("mkfs.ext4 -q -F -b 1024 -m 0 -O ^extent,^64bit,^has_journal {}", image.path.display()));
    let ext4 = Ext4::mount(Loop::new(image));
    let free = sh(&format!("df -B1 --output=avail {} | tail -n 1", ext4.path().display()));
    let words = format!("--op read --block 1k --file-size {free} --format json");
    let ran = run(ext4.path()).words(&words).exits(1);
    let record = ran.record();
    let failed = records::fault(&record);
    assert_eq!((failed.op, failed.fault.kind), (OpKind::Layout, FaultKind::NoSpace), "{ran}");
    assert_eq!(record.outcome.bytes, 0, "{ran}");
    assert_nothing_left(ext4.path());
}

/// The system writes the part of a block that still fits: that too is a full file system, not a short transfer.
#[test]
fn the_last_block_fits_in_part() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let tmpfs = Mounted::tmpfs("3000k");
    for engine in ["sync", "tokio"] {
        let words = format!("--op write --file append --block 1m --time 10min --format json --engine {engine}");
        let ran = run(tmpfs.path()).words(&words).exits(1);
        let record = ran.record();
        assert_eq!(records::fault(&record).fault.kind, FaultKind::NoSpace, "{ran}");
        assert_nothing_left(tmpfs.path());
    }
}
