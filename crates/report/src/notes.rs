//! What stands below a table: everything that a reader has to know before trusting the numbers in it.

use flashmark_core::record::{FailedOp, OpKind, Reached, Record, Status, WarningCode};
use flashmark_core::workload::{OpMix, Verify};

use crate::figures::{RateUnit, counted, printable, size, time};
use crate::rows::spread;
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
    notes.extend(time_of_failures(group));
    notes.extend(not_run(group));
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
        // What was skipped has its own note.
        Status::Done | Status::Skipped => return None,
        Status::Interrupted => (Weight::Doubt, "interrupted; the numbers cover what had run"),
        Status::Failed => (Weight::Error, "failed; the numbers cover what had run"),
    };
    Some(Note { weight, text: format!("{}: {what}", name(record)) })
}

fn faults(record: &Record) -> Vec<Note> {
    let outcome = &record.outcome;
    let error = |text| Note { weight: Weight::Error, text };
    let mut told: Vec<(String, u64)> = Vec::new();
    for failed in &outcome.faults {
        let text = fault(record, failed);
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, times)) => *times += 1,
            None => told.push((text, 1)),
        }
    }
    let repeated = |(text, times): (String, u64)| if times > 1 { format!("{text} ({times} times)") } else { text };
    let mut notes: Vec<Note> = told.into_iter().map(|found| error(repeated(found))).collect();
    let untold = outcome.fault_count.saturating_sub(outcome.faults.len() as u64);
    if untold > 0 {
        let more = counted(untold, "more operation", "more operations");
        notes.push(error(format!("{}: {more} failed", name(record))));
    }
    notes
}

fn fault(record: &Record, failed: &FailedOp) -> String {
    let place = match failed.op {
        OpKind::Read | OpKind::Write | OpKind::Trim | OpKind::Layout | OpKind::Verify => {
            format!(" at byte {}", failed.offset)
        }
        OpKind::Sync | OpKind::Open | OpKind::Close | OpKind::Repeat | OpKind::Drain => String::new(),
    };
    let message = printable(&failed.fault.message);
    // Messages of a system mostly have its number in them, as `std::io::Error` writes it.
    let told = |code: &i32| message.contains(&format!("os error {code})")) || message.contains(&format!("({code})"));
    let code = failed.fault.code.filter(|code| !told(code));
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    format!("{}: {} failed{place}: {message}{code}", name(record), failed.op.name())
}

/// One note for all workloads that went on after failures: what did not happen took its time all the same. Of what is
/// not complete the status says that the numbers are not.
fn time_of_failures(group: &Group<'_>) -> Option<Note> {
    let concerned = |record: &&&Record| {
        let outcome = &record.outcome;
        let untold = outcome.fault_count > outcome.faults.len() as u64;
        // Where repeats are timed as a whole, those are what tells.
        let timed = untold || outcome.faults.iter().any(|failed| is_timed(failed.op));
        outcome.status == Status::Done && !record.workload.time_repeats && timed
    };
    let rows: Vec<String> = group.records.iter().filter(concerned).map(|record| name(record)).collect();
    (!rows.is_empty()).then(|| Note {
        weight: Weight::Doubt,
        text: format!("the time of failed operations is in the rate, their bytes are not: {}", some_of(&rows)),
    })
}

/// Whether an operation's time is in the elapsed time.
const fn is_timed(op: OpKind) -> bool {
    match op {
        OpKind::Read | OpKind::Write | OpKind::Trim | OpKind::Sync | OpKind::Drain => true,
        OpKind::Open | OpKind::Close | OpKind::Repeat | OpKind::Layout | OpKind::Verify => false,
    }
}

/// One note for all workloads that did not run for the same reason.
fn not_run(group: &Group<'_>) -> Vec<Note> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for record in group.records.iter().filter(|record| record.outcome.status == Status::Skipped) {
        let reasons = record.outcome.warnings.iter().filter(|warning| warning.code == WarningCode::Skipped);
        let reasons: Vec<String> = reasons.map(|warning| printable(&warning.message)).collect();
        add(&mut found, reasons.join("; "), name(record));
    }
    found
        .into_iter()
        .map(|(reason, rows)| {
            let colon = if reason.is_empty() { "" } else { ": " };
            Note { weight: Weight::Doubt, text: format!("{}: did not run{colon}{reason}", some_of(&rows)) }
        })
        .collect()
}

