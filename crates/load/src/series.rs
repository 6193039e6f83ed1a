//! What a thread logs over time (fio HOWTO, "Log File Formats"): bandwidth, accesses a second and latencies, each access or
//! averaged over windows. Memory does not grow with time: samples go to a writer in chunks through a channel that is bounded.

use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};

use flashmark_fio::options::LogOptions;
use flashmark_fio::output::LogKind;

use crate::accesses::{Access, Direction};
use crate::tally::{Latencies, per_second};

/// A line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Which log of the thread.
    pub kind: LogKind,
    /// Nanoseconds since the thread started to measure.
    pub time_ns: u64,
    /// The value, or the mean of a window.
    pub value: u64,
    /// The largest value of a window.
    pub max: u64,
    /// The direction.
    pub direction: Direction,
    /// Bytes of the access; 0 where the line is of a window.
    pub bytes: u32,
    /// Where it was; 0 likewise.
    pub offset: u64,
}

/// What a thread sends to the writer.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Which thread, by its place in the run.
    pub thread: usize,
    pub samples: Vec<Sample>,
}

/// A chunk is sent when it has so many lines, when a window is over, or after so long, whatever comes first.
const CHUNK: usize = 512;
const CHUNK_NS: u64 = 1_000_000_000;
/// The most lines that a window has: five logs in three directions.
const WINDOW_LINES: usize = 15;

/// The logs of one thread.
#[derive(Debug)]
pub(crate) struct Series {
    thread: usize,
    sender: SyncSender<Chunk>,
    chunk: Vec<Sample>,
    wants_bandwidth: bool,
    wants_iops: bool,
    wants_latency: bool,
    /// Zero: a line for each access.
    window_ns: u64,
    start_ns: u64,
    window_start_ns: u64,
    windows: [Window; 3],
    sent_ns: u64,
    /// How long the thread waited for the writer.
    waited: Duration,
}

/// What came together in a window, in one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    bytes: u64,
    count: u64,
    submission: Sum,
    completion: Sum,
    total: Sum,
    /// Whether the direction was ever used: others have no lines.
    used: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: u64,
    count: u64,
    max: u64,
}

impl Sum {
    fn add(&mut self, value: u64) {
        self.sum += value;
        self.count += 1;
        self.max = self.max.max(value);
    }
}

impl Series {
    /// Nothing if no log is asked for.
    pub(crate) fn new(options: &LogOptions, thread: usize, sender: &SyncSender<Chunk>) -> Option<Self> {
        let wants_bandwidth = options.write_bw_log.is_some();
        let wants_iops = options.write_iops_log.is_some();
        let wants_latency = options.write_lat_log.is_some();
        (wants_bandwidth || wants_iops || wants_latency).then(|| Self {
            thread,
            sender: sender.clone(),
            chunk: Vec::with_capacity(CHUNK),
            wants_bandwidth,
            wants_iops,
            wants_latency,
            window_ns: u64::from(options.log_avg_msec) * 1_000_000,
            start_ns: 0,
            window_start_ns: 0,
            windows: Default::default(),
            sent_ns: 0,
            waited: Duration::ZERO,
        })
    }

