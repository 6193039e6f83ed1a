//! The peak of resident memory of runs on simulated boards.

use std::path::Path;

use super::Part;
use super::chips::LARGE;
use super::run::Run;
use crate::linux::failure::Failure;
use crate::linux::interrupt;
use crate::linux::report::{Cell, Promise, Table};
use crate::linux::rounds::Spread;

const LIMIT_MIB: f64 = 64.0;

pub(super) fn measure(flashmark: &Path) -> Result<Part, Failure> {
    let run = |tries, settings| Run { target: "lab:esp32", tries, settings };
    let runs: [(&str, Run<'_>); 5] = [
        ("100 tries", run(100, &[])),
        ("1000 tries", run(1000, &[])),
        ("10 000 tries", run(10_000, &[])),
        ("100 tries, chip of 128 MiB", run(100, &["chip=w25q01jv"])),
        ("100 tries, chip of 128 MiB, partition of 126 MiB", run(100, LARGE)),
    ];
    let mut rows = Vec::new();
    let mut worst = f64::NEG_INFINITY;
    for (name, run) in runs {
        interrupt::check()?;
        let peak = run.take(flashmark)?.peak_resident_bytes as f64 / f64::from(1 << 20);
        worst = worst.max(peak);
        rows.push(vec![name.into(), Cell::Number(peak, 1)]);
    }
    let table = Table {
        title: "peak resident memory of flashmark run lab:esp32 --suite esp-idf --compat".into(),
        columns: vec!["run", "peak MiB"],
        rows,
        note: "ru_maxrss of wait4. A chip takes memory for what was written to it.",
    };
    let promise = Promise {
        what: "peak resident memory on simulated boards, the worst row".into(),
        found: Spread::of(vec![worst]),
        limits: f64::NEG_INFINITY..=LIMIT_MIB,
        unit: "MiB",
    };
    Ok((table, vec![promise]))
}
