//! What is counted while a workload runs.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::Halt;
use super::observer::Observer;
use super::timer::Timer;
use crate::clock::Clock;
use crate::histogram::Histogram;
use crate::queue::IoKind;
use crate::record::{Doubts, FAULTS_KEPT, FailedOp, OpKind, OpStats, Outcome, Reached, Repeat, Status, WarningCode};
use crate::target::{Fault, FaultKind, Target};
use crate::workload::{Reopen, Workload};

/// The histograms of one workload, one for each kind of operation: 120 KiB that are used again and again.
#[derive(Clone, Debug, Default)]
pub struct Meters {
    pub(super) read: Histogram,
    pub(super) write: Histogram,
    pub(super) sync: Histogram,
    pub(super) open: Histogram,
    pub(super) close: Histogram,
    pub(super) repeat: Histogram,
}

impl Meters {
    /// Empty histograms; as a `static` on machines without a heap for them.
    #[must_use]
    pub const fn new() -> Self {
        const EMPTY: Histogram = Histogram::new();
        Self { read: EMPTY, write: EMPTY, sync: EMPTY, open: EMPTY, close: EMPTY, repeat: EMPTY }
    }

    /// Empty histograms on the heap (they are too large for many stacks).
    #[must_use]
    pub fn boxed() -> Box<Self> {
        Box::default()
    }

    /// Forgets what the warm-up counted, but for the opening of a file that stays open.
    pub(super) fn forget_warm_up(&mut self, reopen: Reopen) {
        let open = (reopen == Reopen::Once).then(|| self.open.clone());
        self.clear();
        if let Some(open) = open {
            self.open = open;
        }
    }

    pub(super) fn clear(&mut self) {
        let Self { read, write, sync, open, close, repeat } = self;
        for histogram in [read, write, sync, open, close, repeat] {
            if !histogram.is_empty() {
                histogram.clear();
            }
        }
    }

    /// Counts an operation that moved a block; without a latency if the clock stepped back inside it.
    #[inline]
    pub(super) fn moved(
        &mut self,
        is_read: bool,
        block_bytes: u64,
        latency: Option<u64>,
        tally: &mut Tally,
        spent: &mut Repeat,
    ) {
        if let Some(ns) = latency {
            if is_read {
                self.read.record(ns);
            } else {
                self.write.record(ns);
            }
            spent.min_ns = spent.min_ns.min(ns);
            spent.max_ns = spent.max_ns.max(ns);
            spent.sum_ns = spent.sum_ns.saturating_add(ns);
        }
        spent.count += 1;
        spent.bytes += block_bytes;
        if is_read {
            tally.read_bytes += block_bytes;
        } else {
            tally.write_bytes += block_bytes;
            tally.unsynced = true;
        }
    }

    /// Records an opening or closing if it is wanted, and gives its time, unless the clock stepped back inside it.
    pub(super) fn time(&mut self, op: OpKind, wanted: bool, start: u64, end: u64, tally: &mut Tally) -> Option<u64> {
        let ns = end.checked_sub(start);
        if wanted {
            let histogram = if op == OpKind::Open { &mut self.open } else { &mut self.close };
            match ns {
                Some(ns) => histogram.record(ns),
                None => tally.clock_steps += 1,
            }
        }
        ns
    }

    pub(super) fn sync<C: Clock, T: Target, O: Observer>(
        &mut self,
        clock: &C,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        timer: &mut Timer,
    ) -> Result<(), Halt> {
        let start = clock.now_ns();
        let result = target.sync();
        let latency = timer.op(start, clock.now_ns(), true);
        observer.issued(IoKind::DataSync, 0, 0, start);
        if let Err(fault) = result {
            return tally.fault(OpKind::Sync, 0, fault);
        }
        tally.unsynced = false;
        if let Some(ns) = latency {
            self.sync.record(ns);
        }
        Ok(())
    }
}

