//! What a run of jobs gives, in fio's terms; the forms of [`crate::output`] are made from it.

use flashmark_core::histogram::Histogram;

use crate::setting::Setting;
use crate::value::triple::Triple;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// When it ended, milliseconds since 1970 began, UTC.
    pub ended_at_unix_ms: u64,
    /// The defaults that all jobs share, as written: `[global]`, or what stands before the first `--name`.
    pub global_settings: Vec<Setting>,
    /// What is reported, in order: a job's copies one by one, or, with `group_reporting`, all jobs of a group as one.
    pub reports: Vec<JobReport>,
    /// Each group of jobs, in order.
    pub groups: Vec<GroupReport>,
    /// The disks that files were on, and those that these are made of.
    pub disks: Vec<DiskUse>,
}

/// The result of one job, or of several together.
#[derive(Clone, Debug)]
pub struct JobReport {
    /// Its name; of several, the first one's.
    pub name: String,
    /// `description`.
    pub description: Option<String>,
    /// Which group it is in.
    pub group: u32,
    /// The system's number of the error that ended it; 0 if none did.
    pub error: i32,
    /// That error, for people.
    pub error_text: Option<String>,
    /// How many errors were passed over (`continue_on_error`), and the first of them; `None` where the job was not to go on.
    pub passed_over: Option<PassedOver>,
    /// The process that ran it.
    pub pid: u32,
    /// How many jobs it is the result of.
    pub members: u32,
    /// When it started, milliseconds since 1970 began, UTC.
    pub started_at_unix_ms: u64,
    /// From its start to its end, in nanoseconds; of several, the sum, as fio's `job_runtime` is.
    pub job_runtime_ns: u64,
    /// The longest time that one of its jobs took, in nanoseconds.
    pub elapsed_ns: u64,
    /// What it did in each direction.
    pub directions: Triple<DirectionReport>,
    /// What its syncs took.
    pub syncs: Box<Histogram>,
    /// What it used of processors and memory.
    pub usage: Usage,
    /// How many were in flight when an access was issued, in fio's classes: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
    pub depth_levels: [u64; 7],
    /// How many were submitted together: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
    pub submit_batches: [u64; 7],
    /// How many were completed together; the same classes.
    pub complete_batches: [u64; 7],
    /// The job's options.
    pub options: crate::options::Options,
    /// The options that were given for it, as written.
    pub settings: Vec<Setting>,
}

/// Errors that did not end a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// How many.
    pub count: u64,
    /// The system's number of the first one; 0 if there were none.
    pub first: i32,
}

/// What was done in one direction.
#[derive(Clone, Debug, Default)]
pub struct DirectionReport {
    /// Bytes moved.
    pub bytes: u64,
    /// Accesses that were completed.
    pub count: u64,
    /// Accesses that moved fewer bytes than asked for.
    pub short: u64,
    /// Accesses that were not issued, since the job fell behind its rate for too long.
    pub dropped: u64,
    /// The time it took, in nanoseconds: from the first access of the job to its last one of this direction, as fio has it.
    pub runtime_ns: u64,
    /// Submission latencies; empty for engines that complete what they submit.
    pub submission: Box<Histogram>,
    /// Completion latencies: from submission to completion.
    pub completion: Box<Histogram>,
    /// Total latencies: from where an access begins to its completion.
    pub total: Box<Histogram>,
    /// Latencies from the *intended* start, for jobs with a rate; not in fio, and empty without a rate.
    pub from_intended: Box<Histogram>,
    /// Bandwidth samples, in KiB a second.
    pub bandwidth_samples: Samples,
    /// Samples of accesses a second.
    pub iops_samples: Samples,
}

/// Statistics of numbers, without the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// How many.
    pub count: u64,
    /// The smallest; 0 if there are none.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// Their mean.
    pub mean: f64,
    /// The sum of the squares of their distances from the mean.
    pub squares: f64,
}

impl Samples {
    /// Adds one (Welford's method).
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        let distance = value as f64 - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value as f64 - self.mean);
    }

    /// Those of jobs that ran side by side, as fio sums them up: means and bounds are added, deviations too.
    pub fn add_beside(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.min += other.min;
        self.max += other.max;
        self.count += other.count;
        self.mean += other.mean;
        self.squares += other.squares;
    }

    /// The standard deviation, 0 for fewer than two.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).sqrt() }
    }
}

/// What jobs used of processors and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Context switches, wanted or not.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

/// What a group of jobs did together.
#[derive(Clone, Debug, Default)]
pub struct GroupReport {
    /// What it did in each direction.
    pub directions: Triple<GroupDirection>,
    /// Whether rates are told in bits: the `unit_base` of its jobs.
    pub in_bits: bool,
}

/// What a group of jobs did in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupDirection {
    /// Bytes moved.
    pub bytes: u64,
    /// Bytes a second of all jobs together: bytes over the longest time.
    pub bytes_per_s: u64,
    /// Bytes a second of the slowest job.
    pub min_bytes_per_s: u64,
    /// Bytes a second of the fastest job.
    pub max_bytes_per_s: u64,
    /// The shortest time of a job in nanoseconds.
    pub min_runtime_ns: u64,
    /// The longest.
    pub max_runtime_ns: u64,
}

/// What a disk did meanwhile (`/proc/diskstats`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// Its name, as in `/sys/block`.
    pub name: String,
    /// Reads and writes completed.
    pub ios: [u64; 2],
    /// Reads and writes merged into neighbours.
    pub merges: [u64; 2],
    /// Sectors of 512 bytes read and written.
    pub sectors: [u64; 2],
    /// Milliseconds that reads and writes took together.
    pub ticks_ms: [u64; 2],
    /// Milliseconds weighted by how many were waiting.
    pub in_queue_ms: u64,
    /// Milliseconds in which it was busy.
    pub busy_ms: u64,
    /// The time over which it was watched, in milliseconds.
    pub watched_ms: u64,
    /// The names of the disks that it is made of (device mapper, md), which are in [`Results::disks`] as well.
    pub members: Vec<String>,
}
