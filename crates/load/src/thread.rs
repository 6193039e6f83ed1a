//! One copy of a job, as a thread: it opens its files, makes its queue, waits for the others, works, and reports.

mod settings;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use flashmark_core::clock::Clock as _;
use flashmark_core::record::{Warning, WarningCode};
use flashmark_fio::Job;
use flashmark_fio::options::VerifyKind;
use flashmark_fio::results::JobReport;
use flashmark_host::clock::RunClock;
use flashmark_host::engine::{self, QueueSetup};
use flashmark_host::usage::ThreadUsage;

use crate::accesses::Accesses;
use crate::contents::Contents;
use crate::error::{LoadError, LoadProblem};
use crate::files::{
    Dumps, FileId, FileKind, FilePlan, Layout, Making, Rights, create_output, open_all, resident_pages,
};
use crate::flow::Share;
use crate::pace::Pace;
use crate::replay::{Recorder, Replay, trace_of};
use crate::report::job_report;
use crate::series::{Chunk, Series};
use crate::tally::FailedAccess;
use crate::verify::{Completion, Verifier, VerifyState, state_file_name};
use crate::worker::{Progress, Signals, Supply, Work, Worker, WorkerResult};
pub(crate) use settings::{batches, cadence, check, limits};
use settings::{engine_name, pin, queue_options};

/// What a thread starts from.
pub(crate) struct ThreadPlan<'a> {
    pub job: &'a Job,
    /// Its place among all jobs.
    pub job_index: usize,
    /// The copy's number, from 0.
    pub copy: u32,
    /// The thread's number in the run, from 0.
    pub number: usize,
    pub files: FilePlan,
    pub seed: u64,
    /// The flow that it shares with others, and its own share.
    pub flow: Option<Share>,
    pub signals: Arc<Signals>,
    pub progress: Arc<Progress>,
}

/// Files that a job's own thread makes: nobody looks on, and a stop is heard.
struct Unseen<'a>(&'a Signals);

impl Making for Unseen<'_> {
    fn made(&mut self, _: &Path, _: u64, _: u64) -> bool {
        !self.0.stop.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// What a thread leaves.
#[derive(Debug)]
pub struct ThreadOutcome {
    /// The job, by its place among those of the run.
    pub job: usize,
    /// The copy's number, from 0.
    pub copy: u32,
    /// Its result in fio's terms, with all latencies.
    pub report: JobReport,
    /// The files that it used.
    pub files: Vec<PathBuf>,
    /// Which files they were when they were opened; none if it did not come that far.
    pub(crate) opened: Vec<(PathBuf, FileId)>,
    /// Accesses that failed; at most [`flashmark_core::record::FAULTS_KEPT`].
    pub failed: Vec<FailedAccess>,
    /// How many failed.
    pub failed_count: u64,
    /// Blocks that hold wrong data.
    pub wrong_blocks: u64,
    /// Whether it was stopped before its end, other than by the end of another job.
    pub stopped: bool,
    /// Why the trace that it recorded is not whole.
    pub(crate) lost_trace: Option<String>,
    /// What casts doubt on its numbers, for people.
    pub doubts: Vec<Warning>,
    /// The engine that issued its accesses.
    pub engine: &'static str,
    /// Whether its accesses passed the page cache by, as far as can be seen.
    pub direct: bool,
}

/// Opens once for all threads of a batch: to begin, or to give up.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<Option<bool>>,
    changed: Condvar,
}

