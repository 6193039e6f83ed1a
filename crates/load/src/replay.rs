//! Traces: replaying one instead of a job's own accesses, and recording what a job issues (fio HOWTO, "I/O replay").

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashmark_core::queue::IoKind;
use flashmark_fio::Job;
use flashmark_fio::iolog::{Action, IologWriter, Record, Trace, TraceFormat, WriteError};
use flashmark_fio::options::ReplayOptions;

use crate::accesses::{Access, Direction};
use crate::error::LoadProblem;
use crate::files::create_output;
use crate::worker::{Next, Supply};

/// The largest access of a trace, in bytes: the block layer makes none that is larger.
const LARGEST: u64 = 1 << 30;

/// What a trace needs, found by reading it once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Its files, as requests number them, and where the last access to each ends.
    pub files: Vec<(PathBuf, u64)>,
    /// The largest access.
    pub largest_bytes: u32,
    /// All accesses together.
    pub total_bytes: u64,
    /// Whether it changes anything.
    pub changes: bool,
}

/// The trace that a copy of a job replays, if it does: copies take turns with several.
pub(crate) fn trace_of(job: &Job, copy: u32) -> Option<&str> {
    let traces = &job.options.replay.read_iolog;
    traces.get(copy as usize % traces.len().max(1)).map(String::as_str)
}

/// A trace as a sequence of accesses: with what is to be skipped left out, and places and times scaled.
#[derive(Debug)]
struct Steps {
    trace: Trace<BufReader<File>>,
    options: ReplayOptions,
    /// The numbers of its files.
    numbers: HashMap<Arc<str>, u32>,
}

/// A step of a trace.
struct Step {
    time_ns: u64,
    file: u32,
    action: Action,
    offset: u64,
    bytes: u64,
}

impl Steps {
    /// With `read_only`, what changes something is left out, as in fio.
    fn open(path: &str, options: &ReplayOptions, read_only: bool) -> Result<Self, LoadProblem> {
        let failed = |source| LoadProblem::Io { doing: "cannot open the trace", path: path.into(), source };
        let file = File::open(path).map_err(failed)?;
        let trace = Trace::new(BufReader::with_capacity(1 << 16, file), path);
        let trace = trace.map_err(|error| LoadProblem::Trace(error.to_string()))?;
        let mut options = options.clone();
        options.replay_skip.write |= read_only;
        options.replay_skip.trim |= read_only;
        Ok(Self { trace, options, numbers: HashMap::new() })
    }

    /// The number of a file; those with `replay_redirect` are all one.
    fn number(&mut self, file: &Arc<str>) -> u32 {
        if self.options.replay_redirect.is_some() {
            return 0;
        }
        let next = self.numbers.len() as u32;
        match self.numbers.get(file) {
            Some(number) => *number,
            None => {
                self.numbers.insert(Arc::clone(file), next);
                next
            }
        }
    }

    /// The next step that is not left out.
    fn next(&mut self) -> Option<Result<(Step, Arc<str>), String>> {
        loop {
            let record = match self.trace.next()? {
                Ok(record) => record,
                Err(error) => return Some(Err(error.to_string())),
            };
            let skip = self.options.replay_skip;
            let left_out = match record.action {
                Action::Read => skip.read,
                Action::Write => skip.write,
                Action::Trim => skip.trim,
                Action::Sync | Action::Datasync => skip.sync,
                Action::Add | Action::Open | Action::Close => true,
            };
            if left_out {
                continue;
            }
            let mut offset = record.offset / u64::from(self.options.replay_scale.max(1));
            if self.options.replay_align > 0 {
                offset -= offset % u64::from(self.options.replay_align);
            }
            let percent = u128::from(self.options.replay_time_scale_percent.max(1));
            let time_ns = u64::try_from(u128::from(record.time_ns) * 100 / percent).unwrap_or(u64::MAX);
            let file = self.number(&record.file);
            let step = Step { time_ns, file, action: record.action, offset, bytes: record.bytes };
            return Some(Ok((step, record.file)));
        }
    }
}

/// Reads a trace once: which files it needs, and how large. Errors in it are found here, before anything runs.
pub(crate) fn needs(job: &Job, path: &str, read_only: bool) -> Result<Needs, LoadProblem> {
    let mut steps = Steps::open(path, &job.options.replay, read_only)?;
    let mut needs = Needs::default();
    if let Some(redirect) = &job.options.replay.replay_redirect {
        needs.files.push((redirect.into(), 0));
    }
    while let Some(step) = steps.next() {
        let (step, name) = step.map_err(LoadProblem::Trace)?;
        let Step { file, action, offset, bytes, .. } = step;
        if needs.files.len() <= file as usize {
            needs.files.push((place_of(job, &name), 0));
        }
        needs.changes |= matches!(action, Action::Write | Action::Trim);
        let end = offset
            .checked_add(bytes)
            .ok_or_else(|| LoadProblem::Trace(format!("{path}: an access ends beyond 2^64")))?;
        if bytes > LARGEST {
            return Err(LoadProblem::Trace(format!("{path}: an access of {bytes} bytes; the most is {LARGEST}")));
        }
        needs.files[file as usize].1 = needs.files[file as usize].1.max(end);
        if matches!(action, Action::Read | Action::Write) {
            needs.largest_bytes = needs.largest_bytes.max(bytes as u32);
        }
        needs.total_bytes = needs.total_bytes.saturating_add(bytes);
    }
    if needs.files.is_empty() || needs.total_bytes == 0 && needs.largest_bytes == 0 {
        return Err(LoadProblem::Trace(format!("{path}: there is nothing in the trace to be replayed")));
    }
    Ok(needs)
}

