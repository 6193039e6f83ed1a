//! `flashmark run`: a suite on targets, one record after the other.

mod asked;
mod hosts;
pub mod interrupt;
mod iolog;
mod labs;
mod mkfs_list;
mod outcome;
mod place;
mod plan;
mod progress;
mod recorder;
mod save;
mod shard;
mod sweep;
pub mod terminal;
mod tries;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use anyhow::Context as _;
use flashmark_core::record::{Record, Status, TargetKind};
use flashmark_host::device::Identity;
use flashmark_report::remarks;
use flashmark_report::run_file::RunFile;
use flashmark_report::sweep::Metric;
use flashmark_suite::Settings;

use crate::args::RunArgs;
use crate::exit::{Ended, Exit};
use crate::message::say;
use crate::output::Output;
use asked::Asked;
use hosts::{Hosts, Shared};
use interrupt::Interrupt;
use plan::Plan;
use progress::Progress;
use recorder::{Recorded, Recorder};
pub use shard::Shard;
pub use sweep::Sweep;

pub fn run(args: RunArgs, settings: Settings) -> anyhow::Result<Exit> {
    if mkfs_list::is_asked_for(&args) {
        return mkfs_list::print();
    }
    let mut output = Output::new(&args.show)?;
    let (mut plan, mut file) = plan(&args, settings)?;
    if plan.asked.is_sweep() {
        output = output.sorted_by(Metric::default());
    }
    if plan.asked.making.as_ref().is_some_and(|making| making.specs.len() > 1) {
        output = output.comparing();
    }
    output.check(&plan.info.suite, plan.info.original.as_deref())?;
    check_targets(&plan, &args)?;
    let image = args.save_image.as_deref().map(|path| save::ImageFile::for_plan(path, &plan)).transpose()?;
    for text in plan.passed_over.iter().filter(|_| !args.quiet) {
        say(text);
    }
    // The namespace is entered before there are threads.
    let mounts = place::made::prepare(&plan, args.quiet)?;
    // A pipe waits for its reader: before anything is made, and while Ctrl-C still ends the process as it does any other.
    if let Some(path) = args.output.as_ref().filter(|path| path.exists() && !path.is_file()) {
        file = Some(RunFile::create(path)?);
    }
    let interrupt = interrupt::install()?;
    // Targets are opened before the output file is made, so that a wrong target leaves no empty file behind.
    labs::check(&plan)?;
    let mut hosts = Hosts::open(&plan, &args, mounts)?;
    if let Some(refusal) = hosts.refusal_of_everything(&plan) {
        return Err(Ended::Refused(Box::new(refusal)).into());
    }
    plan.iolog = args.iolog.as_deref().map(|path| iolog::IologFile::for_plan(path, &plan)).transpose()?;
    if let Some(path) = args.output.as_ref().filter(|_| file.is_none()) {
        let made = RunFile::create(path).inspect_err(|_| {
            if let Some(iolog) = plan.iolog.take() {
                iolog.discard();
            }
        });
        file = Some(made?);
    }
    let mut recorder = Recorder::new(&plan, file, output.needs_figures_only());
    let progress = Progress::start(args.quiet, args.show.rate_unit());
    let measured = measure(&plan, &args, &mut hosts, &progress, interrupt, &mut recorder);
    // The bar goes first, so that no message stands in it; test files are gone before anything is printed, whatever the
    // printing meets.
    drop(progress);
    let left_behind = !hosts.finish(&plan);
    let iolog_failed = plan.iolog.as_ref().is_some_and(|iolog| !iolog.finish());
    let held = measured?;
    let Recorded { records, file_failed } = recorder.finish();
    if let Some(shard) = args.shard.filter(|_| plan.part.is_empty() && !args.quiet) {
        say(format_args!("part {shard} is empty: the run has {} targets", plan.seats.len()));
    }
    let exit = if interrupt.is_set() {
        Exit::Interrupted
    } else {
        exit_of(&records, file_failed || left_behind || iolog_failed)
    };
    if let Some(image) = image {
        image.save(held)?;
    }
    if output.hides_remarks() {
        say_remarks(&records, &plan, args.quiet);
    }
    if !records.is_empty() || !plan.part.is_empty() {
        output.print(records)?;
    }
    Ok(exit)
}

