//! Sweeps: the records of many settings sorted by a figure, a line each, with the settings that they differ in.

mod columns;
mod fields;
mod metric;
mod swept;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::io;

use comfy_table::{Cell, CellAlignment, Table as Grid};
use flashmark_core::histogram::Histogram;
use flashmark_core::record::{OpKind, OpStats, Record, Status};

use crate::attribution::amplification;
use crate::figures::{RateUnit, rate, time};
use crate::format::Style;
use crate::rows::is_main;
use crate::simulation::{wear, write_amplification_milli};
use crate::terminal::{Paint, align, empty_grid, natural_width, paragraph, squeeze};
use columns::Columns;
pub use metric::{Metric, UnknownMetric};

/// What of a record is compared and shown.
struct Figures {
    bytes: u64,
    elapsed_ns: u64,
    latency: Option<[u64; 3]>,
    write_amplification_milli: Option<u64>,
    wear_max: Option<u32>,
}

impl Figures {
    fn of(record: &Record) -> Self {
        let outcome = &record.outcome;
        let moved = || outcome.ops.iter().filter(|op| is_main(op.op) && op.count > 0);
        // Where repeats are timed as a whole, those are what tells; with what failed in them.
        let whole = outcome.op(OpKind::Repeat).filter(|op| record.workload.time_repeats && op.count > 0);
        Self {
            bytes: moved().map(|op| op.bytes).fold(0, u64::saturating_add),
            elapsed_ns: whole.map_or(outcome.elapsed_ns, |whole| whole.latency_ns.sum),
            latency: whole.map_or_else(|| latency(&moved().collect::<Vec<_>>()), |whole| latency(&[whole])),
            write_amplification_milli: record
                .simulation
                .as_ref()
                .and_then(|simulation| write_amplification_milli(&simulation.whole)),
            wear_max: wear(record).map(|wear| wear.max),
        }
    }

    /// The better one of two first; what has no such figure last.
    fn compare(&self, other: &Self, metric: Metric) -> Ordering {
        fn lowest<T: Ord>(one: Option<T>, other: Option<T>) -> Ordering {
            match (one, other) {
                (Some(one), Some(other)) => one.cmp(&other),
                (one, other) => other.is_some().cmp(&one.is_some()),
            }
        }
        let latency = |nth: usize| lowest(self.latency.map(|all| all[nth]), other.latency.map(|all| all[nth]));
        match metric {
            Metric::Rate => {
                // Bytes over time as fractions of integers: no rounding makes two rates equal.
                let fraction = |f: &Self| (f.elapsed_ns > 0).then_some((u128::from(f.bytes), u128::from(f.elapsed_ns)));
                match (fraction(self), fraction(other)) {
                    (Some((bytes, ns)), Some((other_bytes, other_ns))) => (other_bytes * ns).cmp(&(bytes * other_ns)),
                    (one, other) => other.is_some().cmp(&one.is_some()),
                }
            }
            Metric::Mean => latency(0),
            Metric::P99 => latency(1),
            Metric::Max => latency(2),
            Metric::Elapsed => {
                let ran = |f: &Self| (f.elapsed_ns > 0).then_some(f.elapsed_ns);
                lowest(ran(self), ran(other))
            }
            Metric::WriteAmplification => lowest(self.write_amplification_milli, other.write_amplification_milli),
            Metric::Wear => lowest(self.wear_max, other.wear_max),
        }
    }

    fn shown(&self, metric: Metric, unit: RateUnit) -> String {
        let latency = |nth: usize| self.latency.map_or_else(|| "-".into(), |all| time(all[nth]));
        match metric {
            Metric::Rate => rate(self.bytes, self.elapsed_ns, unit),
            Metric::Mean => latency(0),
            Metric::P99 => latency(1),
            Metric::Max => latency(2),
            Metric::Elapsed if self.elapsed_ns == 0 => "-".into(),
            Metric::Elapsed => time(self.elapsed_ns),
            Metric::WriteAmplification => self.write_amplification_milli.map_or_else(|| "-".into(), amplification),
            Metric::Wear => self.wear_max.map_or_else(|| "-".into(), |max| max.to_string()),
        }
    }
}

/// Mean, 99th percentile and maximum of reads and writes together.
fn latency(moved: &[&OpStats]) -> Option<[u64; 3]> {
    match moved {
        [] => None,
        [one] => Some([one.latency_ns.mean, one.latency_ns.p99, one.latency_ns.max]),
        several => {
            let mut all = Histogram::new();
            several.iter().for_each(|op| all.merge(&op.histogram.histogram()));
            let both = OpStats::from_histogram(several.first()?.op, 0, &all).latency_ns;
            Some([both.mean, both.p99, both.max])
        }
    }
}

