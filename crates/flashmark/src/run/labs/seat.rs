//! One simulated target, from power-on to its last workload.

use flashmark_core::environment::Environment;
use flashmark_core::record::{Outcome, Record, SCHEMA, Status, TargetInfo, TargetKind};
use flashmark_core::runner::Observer;
use flashmark_core::simulation::Simulation;
use flashmark_core::target::{Fault, FaultKind};
use flashmark_core::workload::Workload;
use flashmark_lab::{Bench, LabError, LabTarget};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::run::interrupt::Interrupt;
use crate::run::iolog::Recording;
use crate::run::outcome::{did_not_start, skipped};
use crate::run::place::{Place, lab};
use crate::run::plan::{Plan, Seat};
use crate::run::tries::warning;

/// Makes the board, runs its workloads in order, and hands each record over as it is made, as long as `keep` wants more.
/// A workload that the user stops leaves no record.
pub fn measure(
    plan: &Plan,
    seat: &Seat,
    with_image: bool,
    interrupt: Interrupt,
    mut keep: impl FnMut(Record) -> bool,
) -> Ended {
    let Place::Lab(place) = &seat.place else { return Ended::Early };
    let mut turn = Turn { plan, seat, place, bench: Bench::new() };
    let mut target = match turn.open() {
        Ok(target) => target,
        Err(why) => {
            for (index, workload) in seat.steps() {
                let result = Result { outcome: skipped(why.clone()), ..Result::default() };
                if !keep(turn.record(index, workload, result)) {
                    return Ended::Early;
                }
            }
            return Ended::Through { image: None };
        }
    };
    for (index, workload) in seat.steps() {
        if interrupt.is_set() {
            return Ended::Early;
        }
        let result = turn.run(index, workload, &mut target, interrupt);
        if result.outcome.status == Status::Interrupted || !keep(turn.record(index, workload, result)) {
            return Ended::Early;
        }
    }
    Ended::Through { image: with_image.then(|| target.image()) }
}

/// How a target's turn ended.
pub enum Ended {
    /// All of its workloads are through.
    Through {
        /// What the storage holds now, if it was asked for.
        image: Option<std::result::Result<Vec<u8>, Fault>>,
    },
    /// The user wanted to stop.
    Early,
}

/// A target's turn.
struct Turn<'a> {
    plan: &'a Plan,
    seat: &'a Seat,
    place: &'a lab::Place,
    bench: Bench,
}

/// What becomes a record.
struct Result {
    outcome: Outcome,
    label: Option<String>,
    environment: Environment,
    simulation: Option<Simulation>,
    started_at_ns: u64,
}

impl Default for Result {
    fn default() -> Self {
        let outcome = Outcome::not_run(Status::Skipped);
        Self { outcome, label: None, environment: Environment::default(), simulation: None, started_at_ns: 0 }
    }
}

impl Turn<'_> {
    /// The target, or why it cannot be and is left out.
    fn open(&self) -> std::result::Result<LabTarget, String> {
        let board = self.place.board().map_err(|error| format!("no such board can be: {error}"))?;
        let opened = self.place.open(&board, self.plan.image.as_deref());
        opened.map_err(|error| match error {
            LabError::Board(error) => format!("no such board can be: {error}"),
            error => format!("no such storage can be: {error}"),
        })
    }

    fn run(&mut self, index: u32, workload: &Workload, target: &mut LabTarget, interrupt: Interrupt) -> Result {
        let mut result =
            Result { label: Some(target.label()), environment: target.environment().clone(), ..Result::default() };
        let fits = target.check(workload).and_then(|fit| {
            self.plan.fits(self.seat.name(), fit).map_err(|error| Fault::new(FaultKind::Unsupported, error.to_string()))
        });
        let mut recording = Recording::new(Stop(interrupt), self.plan.iolog.as_ref());
        match fits.and_then(|()| self.bench.run(workload, target, &mut recording)) {
            Ok(outcome) => {
                result.started_at_ns = target.started_at_ns();
                result.outcome = outcome;
                let cut = self.seat.cut_from(index).map(|wanted| warning(self.place, wanted, workload.repeats));
                result.outcome.warnings.extend(cut);
                result.simulation = Some(target.simulation());
            }
            Err(fault) => result.outcome = did_not_start(fault),
        }
        result
    }

    fn record(&self, index: u32, workload: &Workload, result: Result) -> Record {
        let Result { outcome, label, environment, simulation, started_at_ns } = result;
        Record {
            schema: SCHEMA,
            flashmark: env!("CARGO_PKG_VERSION").into(),
            run: self.plan.info_at(index),
            started_at: since_epoch(started_at_ns),
            target: TargetInfo {
                name: self.seat.name().to_owned(),
                kind: TargetKind::Lab,
                label: label.unwrap_or_else(|| self.place.storage().to_owned()),
                engine: workload.engine.clone(),
                direct: None,
            },
            workload: workload.clone(),
            outcome,
            environment,
            simulation,
            job: None,
        }
    }
}

/// A board is switched on when time begins.
fn since_epoch(ns: u64) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(ns))
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}

/// Asks for the user's wish, and watches nothing.
struct Stop(Interrupt);

impl Observer for Stop {
    #[inline]
    fn stop(&self) -> bool {
        self.0.is_set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_written_from_the_epoch_on() {
        assert_eq!(since_epoch(0), "1970-01-01T00:00:00Z");
        assert_eq!(since_epoch(1_500_000_007), "1970-01-01T00:00:01.500000007Z");
    }
}
