//! A run: jobs in batches between `stonewall`s, each copy of a job a thread.

mod aggregate;
mod batch;
mod overlaps;
mod results;
mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use flashmark_fio::results::Results;
use flashmark_fio::{Job, JobSet};
use flashmark_host::consent::ConsentArgs;
use flashmark_host::device::Sysfs;

use crate::disks::{Disk, Disks, disk_of, watched};
use crate::error::{LoadError, LoadProblem};
use crate::files::{Dumps, FileId, FileKind, FilePlan, Rights, check_room};
use crate::flow::Flows;
use crate::logs::LogWriter;
use crate::replay::Recorder;
use crate::thread::{Common, Gate, ThreadOutcome, ThreadPlan, check, unix_ms};
use crate::worker::{Progress, Signals};
use aggregate::AggregateLogs;
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
    /// Logs and traces that could not be written, or not to their end.
    pub lost_logs: Vec<String>,
}

impl Finished {
    /// Whether any job ended with an error, or an access failed that was not to be ignored.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(|thread| {
            let run = &thread.report.options.run;
            thread.report.error != 0
                || thread.failed_count > 0 && run.ignore_error == flashmark_fio::value::error_set::ErrorSets::default()
        })
    }
}

/// Runs jobs.
///
/// Everything that can be checked is checked before anything is made or written: sizes, rights, and what stands on devices.
///
/// # Errors
/// What is in the way of a job. Jobs that began and failed are no error: their results say so.
pub fn run(set: &JobSet, how: &How<'_>, watch: &mut dyn Watch) -> Result<Finished, LoadError> {
    Run::new(set, how.read_only)?.start(how, watch)
}

/// What a run needs besides its jobs.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// What may be overwritten.
    pub consent: &'a ConsentArgs,
    /// Where files that jobs make for themselves go: states and dumps of verification; the working directory
    /// if empty.
    pub auxiliary: &'a Path,
    /// Whether nothing may be changed, as with fio's `--readonly`: writes and trims of traces are left out, files are neither
    /// made nor made longer nor removed, and all are opened for reading only.
    pub read_only: bool,
    /// The beginning of the names of logs of the bandwidth of all jobs together, fio's `--bandwidth-log`; nothing is none.
    pub bandwidth_log: Option<&'a str>,
}

/// A run that is planned.
struct Run<'a> {
    set: &'a JobSet,
    threads: Vec<ThreadPlan<'a>>,
    started: Instant,
}

