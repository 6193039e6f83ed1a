//! `flashmark validate`: published tables against what simulated boards predict.

use std::io::{self, Write as _};
use std::path::PathBuf;

use flashmark_validate::format::{Format, remarks};
use flashmark_validate::{Report, Table, TableError, built_in_tables, validate};

use crate::args::ValidateArgs;
use crate::exit::Exit;
use crate::message::say;

/// Runs what the tables name, and prints the comparison.
///
/// # Errors
/// A table, board or suite that is wrong, and an output that fails.
pub fn run(args: &ValidateArgs) -> anyhow::Result<Exit> {
    let format = Format::named(&args.format).ok_or_else(|| anyhow::anyhow!("there is no format {}", args.format))?;
    let report = validate(&tables(&args.tables)?)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    format.write(&report, &mut out)?;
    out.flush()?;
    if !format.is_whole {
        remarks(&report).iter().for_each(say);
    }
    Ok(exit(&report, args.limits))
}

fn tables(paths: &[PathBuf]) -> Result<Vec<Table>, TableError> {
    if paths.is_empty() { built_in_tables() } else { paths.iter().map(|path| Table::load(path)).collect() }
}

fn exit(report: &Report, with_limits: bool) -> Exit {
    let is_good = !report.summary.failed && (!with_limits || report.summary.keeps_limits());
    if is_good { Exit::Done } else { Exit::Failed }
}
