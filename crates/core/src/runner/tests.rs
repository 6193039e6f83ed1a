//! The runner against a target in virtual time: every nanosecond is accounted for.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::*;
use crate::clock::VirtualClock;
use crate::record::{Latency, OpStats, Reached};
use crate::target::{Fault, Ownership};
use crate::workload::{Data, Direct, Order, SyncPolicy};
use proptest::prelude::*;

const READ_NS: u64 = 1_000;
const WRITE_NS: u64 = 2_000;
const SYNC_NS: u64 = 50_000;
const OPEN_NS: u64 = 7_000;
const CLOSE_NS: u64 = 3_000;
const DRAIN_NS: u64 = 11_000;

/// Memory behind a clock, with a log of calls and faults at will.
struct Ram<'c> {
    clock: &'c VirtualClock,
    bytes: Vec<u8>,
    contents: Contents,
    ownership: Ownership,
    open: bool,
    log: RefCell<Vec<String>>,
    calls: u64,
    /// What happens instead of the n-th read or write after the layout.
    upsets: BTreeMap<u64, Upset>,
    laying_out: bool,
    reclaims_space: bool,
    slow_ops: BTreeMap<u64, u64>,
}

#[derive(Clone)]
enum Upset {
    Fail(FaultKind),
    Short(usize),
    ClockBack(u64),
    Lose,
}

impl<'c> Ram<'c> {
    fn new(clock: &'c VirtualClock) -> Self {
        Self {
            clock,
            bytes: Vec::new(),
            contents: Contents::default(),
            ownership: Ownership::Own,
            open: false,
            log: RefCell::default(),
            calls: 0,
            upsets: BTreeMap::new(),
            laying_out: false,
            reclaims_space: false,
            slow_ops: BTreeMap::new(),
        }
    }

    fn note(&self, what: &str) {
        self.log.borrow_mut().push(what.into());
    }

    fn log(&self) -> String {
        self.log.borrow().join(" ")
    }

    /// Passes the time of an operation and says what upsets it.
    fn upset(&mut self, ns: u64) -> Result<Option<Upset>, Fault> {
        assert!(self.open, "used while closed");
        if self.laying_out {
            self.clock.advance_ns(1_000_000);
            return Ok(None);
        }
        let nth = self.calls;
        self.calls += 1;
        self.clock.advance_ns(ns + self.slow_ops.get(&nth).copied().unwrap_or(0));
        match self.upsets.get(&nth).cloned() {
            Some(Upset::Fail(kind)) => Err(Fault::new(kind, "made to fail")),
            Some(Upset::ClockBack(ns)) => {
                self.clock.set_ns(self.clock.now_ns() - ns);
                Ok(None)
            }
            upset => Ok(upset),
        }
    }
}

