//! Records that a run left.

use std::path::Path;

use flashmark_core::record::{FailedOp, Record, Status, WarningCode};

/// The records of a run file, every line of which must be whole.
#[track_caller]
pub fn of_file(path: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is torn: {text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// How many whole lines the file has by now; 0 if there is none yet.
pub fn lines_in(path: &Path) -> usize {
    std::fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

/// Names and how they went, in order.
pub fn statuses(records: &[Record]) -> Vec<(&str, Status)> {
    records.iter().map(|record| (record.workload.name.as_str(), record.outcome.status)).collect()
}

/// The message of the warning of this kind, if there is one.
pub fn warning(record: &Record, code: WarningCode) -> Option<&str> {
    record.outcome.warnings.iter().find(|warning| warning.code == code).map(|warning| warning.message.as_str())
}

/// The only operation that failed.
#[track_caller]
pub fn fault(record: &Record) -> &FailedOp {
    assert_eq!(record.outcome.faults.len(), 1, "{:?}", record.outcome);
    &record.outcome.faults[0]
}
