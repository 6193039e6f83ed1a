//! The next access: whether it may be issued now, and issuing it.

use flashmark_core::clock::Clock;
use flashmark_core::queue::{ErrorCode, IoKind};

use super::supply::Next;
use super::{Halt, InFlight, Odd, Role, Supply, Worker, libc_numbers};
use crate::accesses::{Access, Direction};
use crate::verify::Stamp;

/// What became of the next access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    /// It is in the engine's queue.
    Pushed,
    /// It is complete.
    Completed,
    /// It has to wait until this time.
    NotBefore(u64),
    /// It has to wait for what is under way.
    Quiesce,
    /// There is none.
    End,
}

impl<C: Clock> Worker<C> {
    /// Issues what comes next. With a queue, `batch_ns` is when the batch began; without, the clock is looked at for each.
    #[inline]
    pub(super) fn admit<S: Supply>(&mut self, supply: &mut S, batch_ns: Option<u64>) -> Result<Admitted, Halt> {
        if self.has_urgent
            && let Some(admitted) = self.urgent(batch_ns)?
        {
            return Ok(admitted);
        }
        let next = match self.held.take() {
            Some(held) => held,
            None => {
                if self.pace.is_some() {
                    self.choose_direction(supply);
                }
                supply.next()
            }
        };
        match next {
            Next::Access(access) if !self.is_special => self.issue(access, Role::Plain, None, batch_ns),
            Next::Access(access) => self.with_care(next, access, Role::Plain, batch_ns),
            Next::Check(access, number) => self.with_care(next, access, Role::Check(number), batch_ns),
            other => self.no_access(other, batch_ns),
        }
    }

    /// Of a mix with a rate for each direction: an access that is not due yet leaves its turn to one of the other direction that is
    /// due before it, as in fio. What is read back has to come in the order in which it was written.
    #[cold]
    fn choose_direction<S: Supply>(&mut self, supply: &mut S) {
        let Some(pace) = &self.pace else { return };
        if self.verifier.is_some() {
            return;
        }
        let Some(drawn) = supply.direction() else { return };
        let other = match drawn {
            Direction::Read => Direction::Write,
            Direction::Write => Direction::Read,
            Direction::Trim => return,
        };
        let due = |direction| pace.intended_ns(direction).unwrap_or(0);
        if due(other) < due(drawn) && self.clock.now_ns() < due(drawn) {
            supply.steer(other);
        }
    }

    fn no_access(&mut self, next: Next, batch_ns: Option<u64>) -> Result<Admitted, Halt> {
        match next {
            Next::Sync(file) => {
                if self.under_way() > 0 {
                    self.held = Some(next);
                    return Ok(Admitted::Quiesce);
                }
                self.issue_sync(IoKind::Sync, file, 0, 0, batch_ns)
            }
            Next::Wait(ns) => {
                let until = self.pass_start_ns.saturating_add(ns);
                if self.clock.now_ns() >= until {
                    return Ok(Admitted::Completed);
                }
                self.held = Some(next);
                Ok(Admitted::NotBefore(until))
            }
            Next::Aside(_) if self.under_way() > 0 => {
                self.held = Some(next);
                Ok(Admitted::Quiesce)
            }
            Next::Aside(begins) => {
                let now = self.clock.now_ns();
                if begins {
                    self.aside_ns = now;
                } else if let Some(pace) = &mut self.pace {
                    pace.pause(now.saturating_sub(self.aside_ns));
                }
                Ok(Admitted::Completed)
            }
            Next::Broken => {
                let text = "the trace changed while it was replayed".into();
                Err(Halt::Failed { code: libc_numbers::EIO, text })
            }
            _ => Ok(Admitted::End),
        }
    }

    /// An access of a job with a rate, a flow, ordered overlaps, or pauses.
    #[cold]
    fn with_care(&mut self, next: Next, access: Access, role: Role, batch_ns: Option<u64>) -> Result<Admitted, Halt> {
        if matches!(role, Role::Check(_)) && self.unwritten.contains(&(access.file, access.offset)) {
            return Ok(Admitted::Completed);
        }
        if self.options.engine.serialize_overlap && self.overlaps(&access) {
            self.held = Some(next);
            return Ok(Admitted::Quiesce);
        }
        let intended = match &self.pace {
            Some(pace) if role == Role::Plain => pace.intended_ns(access.direction),
            _ => None,
        };
        if let Some(intended) = intended
            && self.clock.now_ns() < intended
        {
            self.held = Some(next);
            return Ok(Admitted::NotBefore(intended));
        }
        if role == Role::Plain {
            if let Some(flow) = &mut self.flow
                && !flow.may_issue()
            {
                let until = self.clock.now_ns().saturating_add(flow.sleep_ns);
                self.held = Some(next);
                return Ok(Admitted::NotBefore(until));
            }
            if let Some(pace) = &mut self.pace {
                pace.issued(access.direction, access.bytes);
            }
            self.count_for_pauses(&access);
        }
        // Waiting took time: an access that waited begins now.
        let batch_ns = if intended.is_some() { batch_ns.map(|_| self.clock.now_ns()) } else { batch_ns };
        self.issue(access, role, intended, batch_ns)
    }

