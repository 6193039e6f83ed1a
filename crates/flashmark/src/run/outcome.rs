//! Outcomes of workloads that did not run.

use flashmark_core::record::{FailedOp, OpKind, Outcome, Status, Warning, WarningCode};
use flashmark_core::target::Fault;

/// Left out, and why.
pub fn skipped(why: String) -> Outcome {
    let warnings = vec![Warning::new(WarningCode::Skipped, why)];
    Outcome { warnings, ..Outcome::not_run(Status::Skipped) }
}

/// The target could not be made ready for it.
pub fn did_not_start(fault: Fault) -> Outcome {
    let failed = FailedOp { op: OpKind::Open, offset: 0, fault };
    Outcome { fault_count: 1, faults: vec![failed], ..Outcome::not_run(Status::Failed) }
}
