//! What all formats for people say in the same words.

use crate::metric::Kind;
use crate::quantity::Quantity;
use crate::report::{Report, RowReport, Verdict};
use crate::summary::{Counts, Limit, Mean};

/// Marks errors that count in no percentage.
pub(super) const SMALL: &str = " *";

/// Rows that are shown together: those of one table, board and kind, with what that is.
pub(super) fn parts(report: &Report) -> Vec<(String, Kind, Vec<&RowReport>)> {
    let mut parts: Vec<(String, Kind, Vec<&RowReport>)> = Vec::new();
    for row in &report.rows {
        let board = if row.row.board.is_empty() { "no board" } else { row.row.board.as_str() };
        let title = format!("{} on {board} ({})", row.row.set, row.row.table);
        let kind = row.row.kind();
        match parts.iter_mut().find(|(known, of, _)| *known == title && *of == kind) {
            Some((_, _, rows)) => rows.push(row),
            None => parts.push((title, kind, vec![row])),
        }
    }
    parts
}

/// The headers of a part's grid.
pub(super) fn headers(kind: Kind) -> [&'static str; 5] {
    [if kind == Kind::Row { "row" } else { "phase" }, "published", "predicted", "error", "fit"]
}

/// The cells of a row.
pub(super) fn cells(row: &RowReport) -> [String; 5] {
    let unit = row.row.unit.map_or_else(String::new, |unit| format!(" {unit}"));
    let predicted = match (row.predicted, row.row.unit) {
        (Some(predicted), Some(unit)) => format!("{}{unit:>3}", unit.show(predicted), unit = format!(" {unit}")),
        _ => row.verdict.name().to_owned(),
    };
    let mark = if row.small { SMALL } else { "" };
    [
        row.row.name(),
        format!("{}{unit}", row.row.value),
        predicted,
        row.error_ppm.map_or_else(String::new, |ppm| format!("{}{mark}", signed_percent(ppm))),
        if row.fitted { "fitted".to_owned() } else { String::new() },
    ]
}

/// Millionths as percent with one decimal and a sign.
pub(super) fn signed_percent(ppm: i64) -> String {
    format!("{}{}", if ppm < 0 { '-' } else { '+' }, percent(ppm.unsigned_abs()))
}

/// Millionths as percent with one decimal.
pub(super) fn percent(ppm: u64) -> String {
    let tenths = ppm / 1000 + u64::from(ppm % 1000 >= 500);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// What was compared, and how well.
pub(super) fn summary(report: &Report) -> Vec<String> {
    let summary = &report.summary;
    let fitted = summary.rows.fitted + summary.phases.fitted;
    let mut lines = vec![format!(
        "compared: {}, {}; {fitted} of them used in a fit",
        of(summary.rows, "rows"),
        of(summary.phases, "phases"),
    )];
    lines.push(format!("mean absolute error of rows never used in a fit: {}", mean(summary.mean_unfitted)));
    lines.push(format!("mean absolute error of all rows compared: {}", mean(summary.mean_all)));
    let worst = |what: &str, at: Option<usize>| {
        let row = report.rows.get(at?)?;
        Some(format!("worst {what}: {}, {}", row.row.name(), signed_percent(row.error_ppm?)))
    };
    lines.extend(worst("row never used in a fit", summary.worst_unfitted));
    if summary.worst != summary.worst_unfitted {
        lines.extend(worst("row of all", summary.worst));
    }
    lines.extend(worst("phase", summary.worst_phase));
    if summary.small > 0 {
        lines.push(format!(
            "* {}: under {} and predicted to within {}, so that the error counts in no percentage",
            counted(summary.small, "row"),
            ms(summary.used.small_below_ns),
            ms(summary.used.small_miss_ns)
        ));
    }
    lines
}

fn of(counts: Counts, what: &str) -> String {
    format!("{} of {} {what}", counts.compared, counts.all)
}

fn mean(mean: Mean) -> String {
    let rows = usize::try_from(mean.count()).unwrap_or(usize::MAX);
    mean.ppm().map_or_else(|| "no rows".to_owned(), |ppm| format!("{} over {}", percent(ppm), counted(rows, "row")))
}

fn ms(ns: u64) -> String {
    let shown = crate::Unit::Time(1_000_000).show(Quantity::Ns(ns));
    format!("{} ms", shown.trim_end_matches('0').trim_end_matches('.'))
}

/// Whether each limit is kept.
pub(super) fn limits(report: &Report) -> Vec<String> {
    report.summary.limits.iter().map(limit).collect()
}

fn limit(limit: &Limit) -> String {
    let value = limit.value_ppm.map_or_else(|| "nothing to compare".to_owned(), percent);
    let kept = match limit.kept {
        Some(true) => "kept",
        Some(false) => "NOT KEPT",
        None => "open",
    };
    format!("limit {kept}: {} at most {}: {value}", limit.name, percent(limit.limit_ppm))
}

/// The rows that were not compared, by reason and table.
pub(super) fn left_out(report: &Report) -> Vec<String> {
    let mut reasons: Vec<(&RowReport, Vec<String>)> = Vec::new();
    for row in report.rows.iter().filter(|row| row.verdict != Verdict::Compared) {
        let key = |row: &RowReport| (row.verdict, row.reason.clone(), row.row.table.clone());
        let name = format!("{} (line {})", row.row.name(), row.row.line);
        match reasons.iter_mut().find(|(first, _)| key(first) == key(row)) {
            Some((_, names)) => names.push(name),
            None => reasons.push((row, vec![name])),
        }
    }
    let line = |(first, names): (&RowReport, Vec<String>)| {
        let reason = first.reason.as_deref().unwrap_or_default();
        let rows = counted(names.len(), "row");
        format!("{}, {rows} of {}: {reason}: {}", first.verdict.name(), first.row.table, names.join("; "))
    };
    reasons.into_iter().map(line).collect()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Everything that is not in the rows.
pub(super) fn remarks(report: &Report) -> Vec<String> {
    [summary(report), limits(report), left_out(report), report.messages.clone()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_has_one_decimal() {
        assert_eq!(percent(0), "0.0 %");
        assert_eq!(percent(499), "0.0 %");
        assert_eq!(percent(500), "0.1 %");
        assert_eq!(percent(79_499), "7.9 %");
        assert_eq!(percent(79_500), "8.0 %");
        assert_eq!(signed_percent(-123_456), "-12.3 %");
        assert_eq!(signed_percent(1_000_000), "+100.0 %");
    }
}