    fn overlaps(&self, access: &Access) -> bool {
        let end = access.offset + u64::from(access.bytes);
        let mut is_free = vec![false; self.flights.slots()];
        for slot in &self.free {
            is_free[*slot as usize] = true;
        }
        (0..).zip(is_free).filter(|(_, is_free)| !is_free).any(|(slot, _)| {
            let other = self.flights.access(slot);
            other.file == access.file && other.offset < end && access.offset < other.offset + u64::from(other.bytes)
        })
    }

    /// Fills the buffer and gives the access to the engine.
    #[inline]
    fn issue(
        &mut self,
        access: Access,
        role: Role,
        intended_ns: Option<u64>,
        batch_ns: Option<u64>,
    ) -> Result<Admitted, Halt> {
        let Some(slot) = self.free.pop() else { return Ok(Admitted::Quiesce) };
        let mut start_ns = batch_ns.unwrap_or(0);
        if access.direction == Direction::Write {
            self.fill(slot, &access);
            if self.makes_data && batch_ns.is_some() {
                start_ns = self.clock.now_ns();
            }
        }
        self.tally.depths(self.under_way(), 1);
        let odd = Odd { role, intended_ns, ..Odd::NOTHING };
        self.flights.begin_odd(slot, access, start_ns, odd);
        self.push(slot, batch_ns)
    }

    #[inline]
    pub(super) fn fill(&mut self, slot: u32, access: &Access) {
        let number = self.writes_issued;
        self.writes_issued += 1;
        // What the slot was last used for.
        let overwritten = self.flights.access(slot).direction == Direction::Read;
        let buffer = self.queue.buffer(slot);
        if overwritten {
            // All of it: a later, longer write from this slot must not hold what was read.
            self.contents.refresh(buffer, access.offset, true);
        }
        let Some(block) = buffer.get_mut(..access.bytes as usize) else { return };
        if !overwritten {
            self.contents.refresh(block, access.offset, false);
        }
        if let Some(verifier) = &mut self.verifier {
            let time_ns = self.clock.now_ns();
            verifier.stamp(block, &Stamp { offset: access.offset, number, time_ns, thread: self.thread_number });
        }
    }

    /// Gives a slot to the engine.
    #[inline]
    pub(super) fn push(&mut self, slot: u32, batch_ns: Option<u64>) -> Result<Admitted, Halt> {
        if batch_ns.is_none() && self.flights.is_first(slot) {
            let now = self.clock.now_ns();
            self.flights.set_start(slot, now);
            self.flights.set_issued(slot, now);
        }
        let request = self.flights.request(slot);
        if let Some(recorder) = &mut self.recorder
            && self.flights.is_first(slot)
        {
            let InFlight { access, start_ns, .. } = self.flights.get(slot);
            recorder.issued(request.kind, access.file, access.offset, access.bytes, start_ns);
        }
        match self.queue.push(&request) {
            Ok(None) => {
                self.batch.push(slot);
                Ok(Admitted::Pushed)
            }
            Ok(Some(completion)) => {
                let now = self.clock.now_ns();
                self.complete(&completion, now)?;
                self.tick(now)?;
                Ok(Admitted::Completed)
            }
            Err(code) => self.refused(slot, code),
        }
    }

    /// The engine does not take it at all.
    #[cold]
    pub(super) fn refused(&mut self, slot: u32, code: ErrorCode) -> Result<Admitted, Halt> {
        let flight = self.flights.get(slot);
        self.free.push(slot);
        self.fail(flight.action(), &flight.access, code.number(), system_text(code))?;
        Ok(Admitted::Completed)
    }

    /// Hands what was pushed to the kernel.
    pub(super) fn submit_pushed(&mut self) -> Result<(), Halt> {
        if self.makes_data && !self.inline {
            // The data of those behind it was made since one was pushed.
            let start_ns = self.clock.now_ns();
            for slot in self.batch.get(self.left_over..).unwrap_or_default() {
                self.flights.set_start(*slot, start_ns);
            }
        }
        let taken = self.submit()?;
        let issued_ns = self.clock.now_ns();
        // Taken in the order in which they were pushed. What goes again was submitted before.
        for slot in self.batch.drain(..taken.min(self.batch.len())) {
            if !self.inline {
                self.flights.set_issued(slot, issued_ns);
            }
        }
        self.left_over = self.batch.len();
        Ok(())
    }

    /// Has the kernel take what is pushed, at least one of it. Gives how many it took.
    #[inline]
    pub(super) fn submit(&mut self) -> Result<usize, Halt> {
        let mut tries = 0_u32;
        loop {
            match self.queue.submit() {
                Ok(0) if self.queue.under_way() == 0 => {
                    // The kernel has no room for even one, and nothing is under way whose end would make some.
                    if self.is_told_to_stop() {
                        return Err(Halt::Stopped);
                    }
                    tries += 1;
                    if tries > 1000 {
                        let text = system_text(ErrorCode::new(libc_numbers::EAGAIN));
                        return Err(Halt::Failed { code: libc_numbers::EAGAIN, text });
                    }
                    self.clock.sleep_ns(1_000_000);
                }
                Ok(taken) => {
                    self.tally.submitted(taken);
                    return Ok(taken as usize);
                }
                Err(code) => {
                    self.is_lost = true;
                    return Err(Halt::Failed { code: code.number(), text: system_text(code) });
                }
            }
        }
    }
}

/// An error in the system's words.
pub(crate) fn system_text(code: ErrorCode) -> String {
    std::io::Error::from_raw_os_error(code.number()).to_string()
}
