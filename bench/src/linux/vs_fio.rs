//! `flashmark fio` beside fio: the same words to both, in turn, on the same CPUs and the same file or device.
//!
//! Each part has its file here and a line in [`Part`]. Each compares figures of the same round.

mod agreement;
mod bare;
mod cached;
mod devices;
mod figures;
mod null;
mod section;
mod series;
mod threads;
mod throttle;
mod tool;
mod turns;

use std::path::Path;

use clap::ValueEnum;

use crate::linux::failure::Failure;
use crate::linux::machine;
use crate::linux::program;
use crate::linux::report::Report;
use section::Section;
use tool::Tool;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// What the tools themselves cost: no I/O at all
    Null,
    /// Reads of a file that is in memory, on one CPU
    Cached,
    /// Direct reads of devices in memory: rates and CPU time (needs root)
    Devices,
    /// Two threads on two CPUs over one
    Threads,
    /// Memory that time series take
    Series,
    /// Whether a device of a known speed has that speed for both (needs root, and version 1 of control groups)
    Agreement,
}

/// What all parts need.
struct Bench<'a> {
    flashmark: Tool,
    fio: Tool,
    /// Where files on a real file system are made.
    dir: &'a Path,
    rounds: u32,
    /// CPUs that this program may use.
    cpus: Vec<usize>,
}

impl Bench<'_> {
    /// The option that keeps a job on one CPU: the last one, since the first ones serve most interrupts.
    fn on_one_cpu(&self) -> String {
        format!("--cpus_allowed={}", self.cpus.last().copied().unwrap_or(0))
    }
}

/// Compares all of `parts`, or everything if there are none.
///
/// # Errors
/// [`Failure::Missing`] if fio is not installed.
pub fn measure(flashmark: &Path, dir: &Path, rounds: u32, parts: &[Part]) -> Result<Report, Failure> {
    program::require("fio", "fio")?;
    let bench = Bench { flashmark: Tool::flashmark(flashmark), fio: Tool::fio(), dir, rounds, cpus: machine::cpus() };
    let mut whole = Section::default();
    for part in Part::value_variants() {
        if !parts.is_empty() && !parts.contains(part) {
            continue;
        }
        whole.add(match part {
            Part::Null => null::measure(&bench),
            Part::Cached => cached::measure(&bench),
            Part::Devices => devices::measure(&bench),
            Part::Threads => threads::measure(&bench),
            Part::Series => series::measure(&bench),
            Part::Agreement => agreement::measure(&bench),
        }?);
    }
    let Section { tables, promises, skipped } = whole;
    Ok(Report { name: "vs-fio", machine: String::new(), tables, promises, skipped })
}
