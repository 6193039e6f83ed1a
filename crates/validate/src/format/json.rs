//! JSON: everything, in one object.

use std::io;

use serde::Serialize;

use crate::metric::Kind;
use crate::quantity::Quantity;
use crate::report::{Report, RowReport};
use crate::summary::Limit;

/// Grows by one whenever a reader would have to know.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Whole<'a> {
    schema: u32,
    rows: Vec<Row<'a>>,
    summary: Summary,
    limits: Vec<LimitJson>,
    messages: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    table: &'a str,
    line: u64,
    kind: &'static str,
    set: &'a str,
    board: &'a str,
    medium: &'a str,
    fs: &'a str,
    mode: &'a str,
    op: &'a str,
    io_bytes: Option<u64>,
    total_bytes: Option<u64>,
    runs: Option<u32>,
    metric: &'a str,
    /// `ns` or `mB/s` (thousandths of a byte a second), in which `published` and `predicted` are.
    unit: Option<&'static str>,
    published: Option<u64>,
    predicted: Option<u64>,
    error_ppm: Option<i64>,
    fitted: bool,
    small: bool,
    status: &'static str,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Counts {
    all: usize,
    compared: usize,
    fitted: usize,
}

#[derive(Serialize)]
struct Summary {
    rows: Counts,
    phases: Counts,
    small: usize,
    mean_error_unfitted_ppm: Option<u64>,
    mean_error_unfitted_rows: u64,
    mean_error_all_ppm: Option<u64>,
    mean_error_all_rows: u64,
    worst_unfitted: Option<usize>,
    worst: Option<usize>,
    worst_phase: Option<usize>,
    limits_kept: bool,
    failed: bool,
}

#[derive(Serialize)]
struct LimitJson {
    name: &'static str,
    limit_ppm: u64,
    value_ppm: Option<u64>,
    kept: Option<bool>,
}

pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let of = &report.summary;
    let counts =
        |counts: crate::summary::Counts| Counts { all: counts.all, compared: counts.compared, fitted: counts.fitted };
    let limit = |limit: &Limit| LimitJson {
        name: limit.name,
        limit_ppm: limit.limit_ppm,
        value_ppm: limit.value_ppm,
        kept: limit.kept,
    };
    let whole = Whole {
        schema: SCHEMA,
        rows: report.rows.iter().map(row).collect(),
        summary: Summary {
            rows: counts(of.rows),
            phases: counts(of.phases),
            small: of.small,
            mean_error_unfitted_ppm: of.mean_unfitted.ppm(),
            mean_error_unfitted_rows: of.mean_unfitted.count(),
            mean_error_all_ppm: of.mean_all.ppm(),
            mean_error_all_rows: of.mean_all.count(),
            worst_unfitted: of.worst_unfitted,
            worst: of.worst,
            worst_phase: of.worst_phase,
            limits_kept: of.keeps_limits(),
            failed: of.failed,
        },
        limits: of.limits.iter().map(limit).collect(),
        messages: &report.messages,
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

fn row(entry: &RowReport) -> Row<'_> {
    let row = &entry.row;
    Row {
        table: &row.table,
        line: row.line,
        kind: if row.kind() == Kind::Row { "row" } else { "phase" },
        set: &row.set,
        board: &row.board,
        medium: &row.medium,
        fs: &row.fs,
        mode: &row.mode,
        op: &row.op,
        io_bytes: row.io_bytes,
        total_bytes: row.total_bytes,
        runs: row.runs,
        metric: &row.metric,
        unit: row.published.map(|published| match published {
            Quantity::Ns(_) => "ns",
            Quantity::MilliBytesPerS(_) => "mB/s",
        }),
        published: row.published.map(Quantity::number),
        predicted: entry.predicted.map(Quantity::number),
        error_ppm: entry.error_ppm,
        fitted: entry.fitted,
        small: entry.small,
        status: entry.verdict.name(),
        reason: entry.reason.as_deref(),
    }
}
