//! fio's own bare loop on io_uring, `t/io_uring` of its source tree: it submits and reaps, and counts nothing but completions.
//!
//! No distribution packs it, so that a variable names it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::linux::failure::Failure;
use crate::linux::machine::Pinned;
use crate::linux::program;
use crate::linux::rounds::Spread;

/// Names the program.
pub const VARIABLE: &str = "FLASHMARK_T_IO_URING";

/// The program.
#[derive(Debug)]
pub struct Bare {
    program: PathBuf,
}

impl Bare {
    /// The one that the variable names.
    pub fn find() -> Option<Self> {
        let program = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        Some(Self { program: program.into() })
    }

    /// Random reads a second of 512 bytes of a file in the page cache: 32 under way, submitted and awaited 16 at a time,
    /// fixed buffers, registered file, no polling, on one CPU for so many seconds.
    ///
    /// Its thread that counts the seconds is on the same CPU, and never gets it under the real-time policy `SCHED_FIFO`.
    ///
    /// # Errors
    /// [`Failure::Program`], [`Failure::Output`], [`Failure::Interrupted`].
    pub fn iops(&self, file: &Path, seconds: u32) -> Result<f64, Failure> {
        let _pinned = Pinned::to_one_cpu();
        let mut command = Command::new(&self.program);
        command.args(["-d32", "-s16", "-c16", "-b512", "-p0", "-B1", "-F1", "-O0", "-R1", "-n1", "-t0"]);
        // It tells a figure each second, the last of which may be cut short.
        command.arg(format!("-r{}", seconds + 1)).arg(file);
        let finished = program::measured(&mut command)?;
        iops(&finished.output).ok_or(Failure::Output {
            program: VARIABLE,
            wanted: "IOPS=FIGURE, BW=…",
            output: finished.output,
        })
    }
}

/// The median of lines like `IOPS=1.28M, BW=623MiB/s, IOS/call=16/16`.
fn iops(output: &str) -> Option<f64> {
    let figure = |line: &str| {
        let text = line.strip_prefix("IOPS=")?.split(',').next()?;
        let (text, unit) = match text.as_bytes().last()? {
            b'K' => (&text[..text.len() - 1], 1e3),
            b'M' => (&text[..text.len() - 1], 1e6),
            _ => (text, 1.0),
        };
        text.parse::<f64>().ok().map(|value| value * unit)
    };
    let median = Spread::of(output.lines().filter_map(figure).collect()).median;
    (median > 0.0).then_some(median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_figures_are_read() {
        let output = "submitter=0, tid=1, file=f\nIOPS=1.28M, BW=623MiB/s, IOS/call=16/16\n\
                      IOPS=999.50K, BW=1MiB/s, IOS/call=16/16\nIOPS=512, BW=1MiB/s, IOS/call=1/1\n\
                      Exiting on timeout\nMaximum IOPS=1.28M\n";
        assert_eq!(iops(output), Some(999_500.0));
        assert_eq!(iops("Maximum IOPS=1.28M\n"), None, "the best second is no measure");
        assert_eq!(iops("IOPS=0, BW=0MiB/s\n"), None);
    }
}
