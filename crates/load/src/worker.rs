//! One thread of a job: fills its queue, waits, counts.
//!
//! Two loops share everything but the way they wait: [`inline`] for engines that complete what they are given, with two looks
//! at the clock an access, and [`queued`] for those that keep several under way, with three looks a batch. A latency begins
//! where its access, or the batch it is in, begins to be submitted; the data of a write is made before. Rates are bytes
//! over the whole time.

mod admit;
mod complete;
mod due;
mod flight;
mod inline;
mod passes;
mod queued;
mod signals;
mod supply;
#[cfg(test)]
mod tests;
mod timely;
mod together;

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flashmark_core::clock::Clock;
use flashmark_core::queue::{Completion, IoKind, Queue, RangeSync, Request};
use flashmark_core::record::Warning;
use flashmark_fio::options::{ContinueOn, Options, VerifyKind};

use crate::accesses::{Access, Accesses};
use crate::contents::Contents;
use crate::files::Dumps;
use crate::flow::Share;
use crate::pace::Pace;
use crate::replay::Recorder;
use crate::series::Series;
use crate::tally::{FailedAccess, Tally};
use crate::verify::{Completion as WriteDone, Verifier, VerifyState};

use flight::{Flights, InFlight, Odd, Role};
pub(crate) use signals::{Progress, Signals};
pub(crate) use supply::{Next, Supply};
use timely::MinimumRate;

/// Why a thread ended before its work was done.
#[derive(Debug)]
pub(crate) enum Halt {
    /// It was told to.
    Stopped,
    /// Its time is over.
    TimeUp,
    /// There is no room left, and it was to fill the device.
    Full,
    /// An error; the thread has noted what failed.
    Failed { code: i32, text: String },
}

/// What ends a thread where two things happened: an error is told, whatever else there was.
fn graver(first: Result<(), Halt>, second: Result<(), Halt>) -> Result<(), Halt> {
    let rank = |result: &Result<(), Halt>| match result {
        Ok(()) => 0,
        Err(Halt::TimeUp) => 1,
        Err(Halt::Full) => 2,
        Err(Halt::Stopped) => 3,
        Err(Halt::Failed { .. }) => 4,
    };
    if rank(&second) > rank(&first) { second } else { first }
}

/// When written files are synced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cadence {
    pub fsync: u32,
    pub fdatasync: u32,
    pub range: Option<(u32, RangeSync)>,
}

/// How deep the queue is kept, and how much is moved at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batches {
    pub depth: u32,
    pub submit: u32,
    pub complete_min: u32,
    pub complete_max: u32,
    /// Down to how many the queue runs before it is filled again.
    pub low: u32,
}

/// A thread's time limits, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub runtime_ns: Option<u64>,
    pub time_based: bool,
    pub ramp_ns: u64,
    pub max_latency_ns: Option<[u64; 3]>,
}

/// What a thread needs.
pub(crate) struct Work<C> {
    pub clock: C,
    pub queue: Box<dyn Queue + Send>,
    /// Whether the engine completes what it is given.
    pub inline: bool,
    /// The job's own accesses; nothing if it replays a trace.
    pub accesses: Option<Accesses>,
    /// What is done instead of the job's own accesses.
    pub trace: Option<Box<dyn Supply + Send>>,
    pub recorder: Option<Recorder>,
    pub contents: Contents,
    pub verifier: Option<Verifier>,
    pub pace: Option<Pace>,
    pub flow: Option<Share>,
    pub series: Option<Series>,
    pub options: Arc<Options>,
    pub batches: Batches,
    pub cadence: Cadence,
    pub limits: Limits,
    /// The paths of the files, for messages and dumps.
    pub paths: Vec<String>,
    /// Files whose cached pages are forgotten before each further pass, but for those that were changed (`invalidate`).
    pub dropped: Vec<File>,
    pub thread_number: u32,
    pub signals: Arc<Signals>,
    pub progress: Arc<Progress>,
    /// How far an earlier run came, for `verify_state_load`.
    pub earlier: Option<VerifyState>,
    /// Where `verify_dump` keeps wrong blocks.
    pub dumps: Arc<Dumps>,
}

/// A thread at work.
pub(crate) struct Worker<C> {
    clock: C,
    queue: Box<dyn Queue + Send>,
    inline: bool,
    contents: Contents,
    verifier: Option<Verifier>,
    pace: Option<Pace>,
    flow: Option<Share>,
    series: Option<Series>,
    options: Arc<Options>,
    batches: Batches,
    cadence: Cadence,
    limits: Limits,
    paths: Vec<String>,
    dropped: Vec<File>,
    thread_number: u32,
    signals: Arc<Signals>,
    progress: Arc<Progress>,
    earlier: Option<VerifyState>,
    dumps: Arc<Dumps>,
    /// The last writes that were completed, the latest one last, where a state may have to be saved.
    recent: Option<VecDeque<WriteDone>>,
    tally: Box<Tally>,
    /// Taken out while a pass goes through it.
    accesses: Option<Accesses>,
    trace: Option<Box<dyn Supply + Send>>,
    recorder: Option<Recorder>,