/// From the command line, or with the file of the run to resume.
fn plan(args: &RunArgs, settings: Settings) -> anyhow::Result<(Plan, Option<RunFile>)> {
    let Some(path) = &args.resume else {
        return Ok((Plan::new(Asked::of_args(args, settings)?, args.shard)?, None));
    };
    let (file, records, torn) = RunFile::resume(path)?;
    if let Some(torn) = torn.filter(|_| !args.quiet) {
        say(format_args!("{}: {torn}", path.display()));
    }
    let plan = Plan::of_records(records, args.shard).with_context(|| format!("cannot resume {}", path.display()))?;
    Ok((plan, Some(file)))
}

/// How many remarks on a sweep are said: combinations that cannot be have one each.
const SWEEP_REMARKS_MAX: usize = 20;

/// Says warnings and faults that what is printed does not show.
fn say_remarks(records: &[Record], plan: &Plan, is_quiet: bool) {
    let is_plain = |record: &&Record| record.outcome.status == Status::Done && record.outcome.warnings.is_empty();
    let (most, lines) = if plan.asked.is_sweep() {
        let mut remarkable: Vec<Record> = records.iter().filter(|record| !is_plain(record)).cloned().collect();
        // Beside another target a target is named.
        let is_other = |record: &&Record| remarkable.first().is_some_and(|one| one.target.name != record.target.name);
        let other = records.iter().find(is_other).cloned();
        remarkable.extend(other.filter(|record| is_plain(&record)));
        (SWEEP_REMARKS_MAX, remarks(&remarkable))
    } else {
        (usize::MAX, remarks(records))
    };
    let wanted: Vec<_> = lines.into_iter().filter(|(is_error, _)| *is_error || !is_quiet).collect();
    for (is_error, text) in wanted.iter().take(most) {
        say(format_args!("{}: {text}", if *is_error { "error" } else { "warning" }));
    }
    if let Some(more) = wanted.len().checked_sub(most).filter(|more| *more > 0) {
        say(format_args!("and {more} more like these; the records have them all (-o)"));
    }
}

/// Runs what is not done yet, target by target; simulated ones that follow each other run at the same time, but never
/// beside one that is measured. Gives what the last simulated storage holds, if that is asked for.
fn measure(
    plan: &Plan,
    args: &RunArgs,
    hosts: &mut Hosts,
    progress: &Progress,
    interrupt: Interrupt,
    recorder: &mut Recorder<'_>,
) -> anyhow::Result<Option<Vec<u8>>> {
    let shared = Shared { plan, progress, interrupt };
    let threads = args.threads.unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    let own: Vec<(usize, bool)> = plan.own().map(|(nth, seat)| (nth, seat.place.is_lab())).collect();
    let mut held = None;
    for group in own.chunk_by(|one, next| one.1 && next.1) {
        let seats: Vec<usize> = group.iter().map(|(nth, _)| *nth).collect();
        if interrupt.is_set() {
            break;
        }
        match group {
            [(nth, false)] => hosts.measure(*nth, args, &shared, recorder),
            _ => held = labs::measure(&seats, threads, args.save_image.is_some(), &shared, recorder)?.or(held),
        }
    }
    Ok(held)
}

fn check_targets(plan: &Plan, args: &RunArgs) -> anyhow::Result<()> {
    let targets = plan.host_paths();
    let unused = args.consent.unused(&targets.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    if let Some(lab) = unused.iter().find(|path| path.to_str().is_some_and(place::lab::is_lab)) {
        anyhow::bail!(
            "--destroy {}: a simulated board holds nobody's data, so leave --destroy out (nothing was done)",
            lab.display()
        );
    }
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
    refuse_the_same_twice(&targets)
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

fn exit_of(records: &[Record], something_failed: bool) -> Exit {
    let has_failed = |record: &Record| record.outcome.status == Status::Failed || record.outcome.fault_count > 0;
    // Not one combination of a sweep could be.
    let is_left_out =
        |record: &Record| record.outcome.status == Status::Skipped && record.target.kind == TargetKind::Lab;
    let all_left_out = !records.is_empty() && records.iter().all(is_left_out);
    if records.iter().any(|record| record.outcome.status == Status::Interrupted) {
        Exit::Interrupted
    } else if something_failed || records.iter().any(has_failed) || all_left_out {
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
