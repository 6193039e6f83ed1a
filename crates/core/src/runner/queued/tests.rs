//! Several operations under way, in virtual time: each takes as long as it says, beside the others.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

use super::{EAGAIN, SUBMIT_PAUSE_NS};
use crate::clock::{Clock, VirtualClock};
use crate::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};
use crate::record::{OpKind, Outcome, Status};
use crate::runner::{Meters, Observer, Runner};
use crate::target::{Contents, Fault, FaultKind, OpenAs, Ownership, Target};
use crate::workload::{FileMode, Order, SyncPolicy, Verify, Workload};
use proptest::prelude::*;

const BLOCK: usize = 512;
const OP_NS: u64 = 10_000;
const SYNC_NS: u64 = 50_000;

/// What happens to the operation of a number, counted from 0.
#[derive(Clone, Copy)]
enum Upset {
    Fail(u64, i32),
    Short(u64, u32),
    /// It takes so many times as long.
    Slow(u64, u64),
}

/// Memory behind a queue.
struct Medium<'c> {
    clock: &'c VirtualClock,
    bytes: Vec<u8>,
    buffers: Vec<[u8; BLOCK]>,
    pushed: Vec<Request>,
    /// When each of them is complete.
    under_way: Vec<(u64, Completion)>,
    issued: u64,
    deepest: usize,
    upsets: Vec<Upset>,
    contents: Contents,
    syncs_with_others: u32,
    blocking_calls: u32,
    /// It completes what it is given, inside of `push`.
    inline: bool,
    /// The next so many calls of `submit` take nothing.
    refusals: u32,
}

impl<'c> Medium<'c> {
    fn new(clock: &'c VirtualClock, depth: usize, blocks: usize, upsets: &[Upset]) -> Self {
        Self {
            clock,
            bytes: vec![0; blocks * BLOCK],
            buffers: vec![[0; BLOCK]; depth],
            pushed: Vec::new(),
            under_way: Vec::new(),
            issued: 0,
            deepest: 0,
            upsets: upsets.to_vec(),
            contents: Contents::default(),
            syncs_with_others: 0,
            blocking_calls: 0,
            inline: false,
            refusals: 0,
        }
    }

    fn carry_out(&mut self, request: &Request) -> (u64, Completion) {
        let number = self.issued;
        self.issued += 1;
        let mut ns = OP_NS;
        let mut result = Ok(request.bytes);
        for upset in &self.upsets {
            match *upset {
                Upset::Fail(nth, code) if nth == number => result = Err(ErrorCode::new(code)),
                Upset::Short(nth, bytes) if nth == number => result = Ok(bytes),
                Upset::Slow(nth, times) if nth == number => ns *= times,
                _ => {}
            }
        }
        if let Ok(moved) = result {
            let at = request.offset as usize..request.offset as usize + moved as usize;
            let buffer = &mut self.buffers[request.slot as usize][..moved as usize];
            match request.kind {
                IoKind::Read => buffer.copy_from_slice(&self.bytes[at]),
                _ => self.bytes[at].copy_from_slice(buffer),
            }
        }
        (self.clock.now_ns() + ns, Completion { slot: request.slot, result })
    }
}

impl Queue for Medium<'_> {
    fn depth(&self) -> u32 {
        self.buffers.len() as u32
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        let is_under_way = self.under_way.iter().any(|(_, completion)| completion.slot == slot);
        assert!(!is_under_way, "slot {slot} is under way");
        &mut self.buffers[slot as usize]
    }

    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        if self.inline {
            let (at, completion) = self.carry_out(request);
            self.clock.set_ns(at);
            return Ok(Some(completion));
        }
        self.pushed.push(*request);
        Ok(None)
    }

    fn submit(&mut self) -> Result<u32, ErrorCode> {
        if let Some(left) = self.refusals.checked_sub(1) {
            self.refusals = left;
            return Ok(0);
        }
        let pushed = core::mem::take(&mut self.pushed);
        for request in &pushed {
            let under_way = self.carry_out(request);
            self.under_way.push(under_way);
        }
        self.deepest = self.deepest.max(self.under_way.len());
        Ok(pushed.len() as u32)
    }

    fn reap(&mut self, at_least: u32, _: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        assert!(at_least as usize <= self.under_way.len());
        self.under_way.sort_by_key(|(at, _)| *at);
        if let Some((at, _)) = self.under_way.get((at_least as usize).max(1) - 1) {
            self.clock.set_ns(self.clock.now_ns().max(*at));
        }
        let now = self.clock.now_ns();
        let count = self.under_way.iter().filter(|(at, _)| *at <= now).count();
        done.extend(self.under_way.drain(..count).map(|(_, completion)| completion));
        Ok(())
    }

    fn under_way(&self) -> u32 {
        self.under_way.len() as u32
    }
}

