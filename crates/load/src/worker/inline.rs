//! The loop for engines that complete what they are given.

use flashmark_core::clock::Clock;
use flashmark_core::queue::Request;

use super::admit::Admitted;
use super::flight::kind_of;
use super::{Halt, Supply, Worker};
use crate::accesses::{Access, Direction};
use crate::tally::Latencies;

impl<C: Clock> Worker<C> {
    /// Everything that `supply` has, one after the other.
    pub(super) fn one_by_one<S: Supply>(&mut self, supply: &mut S) -> Result<(), Halt> {
        loop {
            if self.is_told_to_stop() {
                return Err(Halt::Stopped);
            }
            if self.is_pushed_at_once && !self.has_urgent && self.held.is_none() {
                let mut outcome = None;
                supply.draw(1, |access| outcome = Some(self.plain(access)));
                match outcome {
                    Some(Ok(())) => continue,
                    Some(Err(halt)) => return Err(halt),
                    None => {}
                }
            }
            match self.admit(supply, None)? {
                Admitted::Completed => {}
                Admitted::NotBefore(ns) => self.wait_until(ns)?,
                Admitted::Pushed => {
                    self.submit_pushed()?;
                    self.reap_some(1)?;
                }
                Admitted::Quiesce => self.reap_some(1)?,
                Admitted::End => return Ok(()),
            }
        }
    }

    /// The usual access, with nothing to be done for it but to make it, and to look at the clock before and behind it.
    #[inline(always)]
    fn plain(&mut self, access: Access) -> Result<(), Halt> {
        let Some(slot) = self.free.pop() else { return Ok(()) };
        if access.direction == Direction::Write {
            self.fill(slot, &access);
        }
        self.tally.depths(self.under_way(), 1);
        let Access { direction, file, offset, bytes } = access;
        let request = Request { slot, kind: kind_of(direction), file, offset, bytes };
        let start_ns = self.clock.now_ns();
        self.flights.begin(slot, access, start_ns);
        match self.queue.push(&request) {
            Ok(Some(completion)) => {
                let now = self.clock.now_ns();
                if self.is_only_counted && completion.result == Ok(bytes) {
                    self.free.push(slot);
                    let completion = now.saturating_sub(start_ns);
                    let latencies = Latencies { submission: None, completion, from_intended: None };
                    self.add(direction, bytes.into(), 1, latencies);
                } else {
                    self.complete(&completion, now)?;
                }
                self.tick(now)
            }
            // An engine that gathers neighbours (`vsync`) does what it has when it is told that there are no more.
            Ok(None) => {
                self.batch.push(slot);
                self.submit_pushed()?;
                self.reap_some(1)
            }
            Err(code) => self.refused(slot, code).map(drop),
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
