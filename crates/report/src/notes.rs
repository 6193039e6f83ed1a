//! What stands below a table: everything that a reader has to know before trusting the numbers in it.

use flashmark_core::record::{FailedOp, OpKind, Reached, Record, Status, WarningCode};
use flashmark_core::workload::OpMix;

use crate::figures::{RateUnit, counted, printable, size, time};
use crate::rows::{op_name, spread};
use crate::targets::{Group, runs};

/// What has to be said beside a format that does not say it: doubts and errors, each a line, and whether it is an error.
/// Several targets are told apart by their names.
#[must_use]
pub fn remarks(records: &[Record]) -> Vec<(bool, String)> {
    let runs = runs(records);
    let groups: Vec<&Group<'_>> = runs.iter().flat_map(|run| &run.groups).collect();
    let several = groups.len() > 1;
    let mut lines = Vec::new();
    for group in groups {
        let place = if several { format!("{}: ", group.name()) } else { String::new() };
        let notes = notes(group, RateUnit::MB).into_iter().filter(|note| note.weight != Weight::Fact);
        lines.extend(notes.map(|note| (note.weight == Weight::Error, format!("{place}{}", note.text))));
    }
    lines
}

/// One remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) weight: Weight,
    pub(crate) text: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Something failed.
    Error,
    /// A number may not mean what it seems to.
    Doubt,
    /// For completeness.
    Fact,
}

/// All remarks on a target's records, the worst first.
pub(crate) fn notes(group: &Group<'_>, unit: RateUnit) -> Vec<Note> {
    let records = || group.records.iter().copied();
    let mut notes = Vec::new();
    notes.extend(records().filter_map(status));
    notes.extend(records().flat_map(faults));
    notes.extend(cache(group));
    notes.extend(warnings(group));
    notes.extend(records().flat_map(stalls));
    notes.extend(records().filter_map(|record| mix_spread(record, unit)));
    notes.extend(records().filter_map(verified));
    notes.sort_by_key(|note| note.weight);
    notes
}

fn name(record: &Record) -> String {
    printable(&record.workload.name)
}

fn status(record: &Record) -> Option<Note> {
    let (weight, what) = match record.outcome.status {
        Status::Done => return None,
        Status::Interrupted => (Weight::Doubt, "interrupted; the numbers cover what had run"),
        Status::Failed => (Weight::Error, "failed; the numbers cover what had run"),
        Status::Skipped => (Weight::Error, "skipped"),
    };
    Some(Note { weight, text: format!("{}: {what}", name(record)) })
}

fn faults(record: &Record) -> Vec<Note> {
    let outcome = &record.outcome;
    let error = |text| Note { weight: Weight::Error, text };
    let mut notes: Vec<Note> = outcome.faults.iter().map(|failed| error(fault(record, failed))).collect();
    let untold = outcome.fault_count.saturating_sub(outcome.faults.len() as u64);
    if untold > 0 {
        let more = counted(untold, "more operation", "more operations");
        notes.push(error(format!("{}: {more} failed", name(record))));
    }
    notes
}

fn fault(record: &Record, failed: &FailedOp) -> String {
    let place = match failed.op {
        OpKind::Read | OpKind::Write | OpKind::Layout | OpKind::Verify => format!(" at byte {}", failed.offset),
        OpKind::Sync | OpKind::Open | OpKind::Close | OpKind::Drain => String::new(),
    };
    let message = printable(&failed.fault.message);
    // Messages of a system mostly have its number in them.
    let code = failed.fault.code.map(|code| code.to_string()).filter(|code| !message.contains(code.as_str()));
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    format!("{}: {} failed{place}: {message}{code}", name(record), op_name(failed.op))
}

/// One note for all writes that ended in a cache.
fn cache(group: &Group<'_>) -> Option<Note> {
    let written = |record: &&&Record| {
        record.outcome.reached == Some(Reached::Cache) && record.outcome.op(OpKind::Write).is_some()
    };
    let rows: Vec<String> = group.records.iter().filter(written).map(|record| name(record)).collect();
    (!rows.is_empty()).then(|| Note {
        weight: Weight::Doubt,
        text: format!(
            "cache!: written to memory only, not to the medium; not to be compared with what reached it: {}",
            some_of(&rows)
        ),
    })
}

/// The first few of many names.
fn some_of(rows: &[String]) -> String {
    match rows {
        [first, second, third, _, _, ..] => format!("{first}, {second}, {third} and {} more", rows.len() - 3),
        few => few.join(", "),
    }
}

/// Every warning once, with the rows that it concerns.
fn warnings(group: &Group<'_>) -> Vec<Note> {
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for record in &group.records {
        // That data ended in a cache has its own note.
        for warning in record.outcome.warnings.iter().filter(|warning| warning.code != WarningCode::NotDurable) {
            let row = name(record);
            match found.iter_mut().find(|(message, _)| *message == warning.message) {
                Some((_, rows)) if rows.contains(&row) => {}
                Some((_, rows)) => rows.push(row),
                None => found.push((&warning.message, vec![row])),
            }
        }
    }
    let whole = group.records.len();
    found
        .into_iter()
        .map(|(message, rows)| {
            let concerned = if rows.len() == whole && whole > 1 { "all rows".into() } else { some_of(&rows) };
            Note { weight: Weight::Doubt, text: format!("{} ({concerned})", printable(message)) }
        })
        .collect()
}

fn stalls(record: &Record) -> Vec<Note> {
    let stalled = record.outcome.ops.iter().filter(|stats| stats.stalls.count > 0);
    stalled
        .map(|stats| Note {
            weight: Weight::Fact,
            text: format!(
                "{}, {}: {} over {}, longest {}",
                name(record),
                op_name(stats.op),
                counted(stats.stalls.count, "stall", "stalls"),
                time(stats.stalls.threshold_ns),
                time(stats.latency_ns.max)
            ),
        })
        .collect()
}

fn mix_spread(record: &Record, unit: RateUnit) -> Option<Note> {
    let mixed = record.workload.mix() == OpMix::Mixed;
    let spread = mixed.then(|| spread(&record.outcome, unit)).flatten()?;
    let repeats = record.outcome.repeats.len();
    Some(Note {
        weight: Weight::Fact,
        text: format!(
            "{}: {spread} {} for reads and writes together over {repeats} repeats",
            name(record),
            unit.name()
        ),
    })
}

fn verified(record: &Record) -> Option<Note> {
    let bytes = record.outcome.verified_bytes;
    (bytes > 0).then(|| Note {
        weight: Weight::Fact,
        text: format!("{}: {} read back and found right", name(record), size(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn remarks_are_the_tables_doubts_and_errors() {
        let lines: Vec<String> = remarks(&samples::mixed_bag())
            .into_iter()
            .map(|(is_error, text)| format!("{}: {text}", if is_error { "error" } else { "warning" }))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
