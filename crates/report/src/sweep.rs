//! Sweeps: the records of many settings sorted by a figure, a line each, with the settings that they differ in.

use std::cmp::Ordering;
use std::fmt;
use std::io;
use std::str::FromStr;

use comfy_table::{Cell, CellAlignment, Table as Grid};
use flashmark_core::histogram::Histogram;
use flashmark_core::record::{OpStats, Record, Status};

use crate::attribution::amplification;
use crate::figures::{RateUnit, printable, rate, time};
use crate::format::Style;
use crate::rows::is_main;
use crate::simulation::{wear, write_amplification_milli};
use crate::terminal::{Paint, align, empty_grid, natural_width, paragraph, squeeze};

/// A figure that records are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Bytes read and written over the elapsed time; the fastest first.
    #[default]
    Rate,
    /// The mean latency of reads and writes; the lowest first, as for all that follow.
    Mean,
    /// The 99th percentile of their latency.
    P99,
    /// The longest of them.
    Max,
    /// The elapsed time of all repeats.
    Elapsed,
    /// Bytes that the device programmed for each byte written; simulated boards only.
    WriteAmplification,
    /// Erases of the sector that was erased most; simulated boards only.
    Wear,
}

/// A metric that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no metric `{given}`{}; there are {}",
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default(),
    Metric::ALL.map(Metric::name).join(", ")
)]
pub struct UnknownMetric {
    /// What was asked for.
    pub given: String,
    /// What was probably meant.
    pub nearest: Option<&'static str>,
}

impl Metric {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Self; 7] =
        [Self::Rate, Self::Mean, Self::P99, Self::Max, Self::Elapsed, Self::WriteAmplification, Self::Wear];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Mean => "mean",
            Self::P99 => "p99",
            Self::Max => "max",
            Self::Elapsed => "elapsed",
            Self::WriteAmplification => "write-amplification",
            Self::Wear => "wear",
        }
    }

    /// Which end comes first.
    const fn first(self) -> &'static str {
        match self {
            Self::Rate => "the fastest first",
            _ => "the lowest first",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(given: &str) -> Result<Self, UnknownMetric> {
        let lower = given.trim().to_ascii_lowercase().replace('_', "-");
        Self::ALL.into_iter().find(|metric| metric.name() == lower).ok_or_else(|| {
            let names = Self::ALL.iter().map(|metric| metric.name());
            let distance = |name: &str| match lower.len() >= 2 && name.starts_with(&lower) {
                true => 0,
                false => strsim::osa_distance(&lower, name),
            };
            let near = names.map(|name| (distance(name), name)).filter(|(away, name)| *away <= name.len().div_ceil(3));
            UnknownMetric { given: given.to_owned(), nearest: near.min_by_key(|(away, _)| *away).map(|(_, name)| name) }
        })
    }
}

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
        Self {
            bytes: moved().map(|op| op.bytes).fold(0, u64::saturating_add),
            elapsed_ns: outcome.elapsed_ns,
            latency: latency(&moved().collect::<Vec<_>>()),
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
            several.iter().for_each(|op| all.merge(&op.histogram));
            let both = OpStats::from_histogram(several.first()?.op, 0, &all).latency_ns;
            Some([both.mean, both.p99, both.max])
        }
    }
}

/// Sorts records by a figure, the best one first, those without it and those that are not complete last. Only figures of the same workload can be
/// compared: workloads stay apart, in the order in which they came first. Records that are equal stay in their order, so
/// that the result does not depend on how they were made.
pub fn sort_by(records: &mut [Record], metric: Metric) {
    let mut names: Vec<String> = Vec::new();
    for record in records.iter() {
        if !names.contains(&record.workload.name) {
            names.push(record.workload.name.clone());
        }
    }
    let place = |record: &Record| names.iter().position(|name| *name == record.workload.name);
    let is_partial = |record: &Record| record.outcome.status != Status::Done;
    records.sort_by(|one, other| {
        place(one)
            .cmp(&place(other))
            .then_with(|| is_partial(one).cmp(&is_partial(other)))
            .then_with(|| Figures::of(one).compare(&Figures::of(other), metric))
    });
}

/// What is set in the name of a simulated target, `lab:BOARD/STORAGE,key=value…`; other names are a place alone.
struct Named<'a> {
    place: &'a str,
    settings: Vec<(&'a str, &'a str)>,
}

impl<'a> Named<'a> {
    fn of(name: &'a str) -> Self {
        let mut parts = if name.starts_with("lab:") { name.split(',') } else { name.split('\0') };
        let place = parts.next().unwrap_or_default();
        let settings = parts.filter_map(|part| part.split_once('=')).map(|(key, value)| (key.trim(), value.trim()));
        Self { place, settings: settings.collect() }
    }

    /// The value that counts for a key: the last one.
    fn value(&self, key: &str) -> Option<&'a str> {
        self.settings.iter().rev().find(|(found, _)| *found == key).map(|(_, value)| *value)
    }
}

