//! Keeping the records of a run: in its file, and for what is shown at the end.

use flashmark_core::record::{OpKind, Record};
use flashmark_report::run_file::RunFile;

use super::plan::Plan;
use crate::message::say;

/// Takes the records of a run in the order of its plan.
pub struct Recorder<'p> {
    plan: &'p Plan,
    file: Option<RunFile>,
    records: Vec<Record>,
    file_failed: bool,
    /// Whether all that is kept in memory is what a table of a sweep shows.
    is_brief: bool,
}

/// What a run left.
pub struct Recorded {
    /// All records of the run, in order, with those of the run that was resumed.
    pub records: Vec<Record>,
    /// Whether a record could not be written.
    pub file_failed: bool,
}

impl<'p> Recorder<'p> {
    /// Starts with the records of an earlier part of the run.
    pub fn new(plan: &'p Plan, file: Option<RunFile>, is_brief: bool) -> Self {
        Self { plan, file, records: plan.done.values().cloned().collect(), file_failed: false, is_brief }
    }

    /// Keeps a record; on the medium when this returns, unless the file fails, which is told.
    pub fn keep(&mut self, record: Record) {
        self.append(&record);
        self.records.push(if self.is_brief { brief(record) } else { record });
    }

    /// Keeps a record that the file has already.
    pub fn keep_known(&mut self, record: Record) {
        self.records.push(record);
    }

    /// Keeps the record of a simulated board, which was run again from its start where the run was interrupted.
    ///
    /// # Errors
    /// A record that differs from the one that the file has.
    pub fn keep_repeatable(&mut self, record: Record) -> anyhow::Result<()> {
        match self.plan.done.get(&record.run.index) {
            None => {
                self.keep(record);
                Ok(())
            }
            Some(before) if same_result(before, &record) => Ok(()),
            Some(before) => anyhow::bail!(
                "{}: {} gives other results now than those that the run began with (flashmark {} then, {} now), so that \
                 old and new records would not be of one run: start again with -o",
                before.target.name,
                before.workload.name,
                before.flashmark,
                record.flashmark
            ),
        }
    }

    fn append(&mut self, record: &Record) {
        if let Some(file) = self.file.as_mut()
            && let Err(error) = file.append(record)
        {
            say(format_args!("{error}; the run goes on without the file"));
            self.file_failed = true;
            self.file = None;
        }
    }

    /// Ends the file.
    pub fn finish(mut self) -> Recorded {
        self.records.sort_by_key(|record| record.run.index);
        Recorded { records: self.records, file_failed: self.file_failed }
    }
}

/// A record of a sweep without what takes most of its memory and is not shown: a histogram of each kind of operation,
/// repeats, the map of wear.
fn brief(mut record: Record) -> Record {
    record.outcome.ops.retain(|op| matches!(op.op, OpKind::Read | OpKind::Write));
    record.outcome.ops.shrink_to_fit();
    record.outcome.repeats = Vec::new();
    if let Some(wear) = record.simulation.as_mut().and_then(|simulation| simulation.wear.as_mut()) {
        wear.map = Vec::new();
    }
    record
}

fn same_result(one: &Record, other: &Record) -> bool {
    one.outcome == other.outcome
        && one.simulation == other.simulation
        && one.environment == other.environment
        && one.started_at == other.started_at
}