impl Target for Ram<'_> {
    fn open(&mut self, how: OpenAs) -> Result<(), Fault> {
        assert!(!self.open, "opened twice");
        self.clock.advance_ns(OPEN_NS);
        self.open = true;
        self.laying_out = how == OpenAs::Layout;
        self.note(match how {
            OpenAs::Read => "open-r",
            OpenAs::ReadWrite => "open-rw",
            OpenAs::Append => "open-a",
            OpenAs::New { .. } => "open-new",
            OpenAs::Layout => "open-layout",
        });
        if matches!(how, OpenAs::New { .. }) {
            self.bytes.clear();
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fault> {
        assert!(self.open, "closed twice");
        self.clock.advance_ns(CLOSE_NS);
        self.open = false;
        self.laying_out = false;
        self.note("close");
        Ok(())
    }

    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
        self.note("r");
        let upset = self.upset(READ_NS)?;
        let at = offset as usize;
        let there = self.bytes.get(at..).unwrap_or(&[]);
        let len = there.len().min(buf.len());
        buf[..len].copy_from_slice(&there[..len]);
        match upset {
            Some(Upset::Short(len)) => Ok(len),
            _ => Ok(len),
        }
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault> {
        self.note("w");
        match self.upset(WRITE_NS)? {
            Some(Upset::Short(len)) => return Ok(len),
            Some(Upset::Lose) => return Ok(data.len()),
            _ => {}
        }
        let end = offset as usize + data.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[offset as usize..end].copy_from_slice(data);
        Ok(data.len())
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.note("sync");
        self.clock.advance_ns(SYNC_NS);
        Ok(())
    }

    fn drain(&mut self) -> Result<(), Fault> {
        self.clock.advance_ns(DRAIN_NS);
        Ok(())
    }

    fn len_bytes(&mut self) -> Result<u64, Fault> {
        Ok(self.bytes.len() as u64)
    }

    fn truncate(&mut self) -> Result<(), Fault> {
        self.note("truncate");
        self.bytes.clear();
        Ok(())
    }

    fn contents(&self) -> Contents {
        self.contents
    }

    fn set_contents(&mut self, contents: Contents) {
        self.contents = contents;
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }

    fn reclaims_space(&self) -> bool {
        self.reclaims_space
    }
}

fn writes(n: u64) -> Workload {
    Workload {
        read_percent: 0,
        file: FileMode::New,
        block_bytes: 512,
        size_bytes: Some(n * 512),
        drain: false,
        ..Workload::named("writes")
    }
}

fn reads(n: u64) -> Workload {
    Workload { block_bytes: 512, file_bytes: Some(n * 512), drain: false, ..Workload::named("reads") }
}

fn run(workload: &Workload, target: &mut Ram<'_>) -> Outcome {
    let mut buf = vec![0; 64 * 1024];
    let mut meters = Meters::boxed();
    Runner::new(target.clock, &mut buf, &mut meters).run(workload, target, &mut ())
}

fn op(outcome: &Outcome, op: OpKind) -> &OpStats {
    outcome.op(op).unwrap()
}

#[test]
fn every_nanosecond_is_accounted_for() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let workload = Workload {
        repeats: 2,
        sync: SyncPolicy::Every { ops: 2 },
        drain: true,
        pause_ns: 123_456_789,
        time_open_close: true,
        ..writes(5)
    };
    let outcome = run(&workload, &mut target);
    assert_eq!(outcome.status, Status::Done);
    let repeat = 5 * WRITE_NS + 3 * SYNC_NS + DRAIN_NS;
    assert_eq!(outcome.elapsed_ns, 2 * repeat);
    assert_eq!(outcome.bytes, 2 * 5 * 512);
    assert_eq!(outcome.reached, Some(Reached::Medium));
    let expected =
        Repeat { elapsed_ns: repeat, bytes: 2560, count: 5, min_ns: WRITE_NS, max_ns: WRITE_NS, sum_ns: 5 * WRITE_NS };
    assert_eq!(outcome.repeats, [expected, expected]);
    for (kind, count, ns) in [
        (OpKind::Write, 10, WRITE_NS),
        (OpKind::Sync, 6, SYNC_NS),
        (OpKind::Open, 2, OPEN_NS),
        (OpKind::Close, 2, CLOSE_NS),
    ] {
        let stats = op(&outcome, kind);
        assert_eq!(
            (stats.count, stats.latency_ns.min, stats.latency_ns.max, stats.latency_ns.mean),
            (count, ns, ns, ns)
        );
        assert_eq!(stats.latency_ns.sum, count * ns);
    }
    assert_eq!(clock.now_ns(), 2 * (OPEN_NS + repeat + CLOSE_NS) + 123_456_789, "nothing else passed");
    let once = "open-new w w sync w w sync w sync close";
    assert_eq!(target.log(), [once, once].join(" "));
}

#[test]
fn reading_lays_the_file_out_first_and_only_once() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let outcome = run(&reads(3), &mut target);
    assert_eq!(target.log(), "open-layout w sync close open-r r r r close");
    assert_eq!((outcome.elapsed_ns, outcome.reached), (3 * READ_NS, None));
    target.log.borrow_mut().clear();
    run(&reads(2), &mut target);
    assert_eq!(target.log(), "open-r r r close");
}

#[test]
fn another_kind_of_data_is_laid_out_anew() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    run(&writes(4), &mut target);
    run(&reads(4), &mut target);
    run(&Workload { data: Data::Zeros, ..reads(4) }, &mut target);
    let log = target.log();
    assert_eq!(log.matches("open-layout").count(), 1, "{log}");
}

#[test]
fn a_file_opened_once_is_truncated_between_repeats() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    run(&Workload { repeats: 2, reopen: Reopen::Once, sync: SyncPolicy::End, ..writes(1) }, &mut target);
    assert_eq!(target.log(), "open-new w sync truncate w sync close");
}

#[test]
fn appending_goes_on_where_the_file_ends() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    run(&Workload { file: FileMode::Append, repeats: 3, ..writes(2) }, &mut target);
    assert_eq!(target.bytes.len(), 3 * 2 * 512);
}

