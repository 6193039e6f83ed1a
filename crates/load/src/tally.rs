//! What one thread counts while it runs.

use flashmark_core::histogram::Histogram;
use flashmark_core::record::FAULTS_KEPT;
use flashmark_fio::results::Samples;

use crate::accesses::Direction;

/// An access that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAccess {
    /// What it was to do, in a word: `read`, `write`, `trim`, `sync`, `verify`.
    pub action: &'static str,
    /// The file, by its place among the job's.
    pub file: u32,
    /// Where, in bytes from the file's start.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u32,
    /// The system's number of the error.
    pub code: i32,
    /// The error, for people.
    pub text: String,
}

/// What was counted in one direction.
#[derive(Debug, Default)]
pub(crate) struct DirectionTally {
    pub bytes: u64,
    pub count: u64,
    pub short: u64,
    pub runtime_ns: u64,
    pub submission: Box<Histogram>,
    pub completion: Box<Histogram>,
    pub total: Box<Histogram>,
    pub from_intended: Box<Histogram>,
    pub bandwidth: Samples,
    pub iops: Samples,
    window_bytes: u64,
    window_count: u64,
    iops_window_count: u64,
    /// Whether the phase that runs did anything in this direction.
    active: bool,
}

/// What one thread counted.
#[derive(Debug)]
pub(crate) struct Tally {
    directions: [DirectionTally; 3],
    pub syncs: Box<Histogram>,
    pub depth_levels: [u64; 7],
    pub submit_batches: [u64; 7],
    pub complete_batches: [u64; 7],
    pub failed: Vec<FailedAccess>,
    pub failed_count: u64,
    windows: Windows,
}

/// When samples of bandwidth and of accesses a second are taken.
#[derive(Clone, Copy, Debug)]
struct Windows {
    bandwidth_ns: u64,
    iops_ns: u64,
    bandwidth_start_ns: u64,
    iops_start_ns: u64,
}

/// Latencies of one access, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latencies {
    /// From where it begins to its submission; nothing for engines that complete what they submit.
    pub submission: Option<u64>,
    pub completion: u64,
    /// From the intended start, with a rate.
    pub from_intended: Option<u64>,
}

impl Tally {
    pub(crate) fn new(bandwidth_window_ms: u32, iops_window_ms: u32) -> Box<Self> {
        Box::new(Self {
            directions: Default::default(),
            syncs: Box::default(),
            depth_levels: [0; 7],
            submit_batches: [0; 7],
            complete_batches: [0; 7],
            failed: Vec::new(),
            failed_count: 0,
            windows: Windows {
                bandwidth_ns: u64::from(bandwidth_window_ms) * 1_000_000,
                iops_ns: u64::from(iops_window_ms) * 1_000_000,
                bandwidth_start_ns: 0,
                iops_start_ns: 0,
            },
        })
    }

    pub(crate) fn direction(&self, direction: Direction) -> &DirectionTally {
        &self.directions[direction as usize]
    }

    /// Begins anew: what was counted before the ramp ended is forgotten, but for what failed.
    pub(crate) fn restart(&mut self, now_ns: u64) {
        let windows = self.windows;
        let (failed, failed_count) = (std::mem::take(&mut self.failed), self.failed_count);
        *self = *Self::new(0, 0);
        self.windows = windows;
        (self.failed, self.failed_count) = (failed, failed_count);
        self.start_windows(now_ns);
    }

    /// Samples are taken from here on.
    pub(crate) fn start_windows(&mut self, now_ns: u64) {
        self.windows.bandwidth_start_ns = now_ns;
        self.windows.iops_start_ns = now_ns;
        for direction in &mut self.directions {
            direction.window_bytes = 0;
            direction.window_count = 0;
            direction.iops_window_count = 0;
        }
    }

    /// Counts so many accesses of `bytes` bytes each that took equally long.
    #[inline]
    pub(crate) fn complete(&mut self, direction: Direction, bytes: u64, count: u64, latencies: Latencies) {
        let tally = &mut self.directions[direction as usize];
        tally.bytes += bytes * count;
        tally.count += count;
        tally.window_bytes += bytes * count;
        tally.window_count += count;
        tally.active = true;
        tally.completion.record_many(latencies.completion, count);
        if let Some(submission) = latencies.submission {
            tally.submission.record_many(submission, count);
            tally.total.record_many(submission + latencies.completion, count);
        }
        if let Some(ns) = latencies.from_intended {
            tally.from_intended.record_many(ns, count);
        }
    }

    #[cold]
    pub(crate) fn short(&mut self, direction: Direction) {
        self.directions[direction as usize].short += 1;
    }

    #[cold]
    pub(crate) fn failed(&mut self, access: FailedAccess) {
        self.failed_count += 1;
        if self.failed.len() < FAULTS_KEPT {
            self.failed.push(access);
        }
    }

    /// When the next sample is due.
    #[inline]
    pub(crate) fn next_sample_ns(&self) -> u64 {
        let windows = &self.windows;
        (windows.bandwidth_start_ns + windows.bandwidth_ns).min(windows.iops_start_ns + windows.iops_ns)
    }