    flights: Flights,
    free: Vec<u32>,
    done: Vec<Completion>,
    /// What is to be issued before anything else: the rest of short transfers, accesses to be tried again.
    again: VecDeque<u32>,
    /// What was pushed since the last submission.
    batch: Vec<u32>,
    /// What is pushed together.
    requests: Vec<Request>,
    /// What has to wait.
    held: Option<Next>,
    /// Whether anything goes before the next access.
    has_urgent: bool,
    /// Whether accesses have more to them than being issued: a rate, pauses, syncs, an order.
    is_special: bool,
    /// Whether they are drawn and pushed a batch at a time: there is nothing to be done between two of them.
    is_pushed_together: bool,
    /// Whether they are pushed as soon as they are drawn, by an engine that completes them.
    is_pushed_at_once: bool,
    /// Whether nothing is done with a plain access that is complete but to count it.
    is_only_counted: bool,
    /// A sync that is due: what it is, of which file, and of which range.
    sync_due: Option<(IoKind, u32, u64, u32)>,
    think_due: bool,
    /// What was written of each file since its last range sync: from where to where.
    ranges: Vec<Option<(u64, u64)>>,
    /// Whether making the data of a write takes so long that its latency must begin behind it.
    makes_data: bool,
    /// How many of the batch an earlier submission left.
    left_over: usize,
    /// Before when nothing is issued again: the system could not take an access, and gets some time.
    again_at_ns: u64,
    /// When what does not count for rates began.
    aside_ns: u64,
    /// Whether everything that the last pass wrote was read back.
    is_verified: bool,
    /// Whether the engine gave up: nothing more can be reaped.
    is_lost: bool,
    pass_start_ns: u64,
    start_ns: u64,
    /// When the time is over; the end of time if it never is.
    deadline_ns: u64,
    /// When the ramp is over; 0 once it is.
    ramp_end_ns: u64,
    next_sample_ns: u64,
    /// Writes issued since the start of the job.
    writes_issued: u64,
    since_sync: u32,
    since_datasync: u32,
    since_range: u32,
    since_think: u32,
    wrong_count: u64,
    passed_over: u64,
    first_passed_over: i32,
    check_reads: bool,
    /// Files and offsets of the pass's writes that failed: what was not written is not read back.
    unwritten: HashSet<(u32, u64)>,
    minimum: Option<MinimumRate>,
}

/// What a thread leaves.
pub(crate) struct WorkerResult {
    pub tally: Box<Tally>,
    /// When it started to measure and when it ended, by the clock.
    pub start_ns: u64,
    pub end_ns: u64,
    /// The error that ended it, if one did.
    pub failure: Option<(i32, String)>,
    pub stopped: bool,
    pub wrong_count: u64,
    pub passed_over: u64,
    pub first_passed_over: i32,
    /// How far its writes came, where it was stopped in the middle of them and is to be verified later.
    pub state: Option<(u64, Vec<WriteDone>)>,
    /// Why a recorded trace is not whole.
    pub lost_trace: Option<String>,
    /// What casts doubt on its numbers.
    pub doubts: Vec<Warning>,
}

impl WorkerResult {
    /// Of a thread that could not begin.
    pub(crate) fn nothing(failure: Option<(i32, String)>) -> Self {
        Self {
            tally: Tally::new(1, 1),
            start_ns: 0,
            end_ns: 0,
            failure,
            stopped: false,
            wrong_count: 0,
            passed_over: 0,
            first_passed_over: 0,
            state: None,
            lost_trace: None,
            doubts: Vec::new(),
        }
    }
}

/// `EILSEQ`, with which fio ends a job whose data is wrong.
pub(crate) const WRONG_DATA: i32 = 84;