#[test]
fn warm_up_is_run_and_forgotten() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    target.slow_ops.insert(0, 5_000_000);
    let outcome = run(&Workload { warm_up: 1, repeats: 2, ..writes(3) }, &mut target);
    assert_eq!(op(&outcome, OpKind::Write).count, 6);
    assert_eq!(op(&outcome, OpKind::Write).latency_ns.max, WRITE_NS);
    assert_eq!((outcome.repeats.len(), outcome.bytes), (2, 6 * 512));
    assert_eq!(target.calls, 9);
}

#[test]
fn a_time_limit_ends_a_repeat() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let workload = Workload { time_ns: Some(10 * READ_NS), ..reads(4) };
    let outcome = run(&workload, &mut target);
    assert_eq!(op(&outcome, OpKind::Read).count, 10, "round and round until the time is over");
    let workload = Workload { size_bytes: Some(3 * 512), ..workload };
    assert_eq!(op(&run(&workload, &mut target), OpKind::Read).count, 3, "the size comes first");
}

#[test]
fn mixed_reads_and_writes_are_counted_apart() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let workload = Workload { read_percent: 75, order: Order::Random, size_bytes: Some(400 * 512), ..reads(100) };
    let outcome = run(&workload, &mut target);
    assert_eq!((op(&outcome, OpKind::Read).count, op(&outcome, OpKind::Write).count), (300, 100));
    assert_eq!(outcome.elapsed_ns, 300 * READ_NS + 100 * WRITE_NS);
}

#[test]
fn the_first_error_stops_unless_more_are_allowed() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    target.upsets.insert(2, Upset::Fail(FaultKind::Io));
    let outcome = run(&writes(5), &mut target);
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!((outcome.bytes, outcome.fault_count, outcome.faults[0].offset), (2 * 512, 1, 1024));
    assert_eq!(outcome.elapsed_ns, 3 * WRITE_NS, "the failed operation took its time too");
    assert!(!target.open);

    let mut target = Ram::new(&clock);
    target.upsets.insert(2, Upset::Fail(FaultKind::Io));
    let outcome = run(&Workload { max_errors: 1, ..writes(5) }, &mut target);
    assert_eq!((outcome.status, outcome.bytes, outcome.fault_count), (Status::Done, 4 * 512, 1));
}

#[test]
fn a_full_medium_stops_whatever_is_allowed() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    target.upsets.insert(1, Upset::Fail(FaultKind::NoSpace));
    let outcome = run(&Workload { max_errors: 9, ..writes(5) }, &mut target);
    assert_eq!((outcome.status, outcome.bytes), (Status::Failed, 512));
}

#[test]
fn short_transfers_are_errors_but_for_compatibility() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    target.upsets.insert(1, Upset::Short(100));
    let outcome = run(&writes(3), &mut target);
    assert_eq!(outcome.faults[0].fault.kind, FaultKind::Short);

    let mut target = Ram::new(&clock);
    target.upsets.insert(1, Upset::Short(100));
    let outcome = run(&Workload { accept_short: true, ..writes(3) }, &mut target);
    assert_eq!((outcome.status, outcome.bytes), (Status::Done, 3 * 512));
    assert!(outcome.warnings.iter().any(|w| w.code == WarningCode::ShortTransfer));
}

#[test]
fn a_clock_that_steps_back_is_noticed_and_spoils_nothing() {
    let clock = VirtualClock::new();
    clock.set_ns(1_000_000_000);
    let mut target = Ram::new(&clock);
    target.upsets.insert(1, Upset::ClockBack(900_000_000));
    let outcome = run(&writes(4), &mut target);
    assert_eq!(outcome.status, Status::Done);
    let write = op(&outcome, OpKind::Write);
    assert_eq!((write.count, write.latency_ns.max, outcome.bytes), (3, WRITE_NS, 4 * 512));
    assert_eq!(outcome.elapsed_ns, 3 * WRITE_NS, "the sum of the latencies instead");
    assert!(outcome.warnings.iter().any(|w| w.code == WarningCode::ClockStepped));
}

#[test]
fn a_step_between_two_operations_is_noticed_too() {
    /// Steps back by a second before its tenth reading.
    struct Stepping<'c>(&'c VirtualClock, core::cell::Cell<u32>);
    impl Clock for Stepping<'_> {
        fn now_ns(&self) -> u64 {
            self.1.set(self.1.get() + 1);
            if self.1.get() == 10 {
                self.0.set_ns(self.0.now_ns() - 1_000_000_000);
            }
            self.0.now_ns()
        }

        fn sleep_ns(&self, ns: u64) {
            self.0.sleep_ns(ns);
        }
    }
    let clock = VirtualClock::new();
    clock.set_ns(5_000_000_000);
    let mut target = Ram::new(&clock);
    let (mut buf, mut meters) = (vec![0; 512], Meters::boxed());
    let stepping = Stepping(&clock, core::cell::Cell::new(0));
    let outcome = Runner::new(stepping, &mut buf, &mut meters).run(&writes(10), &mut target, &mut ());
    assert_eq!((outcome.elapsed_ns, outcome.bytes), (10 * WRITE_NS, 10 * 512));
    assert!(outcome.warnings.iter().any(|w| w.code == WarningCode::ClockStepped));
}

