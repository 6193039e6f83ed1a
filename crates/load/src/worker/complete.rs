//! What is done with completed accesses.

use flashmark_core::clock::Clock;
use flashmark_core::queue::{Completion, ErrorCode, Patience};
use flashmark_fio::options::Engine;

use super::admit::system_text;
use super::flight::Plain;
use super::{Halt, InFlight, Odd, Role, WRONG_DATA, Worker, graver, libc_numbers};
use crate::accesses::Direction;
use crate::tally::Latencies;
use crate::verify::{Completion as WriteDone, Expectation};

/// How long an access is tried again that the system cannot take for the moment, in nanoseconds from its start, and how often at
/// least: one may have taken long before.
const RETRY_NS: u64 = 10_000_000_000;
const RETRIES_MIN: u32 = 100;
/// After which pause.
const RETRY_PAUSE_NS: u64 = 1_000_000;
/// How often a block is read anew that has to come in one piece.
const REREADS_MAX: u32 = 8;

impl<C: Clock> Worker<C> {
    /// Waits for at least so many, and deals with all that are complete, also behind one that failed.
    pub(super) fn reap(&mut self, at_least: u32, patience: Patience) -> Result<(), Halt> {
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        let reaped = self.queue.reap(at_least, patience, &mut done);
        let now = self.clock.now_ns();
        if !done.is_empty() {
            self.tally.completed(done.len() as u32);
        }
        let mut outcome = Ok(());
        // Those that were submitted in one call are mostly alike, and are counted together.
        let (mut like, mut count) = (None, 0);
        for completion in &done {
            if let Some(plain) = self.only_counted(completion) {
                self.free.push(completion.slot);
                if like.is_some_and(|like| plain.is_like(&like)) {
                    count += 1;
                } else {
                    self.count_alike(like.replace(plain), std::mem::replace(&mut count, 1), now);
                }
            } else if let Err(halt) = self.complete(completion, now) {
                outcome = graver(outcome, Err(halt));
            }
        }
        self.count_alike(like, count, now);
        self.done = done;
        if let Err(code) = reaped {
            self.is_lost = true;
            return Err(Halt::Failed { code: code.number(), text: system_text(code) });
        }
        outcome?;
        self.tick(now)
    }

    /// An access that is complete as it was asked for, and with which nothing is to be done but to count it.
    #[inline]
    fn only_counted(&self, completion: &Completion) -> Option<Plain> {
        let plain = self.flights.plain(completion.slot)?;
        (self.is_only_counted && completion.result == Ok(plain.bytes())).then_some(*plain)
    }

    /// Counts so many accesses like this one.
    #[inline]
    fn count_alike(&mut self, like: Option<Plain>, count: u64, now: u64) {
        let Some(plain) = like else { return };
        let (direction, bytes) = (plain.direction(), u64::from(plain.bytes()));
        let latencies = self.latencies(plain.start_ns(), plain.issued_ns(), None, now);
        self.add(direction, bytes, count, latencies);
    }

    /// Adds so many accesses of `bytes` bytes each to what is told at the end, and to what is told meanwhile.
    #[inline]
    pub(super) fn add(&mut self, direction: Direction, bytes: u64, count: u64, latencies: Latencies) {
        self.tally.complete(direction, bytes, count, latencies);
        self.progress.add(direction, bytes * count, count);
    }

    #[inline]
    pub(super) fn complete(&mut self, completion: &Completion, now: u64) -> Result<(), Halt> {
        let slot = completion.slot;
        if let Some(plain) = self.only_counted(completion) {
            self.free.push(slot);
            self.count_alike(Some(plain), 1, now);
            return Ok(());
        }
        let flight = self.flights.get(slot);
        match completion.result {
            Ok(moved) => self.moved(slot, &flight, moved, now),
            Err(code) => self.failed(slot, &flight, code, now),
        }
    }