    /// Times count from here; what a ramp left is forgotten.
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.start_ns = now_ns;
        self.window_start_ns = now_ns;
        self.sent_ns = now_ns;
        self.waited = Duration::ZERO;
        self.windows = Default::default();
        self.chunk.clear();
    }

    /// An access is complete.
    pub(crate) fn complete(&mut self, access: &Access, latencies: Latencies, now_ns: u64) {
        if self.window_ns == 0 {
            self.one(access, latencies, now_ns);
            if now_ns >= self.sent_ns.saturating_add(CHUNK_NS) {
                self.sent_ns = now_ns;
                self.send();
            }
            return;
        }
        if now_ns >= self.window_start_ns.saturating_add(self.window_ns) {
            self.close_windows(now_ns);
        }
        let window = &mut self.windows[access.direction as usize];
        window.used = true;
        window.bytes += u64::from(access.bytes);
        window.count += 1;
        window.completion.add(latencies.completion);
        let submission = latencies.submission.unwrap_or(0);
        if latencies.submission.is_some() {
            window.submission.add(submission);
        }
        window.total.add(submission + latencies.completion);
    }

    /// A line for each log.
    fn one(&mut self, access: &Access, latencies: Latencies, now_ns: u64) {
        let total = latencies.submission.unwrap_or(0) + latencies.completion;
        let time_ns = now_ns.saturating_sub(self.start_ns);
        let line = |kind, value| Sample {
            kind,
            time_ns,
            value,
            max: value,
            direction: access.direction,
            bytes: access.bytes,
            offset: access.offset,
        };
        if self.wants_latency {
            if let Some(submission) = latencies.submission {
                self.push(line(LogKind::Submission, submission));
            }
            self.push(line(LogKind::Completion, latencies.completion));
            self.push(line(LogKind::Total, total));
        }
        if self.wants_bandwidth {
            self.push(line(LogKind::Bandwidth, per_second(u64::from(access.bytes), total) / 1024));
        }
        if self.wants_iops {
            self.push(line(LogKind::Iops, 1));
        }
    }

    /// Tells the windows that are over: what they hold first, then, after a stall, those in which nothing was completed.
    #[cold]
    fn close_windows(&mut self, now_ns: u64) {
        while now_ns >= self.window_start_ns.saturating_add(self.window_ns) {
            let end_ns = self.window_start_ns + self.window_ns;
            self.tell(end_ns, self.window_ns);
            self.window_start_ns = end_ns;
        }
        self.send();
    }

    fn tell(&mut self, end_ns: u64, elapsed_ns: u64) {
        for direction in Direction::ALL {
            let window = std::mem::take(&mut self.windows[direction as usize]);
            self.windows[direction as usize].used = window.used;
            if !window.used {
                continue;
            }
            let time_ns = end_ns.saturating_sub(self.start_ns);
            let line = |kind, value, max| Sample { kind, time_ns, value, max, direction, bytes: 0, offset: 0 };
            if self.wants_latency {
                let sums = [
                    (LogKind::Submission, window.submission),
                    (LogKind::Completion, window.completion),
                    (LogKind::Total, window.total),
                ];
                for (kind, sum) in sums.into_iter().filter(|(_, sum)| sum.count > 0) {
                    self.push(line(kind, sum.sum / sum.count, sum.max));
                }
            }
            if self.wants_bandwidth {
                let rate = per_second(window.bytes, elapsed_ns) / 1024;
                self.push(line(LogKind::Bandwidth, rate, rate));
            }
            if self.wants_iops {
                let rate = per_second(window.count, elapsed_ns);
                self.push(line(LogKind::Iops, rate, rate));
            }
        }
    }

    /// The end: what the last window holds, and what was not sent.
    pub(crate) fn finish(&mut self, now_ns: u64) {
        if self.window_ns > 0 {
            self.close_windows(now_ns);
            let rest_ns = now_ns.saturating_sub(self.window_start_ns);
            if rest_ns > 0 && self.windows.iter().any(|window| window.count > 0) {
                self.tell(now_ns, rest_ns);
            }
        }
        self.send();
    }

    #[inline]
    fn push(&mut self, sample: Sample) {
        self.chunk.push(sample);
        if self.chunk.len() == CHUNK {
            self.send();
        }
    }

    /// Waits if the writer is behind: a log is whole, or it is none.
    #[cold]
    fn send(&mut self) {
        let room = if self.window_ns > 0 { WINDOW_LINES } else { CHUNK };
        let samples = std::mem::replace(&mut self.chunk, Vec::with_capacity(room));
        if samples.is_empty() {
            return;
        }
        if let Err(TrySendError::Full(chunk)) = self.sender.try_send(Chunk { thread: self.thread, samples }) {
            let start = Instant::now();
            // The writer is gone only if it failed, which it tells itself.
            let _ = self.sender.send(chunk);
            self.waited += start.elapsed();
        }
    }

    /// How long the thread waited so far for a writer that was behind: time in which it did not do its work.
    pub(crate) const fn waited(&self) -> Duration {
        self.waited
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;

    fn series(options: &LogOptions) -> (Series, Receiver<Chunk>) {
        let (sender, receiver) = sync_channel(64);
        (Series::new(options, 3, &sender).unwrap(), receiver)
    }

    fn all(series: Series, receiver: &Receiver<Chunk>) -> Vec<Sample> {
        drop(series);
        receiver.iter().flat_map(|chunk| chunk.samples).collect()
    }

    fn read(offset: u64) -> Access {
        Access { direction: Direction::Read, file: 0, offset, bytes: 4096 }
    }

    const LATENCIES: Latencies = Latencies { submission: Some(100), completion: 900, from_intended: None };

    #[test]
    fn every_access_has_a_line_in_each_log() {
        let options = LogOptions {
            write_bw_log: Some("a".into()),
            write_lat_log: Some("a".into()),
            write_iops_log: Some("a".into()),
            ..LogOptions::default()
        };
        let (mut series, receiver) = series(&options);
        series.start(1_000);
        series.complete(&read(8192), LATENCIES, 5_000);
        series.finish(6_000);
        let samples = all(series, &receiver);
        let told: Vec<_> = samples.iter().map(|sample| (sample.kind, sample.value)).collect();
        // 4096 bytes in 1000 ns are 4 000 000 KiB a second.
        assert_eq!(
            told,
            [
                (LogKind::Submission, 100),
                (LogKind::Completion, 900),
                (LogKind::Total, 1000),
                (LogKind::Bandwidth, 4_000_000),
                (LogKind::Iops, 1)
            ]
        );
        assert!(samples.iter().all(|sample| sample.time_ns == 4_000 && sample.offset == 8192 && sample.bytes == 4096));
    }

    #[test]
    fn windows_are_averaged_and_a_stall_has_its_zeros() {
        let options = LogOptions { write_iops_log: Some("a".into()), log_avg_msec: 100, ..LogOptions::default() };
        let (mut series, receiver) = series(&options);
        series.start(0);
        for index in 0..50 {
            series.complete(&read(0), LATENCIES, index * 1_000_000);
        }
        series.complete(&read(0), LATENCIES, 350_000_000);
        series.finish(400_000_000);
        let told: Vec<_> =
            all(series, &receiver).iter().map(|sample| (sample.time_ns / 1_000_000, sample.value)).collect();
        assert_eq!(told, [(100, 500), (200, 0), (300, 0), (400, 10)]);
    }

    #[test]
    fn lines_are_sent_when_a_window_is_over_and_at_least_each_second() {
        let lines = |receiver: &Receiver<Chunk>| receiver.try_iter().map(|chunk| chunk.samples.len()).sum::<usize>();
        let options = LogOptions { write_bw_log: Some("a".into()), log_avg_msec: 100, ..LogOptions::default() };
        let (mut averaged, receiver) = series(&options);
        averaged.start(0);
        averaged.complete(&read(0), LATENCIES, 50_000_000);
        assert_eq!(lines(&receiver), 0);
        averaged.complete(&read(0), LATENCIES, 100_000_000);
        assert_eq!(lines(&receiver), 1);
        let (mut each, receiver) = series(&LogOptions { log_avg_msec: 0, ..options });
        each.start(0);
        each.complete(&read(0), LATENCIES, 999_000_000);
        assert_eq!(lines(&receiver), 0);
        each.complete(&read(0), LATENCIES, 1_000_000_000);
        assert_eq!(lines(&receiver), 2);
        each.complete(&read(0), LATENCIES, 1_500_000_000);
        assert_eq!(lines(&receiver), 0);
    }

    #[test]
    fn waiting_for_a_writer_that_is_behind_is_counted() {
        let options = LogOptions { write_bw_log: Some("a".into()), log_avg_msec: 1, ..LogOptions::default() };
        let (sender, receiver) = sync_channel(1);
        let mut series = Series::new(&options, 0, &sender).unwrap();
        series.start(0);
        series.complete(&read(0), LATENCIES, 0);
        series.complete(&read(0), LATENCIES, 1_000_000);
        assert_eq!(series.waited(), Duration::ZERO, "there was room for the first one");
        let pause = Duration::from_millis(20);
        let writer = std::thread::spawn(move || {
            std::thread::sleep(pause);
            receiver.iter().count()
        });
        // The channel is full until the writer wakes up, which began to sleep before or only now.
        series.complete(&read(0), LATENCIES, 2_000_000);
        series.complete(&read(0), LATENCIES, 3_000_000);
        assert!(series.waited() > Duration::ZERO);
        drop((series, sender));
        assert_eq!(writer.join().unwrap(), 3);
    }

    #[test]
    fn a_long_time_holds_no_more_memory_than_a_short_one() {
        let options = LogOptions { write_lat_log: Some("a".into()), ..LogOptions::default() };
        let (mut series, receiver) = series(&options);
        let reader = std::thread::spawn(move || receiver.iter().map(|chunk| chunk.samples.len()).sum::<usize>());
        for index in 0..100_000 {
            series.complete(&read(0), LATENCIES, index);
            assert!(series.chunk.capacity() <= CHUNK);
        }
        series.finish(100_000);
        drop(series);
        assert_eq!(reader.join().unwrap(), 300_000);
    }
}
