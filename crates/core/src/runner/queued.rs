//! The measuring path with several operations under way.
//!
//! A latency begins when the operation, or the batch it is submitted in, is handed over, and ends when its completion is
//! seen. The time is from the first hand-over to the last completion; unlike one operation after the other, making and checking
//! data is inside it, since other operations go on meanwhile.

use alloc::vec::Vec;

use super::job::Job;
use super::meters::Tally;
use super::timer::Timer;
use super::{Halt, Observer, Runner, short_or};
use crate::clock::Clock;
use crate::queue::{Completion, ErrorCode, IoKind, Patience, Request};
use crate::record::{OpKind, Repeat};
use crate::target::{Fault, FaultKind, Target};
use crate::workload::{SyncPolicy, Verify};

/// How often, and after which pause, a queue is asked again that takes nothing and has nothing under way: for 10 seconds.
const SUBMIT_TRIES_MAX: u32 = 10_000;
const SUBMIT_PAUSE_NS: u64 = 1_000_000;
/// What Linux says when it has no room for an operation.
const EAGAIN: i32 = 11;

/// An operation under way.
#[derive(Clone, Copy, Default)]
struct Flight {
    offset: u64,
    start_ns: u64,
    is_read: bool,
}

/// What is under way, and what has become of it. Allocated before the time starts.
struct Flights {
    slots: Vec<Flight>,
    free: Vec<u32>,
    batch: Vec<u32>,
    done: Vec<Completion>,
}

impl Flights {
    fn new(depth: u32) -> Self {
        let depth = depth.max(1);
        Self {
            slots: alloc::vec![Flight::default(); depth as usize],
            free: (0..depth).rev().collect(),
            batch: Vec::with_capacity(depth as usize),
            done: Vec::with_capacity(depth as usize),
        }
    }

    fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Nothing that is under way will be heard of.
    #[cold]
    fn forget(&mut self) {
        self.free.clear();
        self.free.extend((0..self.slots.len() as u32).rev());
    }
}

/// What the loop knows between two batches.
struct Course {
    unsynced: u32,
    begin_ns: Option<u64>,
    last_ns: u64,
    /// Why nothing more is issued; what is under way is still waited for.
    halt: Option<Halt>,
    time_is_up: bool,
}

