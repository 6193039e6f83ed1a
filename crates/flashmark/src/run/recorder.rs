//! Keeping the records of a run: in its file, and for what is shown at the end.

use std::time::{Duration, Instant};

use flashmark_core::record::{OpKind, Record};
use flashmark_report::run_file::{RunFile, RunFileError};

use super::plan::Plan;
use crate::message::say;

/// How long records of simulated boards wait for others to be written with: they cost nothing to repeat, and a sync for
/// each would take longer than they do.
const PATIENCE: Duration = Duration::from_millis(200);

/// How many wait at most.
const WAITING_MAX: usize = 64;

/// Takes the records of a run in the order of its plan. What is in the file is always the start of what it has taken.
pub struct Recorder<'p> {
    plan: &'p Plan,
    file: Option<RunFile>,
    records: Vec<Record>,
    file_failed: bool,
    /// Whether all that is kept in memory is what a table of a sweep shows.
    is_brief: bool,
    /// What is to be written next, and since when.
    waiting: Vec<Record>,
    waiting_since: Instant,
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
        let waiting_since = Instant::now();
        let (records, waiting) = (Vec::new(), Vec::new());
        let mut recorder = Self { plan, file, records, file_failed: false, is_brief, waiting, waiting_since };
        plan.done.values().for_each(|record| recorder.keep_known(record.clone()));
        recorder
    }

    /// Keeps a record; on the medium when this returns, unless the file fails, which is told.
    pub fn keep(&mut self, record: Record) {
        self.flush();
        self.append(|file| file.append(&record));
        self.keep_known(record);
    }

    /// Keeps a record that the file has already.
    pub fn keep_known(&mut self, record: Record) {
        let record = if self.is_brief { brief(record, self.records.is_empty()) } else { record };
        self.records.push(record);
    }

    /// Keeps the record of a simulated board, which was run again from its start where the run was interrupted. It is
    /// written with others, when [`Recorder::patience`] ends at the latest.
    ///
    /// # Errors
    /// A record that differs from the one that the file has.
    pub fn keep_repeatable(&mut self, record: Record) -> anyhow::Result<()> {
        match self.plan.done.get(&record.run.index) {
            None => {
                self.await_others(record);
                Ok(())
            }
            Some(before) if same_result(before, &record) => Ok(()),
            Some(before) => {
                self.flush();
                anyhow::bail!(
                    "{}: {} gives other results now than those that the run began with (flashmark {} then, {} now), so \
                     that old and new records would not be of one run: start again with -o",
                    before.target.name,
                    before.workload.name,
                    before.flashmark,
                    record.flashmark
                )
            }
        }
    }

    fn await_others(&mut self, record: Record) {
        if self.file.is_none() {
            self.keep_known(record);
            return;
        }
        if self.waiting.is_empty() {
            self.waiting_since = Instant::now();
        }
        self.waiting.push(record);
        if self.waiting.len() >= WAITING_MAX || self.patience() == Some(Duration::ZERO) {
            self.flush();
        }
    }

    /// How much longer records can wait before [`Recorder::flush`] has to write them; `None` if none waits.
    pub fn patience(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then(|| PATIENCE.saturating_sub(self.waiting_since.elapsed()))
    }

    /// Writes what waits; on the medium when this returns, unless the file fails, which is told.
    pub fn flush(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.append(|file| file.append_all(&waiting));
        waiting.into_iter().for_each(|record| self.keep_known(record));
    }

    fn append(&mut self, write: impl FnOnce(&mut RunFile) -> Result<(), RunFileError>) {
        if let Some(file) = self.file.as_mut()
            && let Err(error) = write(file)
        {
            say(format_args!("{error}; the run goes on without the file"));
            self.file_failed = true;
            self.file = None;
        }
    }

    /// Ends the file.
    pub fn finish(mut self) -> Recorded {
        self.flush();
        self.records.sort_by_key(|record| record.run.index);
        Recorded { records: self.records, file_failed: self.file_failed }
    }
}

/// A record of a sweep without what takes memory and is not shown: other operations than reads and writes, repeats, the map
/// of wear, and, in all but the first one, the run's settings and targets, which are the same in all and name every value.
fn brief(mut record: Record, is_first: bool) -> Record {
    if !is_first {
        (record.run.settings, record.run.targets, record.run.only) = (Vec::new(), Vec::new(), Vec::new());
    }
    record.outcome.ops.retain(|op| matches!(op.op, OpKind::Read | OpKind::Write));
    record.outcome.ops.shrink_to_fit();
    record.outcome.repeats = Vec::new();
    if let Some(simulation) = &mut record.simulation {
        simulation.spent = Vec::new();
        simulation.whole.spent = Vec::new();
        simulation.phases = Vec::new();
        if let Some(wear) = &mut simulation.wear {
            wear.map = Vec::new();
        }
    }
    record
}

fn same_result(one: &Record, other: &Record) -> bool {
    one.outcome == other.outcome
        && one.simulation == other.simulation
        && one.environment == other.environment
        && one.started_at == other.started_at
}
