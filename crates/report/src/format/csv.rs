//! CSV (RFC 4180): a line for each operation of each record, a unit in each column's name.
//!
//! Numbers are whole where the record's are. A workload that did nothing has one line with an empty `op`.

use std::io;

use flashmark_core::ledger::Account;
use flashmark_core::record::{OpStats, Reached, Record, rate_bytes_per_s};
use flashmark_core::simulation::{DeviceWork, Filled, Whole};
use flashmark_core::workload::{Order, SyncPolicy};

use super::{Format, FormatError, Style};
use crate::rows::is_main;
use crate::simulation::{
    account_ns, decimal, mean_erases_milli, read_amplification_milli, wear, write_amplification_milli,
};

/// The format.
pub(super) struct Csv;

/// What a column holds, given the record and the operation, if there was any.
type Column = (&'static str, fn(&Record, Option<&OpStats>) -> String);

/// The columns, in order. New ones go to the end, so that scripts that count columns go on working.
const COLUMNS: [Column; 57] = [
    ("run_id", |r, _| r.run.id.clone()),
    ("index", |r, _| r.run.index.to_string()),
    ("suite", |r, _| r.run.suite.clone()),
    ("form", |r, _| r.run.form.name().into()),
    ("started_at", |r, _| r.started_at.clone()),
    ("target", |r, _| r.target.name.clone()),
    ("target_kind", |r, _| r.target.kind.name().into()),
    ("label", |r, _| r.target.label.clone()),
    ("engine", |r, _| r.target.engine.clone()),
    ("direct", |r, _| optional(r.target.direct)),
    ("workload", |r, _| r.workload.name.clone()),
    ("read_percent", |r, _| r.workload.read_percent.to_string()),
    ("order", |r, _| order(r.workload.order)),
    ("block_bytes", |r, _| r.workload.block_bytes.to_string()),
    ("queue_depth", |r, _| r.workload.queue_depth.to_string()),
    ("sync", |r, _| sync(r.workload.sync)),
    ("repeats", |r, _| r.outcome.repeats.len().to_string()),
    ("status", |r, _| r.outcome.status.name().into()),
    ("reached", |r, _| r.outcome.reached.map_or("", Reached::name).into()),
    ("elapsed_ns", |r, _| r.outcome.elapsed_ns.to_string()),
    ("op", |_, op| op.map_or("", |op| op.op.name()).into()),
    ("count", |_, op| optional(op.map(|op| op.count))),
    ("bytes", |_, op| optional(op.map(|op| op.bytes))),
    ("rate_bytes_per_s", |r, op| optional(timed(r, op).map(|op| rate_bytes_per_s(op.bytes, r.outcome.elapsed_ns)))),
    ("iops", |r, op| timed(r, op).map_or_else(String::new, |op| iops(op.count, r.outcome.elapsed_ns))),
    ("min_ns", |_, op| optional(op.map(|op| op.latency_ns.min))),
    ("mean_ns", |_, op| optional(op.map(|op| op.latency_ns.mean))),
    ("p50_ns", |_, op| optional(op.map(|op| op.latency_ns.p50))),
    ("p90_ns", |_, op| optional(op.map(|op| op.latency_ns.p90))),
    ("p99_ns", |_, op| optional(op.map(|op| op.latency_ns.p99))),
    ("p99_9_ns", |_, op| optional(op.map(|op| op.latency_ns.p99_9))),
    ("p99_99_ns", |_, op| optional(op.map(|op| op.latency_ns.p99_99))),
    ("max_ns", |_, op| optional(op.map(|op| op.latency_ns.max))),
    ("sum_ns", |_, op| optional(op.map(|op| op.latency_ns.sum))),
    ("stalls", |_, op| optional(op.map(|op| op.stalls.count))),
    ("stall_threshold_ns", |_, op| optional(op.map(|op| op.stalls.threshold_ns))),
    ("verified_bytes", |r, _| r.outcome.verified_bytes.to_string()),
    ("fault_count", |r, _| r.outcome.fault_count.to_string()),
    ("warnings", |r, _| warnings(r)),
    ("cpu_ns", |r, _| spent(r, Account::Cpu)),
    ("bus_ns", |r, _| spent(r, Account::Bus)),
    ("busy_ns", |r, _| spent(r, Account::Busy)),
    ("sleep_ns", |r, _| spent(r, Account::Sleep)),
    ("device_reads", |r, _| optional(device(r).map(|device| device.reads))),
    ("device_read_bytes", |r, _| optional(device(r).map(|device| device.read_bytes))),
    ("device_programs", |r, _| optional(device(r).map(|device| device.programs))),
    ("device_program_bytes", |r, _| optional(device(r).map(|device| device.program_bytes))),
    ("device_erases", |r, _| optional(device(r).map(|device| device.erases))),
    ("device_erase_bytes", |r, _| optional(device(r).map(|device| device.erase_bytes))),
    ("write_amplification", |r, _| ratio(whole(r).and_then(write_amplification_milli))),
    ("read_amplification", |r, _| ratio(whole(r).and_then(read_amplification_milli))),
    ("wear_max", |r, _| optional(wear(r).map(|wear| wear.max))),
    ("wear_mean", |r, _| ratio(wear(r).and_then(mean_erases_milli))),
    ("fill_percent", |r, _| optional(r.workload.fill_percent)),
    ("filled_used_bytes", |r, _| optional(filled(r).map(|filled| filled.used_bytes))),
    ("filled_total_bytes", |r, _| optional(filled(r).map(|filled| filled.total_bytes))),
    ("filled_files", |r, _| optional(filled(r).map(|filled| filled.files))),
];

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "a line for each operation of each record, for spreadsheets and scripts"
    }

    fn is_machine(&self) -> bool {
        true
    }

    fn write(&self, records: &[Record], _: &Style, out: &mut dyn io::Write) -> Result<(), FormatError> {
        let mut csv = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(out);
        csv.write_record(COLUMNS.map(|(name, _)| name)).map_err(into_io)?;
        for record in records {
            let mut ops: Vec<Option<&OpStats>> = record.outcome.ops.iter().map(Some).collect();
            if ops.is_empty() {
                ops.push(None);
            }
            for op in ops {
                csv.write_record(COLUMNS.map(|(_, cell)| cell(record, op))).map_err(into_io)?;
            }
        }
        csv.flush()?;
        Ok(())
    }
}