impl Gate {
    /// Lets everybody through: to work, or home.
    pub(crate) fn open(&self, work: bool) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
        self.changed.notify_all();
    }

    fn wait(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *state {
                Some(work) => return work,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// What all threads of a batch share.
pub(crate) struct Common<'a> {
    pub rights: &'a Rights,
    pub gate: &'a Gate,
    pub logs: SyncSender<Chunk>,
    /// Where files that jobs make for themselves are: states of verification.
    pub auxiliary: &'a Path,
    pub dumps: &'a Arc<Dumps>,
    /// Whether nothing may be changed.
    pub read_only: bool,
}

/// Milliseconds since 1970 began, UTC.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A thread that is ready to work.
pub(crate) struct Ready {
    worker: Worker<RunClock>,
    direct: bool,
    engine: &'static str,
    doubts: Vec<Warning>,
    resident_before: Option<u64>,
    opened: Vec<(PathBuf, FileId)>,
}

impl ThreadPlan<'_> {
    /// Everything before the work.
    pub(crate) fn prepare(&self, common: &Common<'_>) -> Result<Ready, LoadProblem> {
        let options = &self.job.options;
        pin(options, self.copy)?;
        // What this thread opens from here on it keeps to itself.
        flashmark_host::descriptors::own();
        let seed = self.seed;
        let (accesses, trace, buffer_bytes) = match &self.files.needs {
            Some(needs) => {
                let trace = trace_of(self.job, self.copy).unwrap_or_default();
                let replay = Replay::open(self.job, trace, common.read_only)?;
                let replay: Box<dyn Supply + Send> = Box::new(replay);
                (None, Some(replay), needs.largest_bytes.max(1) as usize)
            }
            None => {
                let parts = self.files.parts();
                let accesses = Accesses::new(&options.access, &options.files.file_service_type, &parts, seed)?;
                let largest = accesses.largest_bytes() as usize;
                (Some(accesses), None, largest)
            }
        };
        let paths: Vec<String> = self.files.files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect();
        let recorder = match &options.replay.write_iolog {
            Some(name) => Some(Recorder::create(&Recorder::path_of(name, self.copy), &paths)?),
            None => None,
        };
        if options.files.create_on_open {
            Layout { rights: common.rights, making: &mut Unseen(&self.signals), seed, may_hold: false }
                .make(self.job, &self.files)?;
        }
        let files = open_all(self.job, &self.files, common.rights)?;
        let opened = self.identities(&files)?;
        let dropped = self.dropped(&files)?;
        let resident_before = self.resident();
        let mut doubts: Vec<Warning> =
            self.files.notes.iter().map(|note| Warning::new(WarningCode::SmallTarget, note.clone())).collect();
        if let Some(pages) =
            resident_before.filter(|pages| *pages > 0 && options.files.invalidate && !options.files.pre_read)
            && options.access.rw.access.reads()
        {
            let text =
                format!("{pages} pages of the files stayed in the page cache: reads of them are not the medium's");
            doubts.push(Warning::new(WarningCode::PageCache, text));
        }
        let open = options.files.openfiles as usize;
        if open > 0 && open < self.files.files.len() {
            let text = format!("openfiles={open}: all {} files are open at once", self.files.files.len());
            doubts.push(Warning::new(WarningCode::Skipped, text));
        }
        let name = engine_name(&options.engine);
        let entry =
            engine::find(name).ok_or_else(|| LoadProblem::Option(format!("this system has no engine `{name}`")))?;
        let side = entry.queue_side().ok_or_else(|| LoadProblem::Option(format!("`{}` has no queues", entry.name)))?;
        // Whoever completes one before the next begins has no use for a queue. (That it is no deeper is told when the job is
        // read.)
        let depth = if side.concurrent || side.gathers { options.engine.iodepth } else { 1 };
        doubts.extend(settings::doubts(&options.engine));
        let align = match options.buffers.iomem_align {
            // Small buffers that all begin a page are in each other's way in the processor's caches.
            0 if options.engine.direct || buffer_bytes >= flashmark_core::runner::BUFFER_ALIGN => {
                flashmark_core::runner::BUFFER_ALIGN
            }
            0 => 512,
            given if given.is_power_of_two() => given as usize,
            given => return Err(LoadProblem::Option(format!("iomem_align={given} is no power of two"))),
        };
        let queue = entry.queue(QueueSetup {
            files,
            depth,
            buffer_bytes,
            buffer_align: align,
            options: queue_options(&options.engine),
        })?;
        let verifier = if options.verify.verify == VerifyKind::None {
            None
        } else {
            let mut verifier = Verifier::new(&options.verify, &options.buffers, seed)?;
            verifier.reserve(buffer_bytes)?;
            Some(verifier)
        };
        let worker = Worker::new(Work {
            clock: RunClock::new(),
            inline: !side.concurrent && depth == 1,
            accesses,
            trace,
            recorder,
            contents: Contents::new(&options.buffers, &options.verify, seed),
            verifier,
            pace: Pace::new(&options.pace, seed),
            flow: self.flow.clone(),
            series: Series::new(&options.log, self.number, &common.logs),
            batches: batches(&options.engine, depth, self.job.is_given("iodepth_batch_complete_max")),
            cadence: cadence(&options.engine),
            limits: limits(options),
            paths,
            dropped,
            thread_number: self.number as u32 + 1,
            signals: Arc::clone(&self.signals),
            progress: Arc::clone(&self.progress),
            earlier: self.earlier(common)?,
            dumps: Arc::clone(common.dumps),
            options: Arc::new(options.clone()),
            queue,
        });
        Ok(Ready {
            worker,
            direct: options.engine.direct && entry.direct,
            engine: entry.name,
            doubts,
            resident_before,
            opened,
        })
    }

    /// What the open files are, so that `unlink` removes nothing else.
    fn identities(&self, files: &[File]) -> Result<Vec<(PathBuf, FileId)>, LoadProblem> {
        let mut opened = Vec::with_capacity(files.len());
        for (planned, file) in self.files.files.iter().zip(files) {
            let failed = |source| LoadProblem::Io { doing: "cannot look at", path: planned.path.clone(), source };
            if let Some(id) = FileId::of(&file.metadata().map_err(failed)?) {
                opened.push((planned.path.clone(), id));
            }
        }
        Ok(opened)
    }

    /// The files whose pages are dropped before each pass, as fio does when it opens them again.
    fn dropped(&self, files: &[File]) -> Result<Vec<File>, LoadProblem> {
        let options = &self.job.options;
        if !options.files.invalidate || options.files.pre_read || options.engine.direct {
            return Ok(Vec::new());
        }
        let planned = self.files.files.iter().zip(files);
        let real = planned.filter(|(planned, _)| planned.kind != FileKind::Imagined);
        real.map(|(planned, file)| {
            let failed = |source| LoadProblem::Io { doing: "cannot open", path: planned.path.clone(), source };
            file.try_clone().map_err(failed)
        })
        .collect()
    }

    /// The pages of the files that are in the page cache.
    fn resident(&self) -> Option<u64> {
        let real = self.files.files.iter().filter(|file| file.kind != FileKind::Imagined);
        real.map(|file| resident_pages(&file.path, file.needed_bytes)).sum()
    }

    /// How far an earlier run came, if the job wants to know.
    fn earlier(&self, common: &Common<'_>) -> Result<Option<VerifyState>, LoadProblem> {
        let verify = &self.job.options.verify;
        if !verify.verify_state_load || verify.verify == VerifyKind::None {
            return Ok(None);
        }
        let path = self.state_path(common);
        let bytes = std::fs::read(&path).map_err(|source| LoadProblem::Io {
            doing: "cannot read the state of verification",
            path: path.clone(),
            source,
        })?;
        let state = VerifyState::decode(&bytes)
            .map_err(|error| LoadProblem::Option(format!("verify_state_load: {}: {error}", path.display())))?;
        if self.job.options.access.rw.access.is_random() && state.random != [self.seed, 0, 0, 0, 0, 0] {
            return Err(LoadProblem::Option(format!(
                "verify_state_load: {} is of another order of random blocks (another seed, or fio's own): such a state only \
                 counts writes, so that it fits sequential jobs and the same job alone",
                path.display()
            )));
        }
        Ok(Some(state))
    }

    fn state_path(&self, common: &Common<'_>) -> PathBuf {
        common.auxiliary.join(state_file_name(&self.job.name, self.number as u64))
    }

    /// Saves how far the writes came; gives what is to be told if that fails.
    fn save(&self, common: &Common<'_>, writes: u64, completions: Vec<Completion>) -> Option<Warning> {
        let options = &self.job.options;
        let state = VerifyState {
            job: self.job.name.clone(),
            index: self.number as u64,
            depth: options.engine.iodepth,
            files: self.files.files.len() as u32,
            writes,
            random: [self.seed, 0, 0, 0, 0, 0],
            completions,
        };
        let path = self.state_path(common);
        let saved = state.encode().map_err(|error| error.to_string());
        let saved = saved.and_then(|bytes| write_output(&path, &bytes).map_err(|error| error.to_string()));
        let error = saved.err()?;
        let text = format!("verify_state_save: {} could not be written: {error}", path.display());
        Some(Warning::new(WarningCode::Skipped, text))
    }

    /// The work, once the gate is open.
    pub(crate) fn work(&self, ready: Ready, common: &Common<'_>) -> Option<ThreadOutcome> {
        if !common.gate.wait() {
            return None;
        }
        let Ready { worker, mut direct, engine, mut doubts, resident_before, opened } = ready;
        self.delay();
        let started_at = unix_ms();
        let before = ThreadUsage::now();
        let mut result = worker.run();
        let usage = ThreadUsage::now().since(&before);
        let options = &self.job.options;
        if direct && options.access.rw.access.reads() {
            let moved_pages = result.tally.direction(crate::accesses::Direction::Read).bytes / 4096;
            if let (Some(before), Some(after)) = (resident_before, self.resident())
                && after.saturating_sub(before) > (moved_pages / 10).max(16)
            {
                direct = false;
                let text = "direct=1, but what was read is in the page cache: the file system buffered it";
                doubts.push(Warning::new(WarningCode::NotDirect, text));
            }
        }
        if let Some((writes, completions)) = result.state.take() {
            doubts.extend(self.save(common, writes, completions));
        }
        doubts.append(&mut result.doubts);
        let report = job_report(self.job, &mut result, usage, started_at);
        Some(ThreadOutcome {
            job: self.job_index,
            copy: self.copy,
            report,
            files: self.files.files.iter().map(|file| file.path.clone()).collect(),
            opened,
            failed: std::mem::take(&mut result.tally.failed),
            failed_count: result.tally.failed_count,
            wrong_blocks: result.wrong_count,
            stopped: result.stopped && !self.signals.ended_by_job.load(std::sync::atomic::Ordering::Relaxed),
            lost_trace: result.lost_trace.map(|lost| format!("write_iolog: {lost}")),
            doubts,
            engine,
            direct,
        })
    }

    /// What is left of a thread that could not begin, in a run of which something has been measured.
    pub(crate) fn did_not_start(&self, problem: &LoadError) -> ThreadOutcome {
        let failure = Some((problem.problem.code(), problem.problem.to_string()));
        let mut result = WorkerResult::nothing(failure);
        ThreadOutcome {
            job: self.job_index,
            copy: self.copy,
            report: job_report(self.job, &mut result, ThreadUsage::default(), unix_ms()),
            files: self.files.files.iter().map(|file| file.path.clone()).collect(),
            opened: Vec::new(),
            failed: Vec::new(),
            failed_count: 0,
            wrong_blocks: 0,
            stopped: false,
            lost_trace: None,
            doubts: Vec::new(),
            engine: engine_name(&self.job.options.engine),
            direct: false,
        }
    }

    /// `startdelay`, in slices, so that a stop is heard.
    fn delay(&self) {
        let (least, most) = self.job.options.run.startdelay_us;
        let spread = crate::contents::mix(self.number as u64) % (most.saturating_sub(least) + 1);
        let clock = RunClock::new();
        let until = clock.now_ns().saturating_add((least + spread).saturating_mul(1000));
        while !self.signals.stop.load(std::sync::atomic::Ordering::Relaxed) {
            let left = until.saturating_sub(clock.now_ns());
            if left == 0 {
                break;
            }
            clock.sleep_ns(left.min(20_000_000));
        }
    }
}

/// Writes a file anew that a job keeps for itself.
fn write_output(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    create_output(path)?.write_all(bytes)
}
