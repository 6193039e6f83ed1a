//! All of it: tables in, a report out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::built_in::built_in_tables;
use crate::machine::{Measured, measure};
use crate::plan::{Job, plan};
use crate::predict::predictions;
use crate::report::{Report, report};
use crate::summary::Limits;
use crate::table::{Row, Table, TableError};

/// Runs the boards and suites that the tables name and compares, on all processors; what comes out does not depend on
/// how many there are.
///
/// # Errors
/// [`TableError`] for boards, suites and settings that do not exist or do not go together.
pub fn validate(tables: &[Table]) -> Result<Report, TableError> {
    validate_with_limits(tables, Limits::default())
}

/// As [`validate`], with limits of the caller's.
///
/// # Errors
/// As [`validate`].
pub fn validate_with_limits(tables: &[Table], limits: Limits) -> Result<Report, TableError> {
    let plan = plan(tables, &built_in_tables()?)?;
    let measured = measure_all(&plan.jobs);
    let rows: Vec<Row> = tables.iter().flat_map(|table| table.rows.iter().cloned()).collect();
    let predictions = predictions(rows.iter(), &plan, &measured);
    Ok(report(&rows, &plan.fitted, &predictions, limits, plan.messages))
}

fn measure_all(jobs: &[Job]) -> Vec<Result<Measured, String>> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(jobs.len());
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Measured, String>>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(job), Some(slot)) = (jobs.get(nth), results.get(nth)) else { return };
                    let result = measure(job);
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    let unknown = || Err("it did not run".to_owned());
    results
        .into_iter()
        .map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(unknown))
        .collect()
}
