//! This project's side: the scripts, run by the crate's own test support.

// Shared with the crate's tests and its example `replay`; it panics on what no script of ours does.
#[allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)]
#[path = "../../../../crates/spiffs/tests/support/mod.rs"]
mod support;

use rustix::time::{ClockId, clock_gettime};

use crate::linux::failure::Failure;
use support::nor::Nor;
use support::run::Runner;
use support::script::Script;
pub use support::workloads::{CHECK, WORKLOADS};

/// A script, and the flash that it is run on.
pub struct Ours {
    script: Script,
    flash: Nor<false>,
}

impl Ours {
    /// # Errors
    /// [`Failure::Spiffs`] if it is no script.
    pub fn new(script: &str) -> Result<Self, Failure> {
        let script = Script::parse(script).map_err(Failure::Spiffs)?;
        let flash = Nor::new(vec![0xff; script.settings.flash_bytes()]);
        Ok(Self { script, flash })
    }

    /// How many calls a run makes.
    pub fn calls(&self) -> usize {
        self.script.lines.len()
    }

    /// The least CPU time of so many runs, each from an erased flash on, in microseconds.
    pub fn best_us(&mut self, runs: u32) -> f64 {
        let mut runner = Runner::new(&self.script);
        runner.outcomes = None;
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            self.flash.bytes.fill(0xff);
            let from = process_cpu_us();
            runner.run(&mut self.flash);
            best = best.min(process_cpu_us() - from);
        }
        best
    }
}

fn process_cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_run() {
        for workload in WORKLOADS.iter().filter(|workload| workload.size_kib <= 64) {
            let mut ours = Ours::new(&workload.script()).unwrap();
            assert!(ours.best_us(1) > 0.0);
            assert!(ours.flash.bytes.iter().any(|byte| *byte != 0xff), "{}: nothing was written", workload.name);
        }
    }
}
