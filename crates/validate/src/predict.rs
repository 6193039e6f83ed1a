//! From measurements to what rows are compared with.

use flashmark_core::record::{OpKind, Outcome, Repeat, Status};
use flashmark_core::simulation::PhaseTime;

use crate::machine::Measured;
use crate::metric::Stat;
use crate::plan::{Fate, Plan, Step};
use crate::quantity::Quantity;
use crate::table::Row;

/// What is known of a row beside what was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prediction {
    /// A value.
    Value(Quantity),
    /// Nothing could run, and why: the board has no such storage, or no board is named.
    NotRun(String),
    /// The row is not understood, and why.
    NotCompared(String),
    /// What should have run failed, and how.
    Failed(String),
}

/// The predictions of all rows.
pub(crate) fn predictions<'a>(
    rows: impl Iterator<Item = &'a Row>,
    plan: &Plan,
    measured: &[Result<Measured, String>],
) -> Vec<Prediction> {
    rows.zip(&plan.fates).map(|(row, fate)| prediction(row, fate, measured)).collect()
}

fn prediction(row: &Row, fate: &Fate, measured: &[Result<Measured, String>]) -> Prediction {
    let of_job = |job: usize| match measured.get(job) {
        Some(Ok(measured)) => Ok(measured),
        Some(Err(why)) => Err(Prediction::Failed(why.clone())),
        None => Err(Prediction::Failed("it did not run".into())),
    };
    let value = match fate {
        Fate::NotRun(why) => return Prediction::NotRun(why.clone()),
        Fate::NotCompared(why) => return Prediction::NotCompared(why.clone()),
        Fate::Failed(why) => return Prediction::Failed(why.clone()),
        Fate::Workload { job, index } => of_job(*job).and_then(|measured| match measured.outcomes.get(*index) {
            Some(Ok(outcome)) => of_outcome(row, outcome),
            Some(Err(why)) => Err(Prediction::Failed(why.clone())),
            None => Err(Prediction::Failed("it did not run".into())),
        }),
        Fate::Phase { job, step } => of_job(*job).and_then(|measured| of_step(*step, measured)),
    };
    value.map_or_else(|other| other, Prediction::Value)
}

fn of_step(step: Step, measured: &Measured) -> Result<Quantity, Prediction> {
    let sum = |is_its: &dyn Fn(&str) -> bool| {
        let mut steps = measured.ready.iter().filter(|phase: &&PhaseTime| is_its(&phase.name)).peekable();
        steps.peek()?;
        Some(Quantity::Ns(steps.map(|phase| phase.elapsed_ns).sum()))
    };
    let (name, found) = match step {
        Step::Tests => return of_tests(measured),
        Step::MountLevelling => ("mounting of wear levelling", sum(&|name| name == "mount wear levelling")),
        Step::Mount => ("mounting", sum(&|name| name == "mount" || name == "mount again")),
        Step::Format => ("formatting", sum(&|name| name == "format")),
    };
    found.ok_or_else(|| Prediction::NotCompared(format!("there was no {name} on the board")))
}

/// A phase with a workload that failed is shorter than it should be.
fn of_tests(measured: &Measured) -> Result<Quantity, Prediction> {
    for outcome in &measured.outcomes {
        match outcome {
            Ok(outcome) => complete(outcome)?,
            Err(why) => return Err(Prediction::Failed(why.clone())),
        }
    }
    Ok(Quantity::Ns(measured.tests_ns))
}

fn complete(outcome: &Outcome) -> Result<(), Prediction> {
    match outcome.faults.first() {
        Some(failed) => Err(Prediction::Failed(failed.fault.to_string())),
        None if outcome.status != Status::Done => Err(Prediction::Failed("it did not come to its end".into())),
        None => Ok(()),
    }
}

fn of_outcome(row: &Row, outcome: &Outcome) -> Result<Quantity, Prediction> {
    complete(outcome)?;
    let none = || Prediction::NotCompared(format!("there is no {} on the board", row.metric));
    // A workload of a suite may be named by its name in `op`; only one kind of operation moves its bytes then.
    let moving = [OpKind::Read, OpKind::Write].into_iter().filter_map(|op| outcome.op(op));
    let named = |op: OpKind| (op == OpKind::Read) == row.op.to_lowercase().contains("read");
    let moving: Vec<_> = moving.collect();
    let stats = match moving.as_slice() {
        [one] => one,
        several => several.iter().find(|stats| named(stats.op)).ok_or_else(none)?,
    };
    let latency = stats.latency_ns;
    if row.best_only {
        return best(row, &outcome.repeats).ok_or_else(none);
    }
    let block_bytes = stats.bytes.checked_div(stats.count).unwrap_or(0);
    let quantity = match row.stat.ok_or_else(none)? {
        Stat::Mean => Some(Quantity::Ns(latency.mean)),
        Stat::Min => Some(Quantity::Ns(latency.min)),
        Stat::Max => Some(Quantity::Ns(latency.max)),
        Stat::Total => {
            let repeats = outcome.repeats.len() as u64;
            (outcome.elapsed_ns + repeats / 2).checked_div(repeats).map(Quantity::Ns)
        }
        Stat::Rate => Quantity::rate(stats.bytes, outcome.elapsed_ns),
        Stat::HighestRate => Quantity::rate(block_bytes, latency.min),
        Stat::LowestRate => Quantity::rate(block_bytes, latency.max),
        Stat::Wall => None,
    };
    quantity.ok_or_else(none)
}

