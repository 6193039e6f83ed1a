//! The targets of a run, and the loop over them.

use std::path::Path;

use anyhow::{anyhow, bail};
use flashmark_core::environment::Environment;
use flashmark_core::record::{OpKind, Outcome, Record, RunInfo, SCHEMA, Status, TargetInfo, Warning, WarningCode};
use flashmark_core::runner::{Meters, Runner, buffer_bytes};
use flashmark_core::target::Fault;
use flashmark_core::workload::Workload;
use flashmark_host::buffer::AlignedBuffer;
use flashmark_host::clock::{MonotonicClock, SleepWatch};
use flashmark_host::device::Refusal;
use flashmark_host::target::{HostTarget, TargetError};
use flashmark_report::run_file::RunFile;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::Measured;
use super::interrupt::Interrupt;
use super::plan::Plan;
use super::progress::Progress;
use crate::args::RunArgs;
use crate::clean;
use crate::exit::Ended;
use crate::message::say;

/// The buffer for laying files out; blocks that are larger have their own size.
const LAYOUT_BYTES: usize = 1 << 20;

/// Open targets, ready to be measured.
pub struct Session {
    targets: Vec<(String, HostTarget)>,
    writes_only: bool,
    buffer: AlignedBuffer,
    meters: Box<Meters>,
    progress: Progress,
    interrupt: Interrupt,
}

impl Session {
    /// Opens every target of the plan. Nothing is written yet but empty test files.
    ///
    /// # Errors
    /// [`TargetError`], and [`Ended::Refused`] for a target that must not be written in spite of consent.
    pub fn open(plan: &Plan, args: &RunArgs, interrupt: Interrupt) -> anyhow::Result<Self> {
        let needed = plan.workloads.iter().map(buffer_bytes).max().unwrap_or(0).max(LAYOUT_BYTES);
        let buffer = AlignedBuffer::new(needed)
            .ok_or_else(|| anyhow!("there is no memory for a buffer of {needed} bytes: make block smaller"))?;
        let mut targets = Vec::new();
        for name in &plan.info.targets {
            let path = Path::new(name);
            if path.is_dir() {
                clean::before_run(path, args.quiet);
            }
            let mut target =
                HostTarget::open(path, &args.consent, plan.needs_consent(), args.serials).map_err(explain)?;
            if let Some(earlier) = plan.earlier_on(name) {
                same_storage(name, &earlier.environment, target.environment())?;
            }
            let may_write = target.may_write();
            for workload in plan.workloads.iter().filter(|workload| may_write || !workload.writes()) {
                let fit = target.check(workload).map_err(|fault| anyhow!("{name}: {}: {fault}", workload.name))?;
                // A suite's size is cut down to that of a smaller file or device; one that the user asked for is not.
                if let Some(wanted) = fit.cut_from.filter(|_| plan.sets("size") || plan.sets("file-size")) {
                    bail!(
                        "{name} has {} bytes, less than the {wanted} asked for: make size or file-size smaller, or give \
                         --file-size all",
                        fit.region_bytes
                    );
                }
            }
            targets.push((name.clone(), target));
        }
        Ok(Self {
            targets,
            writes_only: !plan.workloads.iter().any(|workload| !workload.writes()),
            buffer,
            meters: Meters::boxed(),
            progress: Progress::start(args.quiet, args.show.rate_unit()),
            interrupt,
        })
    }

    /// The refusal, if there is nothing but refused work.
    pub fn refusal_of_everything(&self) -> Option<Refusal> {
        let all_refused = self.writes_only && self.targets.iter().all(|(_, target)| !target.may_write());
        let (_, first) = self.targets.first().filter(|_| all_refused)?;
        first.refusal()
    }

    /// Runs all that is not done yet, and gives every record of the run.
    pub fn measure(&mut self, plan: &Plan, mut file: Option<RunFile>) -> Measured {
        let mut measured =
            Measured { records: plan.done.values().cloned().collect(), file_failed: false, left_behind: false };
        let per_target = plan.workloads.len();
        for nth in 0..self.targets.len() {
            let mut gone = false;
            for (at, workload) in plan.workloads.iter().enumerate() {
                let index = (nth * per_target + at) as u32;
                if plan.done.contains_key(&index) {
                    continue;
                }
                if self.interrupt.is_set() {
                    break;
                }
                let record = self.one(plan, nth, index, workload, gone);
                gone |= record.outcome.target_gone();
                // Left out again: the file says so already.
                let known = record.outcome.status == Status::Skipped && plan.left_out.contains_key(&index);
                if let Some(writer) = file.as_mut().filter(|_| !known)
                    && let Err(error) = writer.append(&record)
                {
                    say(format_args!("{error}; the run goes on without the file"));
                    measured.file_failed = true;
                    file = None;
                }
                measured.records.push(record);
            }
        }
        measured.records.sort_by_key(|record| record.run.index);
        measured
    }