fn into_io(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The operation, if a rate can be told of it.
fn timed<'a>(record: &Record, op: Option<&'a OpStats>) -> Option<&'a OpStats> {
    op.filter(|op| is_main(op.op) && record.outcome.elapsed_ns > 0)
}

/// Operations a second with three decimals, rounded down; without floats, so that no digit is made up.
fn iops(count: u64, elapsed_ns: u64) -> String {
    let milli = u128::from(count) * 1_000_000_000_000 / u128::from(elapsed_ns.max(1));
    format!("{}.{:03}", milli / 1000, milli % 1000)
}

fn order(order: Order) -> String {
    match order {
        Order::Sequential => "sequential".into(),
        Order::Random => "random".into(),
        Order::RandomOnce => "random-once".into(),
        Order::Zipf { theta_milli } => format!("zipf {}.{:03}", theta_milli / 1000, theta_milli % 1000),
    }
}

fn sync(sync: SyncPolicy) -> String {
    match sync {
        SyncPolicy::Never => "never".into(),
        SyncPolicy::End => "end".into(),
        SyncPolicy::Every { ops } => format!("every {ops}"),
    }
}

/// What of the measured time went on an account; empty for what was not simulated.
fn spent(record: &Record, account: Account) -> String {
    optional(record.simulation.as_ref().map(|simulation| account_ns(&simulation.spent, account)))
}

fn device(record: &Record) -> Option<&DeviceWork> {
    record.simulation.as_ref().map(|simulation| &simulation.device)
}

fn whole(record: &Record) -> Option<&Whole> {
    record.simulation.as_ref().map(|simulation| &simulation.whole)
}

fn filled(record: &Record) -> Option<Filled> {
    record.simulation.as_ref()?.filled
}

fn ratio(milli: Option<u64>) -> String {
    milli.map_or_else(String::new, decimal)
}

/// The warnings' messages, one a line within the field.
fn warnings(record: &Record) -> String {
    record.outcome.warnings.iter().map(|warning| warning.message.as_str()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;
    use crate::samples;

    #[test]
    fn every_operation_has_its_line() {
        let text = shown(&Csv, &samples::mixed_bag(), &Style::default());
        insta::assert_snapshot!("csv", text.replace("\r\n", "\n"));
    }

    #[test]
    fn lines_end_as_the_rfc_has_it() {
        let text = shown(&Csv, &samples::mixed_bag()[..1], &Style::default());
        assert_eq!(text.matches("\r\n").count(), 4);
        assert_eq!(text.matches('\n').count(), 4);
    }

    #[test]
    fn a_csv_reader_gets_the_very_numbers_and_texts() {
        let mut records = samples::mixed_bag();
        records[0].workload.name = "a \"quoted\", name\nof two lines".into();
        let text = shown(&Csv, &records, &Style::default());
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().unwrap().clone();
        let lines: Vec<_> = reader.records().map(Result::unwrap).collect();
        let cell = |line: usize, name: &str| {
            let column = headers.iter().position(|header| header == name).unwrap();
            lines[line][column].to_owned()
        };
        assert_eq!(cell(0, "workload"), "a \"quoted\", name\nof two lines");
        let read = records[0].outcome.op(flashmark_core::record::OpKind::Read).unwrap();
        assert_eq!(cell(0, "p99_ns"), read.latency_ns.p99.to_string());
        assert_eq!(cell(0, "sum_ns"), read.latency_ns.sum.to_string());
        // 64 reads of 8 ms and 0 to 10 hundredths more: 64 x 8 ms + (5 x 55 + 36) x 80 us = 536.88 ms.
        assert_eq!(cell(0, "elapsed_ns"), "536880000");
        assert_eq!(cell(0, "rate_bytes_per_s"), "124997884");
        assert_eq!(cell(0, "iops"), "119.207");
        // Opening has neither rate nor IOPS.
        assert_eq!(
            (cell(1, "op"), cell(1, "rate_bytes_per_s"), cell(1, "iops")),
            ("open".into(), "".into(), "".into())
        );
        // What is not simulated has nothing to say of that.
        assert_eq!((cell(0, "busy_ns"), cell(0, "wear_max")), ("".into(), "".into()));
        let simulated = (0..lines.len()).find(|line| cell(*line, "target_kind") == "lab").unwrap();
        let figures = ["cpu_ns", "bus_ns", "busy_ns", "sleep_ns", "elapsed_ns"];
        let figures = figures.map(|name| cell(simulated, name).parse::<u64>().unwrap());
        assert_eq!(figures[..4].iter().sum::<u64>(), figures[4]);
        let cells = ["device_erases", "write_amplification", "read_amplification", "wear_max", "wear_mean"];
        assert_eq!(cells.map(|name| cell(simulated, name)), ["40", "1.250", "", "40", "4.132"]);
        let operations: usize = records.iter().map(|record| record.outcome.ops.len().max(1)).sum();
        assert_eq!(lines.len(), operations);
    }

    #[test]
    fn no_digit_is_made_up() {
        assert_eq!(iops(u64::MAX, 1), "18446744073709551615000000000.000");
        assert_eq!(iops(1, 3_000_000_000), "0.333");
    }
}
