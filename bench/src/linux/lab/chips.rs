//! Small and large chips: a run takes what its operations take, not what the chip could hold.

use std::path::Path;

use super::Part;
use super::run::{Run, in_turn};
use crate::linux::failure::Failure;
use crate::linux::report::{Cell, Promise, Table};
use crate::linux::rounds::Spread;

const TARGET: &str = "lab:esp32";
const TRIES: u32 = 100;
/// The first one is what the others are compared with.
const CHIPS: [(&str, &[&str]); 4] = [
    ("4 MiB (w25q32jv)", &["chip=w25q32jv"]),
    ("16 MiB (w25q128jv)", &["chip=w25q128jv"]),
    ("128 MiB (w25q01jv)", &["chip=w25q01jv"]),
    ("128 MiB (w25q01jv), partition of 126 MiB", LARGE),
];
/// Nearly all of the largest chip is the partition. SPIFFS numbers its pages in 16 bits, and needs larger ones for it.
pub(super) const LARGE: &[&str] = &["chip=w25q01jv", "partition.size=126m", "spiffs.page=2048", "spiffs.block=65536"];
/// Of the median ratio; a tenth is for noise.
const LIMIT_RATIO: f64 = 1.1;

pub(super) fn measure(flashmark: &Path, rounds: u32) -> Result<Part, Failure> {
    let runs = CHIPS.map(|(_, settings)| Run { target: TARGET, tries: TRIES, settings });
    let times = in_turn(rounds, runs.len(), |nth| runs[nth].take(flashmark))?;
    let mut rows = Vec::new();
    let mut worst = Spread { median: f64::NEG_INFINITY, low: f64::NAN, high: f64::NAN };
    for (nth, ((name, settings), run)) in CHIPS.iter().zip(&runs).enumerate() {
        let (cpu, ratio) = (times.cpu.of(nth), times.cpu.pairs(nth, 0, |this, first| this / first));
        // littlefs goes around the whole partition: on a larger one more sectors hold something.
        if nth > 0 && *settings != LARGE {
            worst = worst.worse(ratio);
        }
        let simulated = run.simulated(flashmark)?;
        rows.push(vec![
            (*name).into(),
            Cell::Number(cpu.median, 3),
            Cell::Number(cpu.low, 3),
            Cell::Number(cpu.high, 3),
            Cell::Number(ratio.median, 2),
            Cell::Number(simulated.seconds, 1),
            Cell::Number(simulated.operations as f64, 0),
        ]);
    }
    let table = Table {
        title: format!("{TARGET} with other chips: suite esp-idf, compatibility form, {TRIES} tries; medians"),
        columns: vec!["chip", "CPU s", "25 %", "75 %", "over the first", "virtual s", "device operations"],
        rows,
        note: "The partition is that of the board, 2 MiB, where nothing else is said. The larger one is shown and not judged: \
               littlefs goes around all of it, so that more sectors come to hold something.",
    };
    let promise = Promise {
        what: "CPU time on a larger chip over that on a chip of 4 MiB, the worst row".into(),
        found: worst,
        limits: f64::NEG_INFINITY..=LIMIT_RATIO,
        unit: "times",
    };
    Ok((table, vec![promise]))
}
