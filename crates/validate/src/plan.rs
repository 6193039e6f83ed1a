//! From rows to what has to run.

mod boards;
mod own;
mod phases;
mod planner;
mod suites;

use flashmark_core::workload::Workload;
use flashmark_lab::Board;

use crate::table::{Table, TableError};
pub(crate) use phases::Step;

/// What has to run, and what becomes of every row.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) jobs: Vec<Job>,
    /// Of all tables' rows, in order.
    pub(crate) fates: Vec<Fate>,
    /// Whether the board was fitted on the row.
    pub(crate) fitted: Vec<bool>,
    /// For the user.
    pub(crate) messages: Vec<String>,
}

/// One storage of a board, from power-on, with the workloads that run on it in order.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) board: Board,
    pub(crate) storage: String,
    pub(crate) workloads: Vec<Workload>,
    /// Whether the workloads are made from rows, and not from a suite.
    is_of_rows: bool,
    /// What it was made for, so that phases find it.
    origin: Origin,
}

/// Where a job comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    table: usize,
    board: String,
    sets: Vec<String>,
    settings: Vec<String>,
}

/// What becomes of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is compared with a workload of a job.
    Workload { job: usize, index: usize },
    /// It is compared with a step of a job.
    Phase { job: usize, step: Step },
    /// Nothing can run that it could be compared with, and why.
    NotRun(String),
    /// It is not understood, and why.
    NotCompared(String),
    /// Its board cannot be made ready, and why.
    Failed(String),
}

/// Plans the tables' rows; `originals` are the tables that boards are fitted on.
///
/// # Errors
/// [`TableError`] for boards, suites and settings that do not exist or do not go together.
pub(crate) fn plan(tables: &[Table], originals: &[Table]) -> Result<Plan, TableError> {
    planner::Planner::new(tables, originals).plan()
}