/// The bytes that a workload writes, in the order of its writes, and where to.
struct Recorder<'c> {
    ram: Ram<'c>,
    written: Vec<(u64, Vec<u8>)>,
}

impl Target for Recorder<'_> {
    fn open(&mut self, how: OpenAs) -> Result<(), Fault> {
        self.ram.open(how)
    }
    fn close(&mut self) -> Result<(), Fault> {
        self.ram.close()
    }
    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
        self.ram.read(offset, buf)
    }
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault> {
        self.written.push((offset, data.to_vec()));
        self.ram.write(offset, data)
    }
    fn sync(&mut self) -> Result<(), Fault> {
        self.ram.sync()
    }
    fn len_bytes(&mut self) -> Result<u64, Fault> {
        self.ram.len_bytes()
    }
    fn truncate(&mut self) -> Result<(), Fault> {
        self.ram.truncate()
    }
    fn contents(&self) -> Contents {
        self.ram.contents()
    }
    fn set_contents(&mut self, contents: Contents) {
        self.ram.set_contents(contents);
    }
}

fn recorded(workloads: &[Workload], buf_bytes: usize) -> Vec<Vec<(u64, Vec<u8>)>> {
    let clock = VirtualClock::new();
    let mut target = Recorder { ram: Ram::new(&clock), written: Vec::new() };
    let (mut buf, mut meters) = (vec![0; buf_bytes], Meters::boxed());
    let mut all = Vec::new();
    for workload in workloads {
        let outcome = Runner::new(&clock, &mut buf, &mut meters).run(workload, &mut target, &mut ());
        assert_eq!(outcome.status, Status::Done);
        all.push(core::mem::take(&mut target.written));
    }
    all
}

/// Two workloads of a suite visit the same blocks in orders of their own, and neither they nor two repeats write the same
/// data to the same place.
#[test]
fn each_workload_has_its_own_order_and_data() {
    let one = Workload { order: Order::Random, block_bytes: 4096, size_bytes: Some(64 * 4096), ..writes(0) };
    let one = Workload { name: "one".into(), file_bytes: Some(64 * 4096), ..one };
    let two = Workload { name: "two".into(), ..one.clone() };
    let twice = Workload { repeats: 2, ..one.clone() };
    let written = recorded(&[one.clone(), two, one, twice], 1 << 20);
    let offsets = |n: usize| written[n].iter().map(|w| w.0).collect::<Vec<_>>();
    assert_ne!(offsets(0), offsets(1));
    assert_eq!(offsets(0), offsets(2), "the same workload runs the same");
    let mut blocks: Vec<&Vec<u8>> = written.iter().flatten().map(|w| &w.1).collect();
    let count = blocks.len();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), count, "no two blocks are alike");
}

/// Of random data nothing repeats within what compressors and compressing media look at.
#[test]
fn random_data_does_not_repeat_nearby() {
    let workload = Workload { block_bytes: 4096, size_bytes: Some(64 * 4096), ..writes(0) };
    for (data, distinct) in [(Data::Random, 100), (Data::Compressible { percent: 50 }, 50)] {
        let written = recorded(&[Workload { data, ..workload.clone() }], 1 << 20);
        let bytes: Vec<u8> = written[0].iter().flat_map(|w| w.1.clone()).collect();
        let mut words: Vec<&[u8]> = bytes.chunks(8).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        let percent = words.len() * 100 / count;
        assert!(percent.abs_diff(distinct) <= 1, "{percent} % of the eight-byte words are distinct");
    }
}

/// A new file that was not finished holds nothing to rely on, and what is read then is laid out.
#[test]
fn what_a_failed_write_left_is_not_taken_for_content() {
    let clock = VirtualClock::new();
    for order in [Order::Sequential, Order::RandomOnce] {
        let mut target = Ram::new(&clock);
        run(&reads(64), &mut target);
        target.upsets.insert(target.calls + 3, Upset::Fail(FaultKind::NoSpace));
        let failed = run(&Workload { order, ..writes(64) }, &mut target);
        assert_eq!(failed.status, Status::Failed);
        let outcome = run(&reads(64), &mut target);
        assert_eq!((outcome.status, outcome.bytes), (Status::Done, 64 * 512));
        assert_eq!(target.log().matches("open-layout").count(), 2);
    }
}

