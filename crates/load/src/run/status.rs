//! How far a run is, for the one who watches.

use std::sync::atomic::Ordering;
use std::time::Instant;

use flashmark_fio::Job;

use super::Run;
use crate::thread::ThreadPlan;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Threads that work.
    pub running: u32,
    /// Threads of the run that are done.
    pub done: u32,
    /// Threads of the run.
    pub threads: u32,
    /// Bytes read, written and trimmed so far, by all threads.
    pub bytes: [u64; 3],
    /// Accesses completed so far.
    pub count: u64,
    /// Time since the batch that runs began, in nanoseconds.
    pub elapsed_ns: u64,
    /// When the batch ends by its time, in nanoseconds from its begin; nothing if it ends by its size.
    pub ends_ns: Option<u64>,
    /// Bytes that the batch moves, where that is known.
    pub total_bytes: Option<u64>,
    /// Whether a job of the batch is in its `ramp_time`.
    pub in_ramp: bool,
}

impl<'a> Run<'a> {
    pub(super) fn status(&self, batch: &[&ThreadPlan<'a>], began: Instant, done_of_batch: u32) -> Status {
        let mut status = Status {
            running: batch.len() as u32 - done_of_batch,
            threads: self.threads.len() as u32,
            elapsed_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            ..Status::default()
        };
        for thread in &self.threads {
            status.done += u32::from(thread.progress.done.load(Ordering::Relaxed));
        }
        for thread in batch {
            for (sum, bytes) in status.bytes.iter_mut().zip(&thread.progress.bytes) {
                *sum += bytes.load(Ordering::Relaxed);
            }
            status.count += thread.progress.count.load(Ordering::Relaxed);
        }
        let run_ns = |job: &Job| {
            let run = &job.options.run;
            let us = run.runtime_us.saturating_add(run.ramp_time_us).saturating_add(run.startdelay_us.1);
            (run.time_based && run.runtime_us > 0).then(|| us.saturating_mul(1000))
        };
        status.ends_ns = batch.iter().map(|thread| run_ns(thread.job)).max().flatten();
        let ramps_until_us = |job: &Job| {
            let run = &job.options.run;
            if run.ramp_time_us > 0 { run.ramp_time_us.saturating_add(run.startdelay_us.1) } else { 0 }
        };
        status.in_ramp = batch.iter().any(|thread| status.elapsed_ns / 1000 < ramps_until_us(thread.job));
        let moves = |thread: &ThreadPlan<'_>| {
            let loops = u64::from(thread.job.options.run.loops.max(1));
            let parts: u64 = thread.files.files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.part.bytes));
            let once = thread.job.options.access.io_size.map_or(parts, |size| size.of(parts));
            once.saturating_mul(loops)
        };
        status.total_bytes = status
            .ends_ns
            .is_none()
            .then(|| batch.iter().fold(0, |sum: u64, thread| sum.saturating_add(moves(thread))));
        status
    }
}