    /// Ends the use of all targets; false if a test file could not be removed, which is told.
    pub fn finish(self) -> bool {
        let Self { targets, progress, .. } = self;
        // The bar goes first, so that no message stands in it.
        drop(progress);
        let mut all_removed = true;
        for (name, target) in targets {
            let path = target.path().to_owned();
            if let Err(error) = target.finish() {
                all_removed = false;
                say(format_args!(
                    "{name}: cannot remove the test file {}: {error}; remove it by hand, or with flashmark clean",
                    path.display()
                ));
            }
        }
        all_removed
    }

    fn one(&mut self, plan: &Plan, nth: usize, index: u32, workload: &Workload, gone: bool) -> Record {
        let (name, target) = &mut self.targets[nth];
        let width = plan.workloads.iter().map(|w| w.name.chars().count()).max().unwrap_or(0);
        let place = if plan.info.targets.len() > 1 { format!("{name}: ") } else { String::new() };
        self.progress.workload(format!("[{}/{}] {place}{:width$}", index + 1, plan.info.total, workload.name));
        let started_at = OffsetDateTime::now_utc();
        let mut ran = false;
        let outcome = if gone {
            skipped(format!("{name} is not there any more"))
        } else if workload.writes()
            && let Some(refusal) = target.refusal()
        {
            skipped(format!("not allowed to write: {refusal}"))
        } else {
            match target.begin(workload) {
                Err(fault) => did_not_start(fault),
                Ok(doubts) => {
                    ran = true;
                    let watch = SleepWatch::start();
                    let mut runner = Runner::new(MonotonicClock, &mut self.buffer, &mut self.meters);
                    let mut outcome = runner.run(workload, target, &mut self.progress.watcher(self.interrupt));
                    outcome.warnings.splice(0..0, doubts);
                    if let Some(slept) = watch.slept() {
                        let message = format!("the machine slept for {slept:.1?} during the measurement");
                        outcome.warnings.push(Warning::new(WarningCode::Suspended, message));
                    }
                    outcome
                }
            }
        };
        Record {
            schema: SCHEMA,
            flashmark: env!("CARGO_PKG_VERSION").into(),
            run: RunInfo { index, ..plan.info.clone() },
            started_at: started_at.replace_nanosecond(0).unwrap_or(started_at).format(&Rfc3339).unwrap_or_default(),
            target: TargetInfo {
                name: name.clone(),
                kind: target.kind(),
                label: target.label(),
                engine: workload.engine.clone(),
                direct: ran.then(|| target.was_direct()),
            },
            workload: workload.clone(),
            outcome,
            environment: target.environment().clone(),
            simulation: None,
        }
    }
}

fn skipped(why: String) -> Outcome {
    let warnings = vec![Warning::new(WarningCode::Skipped, why)];
    Outcome { warnings, ..Outcome::not_run(Status::Skipped) }
}

fn did_not_start(fault: Fault) -> Outcome {
    let failed = flashmark_core::record::FailedOp { op: OpKind::Open, offset: 0, fault };
    Outcome { fault_count: 1, faults: vec![failed], ..Outcome::not_run(Status::Failed) }
}

/// Refuses to go on with a run on other storage than it began on: another directory of that name, another card.
fn same_storage(name: &str, then: &Environment, now: &Environment) -> anyhow::Result<()> {
    let what = |environment: &Environment| {
        let file_system = environment.file_system.as_ref().map(|fs| (fs.kind.clone(), fs.size_bytes));
        let device = environment.device.as_ref().map(|device| (device.model.clone(), device.size_bytes));
        (file_system, device)
    };
    if what(then) == what(now) {
        return Ok(());
    }
    let told = |environment: &Environment| {
        let file_system = environment.file_system.as_ref().map(|fs| fs.kind.clone());
        let device = environment.device.as_ref().map(|device| {
            format!("{} of {} bytes", device.model.as_ref().unwrap_or(&device.name), device.size_bytes.unwrap_or(0))
        });
        let parts: Vec<String> = file_system.into_iter().chain(device).collect();
        parts.join(" on ")
    };
    bail!(
        "{name} is not what the run began on ({} then, {} now): go to the directory it was started in, or put the medium \
         back",
        told(then),
        told(now)
    )
}

fn explain(error: TargetError) -> anyhow::Error {
    match error {
        TargetError::Refused(refusal) => Ended::Refused(refusal).into(),
        other => other.into(),
    }
}