/// Sorts records by a figure, the best one first, those without it and those that are not complete last. Only figures of
/// the same workload can be compared: workloads stay apart, in the order in which they came first. Records that are equal
/// stay in their order, so that the result does not depend on how they were made.
pub fn sort_by(records: &mut [Record], metric: Metric) {
    let mut order = order(&records.iter().collect::<Vec<_>>(), metric);
    // In place: what belongs here may have been moved to where a record before it came from.
    for nth in 0..order.len() {
        let mut from = order[nth];
        while from < nth {
            from = order[from];
        }
        order[nth] = from;
        records.swap(nth, from);
    }
}

/// The places of the records, sorted as [`sort_by`] says.
fn order(records: &[&Record], metric: Metric) -> Vec<usize> {
    // Of what the command line describes, each value that is swept makes a workload, whose name may tell it: these are
    // what is compared.
    let is_swept = |record: &&&Record| {
        record.run.suite_source == "command line" && record.run.settings.iter().any(|set| set.starts_with("--sweep "))
    };
    let swept: HashSet<&str> = records.iter().filter(is_swept).map(|record| record.run.id.as_str()).collect();
    let compared_as = |record: &Record| match swept.get(record.run.id.as_str()) {
        Some(run) => (*run).to_owned(),
        None => format!(" {}", record.workload.name),
    };
    let mut names: HashMap<String, usize> = HashMap::new();
    let keys: Vec<(usize, bool, Figures)> = records
        .iter()
        .map(|record| {
            let next = names.len();
            let name = *names.entry(compared_as(record)).or_insert(next);
            (name, record.outcome.status != Status::Done, Figures::of(record))
        })
        .collect();
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by(|&one, &other| {
        let ((name, is_partial, one), (other_name, other_is_partial, other)) = (&keys[one], &keys[other]);
        let apart = name.cmp(other_name).then(is_partial.cmp(other_is_partial));
        apart.then_with(|| one.compare(other, metric))
    });
    order
}

/// Writes a line for each record, sorted by a figure ([`sort_by`]): the workload and the target where they differ, each
/// setting that differs, and the figures. What is the same in all records stands above. Where records would look alike and
/// their workloads differ, what differs of these is shown as well.
///
/// # Errors
/// If `out` fails.
pub fn sweep_table(records: &[Record], metric: Metric, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    if records.is_empty() {
        return writeln!(out, "no records");
    }
    let records: Vec<&Record> = records.iter().collect();
    let sorted: Vec<&Record> =
        order(&records, metric).into_iter().filter_map(|nth| records.get(nth).copied()).collect();
    let columns = Columns::of(&sorted);
    let common = columns.common(&sorted);
    let headline = common.into_iter().chain([format!("by {metric}, {}", metric.first())]).collect::<Vec<_>>();
    paragraph(out, style, "", &headline.join(" · "), Some(Paint::Bold))?;
    writeln!(out, "{}", grid(&sorted, &columns, metric, style))?;
    let simulated = sorted.iter().any(|record| record.simulation.is_some());
    if simulated {
        paragraph(
            out,
            style,
            "  ",
            "in virtual time: predicted, not measured; amplification is of writing, erases are of the sector erased most",
            None,
        )?;
    }
    Ok(())
}

/// A column for each figure, or, where the terminal is too narrow for that, two figures in a cell.
fn grid(records: &[&Record], columns: &Columns<'_>, metric: Metric, style: &Style) -> Grid {
    // Amplification and wear only where anything is known of them.
    let figures: Vec<Figures> = records.iter().map(|record| Figures::of(record)).collect();
    let known = |wanted: &Metric| match wanted {
        Metric::WriteAmplification => figures.iter().any(|f| f.write_amplification_milli.is_some()),
        Metric::Wear => figures.iter().any(|f| f.wear_max.is_some()),
        _ => true,
    };
    let cells = |together: &[&[Metric]]| -> Vec<Vec<Metric>> {
        let kept = together.iter().map(|cell| cell.iter().copied().filter(known).collect::<Vec<_>>());
        kept.filter(|cell| !cell.is_empty()).collect()
    };
    let lines: Vec<(&Record, &Figures)> = records.iter().copied().zip(&figures).collect();
    let wide = laid_out(&lines, columns, &cells(&Metric::ALL.each_ref().map(std::slice::from_ref)), metric, style);
    match style.width {
        Some(width) if natural_width(&wide) > width => {
            let pairs: [&[Metric]; 4] = [
                &[Metric::Rate, Metric::Elapsed],
                &[Metric::Mean, Metric::P99],
                &[Metric::Max],
                &[Metric::WriteAmplification, Metric::Wear],
            ];
            let mut narrow = laid_out(&lines, columns, &cells(&pairs), metric, style);
            squeeze(&mut narrow, width);
            narrow
        }
        _ => wide,
    }
}