/// Adds a row to those that the same is said of.
fn add<T: PartialEq>(found: &mut Vec<(T, Vec<String>)>, said: T, row: String) {
    match found.iter_mut().find(|(other, _)| *other == said) {
        Some((_, rows)) if rows.contains(&row) => {}
        Some((_, rows)) => rows.push(row),
        None => found.push((said, vec![row])),
    }
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
        let has_own_note = |code| match code {
            WarningCode::NotDurable => true,
            WarningCode::Skipped => record.outcome.status == Status::Skipped,
            _ => false,
        };
        for warning in record.outcome.warnings.iter().filter(|warning| !has_own_note(warning.code)) {
            add(&mut found, warning.message.as_str(), name(record));
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
                stats.op.name(),
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
    let found = match record.workload.verify {
        // One byte a block.
        Verify::LastByte => format!("last byte of {} found right", counted(bytes, "block", "blocks")),
        Verify::Full | Verify::None => format!("{} read back and found right", size(bytes)),
    };
    (bytes > 0).then(|| Note { weight: Weight::Fact, text: format!("{}: {found}", name(record)) })
}

#[cfg(test)]
mod tests {
    use flashmark_core::record::{Outcome, Warning};

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

    /// The notes on these records, which are of one target.
    fn notes_on(records: &[Record]) -> Vec<(Weight, String)> {
        let runs = runs(records);
        assert_eq!((runs.len(), runs[0].groups.len()), (1, 1));
        notes(&runs[0].groups[0], RateUnit::MB).into_iter().map(|note| (note.weight, note.text)).collect()
    }

    fn named(name: &str, record: &Record) -> Record {
        let mut record = record.clone();
        record.workload.name = name.into();
        record
    }

    #[test]
    fn why_something_did_not_run_is_said_once() {
        let skipped = samples::skipped();
        let mut in_between = named("e", &skipped);
        in_between.outcome.warnings[0].message = "not allowed to write\u{1b}[31m".into();
        in_between.outcome.warnings.push(Warning::new(WarningCode::Environment, "no governor"));
        let mut silent = named("f", &skipped);
        silent.outcome.warnings.clear();
        let records = ["a", "b", "c", "d"].map(|name| named(name, &skipped)).into_iter().chain([in_between, silent]);
        let doubt = |text: &str| (Weight::Doubt, text.to_owned());
        assert_eq!(
            notes_on(&records.collect::<Vec<_>>()),
            [
                doubt("a, b, c, d: did not run: engine tokio cannot read past the cache"),
                doubt("e: did not run: not allowed to write\\u{1b}[31m"),
                doubt("f: did not run"),
                doubt("no governor (e)"),
            ]
        );
        // A step that was left out in a workload that ran is a warning like others.
        let mut ran = skipped;
        ran.outcome.status = Status::Done;
        assert_eq!(notes_on(&[ran]), [doubt("engine tokio cannot read past the cache (aio read)")]);
    }

    #[test]
    fn a_faults_number_is_there_once() {
        let note = |message: &str, code: i32| {
            let mut record = samples::full();
            record.outcome.status = Status::Done;
            record.outcome.faults[0].fault.message = message.into();
            record.outcome.faults[0].fault.code = Some(code);
            notes_on(&[record]).remove(0).1
        };
        let failed = "fill: write failed at byte 3145728: ";
        assert_eq!(note("Input/output error (os error 5)", 5), format!("{failed}Input/output error (os error 5)"));
        assert_eq!(note("card 5 answers 0x15", 5), format!("{failed}card 5 answers 0x15 (5)"));
        assert_eq!(note("wrapped (os error 15)", 5), format!("{failed}wrapped (os error 15) (5)"));
        assert_eq!(note("disk error", -1), format!("{failed}disk error (-1)"));
    }

    /// Only what was timed can be in the rate, and what is not done says that it is not.
    #[test]
    fn the_time_of_failures_is_a_doubt() {
        let doubts = |change: &dyn Fn(&mut Outcome)| {
            let mut record = samples::full();
            record.outcome.status = Status::Done;
            change(&mut record.outcome);
            let notes = notes_on(&[record.clone(), named("other", &record)]).into_iter();
            notes.filter(|(weight, _)| *weight == Weight::Doubt).map(|(_, text)| text).collect::<Vec<_>>()
        };
        let said = ["the time of failed operations is in the rate, their bytes are not: fill, other"];
        assert_eq!(doubts(&|_| {}), said);
        assert_eq!(doubts(&|outcome| outcome.faults[0].op = OpKind::Sync), said);
        assert_eq!(doubts(&|outcome| outcome.faults[0].op = OpKind::Verify), [""; 0]);
        // There may be timed ones among those that are not told.
        let more = |outcome: &mut Outcome| (outcome.faults[0].op, outcome.fault_count) = (OpKind::Verify, 2);
        assert_eq!(doubts(&more), said);
        assert_eq!(doubts(&|outcome| (outcome.fault_count, outcome.faults) = (0, Vec::new())), [""; 0]);
        assert_eq!(doubts(&|outcome| outcome.status = Status::Failed), [""; 0]);
    }

    #[test]
    fn what_was_verified_is_what_was_looked_at() {
        let note = |verify, verified_bytes| {
            let mut record = samples::full();
            record.outcome = Outcome { verified_bytes, ..Outcome::not_run(Status::Done) };
            record.workload.verify = verify;
            notes_on(&[record])
        };
        let fact = |text: &str| vec![(Weight::Fact, text.to_owned())];
        assert_eq!(note(Verify::Full, 64 << 20), fact("fill: 64 MiB read back and found right"));
        assert_eq!(note(Verify::LastByte, 1024), fact("fill: last byte of 1024 blocks found right"));
        assert_eq!(note(Verify::LastByte, 1), fact("fill: last byte of 1 block found right"));
        assert_eq!(note(Verify::LastByte, 0), []);
    }
}
