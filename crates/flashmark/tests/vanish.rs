//! Devices that are taken away: the record says so, the rest on that device is left out, and other targets are measured
//! all the same.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::{Path, PathBuf};

use flashmark_core::record::{Record, Status, TargetKind, WarningCode};
use flashmark_core::target::FaultKind;
use support::devices::{Image, Loop, OWN_LOOP_NEEDS, OwnLoop};
use support::process::{Ran, Running, flashmark, run, until};
use support::{Scratch, can_run, records};

/// A run in whose second workload the device is taken away; on a device and then, if that workload ends by itself, on a
/// file.
struct Taken {
    dir: Scratch,
    running: Running,
}

impl Taken {
    fn start(device: &Path, second: &str) -> Self {
        let dir = Scratch::new();
        let ends_by_itself = !second.contains("time");
        let data = ends_by_itself.then(|| dir.write("data.bin", vec![7; 1 << 20]));
        let suite = dir.write(
            "taken.toml",
            format!(
                "name = \"taken\"\n[defaults]\nblock = \"4k\"\nsize = \"64k\"\n\
                 [[workload]]\nname = \"first\"\n\
                 [[workload]]\nname = \"second\"\n{second}\n\
                 [[workload]]\nname = \"third\"\n"
            ),
        );
        let line = data.into_iter().fold(run(device), |line, data| line.arg(data)).words("--format json --suite");
        let running = line.arg(suite).words("-o").arg(dir.join("run.jsonl")).start();
        let taken = Self { dir, running };
        until("the first workload is done", || records::lines_in(&taken.file()) >= 1);
        taken
    }

    fn file(&self) -> PathBuf {
        self.dir.join("run.jsonl")
    }

    /// The end of the run: the device's workload `failing` found it gone.
    fn ends(self, failing: &str) -> (Ran, Record) {
        let file = self.file();
        let ran = self.running.end().exited(1);
        let records = ran.records();
        assert_eq!(records::of_file(&file), records);
        let (device, file) = records.split_at(3);
        let names = ["first", "second", "third"];
        let at = names.iter().position(|name| *name == failing).unwrap();
        let wanted = |nth: usize| match nth.cmp(&at) {
            std::cmp::Ordering::Less => Status::Done,
            std::cmp::Ordering::Equal => Status::Failed,
            std::cmp::Ordering::Greater => Status::Skipped,
        };
        let wanted: Vec<_> = names.iter().enumerate().map(|(nth, name)| (*name, wanted(nth))).collect();
        assert_eq!(records::statuses(device), wanted, "{ran}");
        assert_eq!(device[at].outcome.faults.last().unwrap().fault.kind, FaultKind::Gone, "{ran}");
        for left_out in &device[at + 1..] {
            let why = records::warning(left_out, WarningCode::Skipped).unwrap();
            assert!(why.contains("is not there any more"), "{why}");
        }
        assert!(file.iter().all(|record| record.target.kind == TargetKind::File));
        assert!(file.iter().all(|record| record.outcome.status == Status::Done), "{ran}");
        let failed = device[at].clone();
        (ran.says(&["is not there any more"]), failed)
    }
}

/// The second workload opens the device again and again, for about four seconds.
fn somewhere_in_the_second() {
    std::thread::sleep(std::time::Duration::from_millis(100));
}

const REOPENED: &str = "repeats = 80\npause = \"50ms\"";

/// Detached in the pauses, when nothing has it open: the node stays and has no size.
#[test]
fn a_loop_device_is_detached() {
    if !can_run(true, OWN_LOOP_NEEDS) {
        return;
    }
    let device = OwnLoop::new(Image::new(1 << 20));
    let taken = Taken::start(&device.node, REOPENED);
    somewhere_in_the_second();
    device.detach();
    taken.ends("second");
}

/// The node goes too, as with a reader that is unplugged.
#[test]
fn a_device_is_unplugged() {
    if !can_run(true, OWN_LOOP_NEEDS) {
        return;
    }
    let device = OwnLoop::new(Image::new(1 << 20));
    let taken = Taken::start(&device.node, REOPENED);
    somewhere_in_the_second();
    device.unplug();
    taken.ends("second");
}

/// In the middle of an operation after the other, with the device open.
#[test]
fn the_medium_is_taken_out_while_it_is_read() {
    if !can_run(true, OWN_LOOP_NEEDS) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    let taken = Taken::start(&device.node, "reopen = \"once\"\nsize = \"all\"\ntime = \"10min\"\nfile-size = \"1m\"");
    until("it is open", || taken.running.times_open(&device.node) > 0);
    device.take_medium_out();
    let (ran, failed) = taken.ends("second");
    assert_eq!(failed.outcome.repeats.len(), usize::from(failed.outcome.bytes > 0), "{ran}");
}

/// Errors that may be passed over are not what this is.
#[test]
fn a_device_that_is_gone_is_not_tried_again() {
    if !can_run(true, OWN_LOOP_NEEDS) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    let second = "reopen = \"once\"\nsize = \"all\"\ntime = \"10min\"\nfile-size = \"1m\"\nmax-errors = 1000000";
    let taken = Taken::start(&device.node, second);
    until("it is open", || taken.running.times_open(&device.node) > 0);
    device.take_medium_out();
    let (ran, failed) = taken.ends("second");
    assert!(failed.outcome.fault_count < 10, "{ran}");
}

/// Nothing fails in the workload in which the device was taken away, since that had it open; the next one finds it gone,
/// and must not take it for a device that is too small.
#[test]
fn a_device_goes_between_two_workloads() {
    if !can_run(true, OWN_LOOP_NEEDS) {
        return;
    }
    let device = OwnLoop::new(Image::new(1 << 20));
    let taken = Taken::start(&device.node, "reopen = \"once\"\nrepeats = 2\npause = \"4s\"");
    until("it is open", || taken.running.times_open(&device.node) > 0);
    device.detach();
    taken.ends("third");
}

/// A card reader without a card, from the start: nothing runs, and what to do is told.
#[test]
fn a_device_without_a_medium_is_told_with_what_to_do() {
    if !can_run(true, OWN_LOOP_NEEDS) {
        return;
    }
    let device = OwnLoop::new(Image::new(1 << 20));
    device.detach();
    let says = &["has no medium or no capacity (0 bytes): insert the card", "losetup"];
    run(&device.node).exits(2).printed_nothing().says(says);
    run(&device.node).words("--op write --block 4k --size 64k").exits(2).printed_nothing().says(says);
    let fio = |words: &str| flashmark("fio --name=j").words(words).arg(format!("--filename={}", device.node.display()));
    fio("--rw=read").exits(2).printed_nothing().says(says);
    fio("--rw=write --size=64k").arg("--destroy").arg(&device.node).exits(2).printed_nothing().says(says);
}
