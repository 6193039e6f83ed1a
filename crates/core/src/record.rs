//! The record: the result of one workload on one target, self-contained.
//!
//! A run is JSON Lines, one [`Record`] a line. The fields are described in `docs/records.md` and
//! `docs/record.schema.json`; [`SCHEMA`] grows by one whenever a reader would have to know.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::histogram::Histogram;
use crate::simulation::Simulation;
use crate::target::{Fault, FaultKind};
use crate::workload::Workload;

mod distribution;

pub use distribution::Distribution;

/// The version of the record's form.
pub const SCHEMA: u32 = 1;

/// The result of one workload on one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// flashmark's version.
    pub flashmark: String,
    /// The run that this record is part of.
    pub run: RunInfo,
    /// When the workload started, UTC, RFC 3339. For people only: no duration is taken from it.
    pub started_at: String,
    /// What it ran on.
    pub target: TargetInfo,
    /// What ran.
    pub workload: Workload,
    /// How it went.
    pub outcome: Outcome,
    /// What it was measured with.
    pub environment: Environment,
    /// What only a simulated board can tell; lab targets only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
    /// What the workload cannot say of a job in fio's language; jobs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobInfo>,
}

/// A job in fio's language. [`Record::workload`] says as much of it as a workload can; this says all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobInfo {
    /// Its options as they were written, `name=value` or a bare name, those that it inherits first.
    pub settings: Vec<String>,
    /// Which of its copies this is, from 0.
    pub copy: u32,
    /// How many copies ran (`numjobs`).
    pub copies: u32,
    /// The group that it was reported in.
    pub group: u32,
    /// The files and devices that it used.
    pub files: Vec<String>,
}

/// The run that a record is part of; the same in all of its records but for `index`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Random, to tell runs in one file apart.
    pub id: String,
    /// The suite's name.
    pub suite: String,
    /// Where the suite came from: `built-in`, a path, or `command line`.
    pub suite_source: String,
    /// `corrected` or `compat`.
    pub form: Form,
    /// Settings given on the command line, as `key=value`.
    pub settings: Vec<String>,
    /// The parts of names that chose the suite's workloads (`--only`); none: all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The targets as given.
    pub targets: Vec<String>,
    /// The record's place in the run, from 0.
    pub index: u32,
    /// How many records the run has when it is complete.
    pub total: u32,
    /// A digest of the expanded workloads and targets: `--resume` goes on only where it still fits.
    pub plan: String,
    /// The original's output format that fits the suite, if any (`esp-idf`, `sdfat`, `sd-bench`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
}

/// Which form of a suite ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// With the original's defects mended; the default.
    Corrected,
    /// The original's steps, defects included.
    Compat,
}

/// What a workload ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// As given on the command line.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
    /// How to call the storage in a row of an original's format, e.g. `EXT4`, `SPI FATFS`.
    pub label: String,
    /// The engine that issued the I/O.
    pub engine: String,
    /// Whether reads and writes passed by the operating system's cache: what was found, not what was asked for.
    /// `None` where it means nothing (lab, board).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A test file that flashmark makes in a directory.
    Directory,
    /// An existing file.
    File,
    /// A block device.
    Device,
    /// A simulated board.
    Lab,
    /// Firmware on a board.
    Board,
}

/// How a workload went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it is complete.
    pub status: Status,
    /// Measured time of all repeats in nanoseconds: from the first operation's start to the last one's end and, where
    /// the workload syncs, to the last sync's; without open, close, pauses, warm-up and verification.
    pub elapsed_ns: u64,
    /// Bytes read and written inside `elapsed_ns`.
    pub bytes: u64,
    /// What the written data has reached when the clock stops; `None` if nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Reached>,
    /// A row for each kind of operation that took place: read, write, trim, sync, open, close, repeat.
    pub ops: Vec<OpStats>,
    /// Each measured repeat, in order.
    pub repeats: Vec<Repeat>,
    /// Bytes that were checked and found right: every byte of a block, or its last one, as the workload's `verify` says.
    pub verified_bytes: u64,
    /// How many operations failed, counting those that `faults` has no room for.
    pub fault_count: u64,
    /// The first of them, at most [`FAULTS_KEPT`].
    pub faults: Vec<FailedOp>,
    /// Doubts about the numbers.
    pub warnings: Vec<Warning>,
}