/// The figure of the fastest repeat.
fn best(row: &Row, repeats: &[Repeat]) -> Option<Quantity> {
    let best = repeats.iter().min_by_key(|repeat| repeat.elapsed_ns)?;
    match row.stat? {
        Stat::Total => Some(Quantity::Ns(best.elapsed_ns)),
        Stat::Rate => Quantity::rate(best.bytes, best.elapsed_ns),
        Stat::Mean => best.sum_ns.checked_div(best.count).map(Quantity::Ns),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in_tables;
    use flashmark_core::histogram::Histogram;
    use flashmark_core::record::OpStats;
    use flashmark_core::target::{Fault, FaultKind};

    /// Two repeats of two calls of 100 bytes: 10 and 20 ns, 30 and 40 ns, with 1 ns between the calls of each.
    fn outcome() -> Outcome {
        let mut histogram = Histogram::new();
        [10, 20, 30, 40].into_iter().for_each(|ns| histogram.record(ns));
        let repeat = |min_ns, max_ns| Repeat {
            elapsed_ns: min_ns + max_ns + 1,
            bytes: 200,
            count: 2,
            min_ns,
            max_ns,
            sum_ns: min_ns + max_ns,
        };
        Outcome {
            elapsed_ns: 102,
            bytes: 400,
            ops: vec![OpStats::from_histogram(OpKind::Write, 400, &histogram)],
            repeats: vec![repeat(10, 20), repeat(30, 40)],
            ..Outcome::not_run(Status::Done)
        }
    }

    fn row(metric: &str) -> Row {
        let row = built_in_tables().unwrap()[0].rows[0].clone();
        Row { metric: metric.into(), stat: crate::metric::parse(metric).map(|(stat, _)| stat), ..row }
    }

    #[test]
    fn every_metric_is_taken_from_the_outcome() {
        let of = |metric| of_outcome(&row(metric), &outcome());
        assert_eq!(of("mean_ms"), Ok(Quantity::Ns(25)));
        assert_eq!(of("min_us"), Ok(Quantity::Ns(10)));
        assert_eq!(of("max_us"), Ok(Quantity::Ns(40)));
        assert_eq!(of("total_s"), Ok(Quantity::Ns(51)));
        assert_eq!(of("speed_kBps"), Ok(Quantity::rate(400, 102).unwrap()));
        assert_eq!(of("highest_kBps"), Ok(Quantity::rate(100, 10).unwrap()));
        assert_eq!(of("lowest_kBps"), Ok(Quantity::rate(100, 40).unwrap()));
        assert!(matches!(of("wall_ms"), Err(Prediction::NotCompared(_))));
        let best = of_outcome(&Row { best_only: true, ..row("total_s") }, &outcome());
        assert_eq!(best, Ok(Quantity::Ns(31)));
    }

    #[test]
    fn what_failed_is_not_compared() {
        let mut failed = outcome();
        let fault = Fault::new(FaultKind::NoSpace, "full");
        failed.faults.push(flashmark_core::record::FailedOp { op: OpKind::Write, offset: 0, fault });
        assert_eq!(of_outcome(&row("mean_ms"), &failed), Err(Prediction::Failed("full".into())));
        let ready = vec![PhaseTime { name: "format".into(), elapsed_ns: 5 }];
        let measured = Measured { outcomes: vec![Ok(failed)], ready, tests_ns: 9 };
        assert_eq!(of_step(Step::Tests, &measured), Err(Prediction::Failed("full".into())));
        assert_eq!(of_step(Step::Format, &measured), Ok(Quantity::Ns(5)));
        assert!(matches!(of_step(Step::Mount, &measured), Err(Prediction::NotCompared(_))));
        let measured = Measured { outcomes: vec![Ok(outcome())], ..measured };
        assert_eq!(of_step(Step::Tests, &measured), Ok(Quantity::Ns(9)));
    }
}
