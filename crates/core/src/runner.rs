//! The runner: drives a target through a workload and times every operation.
//!
//! Generic over clock and target, so the same code measures real files, simulated boards in virtual time and, as
//! firmware, a board itself. In the measuring path it allocates nothing, uses no floats and knows no threads.
//!
//! What counts: a repeat's time runs from the start of its first operation to the end of its last one, or of the last
//! sync where the workload syncs. Work of the runner's own that costs more than a few nanoseconds (making stamped data,
//! checking data read) is taken out of it. Opening, closing, layout, settling, pauses, warm-up and reading back are
//! outside.

mod job;
mod layout;
mod measure;
mod meters;
mod observer;
mod plan;
mod queued;
mod readback;
mod timer;

use alloc::format;

use crate::clock::Clock;
use crate::record::{OpKind, Outcome, Repeat, Status, WarningCode};
use crate::target::{Contents, Fault, FaultKind, Moved, OpenAs, Target};
use crate::workload::{Erase, FileMode, OpMix, Reopen, Verify, Workload};

use job::{Job, Written};
use measure::Buffers;
pub use meters::Meters;
use meters::Tally;
pub use observer::{Observer, Phase, Step};

/// Drives targets through workloads with one clock, one buffer and one set of histograms, all of them the caller's.
#[derive(Debug)]
pub struct Runner<'a, C> {
    clock: C,
    buf: &'a mut [u8],
    meters: &'a mut Meters,
}

/// The alignment that direct I/O may ask of memory; the second half of a mixed workload's buffer starts at it.
pub const BUFFER_ALIGN: usize = 4096;

/// The least buffer that a workload needs, in bytes: a block, or two for mixed reads and writes.
#[must_use]
pub fn buffer_bytes(workload: &Workload) -> usize {
    let block = workload.block_bytes as usize;
    match workload.mix() {
        OpMix::Mixed => block.next_multiple_of(BUFFER_ALIGN) + block,
        OpMix::Read | OpMix::Write => block,
    }
}

/// How a workload's sizes fit a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Bytes that offsets are taken from.
    pub region_bytes: u64,
    /// What the workload asks for, where the target has less and cannot grow: running it uses all there is, with a
    /// warning.
    pub cut_from: Option<u64>,
}

/// How the workload's sizes fit the target's, without running it.
///
/// # Errors
/// The [`Fault`] that running it would meet.
pub fn fit<T: Target>(workload: &Workload, target: &mut T) -> Result<Fit, Fault> {
    plan::resolve(workload, target).map(|plan| Fit { region_bytes: plan.region_bytes, cut_from: plan.cut_from })
}

/// Why a repeat ended before its time.
enum Halt {
    Interrupted,
    Failed,
}

impl<'a, C: Clock> Runner<'a, C> {
    /// A runner that moves data through `buf`, which must hold at least [`buffer_bytes`] of every workload; a larger
    /// one makes layouts faster. Its alignment is what the target needs.
    pub fn new(clock: C, buf: &'a mut [u8], meters: &'a mut Meters) -> Self {
        Self { clock, buf, meters }
    }

    /// Runs one workload and sums it up. Whatever goes wrong is in the outcome.
    pub fn run<T: Target, O: Observer>(&mut self, workload: &Workload, target: &mut T, observer: &mut O) -> Outcome {
        self.meters.clear();
        let mut tally = Tally::new(workload, target.reclaims_space());
        let status = match self.all_repeats(workload, target, observer, &mut tally) {
            Ok(()) => Status::Done,
            Err(Halt::Interrupted) => Status::Interrupted,
            Err(Halt::Failed) => Status::Failed,
        };
        // Nothing may stay open, whatever happened; a second error adds nothing.
        if tally.open {
            let _ = target.close();
        }
        let reached = workload.writes().then(|| target.write_reaches(!tally.unsynced));
        tally.into_outcome(status, reached, self.meters)
    }

