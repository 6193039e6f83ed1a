//! A run: jobs in batches between `stonewall`s, each copy of a job a thread.

mod status;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::time::{Duration, Instant};

use flashmark_fio::options::ExitWhat;
use flashmark_fio::results::{JobReport, Results};
use flashmark_fio::{Job, JobSet};
use flashmark_host::consent::ConsentArgs;

use crate::disks::{Disks, disk_of};
use crate::error::{LoadError, LoadProblem};
use crate::files::{FilePlan, Layout, Making, Rights};
use crate::flow::Flows;
use crate::logs::LogWriter;
use crate::report::{group_report, leave_out, merge};
use crate::thread::{Common, Gate, ThreadOutcome, ThreadPlan, unix_ms};
use crate::worker::{Progress, Signals};
pub use status::Status;

/// Watches a run, and may stop it.
pub trait Watch {
    /// A file is being made.
    fn making(&mut self, path: &Path, bytes: u64, of_bytes: u64);

    /// Called every so often while threads work.
    fn progress(&mut self, status: &Status);

    /// Whether the run is to stop.
    fn stop(&mut self) -> bool;
}

/// What a run gives.
#[derive(Debug)]
pub struct Finished {
    /// The results in fio's terms.
    pub results: Results,
    /// What each thread did, in order.
    pub threads: Vec<ThreadOutcome>,
    /// Whether it was stopped by the watch.
    pub interrupted: bool,
    /// What casts doubt on the numbers of all jobs, for people.
    pub doubts: Vec<String>,
    /// Logs that could not be written.
    pub lost_logs: Vec<String>,
}

impl Finished {
    /// Whether any job ended with an error.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(|thread| thread.report.error != 0)
    }
}

struct Maker<'a>(&'a mut dyn Watch);

impl Making for Maker<'_> {
    fn made(&mut self, path: &Path, bytes: u64, of_bytes: u64) -> bool {
        self.0.making(path, bytes, of_bytes);
        !self.0.stop()
    }
}

/// Runs jobs.
///
/// Everything that can be checked is checked before anything is made or written: sizes, rights, and what stands on devices.
///
/// # Errors
/// What is in the way of a job. Jobs that began and failed are no error: their results say so.
pub fn run(set: &JobSet, how: &How<'_>, watch: &mut dyn Watch) -> Result<Finished, LoadError> {
    Run::new(set)?.start(how, watch)
}

/// What a run needs besides its jobs.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// What may be overwritten.
    pub consent: &'a ConsentArgs,
    /// Where files that jobs make for themselves go: states of verification; the working directory if empty.
    pub auxiliary: &'a Path,
}

/// A run that is planned.
struct Run<'a> {
    set: &'a JobSet,
    threads: Vec<ThreadPlan<'a>>,
    started: Instant,
}

impl<'a> Run<'a> {
    fn new(set: &'a JobSet) -> Result<Self, LoadError> {
        let mut threads: Vec<ThreadPlan<'_>> = Vec::new();
        let mut flows = Flows::default();
        let entropy = flashmark_host::test_file::random_id();
        for (job_index, job) in set.jobs.iter().enumerate() {
            for copy in 0..job.options.run.numjobs {
                let seed = seed(job, threads.len() as u64, entropy);
                let files = FilePlan::new(job, copy, seed).map_err(|problem| error_of(job, problem))?;
                threads.push(ThreadPlan {
                    job,
                    job_index,
                    copy,
                    number: threads.len(),
                    files,
                    seed,
                    flow: flows.share(&job.options.pace),
                    signals: Arc::new(Signals::default()),
                    progress: Arc::new(Progress::default()),
                });
            }
        }
        Ok(Self { set, threads, started: Instant::now() })
    }

