//! The runner: drives a target through a workload and times every operation.
//!
//! Generic over clock and target, so the same code measures real files, simulated boards in virtual time and, as
//! firmware, a board itself. In the measuring path it allocates nothing, uses no floats and knows no threads.
//!
//! What counts: a repeat's time runs from the start of its first operation to the end of its last one, or of the last
//! sync where the workload syncs. Work of the runner's own that costs more than a few nanoseconds (making stamped data,
//! checking data read) is taken out of it. Opening, closing, layout, settling, pauses, warm-up and reading back are
//! outside.

mod layout;
mod meters;
mod observer;
mod plan;
mod readback;

use alloc::format;

use crate::clock::Clock;
use crate::data::Pattern;
use crate::order::{Mix, Offsets};
use crate::record::{OpKind, Outcome, Repeat, Status, Warning, WarningCode};
use crate::target::{Contents, Fault, FaultKind, OpenAs, Target};
use crate::workload::{FileMode, OpMix, Order, Reopen, SyncPolicy, Verify, Workload};

pub use meters::Meters;
use meters::Tally;
pub use observer::{Observer, Phase, Step};
use plan::Plan;

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

/// Whether the workload's sizes fit the target's, without running it.
///
/// # Errors
/// The [`Fault`] that running it would meet.
pub fn fits<T: Target>(workload: &Workload, target: &mut T) -> Result<(), Fault> {
    plan::resolve(workload, target).map(|_| ())
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
        let mut tally = Tally::new(workload);
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
            tally.warnings.push(Warning::new(
                WarningCode::SmallTarget,
                format!(
                    "the target has only {} bytes of the {wanted} that file-size asks for: all of it was used, and blocks \
                     are met again the sooner",
                    plan.region_bytes
                ),
            ));
        }
        self.lay_out(workload, &plan, target, observer, tally)?;

        let mut job = Job {
            workload,
            plan,
            offsets: Offsets::new(workload.order, plan.region_blocks, workload.block_bytes, workload.seed),
            mix: Mix::new(workload.read_percent, workload.seed),
            pattern: Pattern::new(workload),
            first_pass: target.contents().pass,
            issued: 0,
        };
        job.pattern.prime(&mut self.buf[..workload.block_bytes as usize]);

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
                repeat: repeat as u32,
                bytes: (plan.ops != u64::MAX).then(|| plan.ops * u64::from(workload.block_bytes)),
                time_ns: workload.time_ns,
            });
            self.one_repeat(&mut job, repeat as u32, repeat + 1 == total, target, observer, tally)?;
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
        self.begin(job, target, tally)?;
        target.settle(workload, &mut tally.warnings);
        let base = match workload.file {
            FileMode::Append => target.len_bytes().or_else(|fault| tally.fail(OpKind::Open, 0, fault))?,
            FileMode::New | FileMode::Existing => 0,
        };
        job.offsets.start_repeat(repeat, base);
        job.mix.start_repeat(repeat);
        let before = target.contents();
        let pass = if workload.writes() { before.pass.wrapping_add(1) } else { before.pass };
        if workload.writes() {
            // Until the repeat is complete nobody can say which pass a block is of.
            target.set_contents(Contents { stamped: None, pass, ..before });
        }
        let mut spent = Repeat::default();
        let result = self.measure(job, pass, target, observer, tally, &mut spent);
        if spent.count > 0 {
            tally.add_repeat(spent);
        }
        result?;
        target
            .inspect(workload, spent.bytes, job.plan.region_bytes, &mut tally.warnings)
            .or_else(|fault| tally.fail(OpKind::Open, 0, fault))?;
        if workload.writes() {
            target.set_contents(job.contents_after(before, pass));
            if workload.verify == Verify::Full {
                self.read_back(job, Written { repeat, base, pass }, target, observer, tally)?;
            }
        }
        if last || workload.reopen == Reopen::EachRepeat {
            let start = self.clock.now_ns();
            let result = target.close();
            let end = self.clock.now_ns();
            tally.open = false;
            self.meters.time(OpKind::Close, workload.time_open_close, start, end, tally);
            if let Err(fault) = result {
                return tally.fail(OpKind::Close, 0, fault);
            }
        }
        Ok(())
    }

    /// Opens the file, or makes an open one ready for the next repeat.
    fn begin<T: Target>(&mut self, job: &Job<'_>, target: &mut T, tally: &mut Tally) -> Result<(), Halt> {
        let workload = job.workload;
        if tally.open {
            if workload.file == FileMode::New {
                target.truncate().or_else(|fault| tally.fail(OpKind::Open, 0, fault))?;
            }
            return Ok(());
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
        self.meters.time(OpKind::Open, workload.time_open_close, start, end, tally);
        Ok(())
    }

    /// The measuring path. Fills `spent` also when it ends early.
    fn measure<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        pass: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        spent: &mut Repeat,
    ) -> Result<(), Halt> {
        let workload = job.workload;
        let block = workload.block_bytes as usize;
        let (write_buf, read_buf) = match workload.mix() {
            OpMix::Write => (&mut self.buf[..block], &mut [][..]),
            OpMix::Read => (&mut [][..], &mut self.buf[..block]),
            // What was read must not be what is written next.
            OpMix::Mixed => {
                let (write_buf, rest) = self.buf.split_at_mut(block.next_multiple_of(BUFFER_ALIGN));
                (&mut write_buf[..block], &mut rest[..block])
            }
        };
        let check = workload.verify != Verify::None;
        let costly_fill = job.pattern.is_costly();
        let sync_every = match workload.sync {
            SyncPolicy::Every { ops } => ops,
            SyncPolicy::Never | SyncPolicy::End => 0,
        };
        let time_ns = workload.time_ns.unwrap_or(u64::MAX);
        let passes = job.first_pass..=pass;
        let (mut unsynced, mut untimed_ns) = (0_u32, 0_u64);
        job.issued = 0;
        spent.min_ns = u64::MAX;

        let begin = self.clock.now_ns();
        let (mut first_start, mut last_end) = (begin, begin);
        let mut result = Ok(());
        while job.issued < job.plan.ops {
            job.issued += 1;
            let offset = job.offsets.next_offset();
            let is_read = job.mix.next_is_read();
            if is_read {
                if check {
                    job.pattern.spoil(read_buf);
                }
            } else {
                job.pattern.fill(write_buf, offset, pass);
            }
            let start = self.clock.now_ns();
            let moved = if is_read { target.read(offset, read_buf) } else { target.write(offset, write_buf) };
            let end = self.clock.now_ns();
            if job.issued == 1 {
                first_start = start;
            } else if check || costly_fill {
                untimed_ns += start.saturating_sub(last_end);
            }
            last_end = end;

            let mut place = offset;
            let moved = match moved {
                // Data that is wrong was not read: it counts as a failed operation.
                Ok(bytes) if is_read && check && bytes == block => {
                    job.pattern.check(read_buf, offset, passes.clone()).map(|()| bytes).map_err(|mismatch| {
                        place = mismatch.offset();
                        mismatch.into()
                    })
                }
                moved => moved,
            };
            match moved {
                Ok(bytes) if bytes == block || (workload.accept_short && tally.note_short(bytes, block)) => {
                    match end.checked_sub(start) {
                        Some(ns) => {
                            if is_read {
                                self.meters.read.record(ns);
                            } else {
                                self.meters.write.record(ns);
                            }
                            spent.min_ns = spent.min_ns.min(ns);
                            spent.max_ns = spent.max_ns.max(ns);
                            spent.sum_ns += ns;
                        }
                        None => tally.clock_steps += 1,
                    }
                    spent.count += 1;
                    spent.bytes += block as u64;
                    if is_read {
                        tally.read_bytes += block as u64;
                        if check && bytes == block {
                            tally.verified_bytes += job.pattern.checked_bytes(block);
                        }
                    } else {
                        tally.write_bytes += block as u64;
                        tally.unsynced = true;
                    }
                    observer.moved(block as u64);
                }
                moved => {
                    let op = if is_read { OpKind::Read } else { OpKind::Write };
                    result = tally.fault(op, place, short_or(moved, block));
                    if result.is_err() {
                        break;
                    }
                }
            }
            if !is_read && sync_every > 0 {
                unsynced += 1;
                if unsynced == sync_every {
                    unsynced = 0;
                    result = self.meters.sync(&self.clock, target, tally, &mut last_end);
                    if result.is_err() {
                        break;
                    }
                }
            }
            if observer.stop() {
                result = Err(Halt::Interrupted);
                break;
            }
            if last_end.saturating_sub(begin) >= time_ns {
                break;
            }
        }
        if check || costly_fill {
            // The check of the last block is no part of what follows.
            let now = self.clock.now_ns();
            untimed_ns += now.saturating_sub(last_end);
            last_end = now;
        }
        if result.is_ok() && workload.drain {
            result = target.drain().or_else(|fault| tally.fault(OpKind::Drain, 0, fault));
            last_end = self.clock.now_ns().max(last_end);
        }
        if result.is_ok() && (workload.sync == SyncPolicy::End || unsynced > 0) {
            result = self.meters.sync(&self.clock, target, tally, &mut last_end);
        }
        if spent.min_ns == u64::MAX {
            spent.min_ns = 0;
        }
        spent.elapsed_ns = match last_end.checked_sub(first_start) {
            Some(ns) => ns.saturating_sub(untimed_ns),
            None => {
                tally.clock_steps += 1;
                spent.sum_ns
            }
        };
        result
    }
}