impl Target for Medium<'_> {
    fn open(&mut self, _: OpenAs) -> Result<(), Fault> {
        Ok(())
    }

    fn close(&mut self) -> Result<(), Fault> {
        assert!(self.under_way.is_empty(), "closed with operations under way");
        Ok(())
    }

    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
        self.blocking_calls += 1;
        buf.copy_from_slice(&self.bytes[offset as usize..offset as usize + buf.len()]);
        Ok(buf.len())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault> {
        self.blocking_calls += 1;
        self.bytes[offset as usize..offset as usize + data.len()].copy_from_slice(data);
        Ok(data.len())
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.syncs_with_others += u32::from(!self.under_way.is_empty());
        self.clock.advance_ns(SYNC_NS);
        Ok(())
    }

    fn queue(&mut self) -> Option<&mut dyn Queue> {
        Some(self)
    }

    fn queue_fault(&self, code: ErrorCode) -> Fault {
        let kind = if code.number() == 28 { FaultKind::NoSpace } else { FaultKind::Io };
        Fault { kind, code: Some(code.number()), message: "made to fail".into() }
    }

    fn len_bytes(&mut self) -> Result<u64, Fault> {
        Ok(self.bytes.len() as u64)
    }

    fn truncate(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn contents(&self) -> Contents {
        self.contents
    }

    fn set_contents(&mut self, contents: Contents) {
        self.contents = contents;
    }

    fn ownership(&self) -> Ownership {
        Ownership::Own
    }
}

fn run(workload: &Workload, medium: &mut Medium<'_>) -> Outcome {
    let clock = medium.clock;
    let mut buf = vec![0; 4 * BLOCK];
    let mut meters = Meters::boxed();
    Runner::new(clock, &mut buf, &mut meters).run(workload, medium, &mut ())
}

/// Stops as soon as it is asked so many times.
struct StopAfter(Cell<u32>);

impl Observer for StopAfter {
    fn stop(&self) -> bool {
        self.0.set(self.0.get().saturating_sub(1));
        self.0.get() == 0
    }
}

fn run_watched(workload: &Workload, medium: &mut Medium<'_>, asked: u32) -> Outcome {
    let clock = medium.clock;
    let mut buf = vec![0; 4 * BLOCK];
    let mut meters = Meters::boxed();
    Runner::new(clock, &mut buf, &mut meters).run(workload, medium, &mut StopAfter(Cell::new(asked)))
}

fn writes(count: u64, depth: u32) -> Workload {
    Workload {
        read_percent: 0,
        block_bytes: BLOCK as u32,
        file_bytes: Some(count * BLOCK as u64),
        file: FileMode::Existing,
        queue_depth: depth,
        drain: false,
        ..Workload::named("queued writes")
    }
}

#[test]
fn operations_overlap_and_time_is_counted_once() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 8, 64, &[]);
    let outcome = run(&writes(64, 4), &mut medium);
    assert_eq!(outcome.status, Status::Done, "{:?}", outcome.faults);
    // Sixteen times four at once; the target's queue could hold more than the workload asks for.
    assert_eq!((outcome.elapsed_ns, medium.deepest), (16 * OP_NS, 4));
    let stats = outcome.op(OpKind::Write).unwrap();
    assert_eq!((stats.count, stats.latency_ns.min, stats.latency_ns.max), (64, OP_NS, OP_NS));
    assert_eq!(outcome.repeats[0].sum_ns, 64 * OP_NS);
}

#[test]
fn syncs_wait_for_what_is_under_way() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 4, 20, &[]);
    let workload = Workload { sync: SyncPolicy::Every { ops: 6 }, ..writes(20, 4) };
    let outcome = run(&workload, &mut medium);
    // After 6, 12, 18 and the last two; six writes at depth four take two turns.
    assert_eq!(outcome.op(OpKind::Sync).unwrap().count, 4);
    assert_eq!(medium.syncs_with_others, 0);
    assert_eq!(outcome.elapsed_ns, 3 * 2 * OP_NS + OP_NS + 4 * SYNC_NS);
}

#[test]
fn one_error_ends_it_and_everything_under_way_is_waited_for() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 8, 64, &[Upset::Fail(3, 5), Upset::Slow(5, 20)]);
    let outcome = run(&writes(64, 8), &mut medium);
    assert_eq!((outcome.status, outcome.fault_count), (Status::Failed, 1));
    assert_eq!((outcome.faults[0].op, outcome.faults[0].offset), (OpKind::Write, 3 * BLOCK as u64));
    assert_eq!(outcome.faults[0].fault.code, Some(5));
    // The other seven of the first eight took place.
    assert_eq!(outcome.op(OpKind::Write).unwrap().count, 7);
    assert_eq!(outcome.elapsed_ns, 20 * OP_NS);
}

