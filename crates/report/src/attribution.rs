//! Where the time of simulated boards went: by account, by layer, and what the device was asked to do.
//!
//! A view is made of parts, each a table with two figures in a cell, so that a terminal can set one above the other and
//! a document one beside the other.

use flashmark_core::ledger::{Account, Layer};
use flashmark_core::record::Record;

use crate::figures::{digits, printable, size, time};
use crate::simulation::{account_ns, layer_ns, read_amplification_milli, write_amplification_milli};
use crate::targets::Group;

/// A table of the view.
pub(crate) struct Part {
    /// What it shows.
    pub(crate) title: &'static str,
    /// The columns; the first one is the workload's.
    pub(crate) headers: Vec<Pair>,
    pub(crate) rows: Vec<Vec<Pair>>,
}

/// Two figures of a cell; the second one may be empty.
pub(crate) struct Pair(pub(crate) String, pub(crate) String);

impl Pair {
    fn one(text: impl Into<String>) -> Self {
        Self(text.into(), String::new())
    }
}

/// The most columns of a terminal that the view takes.
pub(crate) const WIDTH_MAX: usize = 100;

/// What is said where nothing is known.
pub(crate) const UNKNOWN: &str = "where the time went is known of simulated boards only";

/// The view of one target; `None` if none of its records is of a simulated board.
pub(crate) fn parts(group: &Group<'_>) -> Option<Vec<Part>> {
    let simulated: Vec<&Record> = group.records.iter().copied().filter(|r| r.simulation.is_some()).collect();
    (!simulated.is_empty()).then(|| vec![by_account(&simulated), by_layer(&simulated), by_operation(&simulated)])
}

fn name(record: &Record) -> Pair {
    Pair::one(printable(&record.workload.name))
}

fn by_account(records: &[&Record]) -> Part {
    let mut headers = vec![Pair::one("workload"), Pair::one("time")];
    headers.extend(Account::ALL.iter().map(|account| Pair::one(account.name())));
    let row = |record: &Record| {
        let elapsed_ns = record.outcome.elapsed_ns;
        let mut cells = vec![name(record), Pair::one(time(elapsed_ns))];
        let spent = record.simulation.as_ref().map_or(&[][..], |simulation| &simulation.spent);
        cells.extend(Account::ALL.iter().map(|account| share(account_ns(spent, *account), elapsed_ns)));
        cells
    };
    let title = "the measured time: work of the processor, transfers, waiting for the medium, sleeping until a tick";
    Part { title, headers, rows: records.iter().map(|record| row(record)).collect() }
}

fn by_layer(records: &[&Record]) -> Part {
    let mut headers = vec![Pair::one("workload")];
    headers.extend(Layer::ALL.iter().map(|layer| Pair::one(layer.name())));
    let row = |record: &Record| {
        let mut cells = vec![name(record)];
        let spent = record.simulation.as_ref().map_or(&[][..], |simulation| &simulation.spent);
        cells.extend(Layer::ALL.iter().map(|layer| share(layer_ns(spent, *layer), record.outcome.elapsed_ns)));
        cells
    };
    let title = "the same time by the part of the stack that it was spent for";
    Part { title, headers, rows: records.iter().map(|record| row(record)).collect() }
}

fn by_operation(records: &[&Record]) -> Part {
    let headers = vec![
        Pair::one("workload"),
        Pair("reads".into(), "bytes".into()),
        Pair("programs".into(), "bytes".into()),
        Pair("erases".into(), "bytes".into()),
        Pair::one("amplification"),
    ];
    let row = |record: &Record| {
        let mut cells = vec![name(record)];
        if let Some(simulation) = &record.simulation {
            let (device, whole) = (&simulation.device, &simulation.whole);
            let counts = [
                (device.reads, device.read_bytes),
                (device.programs, device.program_bytes),
                (device.erases, device.erase_bytes),
            ];
            cells.extend(counts.map(|(count, bytes)| Pair(count.to_string(), size(bytes))));
            let ratio = |name, milli: Option<u64>| milli.map(|milli| format!("{name} {}", amplification(milli)));
            let ratios =
                [ratio("write", write_amplification_milli(whole)), ratio("read", read_amplification_milli(whole))];
            let mut known = ratios.into_iter().flatten();
            cells.push(Pair(known.next().unwrap_or_else(|| "-".into()), known.next().unwrap_or_default()));
        }
        cells
    };
    let title = "what the device did in that time; amplification is over all that the workload caused, opening, closing \
                 and warming up as well";
    Part { title, headers, rows: records.iter().map(|record| row(record)).collect() }
}

/// An amplification, e.g. `1.25`.
pub(crate) fn amplification(milli: u64) -> String {
    digits(milli as f64 / 1000.0)
}

/// A time and its share of the whole.
fn share(ns: u64, whole_ns: u64) -> Pair {
    if ns == 0 {
        return Pair::one("-");
    }
    let shown = if whole_ns == 0 { String::new() } else { percent(ns as f64 / whole_ns as f64) };
    Pair(time(ns), shown)
}

/// A share in percent with one decimal; what is there but would be rounded away is `<0.1 %`.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0005 { "<0.1 %".into() } else { format!("{:.1} %", share * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::targets::runs;

    fn shown(records: &[Record]) -> Option<Vec<Part>> {
        parts(&runs(records)[0].groups[0])
    }

    #[test]
    fn shares_are_of_the_elapsed_time() {
        let records = samples::simulated::on_fatfs();
        let parts = shown(&records).unwrap();
        let row: Vec<(&str, &str)> =
            parts[0].rows[0].iter().map(|Pair(upper, lower)| (upper.as_str(), lower.as_str())).collect();
        assert_eq!(
            row,
            [
                ("write 64 KiB, sync", ""),
                ("811 ms", ""),
                ("150 ms", "18.5 %"),
                ("51.4 ms", "6.3 %"),
                ("400 ms", "49.3 %"),
                ("210 ms", "25.9 %"),
            ]
        );
        for part in &parts {
            assert!(part.rows.iter().all(|row| row.len() == part.headers.len()), "{}", part.title);
        }
    }

    #[test]
    fn what_is_not_simulated_has_no_view() {
        assert!(shown(&[samples::full()]).is_none());
        let mut records = samples::simulated::on_fatfs();
        records[1].simulation = None;
        assert!(shown(&records).unwrap().iter().all(|part| part.rows.len() == 1));
    }

    #[test]
    fn little_is_not_nothing() {
        assert_eq!(percent(0.000_01), "<0.1 %");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(share(0, 10).0, "-");
        assert_eq!((share(5, 0).0.as_str(), share(5, 0).1.as_str()), ("5 ns", ""));
    }
}
