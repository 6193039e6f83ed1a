//! A file system that is made for the run: made, measured, and removed before the next one is made, so that there is room
//! needed for one image only.

use flashmark_core::environment::{Environment, FileSystem};
use flashmark_core::record::{Record, SCHEMA, TargetInfo, TargetKind};
use flashmark_core::target::{Fault, FaultKind};
use flashmark_host::make_fs::{MadeFs, MakeError, make};
use flashmark_host::target::HostTarget;
use time::OffsetDateTime;

use super::super::outcome::did_not_start;
use super::super::place::made::Made;
use super::super::plan::Seat;
use super::super::recorder::Recorder;
use super::{Hosts, Shared, same_storage, title, written};
use crate::args::RunArgs;
use crate::message::say;

impl Hosts {
    /// Makes a file system, runs all of its seat that is not done yet, and removes it.
    pub(super) fn measure_made(
        &mut self,
        made: &Made,
        seat: &Seat,
        args: &RunArgs,
        shared: &Shared<'_>,
        recorder: &mut Recorder<'_>,
    ) {
        let Shared { plan, progress, interrupt } = shared;
        if plan.is_done(seat) {
            return;
        }
        progress.workload(title(plan, seat, seat.first, "making it"));
        let stop = || interrupt.is_set();
        let Some(mounts) = &self.mounts else { return };
        let fs = match make(mounts, &made.dir, &made.spec, made.image_bytes, &stop) {
            Ok(fs) => fs,
            Err(_) if interrupt.is_set() => return,
            Err(error) => return failed(&fault_of(&error), made, seat, shared, recorder),
        };
        match open(&fs, seat, args, shared) {
            Ok(mut target) => {
                self.measure_one(&mut target, seat, fs.made_with(), shared, recorder);
                // It goes with its file system in any case.
                let _ = target.finish();
            }
            Err(error) => {
                let fault = Fault::new(FaultKind::Unsupported, format!("{error:#}"));
                failed(&fault, made, seat, shared, recorder);
            }
        }
        if let Err(error) = fs.remove() {
            self.left_behind = true;
            say(format_args!("{}: {error}", seat.name()));
        }
    }
}

fn open(fs: &MadeFs, seat: &Seat, args: &RunArgs, shared: &Shared<'_>) -> anyhow::Result<HostTarget> {
    let target = HostTarget::open(fs.directory(), &args.consent, true, args.serials)?;
    if let Some(earlier) = shared.plan.earlier_on(seat) {
        same_storage(seat.name(), &earlier.environment, target.environment())?;
    }
    Ok(target)
}

fn fault_of(error: &MakeError) -> Fault {
    let kind = match error {
        MakeError::NoRoom { .. } => FaultKind::NoSpace,
        MakeError::NotRoot => FaultKind::Denied,
        _ => FaultKind::Unsupported,
    };
    Fault::new(kind, error.to_string())
}

/// A file system that could not be made has its rows, too: each says why.
fn failed(fault: &Fault, made: &Made, seat: &Seat, shared: &Shared<'_>, recorder: &mut Recorder<'_>) {
    let plan = shared.plan;
    for (index, workload) in seat.steps().filter(|(index, _)| !plan.done.contains_key(index)) {
        let kind = made.spec.entry().name;
        let file_system = FileSystem { kind: kind.into(), ..FileSystem::default() };
        recorder.keep(Record {
            schema: SCHEMA,
            flashmark: env!("CARGO_PKG_VERSION").into(),
            run: plan.info_at(index),
            started_at: written(OffsetDateTime::now_utc()),
            target: TargetInfo {
                name: seat.name().to_owned(),
                kind: TargetKind::Directory,
                label: kind.to_uppercase(),
                engine: workload.engine.clone(),
                direct: None,
            },
            workload: workload.clone(),
            outcome: did_not_start(fault.clone()),
            environment: Environment { file_system: Some(file_system), ..Environment::default() },
            simulation: None,
            job: None,
        });
    }
}
