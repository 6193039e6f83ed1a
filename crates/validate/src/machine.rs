//! Running boards.

use flashmark_core::clock::Clock as _;
use flashmark_core::record::Outcome;
use flashmark_core::runner::{Meters, Runner, buffer_bytes};
use flashmark_core::simulation::PhaseTime;
use flashmark_core::workload::Workload;
use flashmark_lab::{BUFFER_BYTES, LabTarget};

use crate::plan::Job;

/// What a job gave.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Of each workload, or why it did not run.
    pub(crate) outcomes: Vec<Result<Outcome, String>>,
    /// Getting the storage ready.
    pub(crate) ready: Vec<PhaseTime>,
    /// From then to the end of the last workload: with opening, closing, removing and laying out.
    pub(crate) tests_ns: u64,
}

/// Runs a job from power-on.
///
/// # Errors
/// Why the storage cannot be made ready.
pub(crate) fn measure(job: &Job) -> Result<Measured, String> {
    let mut target = LabTarget::open(&job.board, &job.storage, None).map_err(|error| error.to_string())?;
    let ready = target.simulation().phases;
    let clock = target.clock();
    let start_ns = clock.now_ns();
    let mut bench = Bench { meters: Meters::boxed(), buffer: Vec::new() };
    let outcomes = job.workloads.iter().map(|workload| bench.run(workload, &mut target)).collect();
    Ok(Measured { outcomes, ready, tests_ns: clock.now_ns() - start_ns })
}

struct Bench {
    meters: Box<Meters>,
    buffer: Vec<u8>,
}

impl Bench {
    fn run(&mut self, workload: &Workload, target: &mut LabTarget) -> Result<Outcome, String> {
        let fit = target.check(workload).map_err(|fault| fault.to_string())?;
        if let Some(wanted) = fit.cut_from {
            return Err(format!("the storage has only {} of {wanted} bytes", fit.region_bytes));
        }
        let needed = buffer_bytes(workload).max(BUFFER_BYTES);
        let more = needed.saturating_sub(self.buffer.len());
        self.buffer.try_reserve_exact(more).map_err(|_| format!("there is no memory for a call of {needed} bytes"))?;
        self.buffer.resize(self.buffer.len() + more, 0);
        target.begin(workload);
        let clock = target.clock();
        let buffer = self.buffer.get_mut(..needed).unwrap_or_default();
        Ok(Runner::new(&*clock, buffer, &mut self.meters).run(workload, target, &mut ()))
    }
}
