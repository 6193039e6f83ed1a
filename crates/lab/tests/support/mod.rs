//! Running workloads on lab targets.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

use flashmark_core::record::{Form, Outcome};
use flashmark_core::simulation::Simulation;
use flashmark_core::workload::Workload;
use flashmark_lab::{Bench, Board, LabTarget};
use flashmark_suite::{Settings, Suite};

/// What one workload gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub outcome: Outcome,
    pub simulation: Simulation,
}

impl Row {
    pub fn mean_ms(&self) -> f64 {
        let op = &self.outcome.ops[0];
        op.latency_ns.sum as f64 / op.count as f64 / 1e6
    }
}

/// A board with settings.
pub fn board(name: &str, settings: &[(&str, &str)]) -> Board {
    let mut board = Board::load(name).unwrap_or_else(|error| panic!("{error}"));
    for (key, value) in settings {
        board.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    board
}

pub fn run_one(target: &mut LabTarget, workload: &Workload) -> Row {
    let outcome = Bench::new().run(workload, target, &mut ()).unwrap();
    Row { name: workload.name.clone(), outcome, simulation: target.simulation() }
}

/// A suite's workloads on one storage of a board.
pub fn run_suite(board: &Board, storage: &str, suite: &str, form: Form, settings: &[&str]) -> Vec<Row> {
    let mut pairs = Settings::new();
    for pair in settings {
        pairs.push_pair(pair).unwrap();
    }
    let workloads = Suite::load(suite).unwrap().expand(form, &pairs).unwrap();
    let mut target = LabTarget::open(board, storage, None).unwrap_or_else(|error| panic!("{error}"));
    let (access, medium) = (target.access(), target.medium());
    let fitting = workloads.iter().filter(|workload| workload.is_for(access, medium));
    fitting.map(|workload| run_one(&mut target, workload)).collect()
}