/// A block that failed and was passed over is a hole.
#[test]
fn a_file_with_a_hole_is_laid_out_again() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    target.upsets.insert(5, Upset::Fail(FaultKind::Io));
    run(&Workload { max_errors: 1, ..writes(8) }, &mut target);
    run(&reads(8), &mut target);
    assert_eq!(target.log().matches("open-layout").count(), 1);
}

/// What is left of a block at the end is never written, and so never missed.
#[test]
fn a_file_of_whole_blocks_serves_a_region_that_is_none() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let size = Some(10 * 512 + 100);
    run(&Workload { size_bytes: size, file_bytes: size, ..writes(0) }, &mut target);
    let outcome = run(&Workload { file_bytes: size, ..reads(1) }, &mut target);
    assert_eq!((outcome.status, outcome.bytes), (Status::Done, 10 * 512));
    assert!(!target.log().contains("open-layout"));
}

#[test]
fn a_warm_up_that_does_not_end_is_no_measurement() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let (mut buf, mut meters) = (vec![0; 512], Meters::boxed());
    let workload = Workload { warm_up: 1, ..writes(10) };
    let outcome = Runner::new(&clock, &mut buf, &mut meters).run(&workload, &mut target, &mut StopAfter(4));
    assert_eq!((outcome.status, outcome.bytes, outcome.repeats.len()), (Status::Interrupted, 0, 0));
    assert!(outcome.ops.is_empty());
}

#[test]
fn stalls_are_counted() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    target.slow_ops.insert(3, 20_000_000);
    target.slow_ops.insert(4, 900_000);
    let outcome = run(&writes(100), &mut target);
    let write = op(&outcome, OpKind::Write);
    assert_eq!((write.stalls.count, write.stalls.threshold_ns), (1, 1_000_000));
    assert_eq!(write.latency_ns.max, 20_000_000 + WRITE_NS);
}

#[test]
fn a_lost_write_is_found() {
    let clock = VirtualClock::new();
    for order in [Order::Sequential, Order::RandomOnce, Order::Random] {
        let mut target = Ram::new(&clock);
        let workload = Workload { verify: Verify::Full, order, file: FileMode::Existing, ..writes(20) };
        let workload = Workload { file_bytes: Some(20 * 512), ..workload };
        let outcome = run(&workload, &mut target);
        assert_eq!((outcome.status, outcome.verified_bytes), (Status::Done, 20 * 512), "{order:?}");
        target.upsets.insert(target.calls + 19, Upset::Lose);
        let outcome = run(&workload, &mut target);
        // The last write of a random order may go to a block that was written before in the same repeat.
        if order != Order::Random {
            assert_eq!(outcome.status, Status::Failed, "{order:?}");
            assert_eq!(outcome.faults[0].fault.kind, FaultKind::Corrupt);
            assert!(outcome.faults[0].fault.message.contains("stale"), "{}", outcome.faults[0].fault.message);
        }
    }
}

#[test]
fn damage_on_the_medium_is_found_when_reading() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let workload = Workload { verify: Verify::Full, ..reads(8) };
    assert_eq!(run(&workload, &mut target).verified_bytes, 8 * 512);
    target.bytes[5 * 512 + 77] ^= 4;
    let outcome = run(&workload, &mut target);
    assert_eq!((outcome.status, outcome.faults[0].offset), (Status::Failed, 5 * 512 + 77));
}

#[test]
fn checking_costs_no_measured_time() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let outcome = run(&Workload { verify: Verify::Full, ..writes(10) }, &mut target);
    assert_eq!(outcome.elapsed_ns, 10 * WRITE_NS);
    assert_eq!(outcome.verified_bytes, 10 * 512);
}

/// A clock on which everything takes time, also what the runner does between two readings.
struct BusyClock<'c>(&'c VirtualClock);

impl Clock for BusyClock<'_> {
    fn now_ns(&self) -> u64 {
        self.0.advance_ns(1_000_000);
        self.0.now_ns()
    }

    fn sleep_ns(&self, ns: u64) {
        self.0.sleep_ns(ns);
    }
}

