//! Running boards.

use flashmark_core::clock::Clock as _;
use flashmark_core::record::Outcome;
use flashmark_core::simulation::PhaseTime;
use flashmark_core::workload::Workload;
use flashmark_lab::{Bench, LabTarget};

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
    let mut bench = Bench::new();
    let outcomes = job.workloads.iter().map(|workload| run(&mut bench, workload, &mut target)).collect();
    Ok(Measured { outcomes, ready, tests_ns: clock.now_ns() - start_ns })
}

fn run(bench: &mut Bench, workload: &Workload, target: &mut LabTarget) -> Result<Outcome, String> {
    let fit = target.check(workload).map_err(|fault| fault.to_string())?;
    if let Some(wanted) = fit.cut_from {
        return Err(format!("the storage has only {} of {wanted} bytes", fit.region_bytes));
    }
    bench.run(workload, target, &mut ()).map_err(|fault| fault.to_string())
}
