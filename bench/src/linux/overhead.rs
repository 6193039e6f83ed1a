//! What the runner and its histogram add to an operation.

mod null;
mod system_calls;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flashmark_core::record::Status;
use flashmark_core::runner::Observer;
use flashmark_core::target::{Fault, FaultKind, Target};
use flashmark_core::workload::{Order, Workload};

use crate::linux::failure::Failure;
use crate::linux::machine::Pinned;
use crate::linux::report::{Promise, Report};

/// The promise: the runner and the histogram cost at most this much an operation over the bare call.
const LIMIT_NS: f64 = 60.0;

/// Every order that a workload can have.
const ORDERS: [(&str, Order); 4] = [
    ("sequential", Order::Sequential),
    ("random", Order::Random),
    ("random-once", Order::RandomOnce),
    ("zipf 0.99", Order::Zipf { theta_milli: 990 }),
];

/// Measures against a target that does nothing, and against hand-written loops of the same system calls.
///
/// # Errors
/// [`Failure`], and no part of the result then.
pub fn measure(rounds: u32) -> Result<Report, Failure> {
    let _pinned = Pinned::to_one_cpu();
    let (null, null_worst) = null::measure(rounds)?;
    let (calls, calls_worst) = system_calls::measure(rounds)?;
    let promise = |what: &str, found| Promise {
        what: what.into(),
        found,
        limits: f64::NEG_INFINITY..=LIMIT_NS,
        unit: "ns an operation",
    };
    Ok(Report {
        name: "overhead",
        machine: String::new(),
        tables: vec![null, calls],
        promises: vec![
            promise("runner and histogram on a null target, the worst row but zipf", null_worst),
            promise("runner and histogram over the bare system call, the worst row", calls_worst),
        ],
        skipped: Vec::new(),
    })
}

/// What the command line's observer does in the measuring path: a store for the progress bar, a look at the user's wish.
#[derive(Default)]
struct Watcher {
    moved: u64,
    shared: AtomicU64,
    stop: AtomicBool,
}

impl Observer for Watcher {
    #[inline]
    fn moved(&mut self, bytes: u64) {
        self.moved += bytes;
        self.shared.store(self.moved, Ordering::Relaxed);
    }

    #[inline]
    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs a workload, and insists that all of it ran.
fn run<C: flashmark_core::clock::Clock, T: Target>(
    runner: &mut flashmark_core::runner::Runner<'_, C>,
    workload: &Workload,
    target: &mut T,
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let outcome = runner.run(workload, target, watcher);
    if outcome.status == Status::Done && Some(outcome.bytes) == workload.size_bytes {
        return Ok(());
    }
    let unknown = || Fault::new(FaultKind::Io, format!("{:?} after {} bytes", outcome.status, outcome.bytes));
    Err(outcome.faults.first().map_or_else(unknown, |failed| failed.fault.clone()).into())
}
