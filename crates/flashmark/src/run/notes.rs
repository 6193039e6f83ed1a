//! What formats for programs do not show, for people: on standard error.

use std::collections::BTreeMap;

use flashmark_core::record::{Record, Status};

/// Tells warnings; equal messages once, with the workloads they concern.
pub fn warnings(records: &[Record]) {
    let mut concerned: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for record in records {
        for warning in &record.outcome.warnings {
            concerned.entry(&warning.message).or_default().push(&record.workload.name);
        }
    }
    for (message, workloads) in concerned {
        let whose = match workloads.as_slice() {
            all if all.len() == records.len() => "all workloads".into(),
            [first, second, third, _, ..] => {
                format!("{first}, {second}, {third} and {} more", workloads.len() - 3)
            }
            few => few.join(", "),
        };
        eprintln!("flashmark: warning: {message} ({whose})");
    }
}

/// Tells faults, and what did not run to its end.
pub fn errors(records: &[Record]) {
    for record in records {
        let name = &record.workload.name;
        for failed in &record.outcome.faults {
            eprintln!("flashmark: {name}: {:?} at {}: {}", failed.op, failed.offset, failed.fault);
        }
        match record.outcome.status {
            Status::Done => {}
            Status::Failed => eprintln!("flashmark: {name}: failed; the figures cover what had run"),
            Status::Interrupted => eprintln!("flashmark: {name}: interrupted; the figures cover what had run"),
            Status::Skipped => eprintln!("flashmark: {name}: did not run"),
        }
    }
}