#[test]
fn checking_the_last_block_costs_no_measured_time_either() {
    let (tick, ops) = (1_000_000, 10);
    for (workload, syncs) in [
        (Workload { verify: Verify::Full, drain: true, ..reads(ops) }, 0),
        (Workload { verify: Verify::Full, sync: SyncPolicy::End, ..writes(ops) }, 1),
    ] {
        let clock = VirtualClock::new();
        let mut target = Ram::new(&clock);
        let (mut buf, mut meters) = (vec![0; 64 * 1024], Meters::boxed());
        let outcome = Runner::new(BusyClock(&clock), &mut buf, &mut meters).run(&workload, &mut target, &mut ());
        // An operation spans one tick, from its first reading to its second; a drain and a sync two, with the reading
        // before theirs, which ends the check.
        let latencies: u64 = outcome.ops.iter().map(|stats| stats.latency_ns.sum).sum();
        let drain = if workload.drain { DRAIN_NS + 2 * tick } else { 0 };
        assert_eq!(outcome.elapsed_ns, latencies + drain + syncs * tick);
    }
}

#[test]
fn a_foreign_target_is_never_written_for_reading() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    target.ownership = Ownership::Foreign;
    target.bytes = vec![7; 4096];
    let outcome = run(&Workload { file_bytes: None, ..reads(1) }, &mut target);
    assert_eq!((outcome.status, outcome.bytes), (Status::Done, 4096));
    assert!(!target.log().contains('w'));

    let outcome = run(&Workload { verify: Verify::Full, ..reads(1) }, &mut target);
    assert!(outcome.faults[0].fault.message.contains("--destroy"));
    let outcome = run(&reads(9), &mut target);
    assert_eq!((outcome.status, outcome.bytes), (Status::Done, 4096), "all of it");
    assert_eq!(outcome.warnings[0].code, WarningCode::SmallTarget);
    let outcome = run(&Workload { block_bytes: 8192, ..reads(32) }, &mut target);
    assert!(outcome.faults[0].fault.message.contains("do not hold one block"));
    assert!(target.bytes.iter().all(|b| *b == 7));
}

/// Stops after so many operations.
struct StopAfter(u64);

impl Observer for StopAfter {
    fn moved(&mut self, _: u64) {
        self.0 -= 1;
    }

    fn stop(&self) -> bool {
        self.0 == 0
    }
}

#[test]
fn what_was_not_synced_has_not_reached_the_medium() {
    let clock = VirtualClock::new();
    for (sync, stop_after, reached) in [
        (SyncPolicy::End, 3, Reached::Cache),
        (SyncPolicy::End, 100, Reached::Medium),
        (SyncPolicy::Every { ops: 2 }, 4, Reached::Medium),
        (SyncPolicy::Every { ops: 2 }, 5, Reached::Cache),
    ] {
        let mut target = Ram::new(&clock);
        let (mut buf, mut meters) = (vec![0; 512], Meters::boxed());
        let workload = Workload { sync, ..writes(10) };
        let outcome =
            Runner::new(&clock, &mut buf, &mut meters).run(&workload, &mut target, &mut StopAfter(stop_after));
        assert_eq!(outcome.reached, Some(reached), "{sync:?} stopped after {stop_after}");
    }
}

#[test]
fn the_opening_of_a_file_that_stays_open_outlives_the_warm_up() {
    let clock = VirtualClock::new();
    for (reopen, opened) in [(Reopen::Once, 1), (Reopen::EachRepeat, 2)] {
        let mut target = Ram::new(&clock);
        let workload = Workload { warm_up: 1, repeats: 2, reopen, time_open_close: true, ..writes(1) };
        let outcome = run(&workload, &mut target);
        assert_eq!((op(&outcome, OpKind::Open).count, op(&outcome, OpKind::Close).count), (opened, opened));
    }
}

#[test]
fn wrong_data_is_in_no_count_but_that_of_faults() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let workload = Workload { verify: Verify::Full, max_errors: 9, ..reads(8) };
    run(&workload, &mut target);
    target.bytes[1000] ^= 1;
    let outcome = run(&workload, &mut target);
    assert_eq!((outcome.bytes, op(&outcome, OpKind::Read).count), (7 * 512, 7));
    assert_eq!((outcome.verified_bytes, outcome.fault_count), (7 * 512, 1));
}

#[test]
fn a_last_byte_is_one_byte() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let data = Data::Text { text: "abc".into(), end: String::new() };
    let outcome = run(&Workload { verify: Verify::LastByte, data, ..reads(8) }, &mut target);
    assert_eq!((outcome.status, outcome.verified_bytes), (Status::Done, 8));
}