/// How many failed operations a record describes.
pub const FAULTS_KEPT: usize = 100;

/// Whether a workload is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All of it ran; single operations may have failed within `max_errors`.
    Done,
    /// It was stopped by the user; the numbers cover what had run.
    Interrupted,
    /// It failed; the numbers cover what had run.
    Failed,
    /// It did not run; a warning or a fault says why.
    Skipped,
}

/// How far written data has come when the clock stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// Memory of the operating system or of the file system.
    Cache,
    /// The device took it; it may be in the device's volatile cache.
    Device,
    /// It was synced: durable as far as the device tells the truth.
    Medium,
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpKind {
    /// Reading a block.
    Read,
    /// Writing a block.
    Write,
    /// Making written data durable.
    Sync,
    /// Opening the file.
    Open,
    /// Closing the file.
    Close,
    /// A repeat as a whole: opening or truncating the file, the repeat's time, closing. Also those in which an operation
    /// failed and was passed over.
    Repeat,
    /// Waiting for operations under way.
    Drain,
    /// Laying out the file before the measurement.
    Layout,
    /// Reading back to verify.
    Verify,
    /// Giving a block back to the medium.
    Trim,
}

/// The statistics of one kind of operation over all measured repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpStats {
    /// Which.
    pub op: OpKind,
    /// How many succeeded.
    pub count: u64,
    /// Bytes they moved; 0 for sync, open, close and repeat.
    pub bytes: u64,
    /// Latency figures, in nanoseconds.
    pub latency_ns: Latency,
    /// Operations that took more than 10 times the median and more than 1 ms.
    pub stalls: Stalls,
    /// The whole distribution.
    pub histogram: Distribution,
}

/// Latency figures in nanoseconds. `min`, `mean`, `max` and `sum` are exact (the mean to the nearest nanosecond), the
/// others to 1/128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// The shortest.
    pub min: u64,
    /// The mean.
    pub mean: u64,
    /// Half are no longer.
    pub p50: u64,
    /// 90 percent are no longer.
    pub p90: u64,
    /// 99 percent are no longer.
    pub p99: u64,
    /// 99.9 percent are no longer.
    pub p99_9: u64,
    /// 99.99 percent are no longer.
    pub p99_99: u64,
    /// The longest.
    pub max: u64,
    /// All together.
    pub sum: u64,
}

/// Operations that made the user wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// How many, to the resolution of the histogram.
    pub count: u64,
    /// The limit that they went over, in nanoseconds.
    pub threshold_ns: u64,
}

/// One measured repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// As [`Outcome::elapsed_ns`], of this repeat.
    pub elapsed_ns: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Operations that read or wrote.
    pub count: u64,
    /// The shortest of them, in nanoseconds.
    pub min_ns: u64,
    /// The longest of them, in nanoseconds.
    pub max_ns: u64,
    /// All of them together, in nanoseconds.
    pub sum_ns: u64,
}

/// An operation that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedOp {
    /// Which.
    pub op: OpKind,
    /// Where, in bytes from the start; 0 for operations without a place.
    pub offset: u64,
    /// What happened.
    pub fault: Fault,
}

/// A doubt about the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What kind, for programs.
    pub code: WarningCode,
    /// What was found and what it means, for people.
    pub message: String,
}