    fn all_repeats<T: Target, O: Observer>(
        &mut self,
        workload: &Workload,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
    ) -> Result<(), Halt> {
        if let Err(contradiction) = workload.check() {
            return tally.fail(OpKind::Open, 0, Fault::new(FaultKind::Unsupported, format!("{contradiction}")));
        }
        let needed = buffer_bytes(workload);
        if self.buf.len() < needed {
            let message = format!(
                "a block of {} bytes needs a buffer of {needed} bytes; this runner has {}",
                workload.block_bytes,
                self.buf.len()
            );
            return tally.fail(OpKind::Open, 0, Fault::new(FaultKind::Unsupported, message));
        }
        let plan = plan::resolve(workload, target).or_else(|fault| tally.fail(OpKind::Open, 0, fault))?;
        if let Some(wanted) = plan.cut_from {
            tally.doubts.add(
                WarningCode::SmallTarget,
                format!(
                    "the target has only {} bytes of the {wanted} that file-size asks for: all of it was used, and blocks \
                     are met again the sooner",
                    plan.region_bytes
                ),
            );
        }
        if workload.fill_percent.is_some() {
            let file_bytes =
                plan::file_bytes(workload, &plan, target).or_else(|fault| tally.fail(OpKind::Layout, 0, fault))?;
            target
                .fill(workload, file_bytes, &mut tally.doubts)
                .or_else(|fault| tally.fail(OpKind::Layout, 0, fault))?;
        }
        while let Err(halt) = self.lay_out(workload, &plan, target, observer, tally) {
            if !matches!(halt, Halt::Failed) || !tally.passes_over_full() {
                return Err(halt);
            }
            if tally.open {
                tally.open = false;
                target.close().or_else(|fault| tally.fail(OpKind::Layout, 0, fault))?;
            }
        }

        let mut job = Job::new(workload, plan, target.contents().pass);
        job.pattern.prime(Buffers::of(self.buf, workload, &job.pattern).pool);

        let total = u64::from(workload.warm_up) + u64::from(workload.repeats);
        for repeat in 0..total {
            let measured = repeat >= u64::from(workload.warm_up);
            if repeat == u64::from(workload.warm_up) && repeat > 0 {
                // What the warm-up counted is forgotten, but for its faults.
                self.meters.forget_warm_up(workload.reopen);
                tally.forget_warm_up();
            }
            if repeat > 0 {
                self.pause(workload.pause_ns, observer)?;
            }
            observer.step(Step {
                phase: if measured { Phase::Measure } else { Phase::WarmUp },
                // Each phase counts its own.
                repeat: (if measured { repeat - u64::from(workload.warm_up) } else { repeat }) as u32,
                bytes: (plan.ops != u64::MAX).then(|| plan.ops * u64::from(workload.block_bytes)),
                time_ns: workload.time_ns,
            });
            let result = self.one_repeat(&mut job, repeat as u32, repeat + 1 == total, target, observer, tally);
            if result.is_err() && !measured {
                // A warm-up that did not end is no measurement.
                self.meters.clear();
                tally.forget_warm_up();
            }
            result?;
        }
        Ok(())
    }

    fn pause<O: Observer>(&self, ns: u64, observer: &mut O) -> Result<(), Halt> {
        const SLICE_NS: u64 = 50_000_000;
        if ns > 0 {
            observer.step(Step { phase: Phase::Pause, repeat: 0, bytes: None, time_ns: Some(ns) });
        }
        let mut left = ns;
        while left > 0 {
            if observer.stop() {
                return Err(Halt::Interrupted);
            }
            let slice = left.min(SLICE_NS);
            self.clock.sleep_ns(slice);
            left -= slice;
        }
        Ok(())
    }

