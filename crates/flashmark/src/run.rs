//! `flashmark run`: a suite on targets, one record after the other.

mod interrupt;
mod plan;
mod progress;
mod session;
mod terminal;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use flashmark_core::record::{Record, Status};
use flashmark_host::device::Identity;
use flashmark_report::remarks;
use flashmark_report::run_file::RunFile;
use flashmark_suite::Settings;

use crate::args::RunArgs;
use crate::exit::{Ended, Exit};
use crate::message::say;
use crate::output::Output;
use plan::Plan;
use session::Session;

pub fn run(args: RunArgs, settings: Settings) -> anyhow::Result<Exit> {
    let output = Output::new(&args.show)?;
    let (plan, mut file) = match &args.resume {
        Some(path) => {
            let (file, records, torn) = RunFile::resume(path)?;
            if let Some(torn) = torn.filter(|_| !args.quiet) {
                say(format_args!("{}: {torn}", path.display()));
            }
            let plan = Plan::of_records(records).with_context(|| format!("cannot resume {}", path.display()))?;
            (plan, Some(file))
        }
        None => (Plan::of_args(&args, settings)?, None),
    };
    output.check(&plan.info.suite, plan.info.original.as_deref())?;
    let targets = plan.target_paths();
    let unused = args.consent.unused(&targets.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    if let Some(directory) = unused.iter().find(|path| path.is_dir()) {
        anyhow::bail!(
            "--destroy {path}: a directory is not destroyed; flashmark writes a file of its own there, so leave \
             --destroy out (nothing was done)",
            path = directory.display()
        );
    }
    if let Some(path) = unused.first() {
        anyhow::bail!(
            "--destroy {path} names no target of this run: a typing error here costs data, so nothing was done",
            path = path.display()
        );
    }
    refuse_the_same_twice(&targets)?;
    // A pipe waits for its reader: before anything is made, and while Ctrl-C still ends the process as it does any other.
    if let Some(path) = args.output.as_ref().filter(|path| path.exists() && !path.is_file()) {
        file = Some(RunFile::create(path)?);
    }
    let interrupt = interrupt::install()?;
    // Targets are opened before the output file is made, so that a wrong target leaves no empty file behind.
    let mut session = Session::open(&plan, &args, interrupt)?;
    if let Some(refusal) = session.refusal_of_everything() {
        return Err(Ended::Refused(Box::new(refusal)).into());
    }
    if let Some(path) = args.output.as_ref().filter(|_| file.is_none()) {
        file = Some(RunFile::create(path)?);
    }
    let mut run = session.measure(&plan, file);
    // Test files are gone before anything is printed, whatever the printing meets.
    run.left_behind = !session.finish();
    if output.is_machine() {
        for (is_error, text) in remarks(&run.records) {
            match is_error {
                true => say(format_args!("error: {text}")),
                false if args.quiet => {}
                false => say(format_args!("warning: {text}")),
            }
        }
    }
    output.print(&run.records)?;
    Ok(exit_of(&run, interrupt.is_set()))
}

/// A device or file that is named twice would be measured, and claimed, twice. Directories are another matter: each has a
/// test file of its own.
fn refuse_the_same_twice(targets: &[PathBuf]) -> anyhow::Result<()> {
    let mut seen = Vec::new();
    for path in targets {
        let Ok(Some(identity)) = Identity::of_path(path) else { continue };
        if seen.contains(&identity) {
            anyhow::bail!("{} is named twice: name each device and file once", path.display());
        }
        seen.push(identity);
    }
    Ok(())
}

/// What a run left.
struct Measured {
    /// All records of the run, in order, with those of the run that was resumed.
    records: Vec<Record>,
    /// Whether a record could not be written.
    file_failed: bool,
    /// Whether a test file could not be removed.
    left_behind: bool,
}

fn exit_of(run: &Measured, interrupted: bool) -> Exit {
    let failed = |record: &Record| record.outcome.status == Status::Failed || record.outcome.fault_count > 0;
    if interrupted || run.records.iter().any(|record| record.outcome.status == Status::Interrupted) {
        Exit::Interrupted
    } else if run.file_failed || run.left_behind || run.records.iter().any(failed) {
        Exit::Failed
    } else {
        Exit::Done
    }
}

/// Of several records in one place of one run (a run that was resumed) the last one.
pub fn newest_of_each(records: Vec<Record>) -> Vec<Record> {
    let mut order = Vec::new();
    let mut newest = BTreeMap::new();
    for record in records {
        let place = (record.run.id.clone(), record.run.index);
        if newest.insert(place.clone(), record).is_none() {
            order.push(place);
        }
    }
    order.into_iter().filter_map(|place| newest.remove(&place)).collect()
}