#[test]
fn the_user_can_stop_it() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let (mut buf, mut meters) = (vec![0; 512], Meters::boxed());
    let outcome = Runner::new(&clock, &mut buf, &mut meters).run(&writes(100), &mut target, &mut StopAfter(3));
    assert_eq!((outcome.status, outcome.bytes), (Status::Interrupted, 3 * 512));
    assert!(!target.open);
}

#[test]
fn a_buffer_that_is_too_small_is_an_error() {
    let clock = VirtualClock::new();
    let (mut buf, mut meters) = (vec![0; 100], Meters::boxed());
    let mut target = Ram::new(&clock);
    let outcome = Runner::new(&clock, &mut buf, &mut meters).run(&writes(1), &mut target, &mut ());
    assert_eq!(outcome.status, Status::Failed);
    assert!(outcome.faults[0].fault.message.contains("512"));
}

fn any_workload() -> impl Strategy<Value = Workload> {
    let orders = prop_oneof![
        Just(Order::Sequential),
        Just(Order::Random),
        Just(Order::RandomOnce),
        Just(Order::Zipf { theta_milli: 1100 })
    ];
    let files = prop_oneof![Just(FileMode::New), Just(FileMode::Existing), Just(FileMode::Append)];
    let syncs = prop_oneof![
        Just(SyncPolicy::Never),
        Just(SyncPolicy::End),
        (1_u32..5).prop_map(|ops| SyncPolicy::Every { ops })
    ];
    let verify = prop_oneof![Just(Verify::None), Just(Verify::Full)];
    let small = (1_u32..3000, 1_u64..20, 1_u32..4, 0_u32..3);
    (orders, files, syncs, verify, small, 0_u8..=100, any::<u64>(), any::<bool>()).prop_map(
        |(order, file, sync, verify, (block_bytes, blocks, repeats, warm_up), read_percent, seed, once)| Workload {
            order,
            file,
            sync,
            verify,
            block_bytes,
            repeats,
            warm_up,
            read_percent,
            seed,
            size_bytes: Some(blocks * u64::from(block_bytes)),
            file_bytes: Some(blocks * u64::from(block_bytes) + 17),
            reopen: if once { Reopen::Once } else { Reopen::EachRepeat },
            direct: Direct::Buffered,
            ..Workload::named("any")
        },
    )
}

proptest! {
    /// Whatever the settings: sound ones run to their end with every byte verified and every operation counted.
    #[test]
    fn every_sound_workload_runs(workload in any_workload()) {
        let clock = VirtualClock::new();
        let mut target = Ram::new(&clock);
        let outcome = run(&workload, &mut target);
        if workload.check().is_err() {
            prop_assert_eq!(outcome.status, Status::Failed);
            prop_assert_eq!(target.log(), "");
            return Ok(());
        }
        prop_assert_eq!(outcome.status, Status::Done, "{:?}", outcome.faults);
        let ops = workload.size_bytes.unwrap_or(0) / u64::from(workload.block_bytes) * u64::from(workload.repeats);
        let counted: u64 = outcome.repeats.iter().map(|r| r.count).sum();
        prop_assert_eq!(counted, ops);
        let latencies: Vec<Latency> = outcome.ops.iter().map(|o| o.latency_ns).collect();
        let timed: u64 = latencies.iter().map(|l| l.sum).sum();
        let drains = if workload.drain { DRAIN_NS * u64::from(workload.repeats) } else { 0 };
        prop_assert_eq!(outcome.elapsed_ns, timed + drains);
        if workload.verify == Verify::Full {
            prop_assert_eq!(outcome.verified_bytes, ops * u64::from(workload.block_bytes));
        }
        prop_assert!(!target.open);
    }
}

/// What a program waits for that replaces a file: opening it anew or emptying it, writing, syncing, closing.
#[test]
fn whole_repeats_have_everything_in_them() {
    let clock = VirtualClock::new();
    for (reopen, around) in [(Reopen::EachRepeat, [OPEN_NS + CLOSE_NS; 3]), (Reopen::Once, [OPEN_NS, 0, CLOSE_NS])] {
        let mut target = Ram::new(&clock);
        target.slow_ops.insert(5, 7_000_000);
        let workload =
            Workload { time_repeats: true, repeats: 3, reopen, sync: SyncPolicy::End, warm_up: 0, ..writes(2) };
        let outcome = run(&workload, &mut target);
        let repeats = op(&outcome, OpKind::Repeat);
        assert_eq!((repeats.count, repeats.bytes), (3, 0));
        let sum = outcome.elapsed_ns + around.iter().sum::<u64>();
        assert_eq!(repeats.latency_ns.sum, sum, "{reopen:?}");
        let longest = outcome.repeats.iter().zip(around).map(|(repeat, around)| repeat.elapsed_ns + around).max();
        assert_eq!(Some(repeats.latency_ns.max), longest, "{reopen:?}");
        assert!(outcome.op(OpKind::Open).is_none());
    }
    let mut target = Ram::new(&clock);
    let outcome = run(&Workload { time_repeats: true, repeats: 2, warm_up: 3, ..writes(1) }, &mut target);
    assert_eq!(op(&outcome, OpKind::Repeat).count, 2, "the warm-up is forgotten");
}

