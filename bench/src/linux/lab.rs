//! How fast simulated boards run, and what they take.
//!
//! The figures of whole runs are those of the program `flashmark`, from its start to its end, output included. Time is CPU
//! time, of all its threads and of the kernel for it, which says what a run costs also where other programs are waiting
//! for the same processors.

mod chips;
mod lengths;
mod memory;
mod operations;
mod run;
mod sweep;

use std::path::Path;

use crate::linux::failure::Failure;
use crate::linux::machine::Pinned;
use crate::linux::report::{Promise, Report, Table};

/// A table and the promises that it shows.
type Part = (Table, Vec<Promise>);

/// Measures the SPI flash rows of ESP-IDF's benchmark on the simulated ESP32.
///
/// # Errors
/// [`Failure`].
pub fn measure(flashmark: &Path, rounds: u32) -> Result<Report, Failure> {
    let parts = [
        // First, while this program is small: its children begin with its size (see `Finished::peak_resident_bytes`).
        memory::measure(flashmark)?,
        lengths::measure(flashmark, rounds)?,
        chips::measure(flashmark, rounds)?,
        pinned(|| operations::measure(rounds))?,
        sweep::measure(flashmark, rounds)?,
    ];
    let (mut tables, mut promises) = (Vec::new(), Vec::new());
    for (table, more) in parts {
        tables.push(table);
        promises.extend(more);
    }
    Ok(Report { name: "lab", machine: String::new(), tables, promises, skipped: Vec::new() })
}

/// Measures on one processor.
fn pinned<T>(work: impl FnOnce() -> T) -> T {
    let _pinned = Pinned::to_one_cpu();
    work()
}
