//! The loop for engines that complete what they are given.

use flashmark_core::clock::Clock;

use super::admit::Admitted;
use super::{Halt, Supply, Worker};

impl<C: Clock> Worker<C> {
    /// Everything that `supply` has, one after the other.
    pub(super) fn one_by_one<S: Supply>(&mut self, supply: &mut S) -> Result<(), Halt> {
        loop {
            if self.is_told_to_stop() {
                return Err(Halt::Stopped);
            }
            match self.admit(supply, None)? {
                Admitted::Completed => {}
                Admitted::NotBefore(ns) => self.wait_until(ns)?,
                // An engine that gathers neighbours (`vsync`) does what it has when it is told that there are no more.
                Admitted::Pushed => {
                    self.submit_pushed()?;
                    self.reap_some(1)?;
                }
                Admitted::Quiesce => self.reap_some(1)?,
                Admitted::End => return Ok(()),
            }
        }
    }

    /// Sleeps, and wakes up to be told to stop, and for what goes by time.
    pub(super) fn wait_until(&mut self, ns: u64) -> Result<(), Halt> {
        const SLICE_NS: u64 = 20_000_000;
        // A sleep ends up to 60 microseconds late (the kernel's timer slack): the last bit is spent looking at the clock.
        const SPIN_NS: u64 = 80_000;
        loop {
            let now = self.clock.now_ns();
            // First: nothing begins when the time is over.
            self.tick(now)?;
            if now >= ns {
                return Ok(());
            }
            if self.is_told_to_stop() {
                return Err(Halt::Stopped);
            }
            let left = ns - now;
            if left > SPIN_NS {
                self.clock.sleep_ns((left - SPIN_NS).min(SLICE_NS));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
