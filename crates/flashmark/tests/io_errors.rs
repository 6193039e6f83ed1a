//! Blocks that cannot be read: a loop device whose backing file was cut off answers with input/output errors there.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{OpKind, Record, Status};
use flashmark_core::target::FaultKind;
use support::devices::{Image, Loop};
use support::process::{Ran, run};
use support::{can_run, records};

const BLOCK: u64 = 64 << 10;
const BLOCKS: u64 = 16;

/// A device whose last `bad` of 16 blocks cannot be read.
fn damaged(bad: u64) -> Loop {
    let device = Loop::new(Image::new(BLOCKS * BLOCK));
    device.image.set_len((BLOCKS - bad) * BLOCK);
    device
}

fn read(device: &Loop, words: &str) -> (Ran, Record) {
    let ran = run(&device.node).words("--op read --block 64k --format json").words(words).exits(1);
    let record = ran.record();
    for failed in &record.outcome.faults {
        assert_eq!((failed.op, failed.fault.kind, failed.fault.code), (OpKind::Read, FaultKind::Io, Some(5)), "{ran}");
    }
    (ran, record)
}

fn offsets(record: &Record) -> Vec<u64> {
    record.outcome.faults.iter().map(|failed| failed.offset).collect()
}

#[test]
fn one_bad_block_fails_the_workload_and_is_named() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = damaged(1);
    let (ran, record) = read(&device, "");
    assert_eq!(record.outcome.status, Status::Failed, "{ran}");
    assert_eq!(offsets(&record), [15 * BLOCK], "{ran}");
    assert_eq!(record.outcome.bytes, 15 * BLOCK, "the figures cover what had run: {ran}");
    ran.says(&["983040", "Input/output error"]);
    // An error is no reason to leave the workloads after it out.
    let ran = run(&device.node).words("--size 1m --file-size 1m --block 64k --only read --format json").exits(1);
    let statuses: Vec<Status> = ran.records().iter().map(|record| record.outcome.status).collect();
    assert_eq!((statuses.len(), statuses[0]), (2, Status::Failed), "{ran}");
    assert_ne!(statuses[1], Status::Skipped, "{ran}");
}

#[test]
fn max_errors_goes_on_and_reports_all() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = damaged(5);
    let (ran, record) = read(&device, "--max-errors 5");
    assert_eq!(record.outcome.status, Status::Done, "{ran}");
    assert_eq!(offsets(&record), (11..16).map(|nth| nth * BLOCK).collect::<Vec<_>>(), "{ran}");
    assert_eq!((record.outcome.fault_count, record.outcome.bytes), (5, 11 * BLOCK), "{ran}");
    assert_eq!(record.outcome.op(OpKind::Read).unwrap().count, 11, "a failed read is in no latency: {ran}");

    let (ran, record) = read(&device, "--max-errors 4");
    assert_eq!((record.outcome.status, record.outcome.fault_count), (Status::Failed, 5), "{ran}");

    let table = run(&device.node).words("--op read --block 64k --max-errors 5").exits(1).stdout;
    for offset in offsets(&record) {
        assert!(table.contains(&offset.to_string()), "nothing of {offset}: {table}");
    }
}

/// The suite that is for this.
#[test]
fn raw_read_reads_a_damaged_device_to_its_end() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(24 << 20));
    device.image.set_len(2 << 20);
    let ran = run(&device.node).words("--suite raw-read --format json").exits(1);
    let record = ran.record();
    assert_eq!(record.outcome.status, Status::Done, "{ran}");
    assert_eq!((record.outcome.fault_count, record.outcome.faults.len()), (22, 22), "{ran}");
    assert_eq!(record.outcome.bytes, 2 << 20, "{ran}");
}

/// What is written is only found to be lost when it is read back.
#[test]
fn a_backing_file_that_cannot_grow_fails_writes() {
    if !can_run(true, &["losetup", "mount"]) {
        return;
    }
    // A sparse image on a file system that is too small for it.
    let tmpfs = support::devices::Mounted::tmpfs("1m");
    let image = tmpfs.path().join("disk.img");
    std::fs::File::create(&image).unwrap().set_len(4 << 20).unwrap();
    let device = LoopOn::new(&image);
    let words = "--op write --file existing --block 64k --sync end --format json --destroy";
    let ran = run(&device.0).words(words).arg(&device.0).exits(1);
    let record = ran.record();
    assert_eq!(record.outcome.status, Status::Failed, "{ran}");
    let failed = &records::fault(&record).fault;
    assert!(matches!(failed.kind, FaultKind::Io | FaultKind::NoSpace), "{ran}");
}

/// A loop device on a file that is not its own.
struct LoopOn(String);

impl LoopOn {
    fn new(image: &std::path::Path) -> Self {
        Self(support::sh(&format!("losetup -f --show {}", image.display())))
    }
}

impl Drop for LoopOn {
    fn drop(&mut self) {
        support::try_sh(&format!("losetup -d {}", self.0));
    }
}
