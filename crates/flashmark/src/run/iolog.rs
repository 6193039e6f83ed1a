//! `--iolog`: what a run issues, in a file in fio's language, to be replayed (`flashmark fio --read_iolog=FILE`).

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{anyhow, bail};
use flashmark_core::queue::IoKind;
use flashmark_core::runner::{Observer, Step};
use flashmark_fio::iolog::{Action, IologWriter, Record, TraceFormat, WriteError};

use super::plan::Plan;
use crate::message::say;

/// The file of a run on one target.
pub struct IologFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    writer: Option<IologWriter<BufWriter<File>>>,
    target: Arc<str>,
    /// The time of the last record, from the beginning of the trace.
    last_ns: u64,
    failed: bool,
}

impl IologFile {
    /// Makes the file, for a run on one target.
    ///
    /// # Errors
    /// More than one target; a file that exists, or that cannot be made.
    pub fn for_plan(path: &Path, plan: &Plan) -> anyhow::Result<Self> {
        let name = path.display();
        let mut own = plan.own();
        let (Some((_, seat)), None) = (own.next(), own.next()) else {
            bail!("--iolog {name} records what is done to one target, and this run has several: name one");
        };
        // Nothing has run: what fails here is wrong usage.
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|error| anyhow!("--iolog {name}: {error}"))?;
        let writer = IologWriter::new(BufWriter::with_capacity(1 << 16, file), TraceFormat::Version3)
            .map_err(|error| anyhow!("--iolog {name}: {error}"))?;
        let state = State { writer: Some(writer), target: word(seat.name()), last_ns: 0, failed: false };
        Ok(Self { path: path.to_owned(), state: Mutex::new(state) })
    }

    /// What follows is done to this file: that of a directory is not the directory, which nobody could replay.
    pub fn goes_to(&self, path: &Path) {
        self.state().target = word(&path.display().to_string());
    }

    /// Removes the file again, for a run that does not begin.
    pub fn discard(self) {
        // What cannot be removed is a header.
        let _ = std::fs::remove_file(&self.path);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the file; false if it is not whole, which is told.
    pub fn finish(&self) -> bool {
        let mut state = self.state();
        let last_ns = state.last_ns;
        if let Some(writer) = state.writer.take() {
            let flushed = writer.finish(last_ns).and_then(|mut file| Ok(file.flush()?));
            if let Err(error) = flushed {
                self.failed(&mut state, &error);
            }
        }
        !state.failed
    }

    fn failed(&self, state: &mut State, error: &WriteError) {
        say(format_args!("--iolog {}: {error}; the run goes on without it", self.path.display()));
        state.writer = None;
        state.failed = true;
    }
}

/// A name as a trace has it: its words are told apart by blanks.
fn word(name: &str) -> Arc<str> {
    name.replace(|character: char| character.is_ascii_whitespace(), "_").into()
}

/// Watches for another observer, and records if there is a file.
pub struct Recording<'a, O> {
    inner: O,
    file: Option<&'a IologFile>,
    /// What is added to the clock of the workload.
    base: Option<(u64, u64)>,
}

impl<'a, O> Recording<'a, O> {
    pub fn new(inner: O, file: Option<&'a IologFile>) -> Self {
        Self { inner, file, base: None }
    }
}

impl<O: Observer> Observer for Recording<'_, O> {
    fn step(&mut self, step: Step) {
        self.inner.step(step);
    }

    #[inline]
    fn moved(&mut self, bytes: u64) {
        self.inner.moved(bytes);
    }

    #[inline]
    fn issued(&mut self, kind: IoKind, offset: u64, bytes: u32, at_ns: u64) {
        if let Some(file) = self.file {
            self.record(file, kind, offset, bytes, at_ns);
        }
    }

    #[inline]
    fn stop(&self) -> bool {
        self.inner.stop()
    }
}

impl<O> Recording<'_, O> {
    fn record(&mut self, file: &IologFile, kind: IoKind, offset: u64, bytes: u32, at_ns: u64) {
        let mut state = file.state();
        // Each workload goes on where the one before ended: their clocks need not be the same.
        let (first_ns, begin_ns) = *self.base.get_or_insert((at_ns, state.last_ns));
        let time_ns = begin_ns.saturating_add(at_ns.saturating_sub(first_ns)).max(state.last_ns);
        state.last_ns = time_ns;
        let action = match kind {
            IoKind::Read => Action::Read,
            IoKind::Write => Action::Write,
            IoKind::Trim => Action::Trim,
            IoKind::Sync => Action::Sync,
            IoKind::DataSync | IoKind::RangeSync(_) => Action::Datasync,
        };
        let record = Record { time_ns, file: Arc::clone(&state.target), action, offset, bytes: u64::from(bytes) };
        if let Some(writer) = &mut state.writer
            && let Err(error) = writer.write(&record)
        {
            file.failed(&mut state, &error);
        }
    }
}
