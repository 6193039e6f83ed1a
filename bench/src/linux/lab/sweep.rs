//! How many targets of a sweep are done in a second.

use std::path::Path;
use std::process::Command;

use super::Part;
use super::run::in_turn;
use crate::linux::failure::Failure;
use crate::linux::program;
use crate::linux::report::{Cell, Table};

const SWEEPS: [&str; 2] = ["--sweep=fatfs.cluster=4k,8k,16k,32k,64k", "--sweep=board.seed=1,2"];
/// The product of the values above.
const TARGETS: u32 = 10;

/// On one thread, on two, and on as many as there are processors.
pub(super) fn measure(flashmark: &Path, rounds: u32) -> Result<Part, Failure> {
    let mut threads = vec![1, 2, std::thread::available_parallelism().map_or(1, std::num::NonZero::get)];
    threads.sort_unstable();
    threads.dedup();
    let times = in_turn(rounds, threads.len(), |nth| {
        let mut command = Command::new(flashmark);
        command.args(["run", "lab:esp32/fatfs", "--suite=esp-idf", "--compat", "--set=tries=100", "--quiet"]);
        program::measured(command.args(SWEEPS).arg(format!("--threads={}", threads[nth])))
    })?;
    let row = |(nth, threads): (usize, &usize)| {
        let (cpu, wall) = (times.cpu.of(nth), times.wall.of(nth));
        vec![
            Cell::Number(*threads as f64, 0),
            Cell::Number(wall.median, 3),
            Cell::Number(cpu.median, 3),
            Cell::Number(f64::from(TARGETS) / wall.median, 1),
            Cell::Number(times.wall.pairs(0, nth, |one, these| one / these).median, 2),
        ]
    };
    let table = Table {
        title: format!(
            "flashmark run lab:esp32/fatfs --suite esp-idf --compat --set tries=100 with {TARGETS} values; medians"
        ),
        columns: vec!["threads", "wall s", "CPU s", "targets a second", "times as fast as one thread"],
        rows: threads.iter().enumerate().map(row).collect(),
        note: "Five cluster sizes times two seeds. Wall time counts here, so a busy machine shows; there is no promise.",
    };
    Ok((table, Vec::new()))
}
