//! The usual batch: plain accesses that are drawn, pushed and submitted together, with nothing to be done between two of them.
//!
//! What a batch costs is counted in nanoseconds here: each pass goes through few cache lines, and what all its accesses have
//! in common is looked up once.

use flashmark_core::clock::Clock;
use flashmark_core::queue::{Completion, ErrorCode, Pushed, Request};

use super::flight::kind_of;
use super::supply::Next;
use super::{Halt, Supply, Worker};
use crate::accesses::{Access, Direction};

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Together {
    /// There is none: what comes next is not for a batch.
    Nothing,
    /// Not all of it is submitted yet: some of it was complete at once, or not taken by the engine.
    Pushed,
    /// It is submitted, as far as the kernel took it.
    Submitted,
}

impl<C: Clock> Worker<C> {
    /// Draws as many accesses as the batch may have, and hands them to the kernel together; whatever else comes is held, and
    /// left to [`Worker::admit`].
    ///
    /// What is under way is noted when it has been submitted, with all that is known then.
    #[inline(never)]
    pub(super) fn push_together<S: Supply>(&mut self, supply: &mut S, start_ns: &mut u64) -> Result<Together, Halt> {
        if self.has_urgent || self.held.is_some() || !self.batch.is_empty() {
            return Ok(Together::Nothing);
        }
        let room =
            self.batches.depth.saturating_sub(self.under_way()).min(self.batches.submit).min(self.free.len() as u32);
        self.requests.clear();
        supply.draw(room, |access| self.put(access));
        for _ in self.requests.len() as u32..room {
            match supply.next() {
                Next::Access(access) => self.put(access),
                other => {
                    self.held = Some(other);
                    break;
                }
            }
        }
        let given = self.requests.len() as u32;
        if given == 0 {
            return Ok(Together::Nothing);
        }
        self.tally.depths(self.under_way(), given);
        let Pushed { taken, then } = self.queue.push_all(&self.requests);
        if then.is_some() {
            self.note_pushed(0, taken, *start_ns);
            self.not_all_pushed(taken, then, start_ns)?;
            return Ok(Together::Pushed);
        }
        match self.submit() {
            Ok(taken) => {
                let issued_ns = self.clock.now_ns();
                for request in self.requests.iter().take(taken) {
                    self.flights.begin_issued(request, *start_ns, issued_ns);
                }
                if taken < self.requests.len() {
                    self.note_pushed(taken, self.requests.len(), *start_ns);
                    self.left_over = self.batch.len();
                }
                Ok(Together::Submitted)
            }
            Err(halt) => {
                self.note_pushed(0, self.requests.len(), *start_ns);
                Err(halt)
            }
        }
    }

    /// Notes what was pushed and is not submitted.
    #[cold]
    fn note_pushed(&mut self, from: usize, to: usize, start_ns: u64) {
        for request in &self.requests[from..to] {
            self.flights.begin_issued(request, start_ns, start_ns);
            self.batch.push(request.slot);
        }
    }

    /// One is complete already, or the engine did not take it: it is dealt with, and those behind it are pushed.
    #[cold]
    fn not_all_pushed(
        &mut self,
        taken: usize,
        mut then: Option<Result<Completion, ErrorCode>>,
        start_ns: &mut u64,
    ) -> Result<(), Halt> {
        let mut next = taken;
        while let (Some(result), Some(request)) = (then.take(), self.requests.get(next)) {
            self.flights.begin_issued(request, *start_ns, *start_ns);
            let slot = request.slot;
            next += 1;
            if let Err(halt) = self.not_taken(slot, result) {
                // They were never issued.
                self.free.extend(self.requests.drain(next..).map(|request| request.slot));
                return Err(halt);
            }
            // It took its time: the next ones begin now.
            *start_ns = self.clock.now_ns();
            let pushed = self.queue.push_all(&self.requests[next..]);
            self.note_pushed(next, next + pushed.taken, *start_ns);
            next += pushed.taken;
            then = pushed.then;
        }
        Ok(())
    }

    /// Gives an access a slot, and puts it among those to be pushed.
    #[inline]
    fn put(&mut self, access: Access) {
        // There is one: no more are drawn than are free.
        let Some(slot) = self.free.pop() else { return };
        if access.direction == Direction::Write {
            self.fill(slot, &access);
        }
        let Access { direction, file, offset, bytes } = access;
        self.requests.push(Request { slot, kind: kind_of(direction), file, offset, bytes });
    }

    /// An access that is complete as soon as it is pushed, or that the engine does not take.
    #[cold]
    fn not_taken(&mut self, slot: u32, then: Result<Completion, ErrorCode>) -> Result<(), Halt> {
        match then {
            Ok(completion) => {
                let now = self.clock.now_ns();
                self.complete(&completion, now)?;
                self.tick(now)?;
            }
            Err(code) => {
                self.refused(slot, code)?;
            }
        }
        if self.is_told_to_stop() { Err(Halt::Stopped) } else { Ok(()) }
    }
}