/// The files of all traces that copies of a job replay; none if it replays none.
///
/// # Errors
/// A trace that cannot be read.
pub fn trace_files(job: &Job) -> Result<Vec<PathBuf>, LoadProblem> {
    let mut files = Vec::new();
    for trace in &job.options.replay.read_iolog {
        files.extend(needs(job, trace, false)?.files.into_iter().map(|(path, _)| path));
    }
    Ok(files)
}

/// Where a trace's file is: names without a folder are in the job's directory.
fn place_of(job: &Job, name: &str) -> PathBuf {
    match job.options.files.directory.first() {
        Some(directory) if !name.starts_with('/') => Path::new(directory).join(name),
        _ => name.into(),
    }
}

/// A trace that is being replayed.
#[derive(Debug)]
pub(crate) struct Replay {
    steps: Steps,
    timed: bool,
    held: Option<Next>,
}

impl Replay {
    pub(crate) fn open(job: &Job, path: &str, read_only: bool) -> Result<Self, LoadProblem> {
        let steps = Steps::open(path, &job.options.replay, read_only)?;
        Ok(Self { steps, timed: !job.options.replay.replay_no_stall, held: None })
    }
}

impl Supply for Replay {
    fn next(&mut self) -> Next {
        if let Some(held) = self.held.take() {
            return held;
        }
        let Step { time_ns, file, action, offset, bytes } = match self.steps.next() {
            None => return Next::End,
            // It was read once without an error: it has changed meanwhile.
            Some(Err(_)) => return Next::Broken,
            Some(Ok((step, _))) => step,
        };
        let access = |direction| {
            u32::try_from(bytes).map_or(Next::Broken, |bytes| Next::Access(Access { direction, file, offset, bytes }))
        };
        let next = match action {
            Action::Read => access(Direction::Read),
            Action::Write => access(Direction::Write),
            Action::Trim => access(Direction::Trim),
            _ => Next::Sync(file),
        };
        if self.timed && time_ns > 0 {
            self.held = Some(next);
            return Next::Wait(time_ns);
        }
        next
    }
}

/// Whether there is something at a path that a trace must not be written over: anything but a file that holds a trace.
fn holds_something_else(path: &Path) -> io::Result<bool> {
    let kind = match path.symlink_metadata() {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    if !kind.is_file() {
        return Ok(true);
    }
    const START: &[u8] = b"fio version ";
    let mut start = Vec::new();
    File::open(path)?.take(START.len() as u64).read_to_end(&mut start)?;
    Ok(!start.is_empty() && start != START)
}

/// Records what a thread issues, as version 3 of fio's iolog.
#[derive(Debug)]
pub(crate) struct Recorder {
    writer: Option<IologWriter<BufWriter<File>>>,
    names: Vec<Arc<str>>,
    start_ns: u64,
    /// Why the recording ended early.
    failure: Option<String>,
}

impl Recorder {
    /// The file of a job's copy: copies after the first have their number behind the name.
    pub(crate) fn path_of(name: &str, copy: u32) -> PathBuf {
        if copy == 0 { name.into() } else { format!("{name}.{copy}").into() }
    }

    pub(crate) fn create(path: &Path, files: &[String]) -> Result<Self, LoadProblem> {
        let failed = |source| LoadProblem::Io { doing: "cannot make the trace", path: path.into(), source };
        if holds_something_else(path).map_err(failed)? {
            return Err(LoadProblem::Trace(format!(
                "write_iolog={}: this exists and is no trace: name another file, or remove it",
                path.display()
            )));
        }
        let file = create_output(path).map_err(failed)?;
        let writer = IologWriter::new(BufWriter::with_capacity(1 << 16, file), TraceFormat::Version3)
            .map_err(|error| failed(io::Error::other(error.to_string())))?;
        let names = files.iter().map(|file| Arc::from(file.as_str())).collect();
        Ok(Self { writer: Some(writer), names, start_ns: 0, failure: None })
    }

    pub(crate) fn start(&mut self, now_ns: u64) {
        self.start_ns = now_ns;
    }

    pub(crate) fn issued(&mut self, kind: IoKind, file: u32, offset: u64, bytes: u32, now_ns: u64) {
        let Some(writer) = &mut self.writer else { return };
        let action = match kind {
            IoKind::Read => Action::Read,
            IoKind::Write => Action::Write,
            IoKind::Trim => Action::Trim,
            IoKind::Sync => Action::Sync,
            // No iolog has a word for syncing a range: the whole file's data is the nearest thing.
            IoKind::DataSync | IoKind::RangeSync(_) => Action::Datasync,
        };
        let Some(name) = self.names.get(file as usize) else { return };
        let record = Record {
            time_ns: now_ns.saturating_sub(self.start_ns),
            file: Arc::clone(name),
            action,
            offset,
            bytes: u64::from(bytes),
        };
        if let Err(error) = writer.write(&record) {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &WriteError) {
        self.failure = Some(error.to_string());
        self.writer = None;
    }

    /// Ends the file; gives why it is not whole, if it is not.
    pub(crate) fn finish(mut self, now_ns: u64) -> Option<String> {
        if let Some(writer) = self.writer.take() {
            let flushed = writer.finish(now_ns.saturating_sub(self.start_ns)).and_then(|mut file| Ok(file.flush()?));
            if let Err(error) = flushed {
                self.failure = Some(error.to_string());
            }
        }
        self.failure
    }
}
