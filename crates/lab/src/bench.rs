//! Running workloads on lab targets, the same way for everybody.

use flashmark_core::record::Outcome;
use flashmark_core::runner::{Meters, Observer, Runner, buffer_bytes};
use flashmark_core::target::{Fault, FaultKind};
use flashmark_core::workload::Workload;

use crate::target::LabTarget;

/// The least buffer of a runner: files are laid out in pieces of it, which shows in their times, so that it depends on
/// nothing but the workload.
const BUFFER_BYTES: usize = 64 << 10;

/// A runner's buffer and meters, for one workload after the other.
#[derive(Debug)]
pub struct Bench {
    buffer: Vec<u8>,
    meters: Box<Meters>,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// Empty ones.
    #[must_use]
    pub fn new() -> Self {
        Self { buffer: Vec::new(), meters: Meters::boxed() }
    }

    /// Runs a workload from [`LabTarget::begin`] on; what it is to run has passed [`LabTarget::check`].
    ///
    /// # Errors
    /// [`Fault`] where there is no memory for a block.
    pub fn run<O: Observer>(
        &mut self,
        workload: &Workload,
        target: &mut LabTarget,
        observer: &mut O,
    ) -> Result<Outcome, Fault> {
        let needed = buffer_bytes(workload).max(BUFFER_BYTES);
        let more = needed.saturating_sub(self.buffer.len());
        self.buffer.try_reserve_exact(more).map_err(|_| {
            let message = format!("there is no memory for a buffer of {needed} bytes: make block smaller");
            Fault::new(FaultKind::Unsupported, message)
        })?;
        self.buffer.resize(self.buffer.len() + more, 0);
        target.begin(workload);
        let clock = target.clock();
        let buffer = self.buffer.get_mut(..needed).unwrap_or_default();
        Ok(Runner::new(&*clock, buffer, &mut self.meters).run(workload, target, observer))
    }
}
