//! The targets of this machine: opened together before anything is measured, then measured one after the other. Those that
//! are made for the run are made one after the other, each when it is measured.

mod made;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{anyhow, bail};
use flashmark_core::environment::Environment;
use flashmark_core::record::{Record, SCHEMA, Status, TargetInfo, Warning, WarningCode};
use flashmark_core::runner::{Meters, Runner, buffer_bytes};
use flashmark_core::workload::Workload;
use flashmark_host::buffer::AlignedBuffer;
use flashmark_host::clock::{MonotonicClock, SleepWatch};
use flashmark_host::device::Refusal;
use flashmark_host::make_fs::PrivateMounts;
use flashmark_host::target::{HostTarget, TargetError};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::interrupt::Interrupt;
use super::iolog::Recording;
use super::outcome::{did_not_start, skipped};
use super::plan::{Plan, Seat};
use super::progress::Progress;
use super::recorder::Recorder;
use crate::args::RunArgs;
use crate::clean;
use crate::exit::Ended;
use crate::message::say;

/// The buffer for laying files out; blocks that are larger have their own size.
const LAYOUT_BYTES: usize = 1 << 20;

/// Open targets of this machine, ready to be measured.
pub struct Hosts {
    targets: BTreeMap<usize, HostTarget>,
    /// There if file systems are made.
    mounts: Option<PrivateMounts>,
    /// Whether something of a file system that was made could not be removed.
    left_behind: bool,
    buffer: AlignedBuffer,
    meters: Box<Meters>,
}

/// What all targets of a run share.
pub struct Shared<'a> {
    pub plan: &'a Plan,
    pub progress: &'a Progress,
    pub interrupt: Interrupt,
}

impl Hosts {
    /// Opens every target of this machine that the plan has, but for those that are made. Nothing is written yet but empty
    /// test files.
    ///
    /// # Errors
    /// [`TargetError`], and [`Ended::Refused`] for a target that must not be written in spite of consent.
    pub fn open(plan: &Plan, args: &RunArgs, mounts: Option<PrivateMounts>) -> anyhow::Result<Self> {
        let own = || plan.own().filter_map(|(nth, seat)| (!seat.place.is_lab()).then_some((nth, seat)));
        let workloads = own().flat_map(|(_, seat)| seat.workloads().iter());
        // A run in the lab alone needs none.
        let needed = workloads.map(|workload| buffer_bytes(workload).max(LAYOUT_BYTES)).max().unwrap_or(0);
        let buffer = AlignedBuffer::new(needed)
            .ok_or_else(|| anyhow!("there is no memory for a buffer of {needed} bytes: make block smaller"))?;
        let there = own().filter(|(_, seat)| seat.place.made().is_none());
        let targets = there.map(|(nth, seat)| Ok((nth, open(plan, seat, args)?))).collect::<anyhow::Result<_>>()?;
        Ok(Self { targets, mounts, left_behind: false, buffer, meters: Meters::boxed() })
    }

    /// The refusal, if there is nothing but refused work.
    pub fn refusal_of_everything(&self, plan: &Plan) -> Option<Refusal> {
        let is_refused = |seat: &Seat, target: &HostTarget| {
            !target.may_write() && seat.workloads().iter().all(|workload| workload.writes())
        };
        let all_refused =
            plan.own().all(|(nth, seat)| self.targets.get(&nth).is_some_and(|target| is_refused(seat, target)));
        self.targets.values().next().filter(|_| all_refused)?.refusal()
    }

    /// Runs all of a target that is not done yet.
    pub fn measure(&mut self, nth: usize, args: &RunArgs, shared: &Shared<'_>, recorder: &mut Recorder<'_>) {
        let Some(seat) = shared.plan.seats.get(nth) else { return };
        if let Some(made) = seat.place.made() {
            self.measure_made(made, seat, args, shared, recorder);
        } else if let Some(mut target) = self.targets.remove(&nth) {
            self.measure_one(&mut target, seat, &[], shared, recorder);
            self.targets.insert(nth, target);
        }
    }

