//! What is due between two accesses: syncs after so many writes, pauses to think.

use flashmark_core::clock::Clock;
use flashmark_core::queue::IoKind;

use super::admit::Admitted;
use super::{Halt, Odd, Role, Worker};
use crate::accesses::{Access, Direction};

impl<C: Clock> Worker<C> {
    /// What goes before the next access: what has to be tried again, syncs that are due, a pause to think.
    #[cold]
    pub(super) fn urgent(&mut self, batch_ns: Option<u64>) -> Result<Option<Admitted>, Halt> {
        // With a queue the loop sees to it.
        if batch_ns.is_none() && !self.again.is_empty() {
            self.wait_until(self.again_at_ns)?;
            if let Some(slot) = self.again.pop_front() {
                return self.push(slot, batch_ns).map(Some);
            }
        }
        if let Some((kind, file, offset, bytes)) = self.sync_due {
            if self.under_way() > 0 {
                return Ok(Some(Admitted::Quiesce));
            }
            self.sync_due = None;
            return self.issue_sync(kind, file, offset, bytes, batch_ns).map(Some);
        }
        if self.think_due {
            if self.under_way() > 0 {
                return Ok(Some(Admitted::Quiesce));
            }
            self.think_due = false;
            self.think()?;
        }
        self.has_urgent = false;
        Ok(None)
    }

    /// Counts writes to the next sync, and accesses to the next pause.
    pub(super) fn count_for_pauses(&mut self, access: &Access) {
        let is_due = |count: &mut u32, every: u32| {
            if every == 0 {
                return false;
            }
            *count += 1;
            let due = *count >= every;
            if due {
                *count = 0;
            }
            due
        };
        if access.direction == Direction::Write {
            let cadence = self.cadence;
            // Each counts all writes; the one that does most goes first, and stands for the others.
            if let Some((every, range)) = cadence.range {
                let end = access.offset + u64::from(access.bytes);
                let mut written = (access.offset, end);
                // As in fio, each file has a range of its own, and that of the file at hand is synced.
                if let Some(of_file) = self.ranges.get_mut(access.file as usize) {
                    let (first, last) = of_file.unwrap_or(written);
                    written = (first.min(access.offset), last.max(end));
                    *of_file = Some(written);
                }
                if is_due(&mut self.since_range, every) {
                    // A range that is too long for a request is all of the file from there on.
                    let bytes = u32::try_from(written.1 - written.0).unwrap_or(0);
                    self.sync_due = Some((IoKind::RangeSync(range), access.file, written.0, bytes));
                    if let Some(of_file) = self.ranges.get_mut(access.file as usize) {
                        *of_file = None;
                    }
                }
            }
            if is_due(&mut self.since_datasync, cadence.fdatasync) {
                self.sync_due = Some((IoKind::DataSync, access.file, 0, 0));
            }
            if is_due(&mut self.since_sync, cadence.fsync) {
                self.sync_due = Some((IoKind::Sync, access.file, 0, 0));
            }
        }
        if self.options.pace.thinktime_us > 0 && is_due(&mut self.since_think, self.options.pace.thinktime_blocks) {
            self.think_due = true;
        }
        self.has_urgent |= self.sync_due.is_some() || self.think_due;
    }

    /// Pauses: `thinktime_spin` of it at work, the rest asleep.
    fn think(&mut self) -> Result<(), Halt> {
        let pace = &self.options.pace;
        let think_ns = pace.thinktime_us.saturating_mul(1000);
        let spin_ns = pace.thinktime_spin_us.saturating_mul(1000).min(think_ns);
        let start = self.clock.now_ns();
        loop {
            let now = self.clock.now_ns();
            self.tick(now)?;
            if now >= start.saturating_add(spin_ns) {
                break;
            }
            if self.is_told_to_stop() {
                return Err(Halt::Stopped);
            }
            std::hint::spin_loop();
        }
        self.wait_until(start.saturating_add(think_ns))?;
        if self.options.pace.rate_ignore_thinktime {
            return Ok(());
        }
        let paused = self.clock.now_ns().saturating_sub(start);
        if let Some(pace) = &mut self.pace {
            pace.pause(paused);
        }
        Ok(())
    }

    /// Gives the engine a sync.
    pub(super) fn issue_sync(
        &mut self,
        kind: IoKind,
        file: u32,
        offset: u64,
        bytes: u32,
        batch_ns: Option<u64>,
    ) -> Result<Admitted, Halt> {
        let Some(slot) = self.free.pop() else { return Ok(Admitted::Quiesce) };
        let access = Access { direction: Direction::Write, file, offset, bytes };
        let start_ns = batch_ns.unwrap_or_else(|| self.clock.now_ns());
        let odd = Odd { role: Role::Sync(kind), ..Odd::NOTHING };
        self.flights.begin_odd(slot, access, start_ns, odd);
        self.push(slot, batch_ns)
    }
}
