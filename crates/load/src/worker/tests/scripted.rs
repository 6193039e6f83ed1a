//! An engine that completes operations when, and how, a script says.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use flashmark_core::clock::Clock;
use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};
use flashmark_fio::options::VerifyKind;
use flashmark_fio::{Job, JobFile, JobSet, Rules, ThisMachine};

use crate::accesses::{Accesses, Direction, file_parts};
use crate::contents::Contents;
use crate::pace::Pace;
use crate::thread::{batches, cadence, limits};
use crate::verify::Verifier;
use crate::worker::{Progress, Signals, Work, Worker, WorkerResult};

const SEED: u64 = 42;

/// A clock that several hold. Whoever does nothing but look at it again and again makes it go on to the next microsecond, since
/// real ones go on too.
#[derive(Clone, Default)]
pub struct SharedClock(Arc<Hands>);

#[derive(Default)]
struct Hands {
    now_ns: AtomicU64,
    looks: AtomicU32,
}

impl SharedClock {
    fn set_ns(&self, ns: u64) {
        self.0.looks.store(0, Ordering::Relaxed);
        self.0.now_ns.store(ns, Ordering::Relaxed);
    }
}

impl Clock for SharedClock {
    fn now_ns(&self) -> u64 {
        const LOOKS: u32 = 32;
        if self.0.looks.fetch_add(1, Ordering::Relaxed) >= LOOKS {
            let now_ns = self.0.now_ns.load(Ordering::Relaxed);
            self.set_ns(now_ns - now_ns % 1000 + 1000);
        }
        self.0.now_ns.load(Ordering::Relaxed)
    }

    fn sleep_ns(&self, ns: u64) {
        self.set_ns(self.0.now_ns.load(Ordering::Relaxed) + ns);
    }
}

/// What the files hold, by their numbers.
pub type Files = Arc<Mutex<BTreeMap<u32, Vec<u8>>>>;

/// How an operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With all of its bytes.
    All,
    /// With so many.
    Bytes(u32),
    /// With an error.
    Error(i32),
}

/// What happened to the engine.
#[derive(Default)]
pub struct Log {
    /// What was pushed, when, and how many were under way before it.
    pub pushed: Vec<(Request, u64, u32)>,
    /// How many each `submit` took.
    pub submitted: Vec<u32>,
    /// How many each `reap` gave.
    pub reaped: Vec<u32>,
    /// The most that were under way.
    pub most: u32,
}

/// How long an operation takes in nanoseconds, and how it ends; the number counts operations from 0.
type Script = Box<dyn FnMut(&Request, u64) -> (u64, Answer) + Send>;

struct Pending {
    due_ns: u64,
    number: u64,
    request: Request,
    answer: Answer,
}

/// The engine.
struct Scripted {
    clock: SharedClock,
    script: Script,
    inline: bool,
    /// Which operations it completes inside of `push` all the same.
    at_once: Box<dyn FnMut(&Request) -> bool + Send>,
    /// So long does whoever asks for a buffer use it.
    fill_ns: u64,
    /// How many operations of those pushed a `submit` takes; nothing: it fails for good.
    takes: Box<dyn FnMut(u32) -> Option<u32> + Send>,
    submit_ns: u64,
    /// After so many calls of `reap` there is an error for good.
    reaps_left: Option<u32>,
    buffers: Vec<Vec<u8>>,
    busy: Vec<bool>,
    pushed: Vec<Request>,
    pending: Vec<Pending>,
    count: u64,
    files: Files,
    stores: bool,
    log: Arc<Mutex<Log>>,
    /// Calls in a row that did nothing: a loop that only makes such calls never ends.
    idle: u32,
}

impl Scripted {
    fn finish(&mut self, request: &Request, answer: Answer) -> Completion {
        let slot = request.slot as usize;
        let all = if matches!(request.kind, IoKind::Read | IoKind::Write) { request.bytes } else { 0 };
        let result = match answer {
            Answer::All => Ok(all),
            Answer::Bytes(bytes) => Ok(bytes),
            Answer::Error(code) => Err(ErrorCode::new(code)),
        };
        let moved = result.unwrap_or(0) as usize;
        if self.stores {
            let mut files = self.files.lock().unwrap();
            let file = files.entry(request.file).or_default();
            let (start, end) = (request.offset as usize, request.offset as usize + moved);
            if file.len() < end {
                file.resize(end, 0);
            }
            match request.kind {
                IoKind::Read => self.buffers[slot][..moved].copy_from_slice(&file[start..end]),
                IoKind::Write => file[start..end].copy_from_slice(&self.buffers[slot][..moved]),
                _ => {}
            }
        }
        Completion { slot: request.slot, result }
    }

    fn is_idle(&mut self, idle: bool) {
        self.idle = if idle { self.idle + 1 } else { 0 };
        assert!(self.idle < 10_000, "the loop goes round and does nothing");
    }
}

