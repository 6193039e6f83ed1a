//! The machine: what a figure depends on, and one CPU to measure on.

use std::fs;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// CPU, kernel and clock source in a line.
pub fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let info = read("/proc/cpuinfo");
    let models: Vec<&str> = info
        .lines()
        .filter_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, model)| model.trim()))
        .collect();
    let clock = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    format!(
        "{} × {}, Linux {}, clock source {clock}",
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        models.first().unwrap_or(&"unknown CPU"),
        read("/proc/sys/kernel/osrelease"),
    )
}

/// How many processes wanted a CPU in the last minute, on average: what runs beside a measurement disturbs it.
pub fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().filter(|first| !first.is_empty()).unwrap_or("unknown").to_owned()
}

/// The CPUs that this thread may use, least first; empty where the system does not say.
pub fn cpus() -> Vec<usize> {
    let set = sched_getaffinity(None).ok();
    set.map_or_else(Vec::new, |set| (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Keeps this thread, and the programs that it starts, on the last CPU that it may use (the first ones serve most interrupts), while the value lives.
pub struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// `None` where the system refuses; figures are then less steady and no less true.
    pub fn to_one_cpu() -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| before.is_set(*cpu))?;
        let mut one = CpuSet::new();
        one.set(last);
        sched_setaffinity(None, &one).ok()?;
        Some(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Where this fails the process stays on one CPU, which harms nothing.
        let _ = sched_setaffinity(None, &self.before);
    }
}
