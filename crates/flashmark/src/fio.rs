//! `flashmark fio`: fio's command lines and job files, run with flashmark's engines, safety and records.

mod arguments;
mod help;
mod output;
mod progress;
mod records;

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use flashmark_fio::output::{Direction, RenderOptions, aggregate_log_name, before_run, render_all};
use flashmark_fio::{CommandLine, EtaWhen, JobSet, OutputFormat, Program, ThisMachine};
use flashmark_load::{Finished, How, LoadError, LoadProblem, trace_files};
use flashmark_report::run_file::RunFile;

use crate::exit::{Ended, Exit};
use crate::message::say;
use crate::run::interrupt;
pub use arguments::FioArgs;
use arguments::Own;
use output::Output;
use progress::Progress;

/// Runs the jobs.
pub fn run(args: &FioArgs) -> anyhow::Result<Exit> {
    let (own, rest) = Own::split(&args.words)?;
    let line = CommandLine::parse(&rest)?;
    if let Some(request) = &line.program.request {
        Output::Standard.put(&help::answer(request)?)?;
        return Ok(Exit::Done);
    }
    check_program(&line.program)?;
    if rest.is_empty() {
        bail!("there is no job: name a job file, or describe a job (flashmark fio --help has examples)");
    }
    let set = line.resolve(&ThisMachine)?;
    tell_of(&set);
    if line.program.show_command {
        Output::Standard.put(&help::as_command_lines(&set))?;
        return Ok(Exit::Done);
    }
    if line.program.parse_only {
        return Ok(Exit::Done);
    }
    let targets = targets(&set)?;
    check_consent(&own, &targets)?;
    let records = own.records.as_deref().map(RunFile::create).transpose()?;
    let how = RenderOptions {
        terse_version: line.program.terse_version,
        ahead_of_utc_s: ahead_of_utc_s(),
        ..RenderOptions::default()
    };
    let mut output = Output::open(line.program.output.as_deref(), &used(&line, &set, targets))?;
    let interrupt = interrupt::install()?;
    let is_shown = !own.quiet && line.program.eta != EtaWhen::Never;
    let mut progress = Progress::start(is_shown, &line.program, interrupt);
    let auxiliary = line.program.auxiliary_path.clone().unwrap_or_default();
    let how_to_run = How {
        consent: &own.consent,
        auxiliary: Path::new(&auxiliary),
        read_only: line.program.read_only,
        bandwidth_log: line.program.bandwidth_log.as_deref(),
    };
    let begun = records::now();
    let finished = flashmark_load::run(&set, &how_to_run, &mut progress).map_err(explain)?;
    drop(progress);
    let warnings = records::warnings_of(&set, &finished);
    if !own.quiet {
        warnings.iter().for_each(|warning| say(format_args!("{warning}")));
    }
    tell_failures(&finished);
    if line.program.formats.contains(&OutputFormat::Normal) {
        // Only now: of jobs that are refused nothing has started.
        output.put(&before_run(&set.jobs, &how))?;
    }
    let how = RenderOptions { warnings, ..how };
    output.put(&render_all(&finished.results, &line.program.formats, &how))?;
    output.end()?;
    let kept = match records {
        Some(mut file) => {
            let all = records::records(&set, &finished, &rest, &begun);
            file.append_all(&all).map_err(|error| say(format_args!("{error}"))).is_ok()
        }
        None => true,
    };
    Ok(match (finished.interrupted, finished.has_failed() || !finished.lost_logs.is_empty() || !kept) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}

/// Options of the program that have a meaning, but not here.
fn check_program(program: &Program) -> anyhow::Result<()> {
    const STATUS: &str = "use write_bw_log and write_lat_log with log_avg_msec, or --bandwidth-log, for results over time, or \
                          --eta=always with --eta-newline=TIME for a line of progress every so often";
    match (program.status_interval_ms, program.ignore_unsupported) {
        (None, _) => {}
        (Some(_), true) => say(format_args!("--status-interval is left out as asked: {STATUS}")),
        (Some(_), false) => bail!("--status-interval is not supported: {STATUS}"),
    }
    Ok(())
}

fn tell_of(set: &JobSet) {
    for warning in &set.warnings {
        say(format_args!("{}: {}", warning.place, warning.text));
    }
    for dropped in &set.dropped {
        say(format_args!("{}: `{}` is left out as asked: {}", dropped.place, dropped.setting, dropped.way));
    }
}

/// The files that jobs read and write.
fn targets(set: &JobSet) -> anyhow::Result<Vec<PathBuf>> {
    let mut names: Vec<PathBuf> = Vec::new();
    for job in &set.jobs {
        if job.options.replay.read_iolog.is_empty() {
            let copies = 0..job.options.run.numjobs;
            names.extend(copies.flat_map(|copy| job.file_names(copy, &ThisMachine)).map(PathBuf::from));
        } else {
            names.extend(trace_files(job).map_err(|problem| explain(LoadError { job: job.name.clone(), problem }))?);
        }
    }
    Ok(names)
}

/// All that the run reads or writes: results must not go over it.
fn used(line: &CommandLine, set: &JobSet, targets: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut used = targets;
    used.extend(line.files.iter().map(|(name, _)| PathBuf::from(name)));
    for job in &set.jobs {
        let replay = &job.options.replay;
        used.extend(replay.read_iolog.iter().chain(&replay.write_iolog).map(PathBuf::from));
    }
    if let Some(prefix) = &line.program.bandwidth_log {
        used.extend(Direction::ALL.map(|direction| PathBuf::from(aggregate_log_name(prefix, direction))));
    }
    used
}

/// Consent to something that no job uses is most likely a mistake, and a dangerous one.
fn check_consent(own: &Own, targets: &[PathBuf]) -> anyhow::Result<()> {
    let paths: Vec<&Path> = targets.iter().map(PathBuf::as_path).collect();
    match own.consent.unused(&paths).first() {
        Some(unused) => bail!("--destroy {}: no job uses it; leave it out, or name it in a job", unused.display()),
        None => Ok(()),
    }
}

/// The exit code depends on what is in the way.
fn explain(error: LoadError) -> anyhow::Error {
    match error.problem {
        LoadProblem::Refused(refusal) => Ended::Refused(refusal).into(),
        LoadProblem::Foreign { .. } => Ended::WouldOverwrite(error.to_string()).into(),
        _ => anyhow!(error),
    }
}

/// What failed, with its place: fio's forms have room for a number only.
fn tell_failures(finished: &Finished) {
    const TOLD: usize = 10;
    for thread in &finished.threads {
        let name = &thread.report.name;
        for failed in thread.failed.iter().take(TOLD) {
            let file =
                thread.files.get(failed.file as usize).map(|path| path.display().to_string()).unwrap_or_default();
            say(format_args!(
                "{name}: {} of {} bytes at offset {} of {file} failed: {}",
                failed.action, failed.bytes, failed.offset, failed.text
            ));
        }
        const EINVAL: i32 = 22;
        if thread.direct && thread.failed.first().is_some_and(|failed| failed.code == EINVAL) {
            say(format_args!(
                "{name}: with direct=1, bs and offsets have to be multiples of what the medium moves at a time (512 or 4096 bytes)"
            ));
        }
        let more = thread.failed_count.saturating_sub(TOLD as u64);
        if more > 0 {
            say(format_args!("{name}: {more} more accesses failed"));
        }
        if let (Some(text), true) = (&thread.report.error_text, thread.failed.is_empty()) {
            say(format_args!("{name}: {text}"));
        }
    }
    for lost in &finished.lost_logs {
        say(format_args!("a log could not be written: {lost}"));
    }
}

fn ahead_of_utc_s() -> i32 {
    time::UtcOffset::current_local_offset().map_or(0, time::UtcOffset::whole_seconds)
}