/// Writes a line for each record, sorted by a figure ([`sort_by`]): the workload and the target where they differ, each
/// setting that differs, and the figures. What is the same in all records stands above.
///
/// # Errors
/// If `out` fails.
pub fn sweep_table(records: &[Record], metric: Metric, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    if records.is_empty() {
        return writeln!(out, "no records");
    }
    let mut sorted = records.to_vec();
    sort_by(&mut sorted, metric);
    let columns = Columns::of(&sorted);
    paragraph(out, style, "", &columns.headline(&sorted, metric), Some(Paint::Bold))?;
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

/// What differs among the records.
struct Columns {
    workload: bool,
    place: bool,
    keys: Vec<String>,
}

impl Columns {
    fn of(records: &[Record]) -> Self {
        let named: Vec<Named<'_>> = records.iter().map(|record| Named::of(&record.target.name)).collect();
        let mut keys: Vec<String> = Vec::new();
        for (key, _) in named.iter().flat_map(|name| &name.settings) {
            if !keys.iter().any(|found| found == key) {
                keys.push((*key).to_owned());
            }
        }
        keys.retain(|key| differs(named.iter().map(|name| name.value(key))));
        Self {
            workload: differs(records.iter().map(|record| &record.workload.name)),
            place: differs(named.iter().map(|name| name.place)),
            keys,
        }
    }

    /// What the records have in common.
    fn headline(&self, records: &[Record], metric: Metric) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(first) = records.first() {
            let named = Named::of(&first.target.name);
            parts.extend((!self.workload).then(|| printable(&first.workload.name)));
            parts.extend((!self.place).then(|| printable(named.place)));
            let common = named.settings.iter().filter(|(key, _)| !self.keys.iter().any(|found| found == key));
            parts.extend(common.map(|(key, value)| printable(&format!("{key}={value}"))));
        }
        parts.push(format!("by {metric}, {}", metric.first()));
        parts.join(" · ")
    }
}

fn differs<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    values.next().is_some_and(|first| values.any(|value| value != first))
}

/// A column for each figure, or, where the terminal is too narrow for that, two figures in a cell.
fn grid(records: &[Record], columns: &Columns, metric: Metric, style: &Style) -> Grid {
    // Amplification and wear only where anything is known of them.
    let figures: Vec<Figures> = records.iter().map(Figures::of).collect();
    let known = |wanted: &Metric| match wanted {
        Metric::WriteAmplification => figures.iter().any(|f| f.write_amplification_milli.is_some()),
        Metric::Wear => figures.iter().any(|f| f.wear_max.is_some()),
        _ => true,
    };
    let cells = |together: &[&[Metric]]| -> Vec<Vec<Metric>> {
        let kept = together.iter().map(|cell| cell.iter().copied().filter(known).collect::<Vec<_>>());
        kept.filter(|cell| !cell.is_empty()).collect()
    };
    let lines: Vec<(&Record, &Figures)> = records.iter().zip(&figures).collect();
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
    columns: &Columns,
    together: &[Vec<Metric>],
    metric: Metric,
    style: &Style,
) -> Grid {
    let mut headers: Vec<String> = Vec::new();
    headers.extend(columns.workload.then(|| "workload".to_owned()));
    headers.extend(columns.place.then(|| "target".to_owned()));
    headers.extend(columns.keys.iter().map(|key| printable(key)));
    if headers.is_empty() {
        headers.push("record".to_owned());
    }
    let texts = headers.len();
    let header = |cell: &Vec<Metric>| cell.iter().map(|one| header(*one, metric)).collect::<Vec<_>>().join("\n");
    headers.extend(together.iter().map(header));
    let mut grid = empty_grid(style, &headers.iter().map(String::as_str).collect::<Vec<_>>());
    for (record, figures) in lines {
        let named = Named::of(&record.target.name);
        let mut cells: Vec<String> = Vec::new();
        cells.extend(columns.workload.then(|| printable(&record.workload.name)));
        cells.extend(columns.place.then(|| printable(named.place)));
        cells.extend(columns.keys.iter().map(|key| named.value(key).map_or_else(|| "(profile)".into(), printable)));
        if cells.is_empty() {
            cells.push(record.run.index.to_string());
        }
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
    fn names_are_parsed_and_wrong_ones_guessed() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        assert_eq!("Write_Amplification".parse(), Ok(Metric::WriteAmplification));
        for (given, nearest) in
            [("p999", Some("p99")), ("maen", Some("mean")), ("write", Some("write-amplification")), ("banana", None)]
        {
            assert_eq!(given.parse::<Metric>().unwrap_err().nearest, nearest, "{given}");
        }
        assert_eq!(
            "rte".parse::<Metric>().unwrap_err().to_string(),
            "there is no metric `rte`; did you mean `rate`?; there are rate, mean, p99, max, elapsed, \
             write-amplification, wear"
        );
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

    #[test]
    fn only_names_of_the_lab_have_settings() {
        let named = Named::of("lab:my,board");
        assert_eq!((named.place, named.settings.len()), ("lab:my", 0));
        let named = Named::of("lab:esp32,chip=a,chip=b");
        assert_eq!((named.place, named.value("chip")), ("lab:esp32", Some("b")));
        let named = Named::of("/mnt/a,b=c");
        assert_eq!((named.place, named.settings.len()), ("/mnt/a,b=c", 0));
    }
}