    /// An access of which so much was moved, of whatever kind.
    #[inline(never)]
    fn moved(&mut self, slot: u32, flight: &InFlight, moved: u32, now: u64) -> Result<(), Halt> {
        let Odd { role, intended_ns, moved: before, .. } = flight.odd;
        if role != Role::Plain || before + moved != flight.access.bytes {
            return self.otherwise(slot, flight, moved, now);
        }
        self.free.push(slot);
        let latencies = self.latencies(flight.start_ns, flight.issued_ns, intended_ns, now);
        self.count(flight, latencies, now);
        if self.check_reads && flight.access.direction == Direction::Read {
            self.check(slot, flight, None)?;
        }
        match self.limits.max_latency_ns {
            None => Ok(()),
            Some(limits) => self.check_latency(flight, latencies, limits),
        }
    }

    #[inline]
    fn latencies(&self, start_ns: u64, issued_ns: u64, intended_ns: Option<u64>, now: u64) -> Latencies {
        Latencies {
            submission: (!self.inline).then(|| issued_ns.saturating_sub(start_ns)),
            completion: now.saturating_sub(issued_ns),
            from_intended: intended_ns.map(|intended| now.saturating_sub(intended)),
        }
    }

    #[inline]
    fn count(&mut self, flight: &InFlight, latencies: Latencies, now: u64) {
        let direction = flight.access.direction;
        let bytes = u64::from(flight.access.bytes);
        self.add(direction, bytes, 1, latencies);
        if direction == Direction::Write
            && let Some(recent) = &mut self.recent
        {
            if recent.len() == self.flights.slots() {
                recent.pop_front();
            }
            recent.push_back(WriteDone { file: u64::from(flight.access.file), offset: flight.access.offset });
        }
        if let Some(series) = &mut self.series
            && self.ramp_end_ns == 0
        {
            series.complete(&flight.access, latencies, now);
        }
    }

    /// What is no plain access in one transfer.
    #[cold]
    fn otherwise(&mut self, slot: u32, flight: &InFlight, moved: u32, now: u64) -> Result<(), Halt> {
        let Odd { role, intended_ns, moved: before, .. } = flight.odd;
        let latencies = self.latencies(flight.start_ns, flight.issued_ns, intended_ns, now);
        if let Role::Sync(_) = role {
            self.free.push(slot);
            self.tally.syncs.record(latencies.submission.unwrap_or(0) + latencies.completion);
            return Ok(());
        }
        let access = flight.access;
        let total = before + moved;
        // Trims and syncs move nothing.
        if access.direction == Direction::Trim || total == access.bytes {
            self.free.push(slot);
            self.count(flight, latencies, now);
            // A block that came in pieces lies at the wrong place in the buffer.
            if let Role::Check(number) = role
                && before == 0
            {
                self.check(slot, flight, number)?;
            }
            return match self.limits.max_latency_ns {
                None => Ok(()),
                Some(limits) => self.check_latency(flight, latencies, limits),
            };
        }
        self.tally.short(access.direction);
        if moved == 0 {
            self.free.push(slot);
            let text = format!(
                "nothing was moved at offset {} of {} bytes: the file or device ends there",
                access.offset + u64::from(before),
                access.bytes
            );
            return self.fail(flight.action(), &access, libc_numbers::EIO, text);
        }
        if access.direction == Direction::Write {
            // The rest moves to the front, where the next transfer takes it from.
            let buffer = self.queue.buffer(slot);
            buffer.copy_within(moved as usize..(access.bytes - before) as usize, 0);
        }
        let is_checked = self.check_reads && access.direction == Direction::Read;
        if is_checked || matches!(role, Role::Check(_)) {
            // Read anew as a whole, so that it lies as it was written.
            let rereads = &mut self.flights.odd_mut(slot).rereads;
            *rereads += 1;
            if *rereads > REREADS_MAX {
                self.free.push(slot);
                let text = format!("only {moved} of {} bytes could be read in one go to be verified", access.bytes);
                return self.fail("verify", &access, libc_numbers::EIO, text);
            }
        } else {
            self.flights.odd_mut(slot).moved = total;
        }
        self.try_again(slot);
        Ok(())
    }

