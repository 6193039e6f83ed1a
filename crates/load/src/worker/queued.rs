//! The loop for engines that keep several accesses under way.

use flashmark_core::clock::Clock;
use flashmark_core::queue::Patience;

use super::admit::Admitted;
use super::together::Together;
use super::{Halt, Supply, Worker, graver};

impl<C: Clock> Worker<C> {
    /// Everything that `supply` has, with the queue kept full. When it ends early, what is under way is left to
    /// [`Self::drain`].
    pub(super) fn queue_up<S: Supply>(&mut self, supply: &mut S) -> Result<(), Halt> {
        let mut ended = false;
        loop {
            if self.is_told_to_stop() {
                return Err(Halt::Stopped);
            }
            let mut start_ns = self.clock.now_ns();
            let mut given = 0;
            let mut not_before = None;
            let mut quiesce = false;
            if !self.again.is_empty() && start_ns >= self.again_at_ns {
                self.push_again(start_ns)?;
            }
            let together = match self.is_pushed_together && !ended {
                true => self.push_together(supply, &mut start_ns)?,
                false => Together::Nothing,
            };
            if !ended && together == Together::Nothing {
                while given < self.batches.submit && self.may_push() {
                    match self.admit(supply, Some(start_ns))? {
                        Admitted::Pushed => given += 1,
                        // It took its time: the next one begins now.
                        Admitted::Completed => {
                            given += 1;
                            if self.is_told_to_stop() {
                                return Err(Halt::Stopped);
                            }
                            start_ns = self.clock.now_ns();
                        }
                        Admitted::NotBefore(ns) => {
                            not_before = Some(ns);
                            break;
                        }
                        Admitted::Quiesce => {
                            quiesce = true;
                            break;
                        }
                        Admitted::End => {
                            ended = true;
                            break;
                        }
                    }
                }
            }
            // Also what an earlier submission left; what this one left goes when something is complete.
            if !self.batch.is_empty() && together != Together::Submitted {
                self.submit_pushed()?;
            }
            let under_way = self.under_way();
            if under_way == 0 {
                if ended {
                    return Ok(());
                }
                if let Some(ns) = not_before {
                    self.wait_until(ns)?;
                }
                continue;
            }
            if !self.again.is_empty() && self.queue.under_way() == 0 {
                // The engine has nothing, and what is to go again waits for its time.
                if ended || quiesce || !self.may_push() {
                    self.wait_until(self.again_at_ns)?;
                } else if let Some(ns) = not_before {
                    self.wait_until(ns.min(self.again_at_ns))?;
                }
                continue;
            }
            if ended || quiesce {
                self.reap_some(self.batches.complete_min.max(1))?;
            } else if let Some(ns) = not_before {
                let now = self.clock.now_ns();
                self.tick(now)?;
                let until = if self.again.is_empty() { ns } else { ns.min(self.again_at_ns) };
                self.reap(1, Patience::Nanoseconds(until.saturating_sub(now)))?;
            } else if !self.may_push() {
                // Full: down to the low mark, as many at a time as the job says.
                self.reap_some(self.batches.complete_min.max(1))?;
                while self.under_way() > self.batches.low && self.queue.under_way() > 0 {
                    self.reap_some(self.batches.complete_min.max(1))?;
                }
            } else if self.batches.complete_min == 0 {
                self.reap(0, Patience::None)?;
            } else if self.queue.ready() >= self.batches.complete_min {
                // What is complete is taken when that can be seen for nothing: latencies end when they do, and the queue does
                // not seem fuller than it is.
                self.reap(self.batches.complete_min, Patience::None)?;
            }
        }
    }

    /// Gives the engine what is to be issued again. It has its slots already, so that no room and no end is in its way.
    #[cold]
    fn push_again(&mut self, start_ns: u64) -> Result<(), Halt> {
        while let Some(slot) = self.again.pop_front() {
            self.push(slot, Some(start_ns))?;
        }
        Ok(())
    }

    fn may_push(&self) -> bool {
        !self.free.is_empty() && self.under_way() < self.batches.depth
    }

    /// Waits for at least so many.
    pub(super) fn reap_some(&mut self, at_least: u32) -> Result<(), Halt> {
        self.reap(at_least.min(self.under_way()), Patience::Forever)
    }

    /// Waits for everything that is under way, whatever became of it; errors are noted, and the gravest one is given.
    pub(super) fn drain(&mut self) -> Result<(), Halt> {
        let mut outcome = Ok(());
        loop {
            self.again_is_given_up();
            // What was pushed and not submitted would turn up among what comes later.
            if !self.batch.is_empty() && !self.is_lost {
                let submitted = self.submit_pushed();
                let is_stuck = submitted.is_err();
                outcome = graver(outcome, submitted);
                if is_stuck && self.queue.under_way() == 0 {
                    break;
                }
            }
            if self.is_lost || self.queue.under_way() == 0 && self.batch.is_empty() {
                break;
            }
            match self.reap(self.queue.under_way(), Patience::Forever) {
                Err(Halt::TimeUp) => {}
                reaped => outcome = graver(outcome, reaped),
            }
        }
        outcome
    }
}
