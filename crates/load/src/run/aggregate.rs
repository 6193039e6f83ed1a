//! The bandwidth of all jobs together, over time: fio's `--bandwidth-log`.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flashmark_fio::options::UnifiedReporting;
use flashmark_fio::output::{Direction, LogLine, aggregate_log_name};

use super::Run;
use crate::files::create_output;
use crate::tally::per_second;

/// The logs, a file for each direction. A line is written when its window is over, so that nothing is kept in memory.
pub(super) struct AggregateLogs {
    files: Vec<(Direction, PathBuf, File)>,
    /// Times in the logs are from here.
    began: Instant,
    /// The least length of a window: the shortest `bwavgtime` of the jobs.
    window: Duration,
    window_began: Instant,
    bytes_before: [u64; 3],
    /// What became of the first line that could not be written.
    lost: Option<String>,
}

impl AggregateLogs {
    /// Makes the files; names begin with `prefix`.
    pub(super) fn make(prefix: &str, run: &Run<'_>) -> Result<Self, (PathBuf, io::Error)> {
        let make = |direction| {
            let path = PathBuf::from(aggregate_log_name(prefix, direction));
            match create_output(&path) {
                Ok(file) => Ok((direction, path, file)),
                Err(error) => Err((path, error)),
            }
        };
        let files = Direction::ALL.into_iter().map(make).collect::<Result<_, _>>()?;
        let windows_ms = run.threads.iter().map(|thread| thread.job.options.log.bwavgtime_ms);
        let now = Instant::now();
        Ok(Self {
            files,
            began: run.started,
            window: Duration::from_millis(windows_ms.min().unwrap_or(0).into()),
            window_began: now,
            bytes_before: [0; 3],
            lost: None,
        })
    }

    /// Leaves out what was moved so far, and the time until now: files were made, or a ramp has not ended yet.
    pub(super) fn skip(&mut self, bytes: [u64; 3]) {
        self.window_began = Instant::now();
        self.bytes_before = bytes;
    }

    /// Writes a line to each log if it is time. `bytes` are those of all threads since the run began.
    pub(super) fn look(&mut self, bytes: [u64; 3], is_mixed: bool) {
        let now = Instant::now();
        let elapsed = now.duration_since(self.window_began);
        if elapsed <= self.window || self.lost.is_some() {
            return;
        }
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let mut moved: [u64; 3] = std::array::from_fn(|index| bytes[index].saturating_sub(self.bytes_before[index]));
        if is_mixed {
            moved = [moved.iter().sum(), 0, 0];
        }
        let time_ms = u64::try_from(now.duration_since(self.began).as_millis()).unwrap_or(u64::MAX);
        for ((direction, path, file), bytes) in self.files.iter_mut().zip(moved) {
            let line = LogLine {
                time_ms,
                value: per_second(bytes, elapsed_ns) / 1024,
                maximum: None,
                direction: *direction,
                block_bytes: 0,
                offset_bytes: None,
            };
            if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
                self.lost = Some(told(path, &error));
                return;
            }
        }
        self.window_began = now;
        self.bytes_before = bytes;
    }

    /// What could not be written, for people.
    pub(super) fn lost(self) -> Option<String> {
        self.lost
    }
}

fn told(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

impl Run<'_> {
    /// Bytes that all threads moved so far, those of earlier batches included.
    pub(super) fn bytes(&self) -> [u64; 3] {
        let mut sum = [0; 3];
        for thread in &self.threads {
            for (sum, bytes) in sum.iter_mut().zip(&thread.progress.bytes) {
                *sum += bytes.load(Ordering::Relaxed);
            }
        }
        sum
    }

    /// Whether reads, writes and trims are told as one, as the last job has it.
    pub(super) fn is_mixed(&self) -> bool {
        self.threads
            .last()
            .is_some_and(|thread| thread.job.options.report.unified_rw_reporting == UnifiedReporting::Mixed)
    }
}
