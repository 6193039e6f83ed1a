//! Logs over time: names and lines (fio HOWTO, "Log File Formats").

use std::fmt;

use crate::jobs::Job;
use crate::options::LogOptions;

/// A direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the medium.
    Read,
    /// To the medium.
    Write,
    /// Given back.
    Trim,
}

impl Direction {
    /// All of them, in fio's order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// Its number in logs.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Trim => 2,
        }
    }

    /// fio's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// What a log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogKind {
    /// Total latency, in nanoseconds.
    Total,
    /// Submission latency, in nanoseconds.
    Submission,
    /// Completion latency, in nanoseconds.
    Completion,
    /// Bandwidth, in KiB a second.
    Bandwidth,
    /// Accesses a second.
    Iops,
}

impl LogKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Total, Self::Submission, Self::Completion, Self::Bandwidth, Self::Iops];

    /// fio's word for it, in names of files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "lat",
            Self::Submission => "slat",
            Self::Completion => "clat",
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
        }
    }

    /// What a job was given for it, if it is to be written.
    fn asked_for(self, job: &Job) -> Option<&str> {
        let LogOptions { write_bw_log, write_lat_log, write_iops_log, .. } = &job.options.log;
        let report = &job.options.report;
        let (name, left_out) = match self {
            Self::Total => (write_lat_log, report.disable_lat || report.gtod_reduce),
            Self::Submission => (write_lat_log, report.disable_slat || report.gtod_reduce),
            Self::Completion => (write_lat_log, report.disable_clat || report.gtod_reduce),
            Self::Bandwidth => (write_bw_log, false),
            Self::Iops => (write_iops_log, false),
        };
        name.as_deref().filter(|_| !left_out)
    }
}

/// A log that a job asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// What it tells.
    pub kind: LogKind,
    /// The path of its file, as far as the job gives it: `NAME_bw.3.log`.
    pub name: String,
}

/// The logs that a job asks for. `number` is that of the job's copy among all copies of all jobs, from 1; with
/// `per_job_logs=0` it is not in the name, and jobs with the same name share a file.
#[must_use]
pub fn log_files(job: &Job, number: u32) -> Vec<LogFile> {
    let file = |kind: LogKind| {
        let given = kind.asked_for(job)?;
        let name = if given.is_empty() { job.reported_name() } else { given };
        let number = if job.options.log.per_job_logs { format!(".{number}") } else { String::new() };
        Some(LogFile { kind, name: format!("{name}_{}{number}.log", kind.name()) })
    };
    LogKind::ALL.into_iter().filter_map(file).collect()
}

/// The file of `--bandwidth-log`, the bandwidth of all jobs together: `agg-read_bw.log` for the prefix `agg`.
#[must_use]
pub fn aggregate_log_name(prefix: &str, direction: Direction) -> String {
    format!("{prefix}-{}_bw.log", direction.name())
}

/// A line of a log: its text, without the line break, is its `Display`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When, in milliseconds from the job's start, or since 1970 began with `log_alternate_epoch`.
    pub time_ms: u64,
    /// What [`LogKind`] says; the mean over `log_avg_msec`, or the maximum where that is asked for.
    pub value: u64,
    /// The maximum, with `log_window_value=both`.
    pub maximum: Option<u64>,
    /// In which direction.
    pub direction: Direction,
    /// The block size; 0 in logs that average.
    pub block_bytes: u64,
    /// The offset, with `log_offset`; 0 in logs that average.
    pub offset_bytes: Option<u64>,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.time_ms, self.value)?;
        if let Some(maximum) = self.maximum {
            write!(f, ", {maximum}")?;
        }
        write!(f, ", {}, {}", self.direction.number(), self.block_bytes)?;
        if let Some(offset) = self.offset_bytes {
            write!(f, ", {offset}")?;
        }
        // The command's priority: there are no priorities here, so that none is high.
        f.write_str(", 0")
    }
}