#[test]
fn filling_is_refused_before_anything_is_done() {
    let clock = VirtualClock::new();
    let mut target = Ram::new(&clock);
    let workload = Workload { fill_percent: Some(50), ..writes(1) };
    let fault = crate::runner::fit(&workload, &mut target).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unsupported);
    let outcome = run(&workload, &mut target);
    assert_eq!((outcome.status, target.log().as_str(), clock.now_ns()), (Status::Failed, "", 0));
    assert_eq!(outcome.faults[0].fault, fault);
}

/// The target is told how large the measured file gets, before anything else.
#[test]
fn filling_comes_first_and_knows_the_files_size() {
    struct Filling<'c>(Ram<'c>, Vec<u64>);
    impl Target for Filling<'_> {
        fn can_fill(&self) -> Result<(), Fault> {
            Ok(())
        }
        fn fill(&mut self, workload: &Workload, file_bytes: u64, _: &mut crate::record::Doubts) -> Result<(), Fault> {
            assert_eq!(workload.fill_percent, Some(50));
            self.0.note("fill");
            self.1.push(file_bytes);
            Ok(())
        }
        fn open(&mut self, how: OpenAs) -> Result<(), Fault> {
            self.0.open(how)
        }
        fn close(&mut self) -> Result<(), Fault> {
            self.0.close()
        }
        fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
            self.0.read(offset, buf)
        }
        fn write(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault> {
            self.0.write(offset, data)
        }
        fn sync(&mut self) -> Result<(), Fault> {
            self.0.sync()
        }
        fn len_bytes(&mut self) -> Result<u64, Fault> {
            self.0.len_bytes()
        }
        fn truncate(&mut self) -> Result<(), Fault> {
            self.0.truncate()
        }
        fn contents(&self) -> Contents {
            self.0.contents()
        }
        fn set_contents(&mut self, contents: Contents) {
            self.0.set_contents(contents);
        }
    }
    let clock = VirtualClock::new();
    let mut target = Filling(Ram::new(&clock), Vec::new());
    let (mut buf, mut meters) = (vec![0; 4096], Meters::boxed());
    let append = Workload { file: FileMode::Append, repeats: 3, warm_up: 1, ..writes(2) };
    for workload in [writes(3), reads(5), append] {
        let workload = Workload { fill_percent: Some(50), ..workload };
        let outcome = Runner::new(&clock, &mut buf, &mut meters).run(&workload, &mut target, &mut ());
        assert_eq!(outcome.status, Status::Done, "{:?}", outcome.faults);
    }
    assert_eq!(target.1, [3 * 512, 5 * 512, 5 * 512 + 4 * 2 * 512]);
    assert!(target.0.log().starts_with("fill open-new w w w close fill open-layout"), "{}", target.0.log());
}

/// A file system that reclaims space may have no room for one write and take the next.
#[test]
fn a_full_target_that_reclaims_space_is_passed_over() {
    let clock = VirtualClock::new();
    let workload = Workload { repeats: 5, time_repeats: true, sync: SyncPolicy::End, ..writes(1) };
    let run_with = |max_errors| {
        let mut target = Ram::new(&clock);
        target.reclaims_space = true;
        for call in [1, 3] {
            target.upsets.insert(call, Upset::Fail(FaultKind::NoSpace));
        }
        run(&Workload { max_errors, ..workload.clone() }, &mut target)
    };
    let outcome = run_with(0);
    assert_eq!((outcome.status, outcome.fault_count, outcome.repeats.len()), (Status::Failed, 1, 1));
    let outcome = run_with(1);
    assert_eq!((outcome.status, outcome.fault_count, outcome.repeats.len()), (Status::Failed, 2, 2));
    let outcome = run_with(2);
    assert_eq!((outcome.status, outcome.fault_count, outcome.repeats.len()), (Status::Done, 2, 3));
    assert_eq!(op(&outcome, OpKind::Repeat).count, 5, "what failed took its time, too");
}