impl Queue for Scripted {
    fn depth(&self) -> u32 {
        self.buffers.len() as u32
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "slot {slot} is under way");
        if self.fill_ns > 0 {
            self.clock.set_ns(self.clock.now_ns() + self.fill_ns);
        }
        &mut self.buffers[slot as usize]
    }

    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        assert!(!self.busy[request.slot as usize], "slot {} is under way", request.slot);
        if matches!(request.kind, IoKind::Read | IoKind::Write) {
            assert!(request.bytes as usize <= self.buffers[0].len());
        }
        let now = self.clock.now_ns();
        let under_way = (self.pending.len() + self.pushed.len()) as u32;
        {
            let mut log = self.log.lock().unwrap();
            log.pushed.push((*request, now, under_way));
            log.most = log.most.max(under_way + 1);
        }
        self.is_idle(false);
        if !self.inline && !(self.at_once)(request) {
            self.busy[request.slot as usize] = true;
            self.pushed.push(*request);
            return Ok(None);
        }
        let (ns, answer) = (self.script)(request, self.count);
        self.count += 1;
        self.clock.set_ns(now + ns);
        Ok(Some(self.finish(request, answer)))
    }

    fn submit(&mut self) -> Result<u32, ErrorCode> {
        self.clock.set_ns(self.clock.now_ns() + self.submit_ns);
        let taken = (self.takes)(self.pushed.len() as u32).ok_or(ErrorCode::new(1))?;
        let now = self.clock.now_ns();
        for request in self.pushed.drain(..taken as usize) {
            let (ns, answer) = (self.script)(&request, self.count);
            self.pending.push(Pending { due_ns: now + ns, number: self.count, request, answer });
            self.count += 1;
        }
        self.log.lock().unwrap().submitted.push(taken);
        self.is_idle(taken == 0);
        Ok(taken)
    }

    fn reap(&mut self, at_least: u32, patience: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        if let Some(left) = &mut self.reaps_left {
            if *left == 0 {
                return Err(ErrorCode::new(22));
            }
            *left -= 1;
        }
        self.pending.sort_by_key(|pending| (pending.due_ns, pending.number));
        let now = self.clock.now_ns();
        let at_least = (at_least as usize).min(self.pending.len()).min(done.capacity());
        let wanted = at_least.checked_sub(1).map_or(now, |last| self.pending[last].due_ns.max(now));
        let now = match patience {
            Patience::None => now,
            Patience::Forever => wanted,
            Patience::Nanoseconds(ns) if at_least > 0 => wanted.min(now + ns),
            Patience::Nanoseconds(_) => now,
        };
        self.clock.set_ns(now);
        let due = self.pending.iter().take_while(|pending| pending.due_ns <= now).count().min(done.capacity());
        for pending in self.pending.drain(..due).collect::<Vec<_>>() {
            self.busy[pending.request.slot as usize] = false;
            done.push(self.finish(&pending.request, pending.answer));
        }
        self.log.lock().unwrap().reaped.push(due as u32);
        self.is_idle(due == 0 && !matches!(patience, Patience::Nanoseconds(1..)));
        Ok(())
    }

    fn under_way(&self) -> u32 {
        self.pending.len() as u32
    }
}

/// A job, and the engine it meets.
pub struct Machine {
    job: Job,
    queue: Scripted,
    clock: SharedClock,
    one_by_one: bool,
    file_count: usize,
    pub signals: Arc<Signals>,
}

/// What came of it.
pub struct Ran {
    pub result: WorkerResult,
    pub log: Log,
    /// Operations that were left in the engine.
    pub left: usize,
}

impl Machine {
    /// `options` of a job, one a line.
    pub fn new(options: &str, script: impl FnMut(&Request, u64) -> (u64, Answer) + Send + 'static) -> Self {
        let text = format!("[job]\nioengine=libaio\nfilename=file\n{options}\n");
        let file = JobFile::parse("test.fio", &text, &ThisMachine).unwrap();
        let set = JobSet::from_file(&file, &ThisMachine, Rules::default()).unwrap_or_else(|error| panic!("{error}"));
        let job = set.jobs.into_iter().next().unwrap();
        let depth = job.options.engine.iodepth as usize;
        let bytes = job.options.access.block_sizes().each().map(|sizes| sizes.most());
        let bytes = bytes.into_iter().max().unwrap() as usize;
        let clock = SharedClock::default();
        let queue = Scripted {
            clock: clock.clone(),
            script: Box::new(script),
            inline: false,
            at_once: Box::new(|_| false),
            fill_ns: 0,
            takes: Box::new(Some),
            submit_ns: 0,
            reaps_left: None,
            buffers: vec![vec![0; bytes]; depth],
            busy: vec![false; depth],
            pushed: Vec::new(),
            pending: Vec::new(),
            count: 0,
            files: Arc::default(),
            stores: false,
            log: Arc::default(),
            idle: 0,
        };
        Self { job, queue, clock, one_by_one: false, file_count: 1, signals: Arc::default() }
    }

    /// Another script, that may know what the machine has.
    pub fn script(&mut self, script: impl FnMut(&Request, u64) -> (u64, Answer) + Send + 'static) {
        self.queue.script = Box::new(script);
    }

    /// The engine completes what it is given.
    pub fn inline(mut self) -> Self {
        self.queue.inline = true;
        self
    }