#[test]
fn errors_within_the_limit_are_passed_over() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 8, 64, &[Upset::Fail(3, 5), Upset::Fail(40, 5)]);
    let outcome = run(&Workload { max_errors: 2, ..writes(64, 8) }, &mut medium);
    assert_eq!((outcome.status, outcome.fault_count), (Status::Done, 2));
    assert_eq!(outcome.op(OpKind::Write).unwrap().count, 62);
}

#[test]
fn a_short_transfer_is_finished() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 4, 16, &[Upset::Short(2, 100)]);
    let workload = Workload { verify: Verify::Full, ..writes(16, 4) };
    let outcome = run(&workload, &mut medium);
    assert_eq!(outcome.status, Status::Done, "{:?}", outcome.faults);
    assert!(medium.blocking_calls > 0);
    assert!(outcome.verified_bytes > 0);
}

#[test]
fn time_ends_it() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 4, 64, &[]);
    let workload = Workload { time_ns: Some(3 * OP_NS), size_bytes: Some(1 << 30), ..writes(64, 4) };
    let outcome = run(&workload, &mut medium);
    assert_eq!((outcome.elapsed_ns, outcome.op(OpKind::Write).unwrap().count), (3 * OP_NS, 12));
}

/// Far more than ends by itself in a test's time.
fn endless(depth: u32) -> Workload {
    Workload { size_bytes: Some(1 << 40), ..writes(64, depth) }
}

#[test]
fn time_ends_it_also_where_nothing_is_ever_under_way() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 4, 64, &[]);
    medium.inline = true;
    let outcome = run(&Workload { time_ns: Some(8 * OP_NS), ..endless(4) }, &mut medium);
    assert_eq!((outcome.status, outcome.op(OpKind::Write).unwrap().count), (Status::Done, 8));
    let latency = outcome.op(OpKind::Write).unwrap().latency_ns;
    assert_eq!((latency.min, latency.max), (OP_NS, OP_NS));
}

#[test]
fn the_user_ends_it_also_where_nothing_is_ever_under_way() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 4, 64, &[]);
    medium.inline = true;
    let outcome = run_watched(&endless(4), &mut medium, 20);
    assert_eq!(outcome.status, Status::Interrupted);
    assert!((1..=80).contains(&medium.issued), "{}", medium.issued);
}

#[test]
fn a_queue_without_room_is_asked_again_until_it_has_some() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 4, 64, &[]);
    medium.refusals = 500;
    let outcome = run(&writes(64, 4), &mut medium);
    assert_eq!((outcome.status, outcome.op(OpKind::Write).unwrap().count), (Status::Done, 64));
}

#[test]
fn a_queue_that_never_has_room_is_an_error_and_hears_the_user() {
    let clock = VirtualClock::new();
    let mut medium = Medium::new(&clock, 4, 64, &[]);
    medium.refusals = u32::MAX;
    let outcome = run(&writes(64, 4), &mut medium);
    assert_eq!((outcome.status, outcome.faults[0].fault.code), (Status::Failed, Some(EAGAIN)));
    let start_ns = clock.now_ns();
    let mut medium = Medium::new(&clock, 4, 64, &[]);
    medium.refusals = u32::MAX;
    let outcome = run_watched(&writes(64, 4), &mut medium, 30);
    assert_eq!(outcome.status, Status::Interrupted);
    assert!(clock.now_ns() - start_ns < 100 * SUBMIT_PAUSE_NS);
}

proptest! {
    /// Whatever the depth, the order and the speed of single operations: all blocks are written, each once, and verified.
    #[test]
    fn nothing_is_lost(
        count in 1_u64..200,
        depth in 1_u32..40,
        random in any::<bool>(),
        slow in prop::collection::vec((0_u64..200, 1_u64..50), 0..20),
    ) {
        let upsets: Vec<Upset> = slow.iter().map(|&(nth, times)| Upset::Slow(nth, times)).collect();
        let clock = VirtualClock::new();
        let mut medium = Medium::new(&clock, depth as usize, count as usize, &upsets);
        let order = if random { Order::RandomOnce } else { Order::Sequential };
        let workload = Workload { order, verify: Verify::Full, ..writes(count, depth) };
        let outcome = run(&workload, &mut medium);
        prop_assert_eq!(outcome.status, Status::Done);
        prop_assert_eq!(outcome.op(OpKind::Write).unwrap().count, count);
        prop_assert_eq!(outcome.verified_bytes, count * BLOCK as u64);
        prop_assert!(medium.deepest <= depth as usize);
    }
}