impl<C: Clock> Worker<C> {
    pub(crate) fn new(work: Work<C>) -> Self {
        let slots = work.queue.depth().max(1);
        let options = &work.options;
        let verify = &options.verify;
        let keeps_recent =
            verify.verify != VerifyKind::None && verify.verify_state_save && options.access.rw.access.writes();
        let pace = &options.pace;
        let has_minimum = pace.rate_min.each().into_iter().any(|rate| *rate > 0)
            || pace.rate_iops_min.each().into_iter().any(|rate| *rate > 0);
        let minimum = has_minimum.then(|| MinimumRate {
            window_ns: u64::from(pace.rate_cycle_ms) * 1_000_000,
            window_start_ns: 0,
            bytes: [0; 3],
            counts: [0; 3],
        });
        // Only jobs that do nothing but read check what they read: what a mix reads may never have been written.
        let check_reads = options.verify.verify != VerifyKind::None
            && options.access.rw.access.reads()
            && !options.access.rw.access.writes();
        let is_special = work.pace.is_some()
            || work.flow.is_some()
            || work.cadence.fsync > 0
            || work.cadence.fdatasync > 0
            || work.cadence.range.is_some()
            || options.engine.serialize_overlap
            || pace.thinktime_us > 0;
        let makes_data = work.contents.is_costly() || work.verifier.is_some();
        let mut worker = Self {
            tally: Tally::new(options.log.bwavgtime_ms, options.log.iopsavgtime_ms),
            flights: Flights::new(slots),
            free: (0..slots).rev().collect(),
            done: Vec::with_capacity(work.batches.complete_max.clamp(1, slots) as usize),
            again: VecDeque::with_capacity(slots as usize),
            batch: Vec::with_capacity(slots as usize),
            requests: Vec::with_capacity(slots as usize),
            held: None,
            has_urgent: false,
            is_special,
            is_pushed_together: !is_special && !makes_data && work.recorder.is_none() && !work.inline,
            is_pushed_at_once: !is_special && work.recorder.is_none() && work.inline,
            is_only_counted: work.series.is_none()
                && work.limits.max_latency_ns.is_none()
                && !check_reads
                && !keeps_recent,
            sync_due: None,
            think_due: false,
            ranges: vec![None; if work.cadence.range.is_some() { work.paths.len() } else { 0 }],
            makes_data,
            left_over: 0,
            again_at_ns: 0,
            aside_ns: 0,
            is_verified: false,
            is_lost: false,
            pass_start_ns: 0,
            start_ns: 0,
            deadline_ns: u64::MAX,
            ramp_end_ns: 0,
            next_sample_ns: u64::MAX,
            writes_issued: 0,
            since_sync: 0,
            since_datasync: 0,
            since_range: 0,
            since_think: 0,
            wrong_count: 0,
            passed_over: 0,
            first_passed_over: 0,
            check_reads,
            unwritten: HashSet::new(),
            minimum,
            clock: work.clock,
            queue: work.queue,
            inline: work.inline,
            accesses: work.accesses,
            trace: work.trace,
            recorder: work.recorder,
            contents: work.contents,
            verifier: work.verifier,
            pace: work.pace,
            flow: work.flow,
            series: work.series,
            options: work.options,
            batches: work.batches,
            cadence: work.cadence,
            limits: work.limits,
            paths: work.paths,
            dropped: work.dropped,
            thread_number: work.thread_number,
            signals: work.signals,
            progress: work.progress,
            earlier: work.earlier,
            dumps: work.dumps,
            recent: keeps_recent.then(|| VecDeque::with_capacity(slots as usize)),
        };
        worker.prime();
        worker
    }

    /// Fills the buffers, which may take seconds: before all threads begin together, and not longer than until a stop.
    fn prime(&mut self) {
        for slot in 0..self.flights.slots() as u32 {
            if self.is_told_to_stop() {
                return;
            }
            self.contents.prime(self.queue.buffer(slot));
        }
    }

    /// How many accesses are under way, in the engine or waiting to be issued again.
    fn under_way(&self) -> u32 {
        (self.flights.slots() - self.free.len()) as u32
    }

    #[inline]
    fn is_told_to_stop(&self) -> bool {
        self.signals.stop.load(Ordering::Relaxed)
    }

    /// Whether an error is passed over. As in fio, a read that cannot be checked is a read, and whatever else is not read is a
    /// write, trims and syncs too.
    fn passes_over(&self, action: &'static str, code: i32) -> bool {
        let ignored = &self.options.run.ignore_error;
        let on = self.options.run.continue_on_error;
        let (kind, ignored) = match action {
            _ if code == WRONG_DATA => (ContinueOn::Verify, &ignored.verify),
            "read" | "verify" => (ContinueOn::Read, &ignored.read),
            _ => (ContinueOn::Write, &ignored.write),
        };
        on == kind
            || on == ContinueOn::All
            || on == ContinueOn::Io && kind != ContinueOn::Verify
            || ignored.contains(&code)
    }

    /// Keeps what failed, to be told.
    #[cold]
    fn note(&mut self, action: &'static str, access: &Access, code: i32, text: String) {
        let Access { file, offset, bytes, .. } = *access;
        self.tally.failed(FailedAccess { action, file, offset, bytes, code, text });
    }

    /// Notes a failure, and says whether it ends the thread.
    #[cold]
    fn fail(&mut self, action: &'static str, access: &Access, code: i32, text: String) -> Result<(), Halt> {
        if action == "write" && self.verifier.is_some() {
            self.unwritten.insert((access.file, access.offset));
        }
        // What the job is for is no failure of it.
        if code == libc_numbers::ENOSPC && self.options.access.fill_device && action == "write" {
            return Err(Halt::Full);
        }
        self.note(action, access, code, text.clone());
        if self.passes_over(action, code) {
            self.passed_over += 1;
            if self.first_passed_over == 0 {
                self.first_passed_over = code;
            }
            return Ok(());
        }
        Err(Halt::Failed { code, text })
    }
}

/// The system's numbers that the loop itself knows; the same on every Linux machine that flashmark runs on.
mod libc_numbers {
    pub(super) const EINTR: i32 = 4;
    pub(super) const EIO: i32 = 5;
    pub(super) const EAGAIN: i32 = 11;
    pub(super) const ENOSPC: i32 = 28;
    pub(super) const ETIME: i32 = 62;
}
