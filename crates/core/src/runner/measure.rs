//! The measuring path: no allocation, no floats, two looks at the clock an operation.

use alloc::format;

use super::job::Job;
use super::meters::Tally;
use super::timer::Timer;
use super::{BUFFER_ALIGN, Halt, Observer, Runner, short_or};
use crate::clock::Clock;
use crate::data::Pattern;
use crate::queue::IoKind;
use crate::record::{OpKind, Repeat, WarningCode};
use crate::target::Target;
use crate::workload::{OpMix, SyncPolicy, Verify, Workload};

/// The runner's memory as a workload uses it.
pub(super) struct Buffers<'b> {
    /// Where written blocks come from: one block, or several places in a pool where blocks differ.
    pub pool: &'b mut [u8],
    /// Where blocks are read to; apart from the pool, as what was read must not be what is written next.
    read: &'b mut [u8],
    block: usize,
    next: usize,
}

impl<'b> Buffers<'b> {
    pub(super) fn of(buf: &'b mut [u8], workload: &Workload, pattern: &Pattern<'_>) -> Self {
        let block = workload.block_bytes as usize;
        let (pool, read): (&mut [u8], &mut [u8]) = match workload.mix() {
            OpMix::Read => (&mut [], &mut buf[..block]),
            OpMix::Write => (buf, &mut []),
            OpMix::Mixed => {
                let read_at = (buf.len() - block) / BUFFER_ALIGN * BUFFER_ALIGN;
                let (pool, read) = buf.split_at_mut(read_at);
                (pool, &mut read[..block])
            }
        };
        let pool_len = if pattern.varies() { pool.len() } else { block.min(pool.len()) };
        Self { pool: &mut pool[..pool_len], read, block, next: 0 }
    }

    /// The next place to write from.
    #[inline]
    fn next_write(&mut self) -> &mut [u8] {
        let at = if self.next + self.block <= self.pool.len() { self.next } else { 0 };
        self.next = at + self.block.next_multiple_of(BUFFER_ALIGN);
        &mut self.pool[at..at + self.block]
    }
}

impl<C: Clock> Runner<'_, C> {
    /// One repeat's operations. Fills `spent` also when it ends early.
    pub(super) fn measure<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        pass: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        spent: &mut Repeat,
    ) -> Result<(), Halt> {
        spent.min_ns = u64::MAX;
        let mut timer = Timer::new(self.clock.now_ns());
        let result = if target.queue().is_some() {
            self.queued(job, pass, target, observer, tally, spent, &mut timer)
        } else {
            self.operations(job, pass, target, observer, tally, spent, &mut timer)
        };
        let result = result.and_then(|unsynced| self.finish(job, unsynced, target, observer, tally, &mut timer));
        if spent.min_ns == u64::MAX {
            spent.min_ns = 0;
        }
        spent.elapsed_ns = timer.elapsed_ns();
        tally.clock_steps += timer.steps;
        result
    }

    /// Issues them, and gives how many writes wait for the sync that follows every so many.
    #[allow(clippy::too_many_arguments, reason = "the loop's state; a struct of references would only rename it")]
    fn operations<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        pass: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        spent: &mut Repeat,
        timer: &mut Timer,
    ) -> Result<u32, Halt> {
        let workload = job.workload;
        let block = workload.block_bytes as usize;
        let mut buffers = Buffers::of(self.buf, workload, &job.pattern);
        let check = workload.verify != Verify::None;
        let gap_counts = !(check || job.pattern.is_costly());
        let sync_every = match workload.sync {
            SyncPolicy::Every { ops } => ops,
            SyncPolicy::Never | SyncPolicy::End => 0,
        };
        let time_ns = workload.time_ns.unwrap_or(u64::MAX);
        let passes = job.first_pass..=pass;
        let mut unsynced = 0_u32;
        let mut begin_ns = 0;
        while job.issued < job.plan.ops {
            let offset = job.offsets.next_offset();
            let is_read = job.mix.next_is_read();
            let (start, moved, end) = if is_read {
                if check {
                    job.pattern.spoil(buffers.read);
                }
                let start = self.clock.now_ns();
                let moved = target.read(offset, buffers.read);
                (start, moved, self.clock.now_ns())
            } else {
                let data = buffers.next_write();
                job.pattern.fill(data, offset, pass);
                let start = self.clock.now_ns();
                let moved = target.write(offset, data);
                (start, moved, self.clock.now_ns())
            };
            observer.issued(if is_read { IoKind::Read } else { IoKind::Write }, offset, workload.block_bytes, start);
            if job.issued == 0 {
                begin_ns = start;
                timer.first(start);
            }
            job.issued += 1;
            let latency = timer.op(start, end, gap_counts);

            let mut place = offset;
            let moved = match moved {
                // Data that is wrong was not read: it counts as a failed operation.
                Ok(bytes) if is_read && check && bytes == block => {
                    job.pattern.check(buffers.read, offset, passes.clone()).map(|()| bytes).map_err(|mismatch| {
                        place = mismatch.offset();
                        mismatch.into()
                    })
                }
                moved => moved,
            };
            match moved {
                Ok(bytes) if bytes == block || (workload.accept_short && tally.note_short(bytes, block)) => {
                    self.meters.moved(is_read, block as u64, latency, tally, spent);
                    if is_read && check && bytes == block {
                        tally.verified_bytes += job.pattern.checked_bytes(block);
                    }
                    observer.moved(block as u64);
                }
                moved => {
                    let op = if is_read { OpKind::Read } else { OpKind::Write };
                    tally.fault(op, place, short_or(moved, block))?;
                }
            }
            if !is_read && sync_every > 0 {
                unsynced += 1;
                if unsynced == sync_every {
                    unsynced = 0;
                    self.meters.sync(&self.clock, target, observer, tally, timer)?;
                }
            }
            if observer.stop() {
                return Err(Halt::Interrupted);
            }
            if timer.since(begin_ns) >= time_ns {
                break;
            }
        }
        Ok(unsynced)
    }

    /// What still belongs to a repeat's time after its last operation.
    fn finish<T: Target, O: Observer>(
        &mut self,
        job: &Job<'_>,
        unsynced: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        timer: &mut Timer,
    ) -> Result<(), Halt> {
        let workload = job.workload;
        if workload.verify != Verify::None {
            // The check of the last block is no part of what follows.
            timer.leave_out(self.clock.now_ns());
        }
        if workload.drain {
            let start = self.clock.now_ns();
            let result = target.drain();
            timer.op(start, self.clock.now_ns(), true);
            result.or_else(|fault| tally.fault(OpKind::Drain, 0, fault))?;
        }
        if workload.sync == SyncPolicy::End || unsynced > 0 {
            self.meters.sync(&self.clock, target, observer, tally, timer)?;
        }
        Ok(())
    }
}

impl Tally {
    /// Counts a short transfer that the workload accepts; always true, so that it reads as a condition.
    #[cold]
    pub(super) fn note_short(&mut self, bytes: usize, block: usize) -> bool {
        let message =
            format!("a transfer of {bytes} instead of {block} bytes was counted at full size, as the original does");
        if !self.noted_short {
            self.noted_short = true;
            self.doubts.add(WarningCode::ShortTransfer, message);
        }
        true
    }
}