    fn start(self, how: &How<'_>, watch: &mut dyn Watch) -> Result<Finished, LoadError> {
        let plans = self.threads.iter().map(|thread| (thread.job, &thread.files));
        let rights = Rights::of(plans, how.consent).map_err(|(job, problem)| LoadError { job, problem })?;
        let mut writer = LogWriter::default();
        for thread in &self.threads {
            writer.add(thread.job, thread.number as u32 + 1, unix_ms()).map_err(|(path, source)| {
                error_of(thread.job, LoadProblem::Io { doing: "cannot make the log", path, source })
            })?;
        }
        let disks = self.disks();
        let disks_before = Disks::now(&disks);
        let mut outcomes = Vec::with_capacity(self.threads.len());
        let mut interrupted = false;
        let has_logs = !writer.is_empty();
        // Deep enough that a job waits only for a writer that is seconds behind.
        let (sender, receiver) = sync_channel(256);
        let lost_logs = std::thread::scope(|scope| {
            let logs = has_logs.then(|| scope.spawn(move || writer.write(&receiver)));
            let result = self.batches().into_iter().try_for_each(|batch| {
                if interrupted {
                    return Ok(());
                }
                let gate = Gate::default();
                let common = Common { rights: &rights, gate: &gate, logs: sender.clone(), auxiliary: how.auxiliary };
                let (done, stopped) = self.run_batch(batch, &common, watch)?;
                outcomes.extend(done);
                interrupted |= stopped;
                Ok(())
            });
            drop(sender);
            let lost = match logs.map(|logs| logs.join()) {
                Some(Ok(Err((path, error)))) => vec![format!("{}: {error}", path.display())],
                _ => Vec::new(),
            };
            result.map(|()| lost)
        })?;
        let watched_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let disk_use = Disks::now(&disks).since(&disks_before, watched_ms);
        self.remove_files(&outcomes);
        Ok(Finished {
            results: self.results(&outcomes, disk_use),
            threads: outcomes,
            interrupted,
            doubts: rights.doubts().cloned().collect(),
            lost_logs,
        })
    }