impl<C: Clock> Runner<'_, C> {
    /// Issues a repeat's operations, and gives how many writes wait for the sync that follows every so many.
    #[allow(clippy::too_many_arguments, reason = "the loop's state; a struct of references would only rename it")]
    pub(super) fn queued<T: Target, O: Observer>(
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
        let queue_depth = target.queue().map_or(1, |queue| queue.depth());
        let depth = workload.queue_depth.min(queue_depth);
        let mut flights = Flights::new(depth);
        let sync_every = match workload.sync {
            SyncPolicy::Every { ops } => ops,
            SyncPolicy::Never | SyncPolicy::End => 0,
        };
        let mut course = Course { unsynced: 0, begin_ns: None, last_ns: 0, halt: None, time_is_up: false };
        loop {
            let may_issue = course.halt.is_none() && !course.time_is_up && job.issued < job.plan.ops;
            let sync_due = sync_every > 0 && course.unsynced >= sync_every;
            if may_issue && !sync_due {
                self.fill_queue(job, pass, target, &mut flights, &mut course, sync_every);
                self.hand_over(job, pass, target, observer, tally, spent, &mut flights, &mut course);
            }
            let is_idle = flights.under_way() == 0;
            if !is_idle {
                self.take_completed(job, pass, target, observer, tally, spent, &mut flights, &mut course);
            }
            // In every turn: an engine that completes what it is given never has anything under way.
            if observer.stop() && course.halt.is_none() && (!is_idle || job.issued < job.plan.ops) {
                course.halt = Some(Halt::Interrupted);
            }
            let elapsed_ns = course.last_ns.saturating_sub(course.begin_ns.unwrap_or(course.last_ns));
            course.time_is_up |= workload.time_ns.is_some_and(|limit| elapsed_ns >= limit);
            if is_idle {
                if sync_due && course.halt.is_none() {
                    course.unsynced = 0;
                    // Nothing else is under way, so the sync's time follows the last completion's.
                    let begin_ns = course.begin_ns.unwrap_or(course.last_ns);
                    timer.first(begin_ns);
                    self.meters.sync(&self.clock, target, observer, tally, timer)?;
                    course.last_ns = self.clock.now_ns();
                    continue;
                }
                if course.halt.is_some() || course.time_is_up || job.issued >= job.plan.ops {
                    break;
                }
            }
        }
        if let Some(begin_ns) = course.begin_ns {
            timer.first(begin_ns);
            timer.op(begin_ns, course.last_ns, true);
        }
        match course.halt {
            Some(halt) => Err(halt),
            None => Ok(course.unsynced),
        }
    }

    /// Makes the next operations ready, as many as there is room for and as may come before the next sync.
    fn fill_queue<T: Target>(
        &mut self,
        job: &mut Job<'_>,
        pass: u32,
        target: &mut T,
        flights: &mut Flights,
        course: &mut Course,
        sync_every: u32,
    ) {
        let block = job.workload.block_bytes as usize;
        let Some(queue) = target.queue() else { return };
        while job.issued < job.plan.ops && (sync_every == 0 || course.unsynced < sync_every) {
            let Some(slot) = flights.free.pop() else { break };
            let offset = job.offsets.next_offset();
            let is_read = job.mix.next_is_read();
            let buffer = &mut queue.buffer(slot)[..block];
            if !is_read {
                job.pattern.fill(buffer, offset, pass);
                course.unsynced += u32::from(sync_every > 0);
            } else if job.workload.verify != Verify::None {
                job.pattern.spoil(buffer);
            }
            flights.slots[slot as usize] = Flight { offset, start_ns: 0, is_read };
            flights.batch.push(slot);
            job.issued += 1;
        }
    }

    /// Gives them to the queue.
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn hand_over<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        pass: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        spent: &mut Repeat,
        flights: &mut Flights,
        course: &mut Course,
    ) {
        let bytes = job.workload.block_bytes;
        let mut start_ns = self.clock.now_ns();
        course.begin_ns.get_or_insert(start_ns);
        let mut batch = core::mem::take(&mut flights.batch);
        for slot in batch.drain(..) {
            flights.slots[slot as usize].start_ns = start_ns;
            let Flight { offset, is_read, .. } = flights.slots[slot as usize];
            let kind = if is_read { IoKind::Read } else { IoKind::Write };
            observer.issued(kind, offset, bytes, start_ns);
            let request = Request { slot, kind, file: 0, offset, bytes };
            let pushed = target.queue().map_or(Err(ErrorCode::new(0)), |queue| queue.push(&request));
            let completion = match pushed {
                Ok(None) => continue,
                Ok(Some(completion)) => completion,
                Err(code) => Completion { slot, result: Err(code) },
            };
            let now = self.clock.now_ns();
            self.completed(job, pass, target, observer, tally, spent, flights, course, completion, now);
            start_ns = now;
        }
        flights.batch = batch;
        if flights.under_way() > 0 {
            self.submit(target, observer, tally, flights, course);
        }
    }

    fn submit<T: Target, O: Observer>(
        &mut self,
        target: &mut T,
        observer: &O,
        tally: &mut Tally,
        flights: &mut Flights,
        course: &mut Course,
    ) {
        let mut tries = 0_u32;
        let code = loop {
            let Some(queue) = target.queue() else { return };
            match queue.submit() {
                // Nothing fits and nothing is under way that could make room: the kernel is asked again a little later.
                Ok(0) if queue.under_way() == 0 => {
                    if observer.stop() {
                        // Never handed over: it goes with the queue.
                        flights.forget();
                        course.halt.get_or_insert(Halt::Interrupted);
                        return;
                    }
                    tries += 1;
                    if tries > SUBMIT_TRIES_MAX {
                        break ErrorCode::new(EAGAIN);
                    }
                    self.clock.sleep_ns(SUBMIT_PAUSE_NS);
                }
                Ok(_) => return,
                Err(code) => break code,
            }
        };
        let fault = target.queue_fault(code);
        lost(tally, flights, course, fault);
    }

    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn take_completed<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        pass: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        spent: &mut Repeat,
        flights: &mut Flights,
        course: &mut Course,
    ) {
        let mut done = core::mem::take(&mut flights.done);
        done.clear();
        let Some(queue) = target.queue() else { return };
        let unsubmitted = queue.under_way() == 0;
        let reaped = if unsubmitted { Ok(()) } else { queue.reap(1, Patience::Forever, &mut done) };
        let now = self.clock.now_ns();
        for completion in done.drain(..) {
            self.completed(job, pass, target, observer, tally, spent, flights, course, completion, now);
        }
        flights.done = done;
        match reaped {
            Err(code) => {
                let fault = target.queue_fault(code);
                lost(tally, flights, course, fault);
            }
            // What the kernel did not take the first time.
            Ok(()) if flights.under_way() > 0 => self.submit(target, observer, tally, flights, course),
            Ok(()) => {}
        }
    }

    /// Accounts for an operation, and frees its slot.
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn completed<T: Target, O: Observer>(
        &mut self,
        job: &mut Job<'_>,
        pass: u32,
        target: &mut T,
        observer: &mut O,
        tally: &mut Tally,
        spent: &mut Repeat,
        flights: &mut Flights,
        course: &mut Course,
        completion: Completion,
        now_ns: u64,
    ) {
        let workload = job.workload;
        let block = workload.block_bytes as usize;
        let slot = completion.slot;
        let Flight { offset, start_ns, is_read } = flights.slots[slot as usize];
        course.last_ns = course.last_ns.max(now_ns);
        let check = is_read && workload.verify != Verify::None;
        let mut place = offset;
        let moved = match completion.result {
            Ok(bytes) if bytes as usize == block => Ok(block),
            Ok(bytes) => self.rest(target, slot, offset, bytes as usize, block, is_read),
            Err(code) => Err(target.queue_fault(code)),
        };
        let moved = match (moved, target.queue()) {
            (Ok(bytes), Some(queue)) if check && bytes == block => {
                let checked = job.pattern.check(&queue.buffer(slot)[..block], offset, job.first_pass..=pass);
                checked.map(|()| bytes).map_err(|mismatch| {
                    place = mismatch.offset();
                    mismatch.into()
                })
            }
            (moved, _) => moved,
        };
        flights.free.push(slot);
        let op = if is_read { OpKind::Read } else { OpKind::Write };
        match moved {
            Ok(bytes) if bytes == block || (workload.accept_short && tally.note_short(bytes, block)) => {
                let latency = now_ns.checked_sub(start_ns);
                tally.clock_steps += u64::from(latency.is_none());
                self.meters.moved(is_read, block as u64, latency, tally, spent);
                if check && bytes == block {
                    tally.verified_bytes += job.pattern.checked_bytes(block);
                }
                observer.moved(block as u64);
            }
            moved => {
                if let Err(halt) = tally.fault(op, place, short_or(moved, block))
                    && course.halt.is_none()
                {
                    course.halt = Some(halt);
                }
            }
        }
    }

    /// Goes on after a short transfer, with one operation after the other: what stopped it shows on the next try.
    #[cold]
    fn rest<T: Target>(
        &mut self,
        target: &mut T,
        slot: u32,
        offset: u64,
        moved: usize,
        block: usize,
        is_read: bool,
    ) -> Result<usize, Fault> {
        let rest = &mut self.buf[..block - moved];
        let place = offset + moved as u64;
        let more = if is_read {
            match target.read(place, rest) {
                Ok(more) => {
                    if let Some(queue) = target.queue() {
                        queue.buffer(slot)[moved..moved + more].copy_from_slice(&rest[..more]);
                    }
                    more
                }
                // The end, or a rest that is no whole block: the transfer was short.
                Err(fault) if matches!(fault.kind, FaultKind::Short | FaultKind::Unsupported) => 0,
                Err(fault) => return Err(fault),
            }
        } else {
            if let Some(queue) = target.queue() {
                rest.copy_from_slice(&queue.buffer(slot)[moved..block]);
            }
            match target.write(place, rest) {
                Ok(more) => more,
                Err(fault) if matches!(fault.kind, FaultKind::Short | FaultKind::Unsupported) => 0,
                Err(fault) => return Err(fault),
            }
        };
        Ok(moved + more)
    }
}

/// The queue itself failed: nothing that is under way will be heard of.
#[cold]
fn lost(tally: &mut Tally, flights: &mut Flights, course: &mut Course, fault: Fault) {
    flights.forget();
    let failed: Result<(), Halt> = tally.fail(OpKind::Drain, 0, fault);
    if let (Err(halt), None) = (failed, &course.halt) {
        course.halt = Some(halt);
    }
}

#[cfg(test)]
mod tests;