fn laid_out(
    lines: &[(&Record, &Figures)],
    columns: &Columns<'_>,
    together: &[Vec<Metric>],
    metric: Metric,
    style: &Style,
) -> Grid {
    let mut headers = columns.headers();
    let texts = headers.len();
    let header = |cell: &Vec<Metric>| cell.iter().map(|one| header(*one, metric)).collect::<Vec<_>>().join("\n");
    headers.extend(together.iter().map(header));
    let mut grid = empty_grid(style, &headers.iter().map(String::as_str).collect::<Vec<_>>());
    for (nth, (record, figures)) in lines.iter().enumerate() {
        let mut cells = columns.cells(nth, record);
        if let Some(first) = cells.first_mut().filter(|_| record.outcome.status != Status::Done) {
            *first = format!("{first} ({})", record.outcome.status.name());
        }
        let shown = |one: &Metric| figures.shown(*one, style.rate_unit);
        cells.extend(together.iter().map(|cell| cell.iter().map(shown).collect::<Vec<_>>().join("\n")));
        grid.add_row(cells.into_iter().map(Cell::new));
    }
    align(&mut grid, 0);
    for column in grid.column_iter_mut().take(texts) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    grid
}

/// A figure's header; the one that the lines are sorted by is marked.
fn header(one: Metric, sorted_by: Metric) -> String {
    let name = match one {
        Metric::WriteAmplification => "amplification",
        Metric::Wear => "erases",
        other => other.name(),
    };
    if one == sorted_by { format!("*{name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use flashmark_core::record::{OpKind, Outcome};

    use super::*;
    use crate::samples;

    /// The records of a sweep over cluster and chip, in the order in which they ran.
    fn sweep() -> Vec<Record> {
        let settings = [
            ("4k", "w25q32jv", 1_053_682_000),
            ("4k", "gd25q32c", 1_112_000_000),
            ("16k", "w25q32jv", 1_021_000_000),
            ("16k", "gd25q32c", 1_098_000_000),
        ];
        let mut records: Vec<Record> = Vec::new();
        for (nth, (cluster, chip, ns)) in (0..).zip(settings) {
            let mut record = samples::simulated::on_fatfs().remove(0);
            record.target.name = format!("lab:esp32/fatfs,fatfs.cluster={cluster},chip={chip},board.mode=qio");
            record.outcome = samples::outcome(&[(OpKind::Write, 131_072, &[ns, ns + 1_000])]);
            if let Some(simulation) = &mut record.simulation {
                simulation.whole.device.program_bytes += u64::from(nth) * 65_536;
                if let Some(wear) = &mut simulation.wear {
                    wear.max += nth % 2;
                }
            }
            record.run.index = nth;
            records.push(record);
        }
        records
    }

    fn table(records: &[Record], metric: Metric, style: &Style) -> String {
        let mut out = Vec::new();
        sweep_table(records, metric, style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_sweep_shows_what_differs() {
        insta::assert_snapshot!("sweep", table(&sweep(), Metric::Rate, &Style::default()));
        let mut records = sweep();
        records.extend(samples::simulated::on_fatfs());
        let style = Style { width: Some(100), ..Style::default() };
        let text = table(&records, Metric::P99, &style);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!("sweep_of_two_workloads", text);
    }

    /// Records that differ in their workloads do not look alike, whether a sweep tells why or not.
    #[test]
    fn suite_keys_have_columns() {
        let mut records: Vec<Record> = Vec::new();
        for (tries, block) in [(1, 4096), (1, 65_536), (2, 4096), (2, 65_536)] {
            let mut record = samples::simulated::on_fatfs().remove(0);
            (record.workload.repeats, record.workload.block_bytes) = (tries, block);
            record.run.index = records.len() as u32;
            record.outcome.elapsed_ns += u64::from(block) * u64::from(tries);
            records.push(record);
        }
        let rows = |records: &[Record]| -> Vec<String> {
            let text = table(records, Metric::Elapsed, &Style::default());
            let lines = text.lines().filter(|line| line.starts_with("│"));
            let words = lines.map(|line| line.split_whitespace().skip(1).take(4).collect::<Vec<_>>().join(" "));
            words.collect()
        };
        assert_eq!(
            rows(&records),
            ["block repeats rate mean", "4 KiB 1 0.162", "4 KiB 2 0.162", "64 KiB 1 0.162", "64 KiB 2 0.162"]
        );
        for record in &mut records {
            record.run.settings = vec!["--sweep tries=1,2".into(), "--sweep size=4k,64k".into()];
        }
        assert_eq!(
            rows(&records),
            ["tries size rate mean", "1 4k 0.162 MB/s", "2 4k 0.162 MB/s", "1 64k 0.162 MB/s", "2 64k 0.162 MB/s"]
        );
        // A part of it: the fields are what is left to tell.
        assert_eq!(rows(&records[..2]), ["block rate mean p99", "4 KiB 0.162 MB/s", "64 KiB 0.162 MB/s"]);
    }

    #[test]
    fn what_did_not_run_comes_last_whatever_it_is_sorted_by() {
        let mut records = sweep();
        records[0].outcome = Outcome::not_run(Status::Failed);
        records[0].simulation = None;
        for metric in Metric::ALL {
            let mut sorted = records.clone();
            sort_by(&mut sorted, metric);
            assert_eq!(sorted.last(), Some(&records[0]), "{metric}");
            assert!(table(&records, metric, &Style::default()).contains("4k (failed)"));
        }
        // The figures of what is not complete are no result, however good they are.
        records[0] = sweep().remove(0);
        (records[0].outcome.status, records[0].outcome.elapsed_ns) = (Status::Interrupted, 1);
        sort_by(&mut records, Metric::Rate);
        assert_eq!(records.last().map(|record| record.outcome.status), Some(Status::Interrupted));
        assert_eq!(table(&[], Metric::Rate, &Style::default()), "no records\n");
    }

    #[test]
    fn the_order_is_that_of_the_figure() {
        let order = |metric| {
            let mut records = sweep();
            sort_by(&mut records, metric);
            records.iter().map(|record| record.run.index).collect::<Vec<_>>()
        };
        assert_eq!(order(Metric::Rate), [2, 0, 3, 1]);
        for metric in [Metric::Mean, Metric::P99, Metric::Max, Metric::Elapsed] {
            assert_eq!(order(metric), [2, 0, 3, 1], "{metric}");
        }
        assert_eq!(order(Metric::WriteAmplification), [0, 1, 2, 3]);
        // Equal ones stay as they were.
        assert_eq!(order(Metric::Wear), [0, 2, 1, 3]);
    }

    /// Whatever the order they come in, every record is there once, in its place.
    #[test]
    fn sorting_in_place_loses_no_record() {
        for step in [1, 7, 25, 36] {
            let mut records: Vec<Record> = (0..37)
                .map(|nth| {
                    let mut record = sweep().remove(0);
                    record.outcome.elapsed_ns = 1_000 + nth * step % 37;
                    record.run.index = nth as u32;
                    record
                })
                .collect();
            let before = records.clone();
            sort_by(&mut records, Metric::Elapsed);
            let times: Vec<u64> = records.iter().map(|record| record.outcome.elapsed_ns).collect();
            assert_eq!(times, (1_000..1_037).collect::<Vec<_>>(), "{step}");
            assert!(records.iter().all(|record| before[record.run.index as usize] == *record), "{step}");
        }
    }

    #[test]
    fn workloads_are_not_compared_with_each_other() {
        let mut records = samples::mixed_bag();
        sort_by(&mut records, Metric::Rate);
        let names: Vec<&str> = records.iter().map(|record| record.workload.name.as_str()).collect();
        // Three records of this name, the fastest (a device) first.
        assert_eq!(names[..4], ["seq read 1 MiB", "seq read 1 MiB", "seq read 1 MiB", "seq write 1 MiB, sync"]);
        assert_eq!(records[0].target.name, "/dev/loop0");
    }

    #[test]
    fn a_mix_has_one_latency() {
        let mixed = samples::mixed_bag().remove(3);
        let [mean, p99, max] = Figures::of(&mixed).latency.unwrap();
        // 300 reads of 157440 ns and 100 writes of 1574250 ns on average.
        assert_eq!(mean, (300 * 157_440 + 100 * 1_574_250_u64).div_euclid(400) + 1);
        assert_eq!(max, 1_650_000);
        assert!(p99 > 1_500_000 && p99 <= max);
    }
}
