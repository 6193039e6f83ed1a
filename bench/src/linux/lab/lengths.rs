//! Short and long runs: how fast they are, and that a longer one takes longer in proportion.

use std::path::Path;

use super::Part;
use super::run::{Run, Simulated, Times, in_turn};
use crate::linux::failure::Failure;
use crate::linux::report::{Cell, Promise, Table};
use crate::linux::rounds::Spread;

/// The board, whose run is promised, and its storages.
const TARGETS: [&str; 4] = ["lab:esp32", "lab:esp32/raw", "lab:esp32/fatfs", "lab:esp32/littlefs"];
/// As in the published run.
const TRIES: u32 = 100;
const LONGER: u32 = 10 * TRIES;
const LONGEST: u32 = 10 * LONGER;
/// The longest run takes its time.
const LONGEST_ROUNDS_MAX: u32 = 3;

const LIMIT_CPU_S: f64 = 0.3;
const TIMES_FASTER_LEAST: f64 = 3000.0;
/// What ten times as many operations may take, 5 % for noise.
const TENFOLD_MOST: f64 = 10.5;

pub(super) fn measure(flashmark: &Path, rounds: u32) -> Result<Part, Failure> {
    let run = |target, tries| Run { target, tries, settings: &[] };
    let short = TARGETS.map(|target| run(target, TRIES));
    let runs = short.into_iter().chain(TARGETS.map(|target| run(target, LONGER))).collect::<Vec<_>>();
    let times = in_turn(rounds, runs.len(), |nth| runs[nth].take(flashmark))?;
    let longest = [run(TARGETS[0], LONGER), run(TARGETS[0], LONGEST)];
    let long_times = in_turn(rounds.min(LONGEST_ROUNDS_MAX), longest.len(), |nth| longest[nth].take(flashmark))?;

    let mut rows = Vec::new();
    for (nth, run) in runs.iter().enumerate() {
        rows.push(row(run, run.simulated(flashmark)?, &times, nth));
    }
    let whole = runs[0].simulated(flashmark)?;
    rows.push(row(&longest[1], longest[1].simulated(flashmark)?, &long_times, 1));

    let cpu = times.cpu.of(0);
    let mut tenfold = long_times.cpu.pairs(1, 0, |longer, shorter| longer / shorter);
    for nth in 0..TARGETS.len() {
        tenfold = tenfold.worse(times.cpu.pairs(TARGETS.len() + nth, nth, |longer, shorter| longer / shorter));
    }
    let promises = vec![
        Promise {
            what: format!("{}, {TRIES} tries, CPU time", TARGETS[0]),
            found: cpu,
            limits: f64::NEG_INFINITY..=LIMIT_CPU_S,
            unit: "s",
        },
        Promise {
            what: format!("{}, {TRIES} tries, faster than the hardware", TARGETS[0]),
            found: faster(whole, cpu),
            limits: TIMES_FASTER_LEAST..=f64::INFINITY,
            unit: "times",
        },
        Promise {
            what: "CPU time of ten times as many tries, the worst pair of rows".into(),
            found: tenfold,
            limits: f64::NEG_INFINITY..=TENFOLD_MOST,
            unit: "times",
        },
    ];
    let table = Table {
        title: format!(
            "flashmark run TARGET --suite esp-idf --compat --set tries=N --threads 1 --format esp-idf: {rounds} rounds; \
             medians"
        ),
        columns: vec![
            "target",
            "tries",
            "CPU s",
            "25 %",
            "75 %",
            "wall s",
            "virtual s",
            "times faster",
            "device operations",
            "CPU ns each",
        ],
        rows,
        note: "Times faster: virtual time, which is what the hardware would take, over CPU time. Device operations: reads, \
               programs and erases of the chip; the status reads and write enables between them are not counted. The whole \
               run is in their share: start, formatting, output. SPIFFS, in the board's run, is tried once whatever is asked for.",
    };
    Ok((table, promises))
}

/// What the hardware would take over what the run took; its quartiles change places.
fn faster(simulated: Simulated, cpu: Spread) -> Spread {
    let Spread { median, low, high } = cpu;
    Spread { median: simulated.seconds / median, low: simulated.seconds / high, high: simulated.seconds / low }
}

fn row(run: &Run<'_>, simulated: Simulated, times: &Times, nth: usize) -> Vec<Cell> {
    let (cpu, wall) = (times.cpu.of(nth), times.wall.of(nth));
    vec![
        run.target.into(),
        Cell::Number(f64::from(run.tries), 0),
        Cell::Number(cpu.median, 3),
        Cell::Number(cpu.low, 3),
        Cell::Number(cpu.high, 3),
        Cell::Number(wall.median, 3),
        Cell::Number(simulated.seconds, 1),
        Cell::Number(faster(simulated, cpu).median, 0),
        Cell::Number(simulated.operations as f64, 0),
        Cell::Number(cpu.median * 1e9 / simulated.operations as f64, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_quarter_is_the_least_fast() {
        let cpu = Spread { median: 0.25, low: 0.2, high: 0.5 };
        let found = faster(Simulated { seconds: 1000.0, operations: 1 }, cpu);
        assert_eq!(found, Spread { median: 4000.0, low: 2000.0, high: 5000.0 });
    }
}