    /// Takes the samples that are due.
    #[cold]
    pub(crate) fn sample(&mut self, now_ns: u64) {
        let windows = &mut self.windows;
        let is_due = |start: u64, window: u64| now_ns >= start.saturating_add(window);
        if is_due(windows.bandwidth_start_ns, windows.bandwidth_ns) {
            let elapsed = now_ns - windows.bandwidth_start_ns;
            windows.bandwidth_start_ns = now_ns;
            for direction in &mut self.directions {
                // The accesses of this window count for the other one's too.
                direction.iops_window_count += std::mem::take(&mut direction.window_count);
                let bytes = std::mem::take(&mut direction.window_bytes);
                if direction.active && elapsed > 0 {
                    direction.bandwidth.add(per_second(bytes, elapsed) / 1024);
                }
            }
        }
        if is_due(windows.iops_start_ns, windows.iops_ns) {
            let elapsed = now_ns - windows.iops_start_ns;
            windows.iops_start_ns = now_ns;
            for direction in &mut self.directions {
                let count =
                    std::mem::take(&mut direction.iops_window_count) + std::mem::take(&mut direction.window_count);
                if direction.active && elapsed > 0 {
                    direction.iops.add(per_second(count, elapsed));
                }
            }
        }
    }

    /// A phase of so long a time is over: it counts for every direction in which something was done.
    pub(crate) fn end_phase(&mut self, elapsed_ns: u64) {
        for direction in &mut self.directions {
            if std::mem::take(&mut direction.active) {
                direction.runtime_ns += elapsed_ns;
            }
        }
    }

    /// Counts the depths that so many accesses met which were issued one after the other, up to `under_way`, the last one
    /// included.
    #[inline]
    pub(crate) fn depths(&mut self, under_way: u32, together: u32) {
        let mut last = under_way;
        let mut left = together;
        while left > 0 {
            let class = depth_class(last);
            // The least depth of the class; of the first one, 0.
            let least = if class == 0 { 0 } else { 1 << class };
            let here = left.min(last.saturating_sub(least) + 1);
            self.depth_levels[class] += u64::from(here);
            left -= here;
            last = last.saturating_sub(here);
        }
    }

    #[inline]
    pub(crate) fn submitted(&mut self, together: u32) {
        self.submit_batches[batch_class(together)] += 1;
    }

    #[inline]
    pub(crate) fn completed(&mut self, together: u32) {
        self.complete_batches[batch_class(together)] += 1;
    }
}

/// So much in so many nanoseconds, a second.
pub(crate) fn per_second(amount: u64, elapsed_ns: u64) -> u64 {
    flashmark_core::record::rate_bytes_per_s(amount, elapsed_ns)
}

/// fio's classes of queue depths: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
fn depth_class(depth: u32) -> usize {
    (depth.max(1).ilog2() as usize).min(6)
}

/// fio's classes of batches: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
fn batch_class(together: u32) -> usize {
    match together {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_fios() {
        let depths = [1, 2, 3, 4, 7, 8, 16, 31, 32, 63, 64, 4096].map(depth_class);
        assert_eq!(depths, [0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6]);
        let batches = [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65].map(batch_class);
        assert_eq!(batches, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
    }

    #[test]
    fn depths_of_a_batch_are_those_of_its_accesses() {
        for (before, together) in [(0, 1), (0, 40), (3, 1), (3, 13), (16, 16), (60, 200), (100, 3)] {
            let mut tally = Tally::new(500, 500);
            tally.depths(before + together, together);
            let mut each = [0; 7];
            for depth in before + 1..=before + together {
                each[depth_class(depth)] += 1;
            }
            assert_eq!(tally.depth_levels, each, "{together} on top of {before}");
        }
    }

    #[test]
    fn samples_are_of_their_windows() {
        let mut tally = Tally::new(500, 1000);
        tally.start_windows(0);
        let latencies = Latencies { submission: None, completion: 10, from_intended: None };
        for half in 1..=4_u64 {
            for _ in 0..half * 100 {
                tally.complete(Direction::Read, 4096, 1, latencies);
            }
            assert!(tally.next_sample_ns() <= half * 500_000_000);
            tally.sample(half * 500_000_000);
        }
        let read = tally.direction(Direction::Read);
        // 100, 200, 300 and 400 accesses of 4 KiB, each in half a second.
        assert_eq!((read.bandwidth.count, read.bandwidth.min, read.bandwidth.max), (4, 800, 3200));
        assert_eq!((read.iops.count, read.iops.min, read.iops.max), (2, 300, 700));
        assert_eq!(tally.direction(Direction::Write).bandwidth.count, 0);
        assert_eq!(read.completion.count(), 1000);
    }

    #[test]
    fn a_phase_counts_for_what_it_did() {
        let mut tally = Tally::new(500, 500);
        tally.complete(Direction::Write, 1, 1, Latencies { submission: Some(1), completion: 2, from_intended: None });
        tally.end_phase(70);
        tally.complete(Direction::Read, 1, 1, Latencies { submission: None, completion: 2, from_intended: Some(9) });
        tally.end_phase(5);
        assert_eq!(tally.direction(Direction::Write).runtime_ns, 70);
        assert_eq!(tally.direction(Direction::Read).runtime_ns, 5);
        assert_eq!(tally.direction(Direction::Write).total.max_ns(), 3);
        assert_eq!(tally.direction(Direction::Read).from_intended.max_ns(), 9);
    }
}
