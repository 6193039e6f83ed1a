//! The threads between one `stonewall` and the next: their files are made, they get ready, begin together, and are waited for.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use flashmark_fio::options::ExitWhat;

use super::aggregate::AggregateLogs;
use super::{Run, Watch, error_of};
use crate::error::{LoadError, LoadProblem};
use crate::files::{Layout, Making};
use crate::thread::{Common, Gate, ThreadOutcome, ThreadPlan};

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct Attended {
    pub outcomes: Vec<ThreadOutcome>,
    /// Whether the watch stopped it.
    pub interrupted: bool,
    /// Whether one of its jobs ends the whole run.
    pub ends_run: bool,
}

struct Maker<'a>(&'a mut dyn Watch);

impl Making for Maker<'_> {
    fn made(&mut self, path: &Path, bytes: u64, of_bytes: u64) -> bool {
        self.0.making(path, bytes, of_bytes);
        !self.0.stop()
    }
}

impl<'a> Run<'a> {
    pub(super) fn run_batch(
        &self,
        batch: &[ThreadPlan<'a>],
        common: &Common<'_>,
        watch: &mut dyn Watch,
        aggregate: Option<&mut AggregateLogs>,
    ) -> Result<Attended, LoadError> {
        for thread in batch.iter().filter(|thread| makes_files_before(thread)) {
            let mut layout =
                Layout { rights: common.rights, making: &mut Maker(watch), seed: thread.number as u64, may_hold: true };
            match layout.make(thread.job, &thread.files) {
                Ok(()) => {}
                Err(LoadProblem::Stopped) => return Ok(Attended { interrupted: true, ..Attended::default() }),
                Err(problem) => return Err(error_of(thread.job, problem)),
            }
        }
        let batch: Vec<&ThreadPlan<'a>> = batch.iter().filter(|thread| !thread.job.options.files.create_only).collect();
        if batch.is_empty() {
            return Ok(Attended::default());
        }
        let (ready_sender, ready) = channel();
        let (done_sender, done) = channel();
        std::thread::scope(|scope| {
            let mut failed = None;
            // Whatever happens here, nobody waits at the gate for ever.
            let gate = Opens(common.gate);
            for thread in &batch {
                let (to_ready, to_done) = (ready_sender.clone(), done_sender.clone());
                // A thread's name ends at a zero byte.
                let name = format!("{}.{}", thread.job.name.replace('\0', "?"), thread.copy);
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
                    drop(to_ready);
                    if let Some(outcome) = thread.work(prepared, common) {
                        let _ = to_done.send((thread.number, outcome));
                    }
                });
                if let Err(source) = spawned {
                    let doing = "cannot start a thread for";
                    let problem = LoadProblem::Io { doing, path: PathBuf::from(&thread.job.name), source };
                    failed.get_or_insert(error_of(thread.job, problem));
                }
            }
            // Only threads hold these now: when the last one is gone, there is nothing more to wait for.
            drop((ready_sender, done_sender));
            let (problem, interrupted) = until_ready(&batch, &ready, watch);
            failed = failed.or(problem);
            gate.open(failed.is_none() && !interrupted);
            match failed {
                Some(LoadError { problem: LoadProblem::Stopped, .. }) | None if interrupted => {
                    Ok(Attended { interrupted: true, ..Attended::default() })
                }
                Some(failed) => Err(failed),
                None => Ok(self.attend(&batch, &done, watch, aggregate)),
            }
        })
    }

    /// Waits for the threads of a batch, tells the watch, and passes on who is to stop.
    fn attend(
        &self,
        batch: &[&ThreadPlan<'a>],
        done: &Receiver<(usize, ThreadOutcome)>,
        watch: &mut dyn Watch,
        mut aggregate: Option<&mut AggregateLogs>,
    ) -> Attended {
        let began = Instant::now();
        if let Some(aggregate) = &mut aggregate {
            aggregate.skip(self.bytes());
        }
        let mut outcomes: Vec<(usize, ThreadOutcome)> = Vec::with_capacity(batch.len());
        let (mut interrupted, mut ends_run) = (false, false);
        while outcomes.len() < batch.len() {
            match done.recv_timeout(LOOK) {
                Ok((number, outcome)) => {
                    ends_run |= self.pass_on(batch, &self.threads[number], &outcome);
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
            let status = self.status(batch, began, outcomes.len() as u32);
            match &mut aggregate {
                Some(aggregate) if status.in_ramp => aggregate.skip(self.bytes()),
                Some(aggregate) => aggregate.look(self.bytes(), self.is_mixed()),
                None => {}
            }
            watch.progress(&status);
        }
        outcomes.sort_by_key(|(number, _)| *number);
        let outcomes = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
        Attended { outcomes, interrupted, ends_run }
    }

    /// `exitall`: when a thread ends, others may have to. Says whether no further batch is to begin.
    fn pass_on(&self, batch: &[&ThreadPlan<'a>], ended: &ThreadPlan<'a>, outcome: &ThreadOutcome) -> bool {
        let run = &ended.job.options.run;
        if !(run.exitall || run.exitall_on_error && outcome.report.error != 0) {
            return false;
        }
        // Only those that run: what comes behind a stonewall has not begun.
        let concerned =
            |thread: &&&ThreadPlan<'a>| run.exit_what != ExitWhat::Group || thread.job.group == ended.job.group;
        for thread in batch.iter().filter(concerned) {
            thread.signals.end();
        }
        run.exit_what == ExitWhat::All
    }
}

/// How often the watch is asked.
const LOOK: Duration = Duration::from_millis(50);

/// Whether a job's files are made before its batch begins, and not by its own thread.
fn makes_files_before(thread: &ThreadPlan<'_>) -> bool {
    let files = &thread.job.options.files;
    !files.create_on_open || files.create_only
}

/// A gate that is opened in any case: to give up, if nothing else was said.
struct Opens<'a>(&'a Gate);

impl Opens<'_> {
    fn open(self, work: bool) {
        self.0.open(work);
        std::mem::forget(self);
    }
}

impl Drop for Opens<'_> {
    fn drop(&mut self) {
        self.0.open(false);
    }
}

/// Waits until all threads are ready, or have said why not. Gives the first of their problems, and whether the watch stopped it.
fn until_ready(
    batch: &[&ThreadPlan<'_>],
    ready: &Receiver<Result<(), LoadError>>,
    watch: &mut dyn Watch,
) -> (Option<LoadError>, bool) {
    let (mut failed, mut interrupted) = (None, false);
    let mut heard = 0;
    while heard < batch.len() {
        match ready.recv_timeout(LOOK) {
            Ok(said) => {
                heard += 1;
                if let Err(problem) = said {
                    failed.get_or_insert(problem);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                if watch.stop() && !interrupted {
                    interrupted = true;
                    batch.iter().for_each(|thread| thread.signals.stop.store(true, Ordering::Relaxed));
                }
            }
            // A thread that panicked, or that could not be started, says nothing.
            Err(RecvTimeoutError::Disconnected) => {
                let problem = LoadProblem::Option("a thread ended before it was ready".into());
                failed.get_or_insert(error_of(batch[heard].job, problem));
                break;
            }
        }
    }
    (failed, interrupted)
}
