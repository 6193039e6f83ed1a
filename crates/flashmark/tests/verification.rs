//! `--verify`: what is checked is in the record, and what flashmark did not write cannot be checked.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{OpKind, Record, Status};
use flashmark_core::target::FaultKind;
use support::process::{Ran, run};
use support::{Scratch, assert_nothing_left, somebodys_data};

fn verified(words: &str) -> (Ran, Record) {
    let dir = Scratch::new();
    let block = if words.contains("--block") { "" } else { "--block 4k" };
    let ran = run(dir.path()).words("--verify --format json").words(block).words(words).exits(0);
    assert_nothing_left(dir.path());
    let record = ran.record();
    assert_eq!((record.outcome.status, record.outcome.fault_count), (Status::Done, 0), "{ran}");
    (ran, record)
}

#[test]
fn every_byte_is_counted() {
    for (words, bytes) in [
        ("--op read --size 64k", 64 << 10),
        ("--op read --size 64k --repeats 3", 3 * (64 << 10)),
        // What the warm-up checked is not what was measured.
        ("--op read --size 64k --repeats 2 --warm-up 1", 2 * (64 << 10)),
        ("--op write --size 64k", 64 << 10),
        ("--op write --size 64k --order random --file existing --repeats 2", 2 * (64 << 10)),
        ("--op write --size 64k --file append --repeats 2", 2 * (64 << 10)),
        ("--op mixed --size 400k --read-percent 50", 400 << 10),
        ("--op write --size 64k --data text:abc --data-end z", 64 << 10),
        ("--op write --size 64k --data zeros --direct buffered", 64 << 10),
        ("--op write --size 64k --data compressible:50 --engine tokio", 64 << 10),
    ] {
        let (ran, record) = verified(words);
        assert_eq!(record.outcome.verified_bytes, bytes, "{ran}");
    }
}

#[test]
fn without_it_nothing_is_checked() {
    let dir = Scratch::new();
    let ran = run(dir.path()).words("--op write --size 64k --block 4k --format json").exits(0);
    assert_eq!(ran.record().outcome.verified_bytes, 0, "{ran}");
    let table = run(dir.path()).words("--op write --size 64k --block 4k --verify").exits(0);
    assert!(table.stdout.contains("64 KiB read back and found right"), "{table}");
}

/// It is read back, not measured.
#[test]
fn reading_back_is_no_operation_of_the_workload() {
    let (ran, record) = verified("--op write --size 64k --sync end");
    let ops: Vec<(OpKind, u64)> = record.outcome.ops.iter().map(|op| (op.op, op.count)).collect();
    assert_eq!(ops, [(OpKind::Write, 16), (OpKind::Sync, 1)], "{ran}");
    assert_eq!(record.outcome.bytes, 64 << 10, "{ran}");
}

#[test]
fn what_flashmark_did_not_write_cannot_be_verified() {
    let dir = Scratch::new();
    let data = somebodys_data(64 << 10);
    let file = dir.write("photo.raw", &data);
    let ran = run(&file).words("--op read --block 4k --verify").exits(2).printed_nothing();
    ran.says(&["verify needs data that flashmark wrote", "leave verify out", "--destroy"]);
    assert_eq!(std::fs::read(&file).unwrap(), data, "not a byte is changed");
}

/// Somebody else writes to the test file while it is measured.
#[test]
fn foreign_bytes_are_found() {
    let (dir, out) = (Scratch::new(), Scratch::new());
    let words =
        "--op read --size 64k --block 4k --direct buffered --repeats 200 --pause 20ms --verify --format json -o";
    let running = run(dir.path()).words(words).arg(out.join("run.jsonl")).start();
    let mut test_file = None;
    support::process::until("it is laid out", || {
        test_file = support::test_file_in(dir.path());
        test_file.as_ref().is_some_and(|file| file.metadata().is_ok_and(|meta| meta.len() == 64 << 10))
    });
    // The layout writes all of it at once, so that it has come to its end.
    overwrite(&test_file.unwrap(), 20_000);
    let ran = running.end().exited(1);
    let record = ran.record();
    assert_eq!(record.outcome.status, Status::Failed, "{ran}");
    let failed = support::records::fault(&record);
    assert_eq!((failed.fault.kind, failed.op), (FaultKind::Corrupt, OpKind::Read), "{ran}");
    assert!((16_384..=20_480).contains(&failed.offset), "the damage is at 20000: {ran}");
    assert_nothing_left(dir.path());
}

/// Changes one byte in place.
fn overwrite(file: &std::path::Path, offset: u64) {
    use std::io::{Read, Seek, SeekFrom, Write};
    let mut file = std::fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(&[!byte[0]]).unwrap();
    file.sync_all().unwrap();
}

/// The check of a block takes longer than reading it from memory; none of it may count. Of many repeats, the one that
/// nothing came between tells.
#[test]
fn the_check_is_outside_the_time() {
    let (ran, record) = verified("--block 1m --op read --size 1m --repeats 20");
    let least = record.outcome.repeats.iter().map(|repeat| repeat.elapsed_ns - repeat.sum_ns).min().unwrap();
    let shortest = record.outcome.repeats.iter().map(|repeat| repeat.sum_ns).min().unwrap();
    assert!(least < shortest, "{least} ns were spent outside of a read of {shortest} ns: {ran}");
}
