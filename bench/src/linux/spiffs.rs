//! SPIFFS: what a call costs the processor in the crate `spiffs`, and in the C implementation where a program that runs it is
//! at hand.
//!
//! Both sides run the same scripts (`crates/spiffs/tests/support/workloads.rs`) on a flash that is an array in memory, and
//! make the same accesses of it, as `crates/spiffs/tests/totals.rs` shows. The C side is a program of its own, which is no
//! part of this project.

mod ours;
mod reference;

use std::path::PathBuf;

use crate::linux::failure::Failure;
use crate::linux::machine::Pinned;
use crate::linux::report::{Cell, Promise, Report, Table};
use crate::linux::rounds::{Rounds, Spread, Variant};
use ours::{CHECK, Ours, WORKLOADS};
use reference::Reference;

/// Names the program that runs the C implementation.
pub const VARIABLE: &str = "FLASHMARK_SPIFFS_C";

/// CPU time over that of the C code, of each workload.
const LIMIT_RATIO: f64 = 1.0;
/// How long the runs of one side in one round take together at least, if they are not too many.
const ROUND_US: f64 = 20_000.0;
const MOST_RUNS: f64 = 1000.0;
/// The least of so many runs at least is a round's time.
const LEAST_RUNS: f64 = 3.0;

const NOTE_ALONE: &str = "FLASHMARK_SPIFFS_C names no program that runs the C implementation, so there is nothing to compare \
                          with; see flashmark-bench spiffs --help.";
const NOTE_BOTH: &str = "Within the time are the calls and the flash, an array in memory; not the reading of the script and \
                         the making of data.";

/// Measures all workloads.
///
/// # Errors
/// [`Failure`].
pub fn measure(rounds: u32) -> Result<Report, Failure> {
    let _pinned = Pinned::to_one_cpu();
    let program = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let (mut rows, mut promises) = (Vec::new(), Vec::new());
    for workload in WORKLOADS.iter().chain([&CHECK]) {
        let script = workload.script();
        let mut ours = Ours::new(&script)?;
        let calls = ours.calls() as f64;
        let runs = (ROUND_US / ours.best_us(1)).clamp(LEAST_RUNS, MOST_RUNS) as u32;
        let reference = match &program {
            Some(program) => Some(Reference::new(program, workload.name, &script)?),
            None => None,
        };
        let mut variants: Vec<Variant<'_>> = vec![Box::new(|| Ok(ours.best_us(runs)))];
        if let Some(reference) = &reference {
            variants.push(Box::new(|| reference.best_us(runs)));
        }
        let times = Rounds::run(rounds, &mut variants)?;
        drop(variants);
        let ratio = reference.is_some().then(|| times.pairs(0, 1, |ours, theirs| ours / theirs));
        let theirs = reference.is_some().then(|| times.of(1).median);
        rows.push(row(workload.name, calls, times.of(0).median, theirs, ratio));
        if let Some(ratio) = ratio {
            promises.push(Promise {
                what: format!("CPU time of {} over that of the C code", workload.name),
                found: ratio,
                limits: f64::NEG_INFINITY..=LIMIT_RATIO,
                unit: "times",
            });
        }
    }
    let table = Table {
        title: format!("CPU time of whole workloads; {rounds} rounds; medians"),
        columns: vec!["workload", "calls", "CPU µs", "ns a call", "C: CPU µs", "C: ns a call", "ratio", "25 %", "75 %"],
        rows,
        note: if program.is_some() { NOTE_BOTH } else { NOTE_ALONE },
    };
    Ok(Report { name: "spiffs", machine: String::new(), tables: vec![table], promises, skipped: Vec::new() })
}

fn row(name: &str, calls: f64, ours_us: f64, theirs_us: Option<f64>, ratio: Option<Spread>) -> Vec<Cell> {
    let number = |value: Option<f64>, decimals| value.map_or(Cell::None, |value| Cell::Number(value, decimals));
    let a_call = |us: f64| us * 1000.0 / calls;
    vec![
        name.into(),
        Cell::Number(calls, 0),
        Cell::Number(ours_us, 0),
        Cell::Number(a_call(ours_us), 0),
        number(theirs_us, 0),
        number(theirs_us.map(a_call), 0),
        number(ratio.map(|ratio| ratio.median), 2),
        number(ratio.map(|ratio| ratio.low), 2),
        number(ratio.map(|ratio| ratio.high), 2),
    ]
}