    fn try_again(&mut self, slot: u32) {
        self.again.push_back(slot);
        self.has_urgent = true;
    }

    #[cold]
    fn failed(&mut self, slot: u32, flight: &InFlight, code: ErrorCode, now: u64) -> Result<(), Halt> {
        let may_come = matches!(code.number(), libc_numbers::EAGAIN | libc_numbers::EINTR);
        if may_come && (flight.odd.retries < RETRIES_MIN || now.saturating_sub(flight.start_ns) < RETRY_NS) {
            if code.number() == libc_numbers::EAGAIN {
                self.again_at_ns = now.saturating_add(RETRY_PAUSE_NS);
            }
            let retries = &mut self.flights.odd_mut(slot).retries;
            *retries = retries.saturating_add(1);
            self.try_again(slot);
            return Ok(());
        }
        self.free.push(slot);
        self.fail(flight.action(), &flight.access, code.number(), system_text(code))
    }

    /// Gives up what was to be tried again: the thread ends.
    pub(super) fn again_is_given_up(&mut self) {
        self.again_at_ns = 0;
        while let Some(slot) = self.again.pop_front() {
            self.free.push(slot);
            let flight = self.flights.get(slot);
            let access = flight.access;
            if flight.odd.role != Role::Plain || access.direction != Direction::Write {
                continue;
            }
            if self.verifier.is_some() {
                self.unwritten.insert((access.file, access.offset));
            }
            let moved = flight.odd.moved;
            if moved > 0 {
                let text = format!("the job ended when {moved} of {} bytes were written", access.bytes);
                self.note("write", &access, libc_numbers::EINTR, text);
            }
        }
    }

    /// Compares a block with what was written.
    #[cold]
    fn check(&mut self, slot: u32, flight: &InFlight, number: Option<u64>) -> Result<(), Halt> {
        // An engine that moves nothing has nothing to compare: as in fio, the reads are done and nobody looks.
        if self.options.engine.ioengine == Engine::Null {
            return Ok(());
        }
        let Some(verifier) = &mut self.verifier else { return Ok(()) };
        let access = flight.access;
        let block = &self.queue.buffer(slot)[..access.bytes as usize];
        let expectation = number.map_or(Expectation::Any, |number| Expectation::Write { number });
        let Err(mismatch) = verifier.check(block, access.offset, expectation) else { return Ok(()) };
        let text = mismatch.to_string();
        if self.options.verify.verify_dump
            && let Some(path) = self.paths.get(access.file as usize)
        {
            for file in verifier.dump(path, block, access.offset, &mismatch) {
                // Not to be able to keep it changes nothing about what is wrong.
                let _ = self.dumps.put(path, &file.name, &file.bytes);
            }
        }
        self.wrong_count += 1;
        // Without verify_fatal all the rest is checked too, and the job fails at its end.
        match self.fail("verify", &access, WRONG_DATA, text) {
            Err(halt) if self.options.verify.verify_fatal => Err(halt),
            _ => Ok(()),
        }
    }

    /// Ends a job whose accesses take too long (`max_latency`).
    #[cold]
    fn check_latency(&mut self, flight: &InFlight, latencies: Latencies, limits: [u64; 3]) -> Result<(), Halt> {
        let limit = limits[flight.access.direction as usize];
        let total = latencies.submission.unwrap_or(0) + latencies.completion;
        if limit == 0 || total <= limit {
            return Ok(());
        }
        let text = format!("a latency of {} usec is over max_latency = {} usec", total / 1000, limit / 1000);
        self.note("latency", &flight.access, libc_numbers::ETIME, text.clone());
        Err(Halt::Failed { code: libc_numbers::ETIME, text })
    }
}