    fn measure_one(
        &mut self,
        target: &mut HostTarget,
        seat: &Seat,
        made_with: &[String],
        shared: &Shared<'_>,
        recorder: &mut Recorder<'_>,
    ) {
        let Shared { plan, interrupt, .. } = shared;
        let mut gone = false;
        for (index, workload) in seat.steps() {
            if plan.done.contains_key(&index) {
                continue;
            }
            if interrupt.is_set() {
                break;
            }
            let mut bench =
                Bench { target, seat, made_with, buffer: &mut self.buffer, meters: &mut self.meters, shared };
            let record = bench.one(index, workload, gone);
            gone |= record.outcome.target_gone();
            // Left out again: the file says so already.
            if record.outcome.status == Status::Skipped && plan.left_out.contains_key(&index) {
                recorder.keep_known(record);
            } else {
                recorder.keep(record);
            }
        }
    }

    /// Ends the use of all targets; false if a test file, or anything of a file system that was made, could not be removed,
    /// which is told.
    pub fn finish(self, plan: &Plan) -> bool {
        let mut all_removed = !self.left_behind;
        for (nth, target) in self.targets {
            let path = target.path().to_owned();
            if let Err(error) = target.finish() {
                all_removed = false;
                let name = plan.seats.get(nth).map_or("", |seat| seat.name());
                say(format_args!(
                    "{name}: cannot remove the test file {}: {error}; remove it by hand, or with flashmark clean",
                    path.display()
                ));
            }
        }
        all_removed
    }
}

fn open(plan: &Plan, seat: &Seat, args: &RunArgs) -> anyhow::Result<HostTarget> {
    let name = seat.name();
    let path = Path::new(name);
    if path.is_dir() {
        clean::before_run(path, args.quiet);
    }
    let mut target = HostTarget::open(path, &args.consent, seat.needs_consent(), args.serials).map_err(explain)?;
    if let Some(earlier) = plan.earlier_on(seat) {
        same_storage(name, &earlier.environment, target.environment())?;
    }
    let may_write = target.may_write();
    for workload in seat.workloads().iter().filter(|workload| may_write || !workload.writes()) {
        let fit = target.check(workload).map_err(|fault| anyhow!("{name}: {}: {fault}", workload.name))?;
        plan.fits(name, fit)?;
    }
    Ok(target)
}

/// A target with what measuring it takes.
struct Bench<'a> {
    target: &'a mut HostTarget,
    seat: &'a Seat,
    /// How its file system was made, if it was.
    made_with: &'a [String],
    buffer: &'a mut AlignedBuffer,
    meters: &'a mut Meters,
    shared: &'a Shared<'a>,
}

impl Bench<'_> {
    fn one(&mut self, index: u32, workload: &Workload, gone: bool) -> Record {
        let Self { target, seat, made_with, shared: Shared { plan, progress, interrupt }, .. } = self;
        let name = seat.name();
        progress.workload(title(plan, seat, index, &workload.name));
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
                    let mut runner = Runner::new(MonotonicClock, self.buffer, self.meters);
                    let watcher = progress.watcher(*interrupt);
                    if let Some(iolog) = &plan.iolog {
                        iolog.goes_to(target.path());
                    }
                    let mut recording = Recording::new(watcher, plan.iolog.as_ref());
                    let mut outcome = runner.run(workload, *target, &mut recording);
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
            run: plan.info_at(index),
            started_at: written(started_at),
            target: TargetInfo {
                name: name.to_owned(),
                kind: target.kind(),
                label: target.label(),
                engine: workload.engine.clone(),
                direct: ran.then(|| target.was_direct()),
            },
            workload: workload.clone(),
            outcome,
            environment: environment_of(target, made_with),
            simulation: None,
            job: None,
        }
    }
}

fn environment_of(target: &HostTarget, made_with: &[String]) -> Environment {
    let mut environment = target.environment().clone();
    if let Some(file_system) = &mut environment.file_system {
        file_system.made_with = made_with.to_vec();
    }
    environment
}

/// What the progress shows; titles of one target have one width.
fn title(plan: &Plan, seat: &Seat, index: u32, name: &str) -> String {
    let width = seat.workloads().iter().map(|w| w.name.chars().count()).max().unwrap_or(0);
    let place = if plan.seats.len() > 1 { format!("{}: ", seat.name()) } else { String::new() };
    format!("[{}/{}] {place}{name:width$}", index + 1, plan.info.total)
}

/// A time as records have it, to the second.
fn written(time: OffsetDateTime) -> String {
    time.replace_nanosecond(0).unwrap_or(time).format(&Rfc3339).unwrap_or_default()
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