/// Everything about a workload's run that is not a latency.
pub(super) struct Tally {
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub doubts: Doubts,
    pub clock_steps: u64,
    pub noted_short: bool,
    pub open: bool,
    /// Whether anything was written since the last sync that succeeded.
    pub unsynced: bool,
    pub verified_bytes: u64,
    repeats: Vec<Repeat>,
    fault_count: u64,
    faults: Vec<FailedOp>,
    max_errors: u64,
    /// Whether the last fault was that there is no room.
    was_full: bool,
    /// Whether the target may have room the next time.
    reclaims_space: bool,
}

impl Tally {
    pub(super) fn new(workload: &Workload, reclaims_space: bool) -> Self {
        Self {
            read_bytes: 0,
            write_bytes: 0,
            doubts: Doubts::default(),
            clock_steps: 0,
            noted_short: false,
            open: false,
            unsynced: false,
            // So that no repeat allocates; a bound keeps an absurd count from taking all memory at once.
            repeats: Vec::with_capacity(workload.repeats.min(1 << 16) as usize),
            verified_bytes: 0,
            fault_count: 0,
            faults: Vec::new(),
            max_errors: u64::from(workload.max_errors),
            was_full: false,
            reclaims_space,
        }
    }

    pub(super) fn forget_warm_up(&mut self) {
        self.repeats.clear();
        (self.read_bytes, self.write_bytes, self.verified_bytes) = (0, 0, 0);
    }

    pub(super) fn add_repeat(&mut self, repeat: Repeat) {
        self.repeats.push(repeat);
    }

    /// Notes a fault that ends the workload.
    #[cold]
    pub(super) fn fail<R>(&mut self, op: OpKind, offset: u64, fault: Fault) -> Result<R, Halt> {
        self.fault_count += 1;
        self.was_full = fault.kind == FaultKind::NoSpace;
        if self.faults.len() < FAULTS_KEPT {
            self.faults.push(FailedOp { op, offset, fault });
        }
        Err(Halt::Failed)
    }

    /// Notes a fault that ends the workload only if it is final or one too many.
    #[cold]
    pub(super) fn fault(&mut self, op: OpKind, offset: u64, fault: Fault) -> Result<(), Halt> {
        let is_final = fault.kind.is_final();
        let result = self.fail(op, offset, fault);
        if (is_final && !self.passes_over_full()) || self.fault_count > self.max_errors { result } else { Ok(()) }
    }

    /// Whether the last fault is that there is no room, and is passed over since the next operation may find some.
    pub(super) const fn passes_over_full(&self) -> bool {
        self.was_full && self.reclaims_space && self.fault_count <= self.max_errors
    }

    pub(super) fn into_outcome(mut self, status: Status, reached: Option<Reached>, meters: &Meters) -> Outcome {
        if self.clock_steps > 0 {
            self.doubts.add(
                WarningCode::ClockStepped,
                format!(
                    "the clock stepped back {} times; latencies across a step are left out of the distribution, and the \
                     time of such a repeat is that of its operations alone",
                    self.clock_steps
                ),
            );
        }
        if reached == Some(Reached::Cache) && self.write_bytes > 0 {
            self.doubts.add(
                WarningCode::NotDurable,
                "written data reached a cache only: the rate is that of memory, not of the medium",
            );
        }
        let rows = [
            (OpKind::Read, self.read_bytes, &meters.read),
            (OpKind::Write, self.write_bytes, &meters.write),
            (OpKind::Sync, 0, &meters.sync),
            (OpKind::Open, 0, &meters.open),
            (OpKind::Close, 0, &meters.close),
            (OpKind::Repeat, 0, &meters.repeat),
        ];
        let wrote = self.write_bytes > 0;
        Outcome {
            status,
            elapsed_ns: self.repeats.iter().map(|r| r.elapsed_ns).sum(),
            bytes: self.read_bytes + self.write_bytes,
            reached: reached.filter(|_| wrote),
            ops: rows
                .into_iter()
                .filter(|(_, _, histogram)| !histogram.is_empty())
                .map(|(op, bytes, histogram)| OpStats::from_histogram(op, bytes, histogram))
                .collect(),
            repeats: self.repeats,
            verified_bytes: self.verified_bytes,
            fault_count: self.fault_count,
            faults: self.faults,
            warnings: self.doubts.into_warnings(),
        }
    }
}