/// The short transfer as a fault, or the fault itself.
fn short_or(moved: Result<usize, Fault>, block: usize) -> Fault {
    match moved {
        Ok(bytes) => Fault::new(FaultKind::Short, format!("short transfer: {bytes} of {block} bytes")),
        Err(fault) => fault,
    }
}

/// What does not change from repeat to repeat, and the sequences that do.
struct Job<'w> {
    workload: &'w Workload,
    plan: Plan,
    offsets: Offsets,
    mix: Mix,
    pattern: Pattern<'w>,
    /// The pass that laid the file out, or the last one before this workload: no block can be older.
    first_pass: u32,
    /// Operations begun in this repeat, also those that failed.
    issued: u64,
}

/// The coordinates of what a repeat wrote.
#[derive(Clone, Copy)]
struct Written {
    repeat: u32,
    base: u64,
    pass: u32,
}

impl Job<'_> {
    /// What the target holds after a complete repeat.
    fn contents_after(&self, before: Contents, pass: u32) -> Contents {
        let w = self.workload;
        let moved = self.issued.saturating_mul(u64::from(w.block_bytes));
        let fresh = layout::fingerprint(w);
        let stamped = (w.verify == Verify::Full).then_some(w.seed);
        match w.file {
            FileMode::New if w.order == Order::Sequential => Contents {
                bytes: moved.min(self.plan.region_bytes),
                block_bytes: w.block_bytes,
                data: fresh,
                stamped,
                pass,
            },
            // Other orders leave holes.
            FileMode::New => Contents { pass, ..Contents::default() },
            // The same kind of data in the same blocks: only the ages differ from block to block.
            FileMode::Existing | FileMode::Append if before.data == fresh && before.block_bytes == w.block_bytes => {
                Contents { stamped: None, pass, ..before }
            }
            FileMode::Existing | FileMode::Append => Contents { stamped: None, pass, bytes: 0, ..before },
        }
    }
}

impl Tally {
    /// Counts a short transfer that the workload accepts; always true, so that it reads as a condition.
    #[cold]
    fn note_short(&mut self, bytes: usize, block: usize) -> bool {
        self.short_transfers += 1;
        if self.short_transfers == 1 {
            self.warnings.push(Warning::new(
                WarningCode::ShortTransfer,
                format!(
                    "a transfer of {bytes} instead of {block} bytes was counted at full size, as the original does"
                ),
            ));
        }
        true
    }
}

#[cfg(test)]
mod tests;