/// The kinds of doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningCode {
    /// Data to be read was (partly) in the page cache, or could not be dropped from it.
    PageCache,
    /// Direct I/O was asked for or expected, and did not take place.
    NotDirect,
    /// Another cache below may have served the data (a loop device's backing file, memory as medium).
    LowerCache,
    /// Part of the file has no blocks on the medium: reading it reads nothing.
    Sparse,
    /// The target is smaller than the workload's `file_bytes`: all of it was used.
    SmallTarget,
    /// Written data reached a cache only.
    NotDurable,
    /// The clock stepped back; latencies across the step are left out.
    ClockStepped,
    /// The machine slept during the measurement.
    Suspended,
    /// A short transfer was counted at full size, as the original does.
    ShortTransfer,
    /// Flash was written that had not been erased: bits that were 0 stayed so.
    NotErased,
    /// The file system is fuller than asked for, or less full; the text says how full, and why.
    FillLevel,
    /// A step was left out; the text says which and why.
    Skipped,
    /// Part of the environment could not be read.
    Environment,
}

impl Warning {
    /// A warning.
    pub fn new(code: WarningCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Warnings as they are found, each once, however many repeats find it.
#[derive(Clone, Debug, Default)]
pub struct Doubts(Vec<Warning>);

impl Doubts {
    /// Adds one, unless it is there.
    pub fn add(&mut self, code: WarningCode, message: impl Into<String>) {
        let warning = Warning::new(code, message);
        if !self.0.contains(&warning) {
            self.0.push(warning);
        }
    }

    /// All of them, in the order in which they were found.
    #[must_use]
    pub fn into_warnings(self) -> Vec<Warning> {
        self.0
    }
}

/// The least latency that can be a stall: 1 ms.
pub const STALL_FLOOR_NS: u64 = 1_000_000;
/// How many times the median a stall takes.
pub const STALL_FACTOR: u64 = 10;

impl OpStats {
    /// Sums a histogram up.
    #[must_use]
    pub fn from_histogram(op: OpKind, bytes: u64, histogram: &Histogram) -> Self {
        let quantile = |ppm| histogram.quantile_ns(ppm);
        let threshold_ns = histogram.median_ns().saturating_mul(STALL_FACTOR).max(STALL_FLOOR_NS);
        Self {
            op,
            count: histogram.count(),
            bytes,
            latency_ns: Latency {
                min: histogram.min_ns(),
                mean: histogram.mean_ns(),
                p50: quantile(500_000),
                p90: quantile(900_000),
                p99: quantile(990_000),
                p99_9: quantile(999_000),
                p99_99: quantile(999_900),
                max: histogram.max_ns(),
                sum: u64::try_from(histogram.sum_ns()).unwrap_or(u64::MAX),
            },
            stalls: Stalls { count: histogram.count_above(threshold_ns), threshold_ns },
            histogram: histogram.into(),
        }
    }
}

impl Outcome {
    /// The outcome of a workload that did not run.
    #[must_use]
    pub fn not_run(status: Status) -> Self {
        Self {
            status,
            elapsed_ns: 0,
            bytes: 0,
            reached: None,
            ops: Vec::new(),
            repeats: Vec::new(),
            verified_bytes: 0,
            fault_count: 0,
            faults: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The statistics of one kind of operation, if it took place.
    #[must_use]
    pub fn op(&self, op: OpKind) -> Option<&OpStats> {
        self.ops.iter().find(|stats| stats.op == op)
    }

    /// Whether the target was lost: nothing else can run on it.
    #[must_use]
    pub fn target_gone(&self) -> bool {
        self.faults.iter().any(|failed| failed.fault.kind == FaultKind::Gone)
    }
}

/// Bytes a second over a time, rounded down; 0 where no time passed.
#[must_use]
pub fn rate_bytes_per_s(bytes: u64, elapsed_ns: u64) -> u64 {
    if elapsed_ns == 0 {
        return 0;
    }
    let rate = u128::from(bytes) * 1_000_000_000 / u128::from(elapsed_ns);
    u64::try_from(rate).unwrap_or(u64::MAX)
}
