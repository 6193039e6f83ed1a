//! Own cost: the engine `null` does no I/O, so that all of the time is the tool's.

use super::Bench;
use super::figures::Figures;
use super::section::{Section, number, spread};
use super::tool::{Words, words};
use super::turns::Turns;
use crate::linux::failure::Failure;
use crate::linux::report::Table;

/// Of flashmark with every latency in a histogram, which is the default of both.
const LIMIT_NS: f64 = 60.0;

const ORDERS: [(&str, &[&str]); 3] = [
    ("sequential", &["--rw=read"]),
    ("random, each block once", &["--rw=randread"]),
    ("random", &["--rw=randread", "--norandommap"]),
];

/// Measures both with default options and with `gtod_reduce=1`, with which neither measures latencies.
///
/// # Errors
/// [`Failure`].
pub fn measure(bench: &Bench<'_>) -> Result<Section, Failure> {
    let mut section = Section::default();
    let mut rows = Vec::new();
    for (order, access) in ORDERS {
        let mut full: Words = words(["--ioengine=null", "--size=1g", "--bs=4k", "--time_based", "--runtime=2"]);
        full.push(bench.on_one_cpu());
        full.extend(access.iter().map(|word| (*word).to_owned()));
        let mut reduced = full.clone();
        reduced.push("--gtod_reduce=1".into());
        let (ours, theirs) = (&bench.flashmark, &bench.fio);
        let turns =
            Turns::take(bench.rounds, &[(ours, &full), (theirs, &full), (ours, &reduced), (theirs, &reduced)], None)?;
        for (job, name) in [(0, "flashmark"), (1, "fio"), (2, "flashmark"), (3, "fio")] {
            let found = turns.of(job, Figures::ns_each);
            let options = if job < 2 { "default" } else { "gtod_reduce=1" };
            let mut row = vec![if job == 0 { order.into() } else { "".into() }, name.into(), options.into()];
            row.extend(spread(found, 1));
            row.push(number(turns.of(job, Figures::job_cpu_ns_each).median, 1));
            row.push(number(turns.ratio(job, 0, Figures::ns_each).median, 2));
            rows.push(row);
        }
        section.at_most(
            format!("null: own cost of flashmark, {order}, with all latencies"),
            turns.of(0, Figures::ns_each),
            LIMIT_NS,
            "ns an I/O",
        );
    }
    section.tables.push(Table {
        title: format!("null: no I/O, queue depth 1, one CPU, {} rounds; medians", bench.rounds),
        columns: vec!["order", "tool", "options", "ns an I/O", "25 %", "75 %", "CPU ns", "over flashmark's default"],
        rows,
        note: "ns an I/O: runtime over reads. CPU ns: of the job's thread, which is less where others had the CPU.",
    });
    Ok(section)
}