impl<'a> Run<'a> {
    fn new(set: &'a JobSet, read_only: bool) -> Result<Self, LoadError> {
        let mut threads: Vec<ThreadPlan<'_>> = Vec::new();
        let mut flows = Flows::default();
        let entropy = flashmark_host::test_file::random_id();
        // Files that an earlier job makes, and how large.
        let mut made = BTreeMap::new();
        for (job_index, job) in set.jobs.iter().enumerate() {
            check(&job.options.engine).map_err(|problem| error_of(job, problem))?;
            for copy in 0..job.options.run.numjobs {
                let seed = seed(job, threads.len() as u64, entropy);
                let files =
                    FilePlan::new(job, copy, seed, &made, read_only).map_err(|problem| error_of(job, problem))?;
                for file in files.files.iter().filter(|file| file.kind != FileKind::Imagined) {
                    let bytes: &mut u64 = made.entry(file.path.clone()).or_default();
                    *bytes = (*bytes).max(file.needed_bytes);
                }
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
        refuse_shared_traces(&threads)?;
        Ok(Self { set, threads, started: Instant::now() })
    }

    fn start(self, how: &How<'_>, watch: &mut dyn Watch) -> Result<Finished, LoadError> {
        let plans = || self.threads.iter().map(|thread| (thread.job, &thread.files));
        let of_job = |(job, problem)| LoadError { job, problem };
        let rights = Rights::of(plans(), how.consent, how.read_only).map_err(of_job)?;
        check_room(plans()).map_err(of_job)?;
        let dumps = Arc::new(Dumps::new(how.auxiliary));
        let mut writer = LogWriter::default();
        for thread in &self.threads {
            writer.add(thread.job, thread.number as u32 + 1, unix_ms()).map_err(|(path, source)| {
                error_of(thread.job, LoadProblem::Io { doing: "cannot make the log", path, source })
            })?;
        }
        let aggregate = how.bandwidth_log.map(|prefix| AggregateLogs::make(prefix, &self)).transpose();
        let mut aggregate = aggregate.map_err(|(path, source)| {
            let job = self.set.jobs.first().map(|job| job.name.clone()).unwrap_or_default();
            LoadError { job, problem: LoadProblem::Io { doing: "cannot make the log", path, source } }
        })?;
        let disks = self.disks();
        let disks_before = Disks::now(&disks);
        let mut outcomes: Vec<ThreadOutcome> = Vec::with_capacity(self.threads.len());
        let (mut interrupted, mut is_over) = (false, false);
        let has_logs = !writer.is_empty();
        // Deep enough that a job waits only for a writer that is seconds behind.
        let (sender, receiver) = sync_channel(256);
        let lost_logs = std::thread::scope(|scope| {
            let logs = has_logs.then(|| scope.spawn(move || writer.write(&receiver)));
            let mut result = Ok(());
            for batch in self.batches() {
                if interrupted || is_over {
                    break;
                }
                let gate = Gate::default();
                let common = Common {
                    rights: &rights,
                    gate: &gate,
                    logs: sender.clone(),
                    auxiliary: how.auxiliary,
                    dumps: &dumps,
                    read_only: how.read_only,
                };
                let attended = self.run_batch(batch, &common, watch, aggregate.as_mut());
                rights.settle();
                match attended {
                    Ok(done) => {
                        outcomes.extend(done.outcomes);
                        interrupted |= done.interrupted;
                        is_over |= done.ends_run;
                    }
                    // What ran before is not lost for it.
                    Err(problem) if !outcomes.is_empty() => {
                        let failed = batch.iter().filter(|thread| thread.job.name == problem.job);
                        outcomes.extend(failed.map(|thread| thread.did_not_start(&problem)));
                        is_over = true;
                    }
                    Err(problem) => {
                        result = Err(problem);
                        break;
                    }
                }
            }
            drop(sender);
            let lost = match logs.map(|logs| logs.join()) {
                Some(Ok(Err((path, error)))) => vec![format!("{}: {error}", path.display())],
                _ => Vec::new(),
            };
            result.map(|()| lost)
        })?;
        let lost_traces = outcomes.iter_mut().filter_map(|outcome| outcome.lost_trace.take());
        let lost_aggregate = aggregate.and_then(AggregateLogs::lost);
        let lost_logs: Vec<String> = lost_logs.into_iter().chain(lost_traces).chain(lost_aggregate).collect();
        let watched_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let disk_use = Disks::now(&disks).since(&disks_before, &disks, watched_ms);
        // While the files are there, so that links to them are known.
        let overlaps = self.overlaps();
        if !how.read_only {
            self.remove_files(&outcomes);
        }
        Ok(Finished {
            results: self.results(&outcomes, disk_use),
            threads: outcomes,
            interrupted,
            doubts: rights.doubts().cloned().chain(overlaps).collect(),
            lost_logs,
        })
    }

    /// The disks that files of jobs which want to know are on, and what these are made of.
    fn disks(&self) -> Vec<Disk> {
        let wanted = self.threads.iter().filter(|thread| thread.job.options.report.disk_util);
        let mut names: Vec<String> = wanted
            .flat_map(|thread| &thread.files.files)
            .filter(|file| file.kind != FileKind::Imagined)
            .filter_map(|file| disk_of(&file.path))
            .collect();
        names.sort();
        names.dedup();
        watched(&Sysfs::default(), &names)
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

    /// `unlink`: files go after the job, unless what they hold is wrong.
    fn remove_files(&self, outcomes: &[ThreadOutcome]) {
        for outcome in outcomes {
            let files = &self.set.jobs[outcome.job].options.files;
            if files.unlink && outcome.wrong_blocks == 0 {
                for (path, id) in &outcome.opened {
                    // What has been put in its place meanwhile stays.
                    let is_still_it = path.symlink_metadata().is_ok_and(|found| FileId::of(&found) == Some(*id));
                    if is_still_it && matches!(id, FileId::File(..)) {
                        // Another job may have removed it.
                        let _ = std::fs::remove_file(path);
                    }
                }
            }
        }
    }
}

/// Two that record into one file would leave a trace of neither.
fn refuse_shared_traces(threads: &[ThreadPlan<'_>]) -> Result<(), LoadError> {
    let mut paths = BTreeSet::new();
    for thread in threads {
        let Some(name) = &thread.job.options.replay.write_iolog else { continue };
        let path = Recorder::path_of(name, thread.copy);
        if !paths.insert(path.clone()) {
            let text = format!("write_iolog={}: another job records into it too: name another file", path.display());
            return Err(error_of(thread.job, LoadProblem::Option(text)));
        }
    }
    Ok(())
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