    /// The disks that files of jobs which want to know are on.
    fn disks(&self) -> Vec<String> {
        let wanted = self.threads.iter().filter(|thread| thread.job.options.report.disk_util);
        let mut names: Vec<String> = wanted
            .flat_map(|thread| &thread.files.files)
            .filter(|file| file.kind != crate::files::FileKind::Imagined)
            .filter_map(|file| disk_of(&file.path))
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The threads between one `stonewall` and the next.
    fn batches(&self) -> Vec<&[ThreadPlan<'a>]> {
        let mut batches = Vec::new();
        let mut start = 0;
        for (index, thread) in self.threads.iter().enumerate() {
            if index > start && thread.copy == 0 && thread.job.options.run.stonewall {
                batches.push(&self.threads[start..index]);
                start = index;
            }
        }
        if start < self.threads.len() {
            batches.push(&self.threads[start..]);
        }
        batches
    }

    fn run_batch(
        &self,
        batch: &[ThreadPlan<'a>],
        common: &Common<'_>,
        watch: &mut dyn Watch,
    ) -> Result<(Vec<ThreadOutcome>, bool), LoadError> {
        for thread in batch.iter().filter(|thread| !thread.job.options.files.create_on_open) {
            let mut layout = Layout { rights: common.rights, making: &mut Maker(watch), seed: thread.number as u64 };
            match layout.make(thread.job, &thread.files) {
                Ok(()) => {}
                Err(LoadProblem::Stopped) => return Ok((Vec::new(), true)),
                Err(problem) => return Err(error_of(thread.job, problem)),
            }
        }
        if batch.iter().all(|thread| thread.job.options.files.create_only) {
            return Ok((Vec::new(), false));
        }
        let (ready_sender, ready) = channel();
        let (done_sender, done) = channel();
        std::thread::scope(|scope| {
            let mut failed = None;
            for thread in batch {
                let (to_ready, to_done) = (ready_sender.clone(), done_sender.clone());
                let name = format!("{}.{}", thread.job.name, thread.copy);
                let spawned = std::thread::Builder::new().name(name).spawn_scoped(scope, move || {
                    let prepared = match thread.prepare(common) {
                        Ok(prepared) => prepared,
                        Err(problem) => {
                            // The one that waits is there as long as this thread.
                            let _ = to_ready.send(Err(error_of(thread.job, problem)));
                            return;
                        }
                    };
                    let _ = to_ready.send(Ok(()));
                    if let Some(outcome) = thread.work(prepared, common) {
                        let _ = to_done.send((thread.number, outcome));
                    }
                });
                if let Err(source) = spawned {
                    let doing = "cannot start a thread for";
                    let problem = LoadProblem::Io { doing, path: PathBuf::from(&thread.job.name), source };
                    failed.get_or_insert(error_of(thread.job, problem));
                    // It will not be heard of.
                    let _ = ready_sender.send(Ok(()));
                }
            }
            for _ in batch {
                if let Ok(Err(problem)) = ready.recv() {
                    failed.get_or_insert(problem);
                }
            }
            common.gate.open(failed.is_none());
            if let Some(failed) = failed {
                return Err(failed);
            }
            drop(done_sender);
            Ok(self.attend(batch, &done, watch))
        })
    }

    /// Waits for the threads of a batch, tells the watch, and passes on who is to stop.
    fn attend(
        &self,
        batch: &[ThreadPlan<'a>],
        done: &std::sync::mpsc::Receiver<(usize, ThreadOutcome)>,
        watch: &mut dyn Watch,
    ) -> (Vec<ThreadOutcome>, bool) {
        const LOOK: Duration = Duration::from_millis(50);
        let began = Instant::now();
        let mut outcomes: Vec<(usize, ThreadOutcome)> = Vec::with_capacity(batch.len());
        let mut interrupted = false;
        while outcomes.len() < batch.len() {
            match done.recv_timeout(LOOK) {
                Ok((number, outcome)) => {
                    interrupted |= self.pass_on(&batch[0], &self.threads[number], &outcome);
                    outcomes.push((number, outcome));
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                // A thread that is gone without a word has panicked, which the scope tells.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if watch.stop() && !interrupted {
                interrupted = true;
                for thread in batch {
                    thread.signals.stop.store(true, Ordering::Relaxed);
                }
            }
            watch.progress(&self.status(batch, began, outcomes.len() as u32));
        }
        outcomes.sort_by_key(|(number, _)| *number);
        (outcomes.into_iter().map(|(_, outcome)| outcome).collect(), interrupted)
    }

    /// `exitall`: when a thread ends, others may have to. Says whether no further batch is to begin.
    fn pass_on(&self, first: &ThreadPlan<'a>, ended: &ThreadPlan<'a>, outcome: &ThreadOutcome) -> bool {
        let run = &ended.job.options.run;
        if !(run.exitall || run.exitall_on_error && outcome.report.error != 0) {
            return false;
        }
        let all = run.exit_what == ExitWhat::All;
        for thread in &self.threads {
            let concerned = match run.exit_what {
                ExitWhat::Group => thread.job.group == ended.job.group,
                ExitWhat::Stonewall => thread.number >= first.number,
                ExitWhat::All => true,
            };
            if concerned {
                thread.signals.stop.store(true, Ordering::Relaxed);
            }
        }
        all
    }

    /// `unlink`: files go after the job, unless what they hold is wrong.
    fn remove_files(&self, outcomes: &[ThreadOutcome]) {
        for outcome in outcomes {
            let files = &self.set.jobs[outcome.job].options.files;
            if files.unlink && outcome.wrong_blocks == 0 {
                for path in &outcome.files {
                    if path.is_file() {
                        // Another job may have removed it.
                        let _ = std::fs::remove_file(path);
                    }
                }
            }
        }
    }

    fn results(&self, outcomes: &[ThreadOutcome], disks: Vec<flashmark_fio::results::DiskUse>) -> Results {
        let mut reports: Vec<JobReport> = Vec::new();
        let groups = outcomes.iter().map(|outcome| outcome.report.group).max().map_or(0, |last| last + 1);
        for outcome in outcomes {
            let job = &self.set.jobs[outcome.job];
            if !job.options.report.stats {
                continue;
            }
            let whole = reports.last_mut().filter(|last| {
                job.options.report.group_reporting
                    && last.options.report.group_reporting
                    && last.group == outcome.report.group
            });
            match whole {
                Some(whole) => merge(whole, &outcome.report),
                None => reports.push(outcome.report.clone()),
            }
        }
        reports.iter_mut().for_each(leave_out);
        let group = |number| {
            let jobs = outcomes.iter().filter(|outcome| outcome.report.group == number);
            group_report(jobs.map(|outcome| &outcome.report))
        };
        Results {
            ended_at_unix_ms: unix_ms(),
            global_settings: self.set.jobs.first().map(|job| job.global_settings.clone()).unwrap_or_default(),
            reports,
            groups: (0..groups).map(group).collect(),
            disks,
        }
    }
}

/// The same in every run of the same jobs with `randrepeat`, and different for every thread.
fn seed(job: &Job, number: u64, entropy: u64) -> u64 {
    let access = &job.options.access;
    let base = if access.randrepeat { access.randseed } else { access.randseed ^ entropy };
    crate::contents::mix(base.wrapping_add(number << 32))
}

fn error_of(job: &Job, problem: LoadProblem) -> LoadError {
    LoadError { job: job.name.clone(), problem }
}