    /// The loop is that for one access at a time, and the engine does them when they are submitted.
    pub fn gathering(mut self) -> Self {
        self.one_by_one = true;
        self
    }

    /// The engine keeps what is written, and gives it back; it starts with `files`.
    pub fn storing(mut self, files: &Files) -> Self {
        self.queue.stores = true;
        self.queue.files = Arc::clone(files);
        self
    }

    /// Operations of which this is true are complete when they are pushed; the loop does not know that.
    pub fn at_once(mut self, at_once: impl FnMut(&Request) -> bool + Send + 'static) -> Self {
        self.queue.at_once = Box::new(at_once);
        self
    }

    /// Making the data of each write takes so long.
    pub fn fills_in(mut self, ns: u64) -> Self {
        self.queue.fill_ns = ns;
        self
    }

    /// A `submit` takes so long.
    pub fn submits_in(mut self, ns: u64) -> Self {
        self.queue.submit_ns = ns;
        self
    }

    /// Of so many pushed operations a `submit` takes what this says.
    pub fn takes(mut self, takes: impl FnMut(u32) -> Option<u32> + Send + 'static) -> Self {
        self.queue.takes = Box::new(takes);
        self
    }

    /// After so many calls nothing more can be reaped.
    pub fn reaps(mut self, calls: u32) -> Self {
        self.queue.reaps_left = Some(calls);
        self
    }

    /// The job has so many files.
    pub fn files(mut self, count: usize) -> Self {
        self.file_count = count;
        self
    }

    /// The clock starts here.
    pub fn at_ns(self, ns: u64) -> Self {
        self.clock.set_ns(ns);
        self
    }

    pub fn run(self) -> Ran {
        let Self { job, queue, clock, one_by_one, file_count, signals } = self;
        let options = &job.options;
        let parts = file_parts(&options.access, &options.files, &vec![0; file_count], 0, SEED).unwrap();
        let accesses = Accesses::new(&options.access, &options.files.file_service_type, &parts, SEED).unwrap();
        let verifies = options.verify.verify != VerifyKind::None;
        let verifier = verifies.then(|| Verifier::new(&options.verify, &options.buffers, SEED).unwrap());
        let log = Arc::clone(&queue.log);
        let depth = options.engine.iodepth;
        let left = Arc::new(AtomicU32::new(0));
        let inline = queue.inline || one_by_one;
        let started_ns = clock.now_ns();
        let work = Work {
            clock,
            inline,
            accesses: Some(accesses),
            trace: None,
            recorder: None,
            contents: Contents::new(&options.buffers, &options.verify, SEED),
            verifier,
            pace: Pace::new(&options.pace, SEED),
            flow: None,
            series: None,
            batches: batches(&options.engine, depth, options.engine.iodepth_batch_complete_max > 0),
            cadence: cadence(&options.engine),
            limits: limits(options),
            paths: (0..file_count).map(|number| format!("file.{number}")).collect(),
            dropped: Vec::new(),
            thread_number: 1,
            signals,
            progress: Arc::new(Progress::default()),
            earlier: None,
            dumps: Arc::default(),
            options: Arc::new(options.clone()),
            queue: Box::new(Counted { queue, left: Arc::clone(&left) }),
        };
        let clock = work.clock.clone();
        let worker = Worker::new(work);
        // What is done before the threads begin together takes no time of the run.
        clock.set_ns(started_ns);
        let result = worker.run();
        let log = std::mem::take(&mut *log.lock().unwrap());
        Ran { result, log, left: left.load(Ordering::Relaxed) as usize }
    }
}

/// Tells how many operations the engine had when it was dropped.
struct Counted {
    queue: Scripted,
    left: Arc<AtomicU32>,
}

impl Queue for Counted {
    fn depth(&self) -> u32 {
        self.queue.depth()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.queue.buffer(slot)
    }

    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.queue.push(request)
    }

    fn submit(&mut self) -> Result<u32, ErrorCode> {
        self.queue.submit()
    }

    fn reap(&mut self, at_least: u32, patience: Patience, done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        self.queue.reap(at_least, patience, done)
    }

    fn under_way(&self) -> u32 {
        self.queue.under_way()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.left.store((self.queue.pending.len() + self.queue.pushed.len()) as u32, Ordering::Relaxed);
    }
}

impl Ran {
    /// Accesses that were completed, in all directions.
    pub fn count(&self) -> u64 {
        Direction::ALL.iter().map(|direction| self.result.tally.direction(*direction).count).sum()
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        Direction::ALL.iter().map(|direction| self.result.tally.direction(*direction).bytes).sum()
    }

    /// The number of the error that ended it, 0 if none did.
    pub fn error(&self) -> i32 {
        self.result.failure.as_ref().map_or(0, |(code, _)| *code)
    }

    /// Where accesses failed, and with which error.
    pub fn failed(&self) -> Vec<(&'static str, u64, i32)> {
        self.result.tally.failed.iter().map(|failed| (failed.action, failed.offset, failed.code)).collect()
    }

    /// When each operation was pushed.
    pub fn starts_ns(&self) -> Vec<u64> {
        self.log.pushed.iter().map(|(_, now, _)| *now).collect()
    }
}
