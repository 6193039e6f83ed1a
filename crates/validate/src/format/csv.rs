//! CSV: a line a row; a published table's columns, and what was found.

use std::io;

use crate::metric::Kind;
use crate::report::Report;

const HEADER: [&str; 21] = [
    "table",
    "line",
    "kind",
    "set",
    "board",
    "medium",
    "fs",
    "mode",
    "op",
    "io_bytes",
    "total_bytes",
    "runs",
    "metric",
    "unit",
    "published",
    "predicted",
    "error_ppm",
    "fitted",
    "small",
    "status",
    "reason",
];

pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for entry in &report.rows {
        let row = &entry.row;
        let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let predicted = entry.predicted.zip(row.unit).map(|(predicted, unit)| unit.show(predicted));
        writer.write_record([
            row.table.clone(),
            row.line.to_string(),
            if row.kind() == Kind::Row { "row" } else { "phase" }.to_owned(),
            row.set.clone(),
            row.board.clone(),
            row.medium.clone(),
            row.fs.clone(),
            row.mode.clone(),
            row.op.clone(),
            number(row.io_bytes),
            number(row.total_bytes),
            number(row.runs.map(u64::from)),
            row.metric.clone(),
            row.unit.map_or_else(String::new, |unit| unit.to_string()),
            row.value.clone(),
            predicted.unwrap_or_default(),
            entry.error_ppm.map_or_else(String::new, |ppm| ppm.to_string()),
            entry.fitted.to_string(),
            entry.small.to_string(),
            entry.verdict.name().to_owned(),
            entry.reason.clone().unwrap_or_default(),
        ])?;
    }
    writer.flush()
}