    fn one_repeat<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        repeat: u32,
        last: bool,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
    ) -> Result<(), Halt> {
        let workload = job.workload;
        let before = target.contents();
        // What is not erased keeps the zeros of the pass before: it has to be written with the same stamps.
        let renews = workload.writes() && workload.erase != Erase::Never;
        let pass = if renews { before.pass.wrapping_add(1) } else { before.pass };
        if workload.writes() {
            // Until the repeat is complete nobody can say of which pass a block is; and a new file has nothing yet.
            let known = if workload.file == FileMode::New { Contents::default() } else { before };
            target.set_contents(Contents { stamped: None, pass, ..known });
        }
        let is_timed = workload.time_repeats && repeat >= workload.warm_up;
        let start = is_timed.then(|| self.clock.now_ns());
        let begun_ns = match self.begin(job, target, tally) {
            // Of a warm-up nothing is passed over: it has to be complete.
            Err(Halt::Failed) if repeat >= workload.warm_up && tally.passes_over_full() => {
                if let Some(ns) = start.and_then(|start| self.clock.now_ns().checked_sub(start)) {
                    self.meters.repeat.record(ns);
                }
                return Ok(());
            }
            begun => begun?,
        };
        target.settle(workload, &mut tally.doubts);
        let base = match workload.file {
            FileMode::Append => target.len_bytes().or_else(|fault| tally.fail(OpKind::Open, 0, fault))?,
            FileMode::New | FileMode::Existing => 0,
        };
        job.start_repeat(repeat, base, pass);
        let mut spent = Repeat::default();
        let result = self.measure(job, pass, target, observer, tally, &mut spent);
        if spent.count > 0 {
            tally.add_repeat(spent);
        }
        result?;
        let moved = Moved { bytes: spent.bytes, region_bytes: job.plan.region_bytes };
        target.inspect(workload, moved, &mut tally.doubts).or_else(|fault| tally.fail(OpKind::Open, 0, fault))?;
        if workload.writes() && spent.count == job.issued {
            target.set_contents(job.contents_after(before, pass));
        }
        if workload.writes() && workload.verify == Verify::Full {
            self.read_back(job, Written { repeat, base, pass }, target, observer, tally)?;
        }
        let mut closed_ns = Some(0);
        if last || workload.reopen == Reopen::EachRepeat {
            let start = self.clock.now_ns();
            let result = target.close();
            let end = self.clock.now_ns();
            tally.open = false;
            closed_ns = self.meters.time(OpKind::Close, workload.time_open_close, start, end, tally);
            if let Err(fault) = result {
                // What closing was to write out is not there.
                target.set_contents(Contents { pass, ..Contents::default() });
                return tally.fail(OpKind::Close, 0, fault);
            }
        }
        // Also if an operation failed and was passed over: whoever waits for it waits as long.
        if let (true, Some(begun_ns), Some(closed_ns)) = (is_timed, begun_ns, closed_ns) {
            self.meters.repeat.record(begun_ns.saturating_add(spent.elapsed_ns).saturating_add(closed_ns));
        }
        Ok(())
    }

    /// Opens the file, or makes an open one ready for the next repeat. Gives the time that this took, unless the clock
    /// stepped back inside it.
    fn begin<T: Target>(&mut self, job: &Job<'_>, target: &mut T, tally: &mut Tally) -> Result<Option<u64>, Halt> {
        let workload = job.workload;
        if tally.open {
            if workload.file != FileMode::New {
                return Ok(Some(0));
            }
            let start = self.clock.now_ns();
            target.truncate().or_else(|fault| tally.fail(OpKind::Open, 0, fault))?;
            return Ok(self.clock.now_ns().checked_sub(start));
        }
        let how = match workload.file {
            FileMode::New => {
                OpenAs::New { preallocate_bytes: if workload.preallocate { job.plan.region_bytes } else { 0 } }
            }
            FileMode::Append => OpenAs::Append,
            FileMode::Existing if workload.writes() => OpenAs::ReadWrite,
            FileMode::Existing => OpenAs::Read,
        };
        let start = self.clock.now_ns();
        let result = target.open(how);
        let end = self.clock.now_ns();
        result.or_else(|fault| tally.fail(OpKind::Open, 0, fault))?;
        tally.open = true;
        Ok(self.meters.time(OpKind::Open, workload.time_open_close, start, end, tally))
    }
}

/// The short transfer as a fault, or the fault itself.
fn short_or(moved: Result<usize, Fault>, block: usize) -> Fault {
    match moved {
        Ok(bytes) => Fault::new(FaultKind::Short, format!("short transfer: {bytes} of {block} bytes")),
        Err(fault) => fault,
    }
}

#[cfg(test)]
mod tests;
