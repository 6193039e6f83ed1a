//! Which files a job uses, how large they are, and which part of them (fio HOWTO, "Target file/device"; `setup_files` of
//! `filesetup.c`).

mod layout;
mod opening;
mod output;
mod ownership;
mod room;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flashmark_fio::Job;
use flashmark_fio::options::{Engine, Options};
use flashmark_fio::{Surroundings, ThisMachine};
use flashmark_host::device::{Refusal, block_device_of};

use crate::accesses::{FilePart, file_parts};
use crate::error::LoadProblem;
use crate::replay::{Needs, needs, trace_of};

pub(crate) use layout::{Layout, Making};
pub(crate) use opening::{open_all, resident_pages};
pub(crate) use output::{Dumps, create_output};
pub(crate) use ownership::{FileId, Rights};
pub(crate) use room::check_room;

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file, or nothing yet.
    Regular,
    /// A block device.
    Device,
    /// Nothing that is opened: the null engine needs no files.
    Imagined,
}

/// A file of one copy of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Its path.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// Its size before the run; `None` if it is not there.
    pub found_bytes: Option<u64>,
    /// The size it needs.
    pub needed_bytes: u64,
    /// The part that is used.
    pub part: FilePart,
}

/// The files of one copy of a job, and how much of all of them is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// The files, as requests number them.
    pub files: Vec<PlannedFile>,
    /// What was asked for and cannot be had, for people: devices smaller than `size`.
    pub notes: Vec<String>,
    /// What a trace needs, if one is replayed.
    pub(crate) needs: Option<Needs>,
}

/// What is at a path, and how large it is.
fn look(path: &Path, job: &Job) -> Result<(FileKind, Option<u64>), LoadProblem> {
    use std::os::unix::fs::FileTypeExt as _;
    if job.options.engine.ioengine == Engine::Null {
        return Ok((FileKind::Imagined, None));
    }
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((FileKind::Regular, None)),
        Err(source) => return Err(LoadProblem::Io { doing: "cannot look at", path: path.into(), source }),
    };
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok((FileKind::Regular, Some(metadata.len())));
    }
    if kind.is_block_device() {
        let bytes = block_device_of(path).and_then(|device| device.size_bytes());
        return match bytes {
            Some(0) => Err(LoadProblem::Refused(Box::new(Refusal::NoMedium { path: path.into() }))),
            Some(bytes) => Ok((FileKind::Device, Some(bytes))),
            None => Err(LoadProblem::WrongKind { path: path.into(), what: "a device without a readable size" }),
        };
    }
    let what = if kind.is_dir() {
        "a directory (name files in it with directory=)"
    } else if kind.is_char_device() {
        "a character device"
    } else {
        "a pipe or socket"
    };
    Err(LoadProblem::WrongKind { path: path.into(), what })
}

impl FilePlan {
    /// The files of the copy of this number; looks at them, and changes nothing. `seed` is that of sizes between two limits.
    /// `made` are the files that earlier jobs make, with their sizes. With `read_only`, traces are replayed without what
    /// changes something.
    pub(crate) fn new(
        job: &Job,
        copy: u32,
        seed: u64,
        made: &BTreeMap<PathBuf, u64>,
        read_only: bool,
    ) -> Result<Self, LoadProblem> {
        if let Some(trace) = trace_of(job, copy) {
            return Self::of_trace(job, trace, read_only);
        }
        let names = job.file_names(copy, &ThisMachine as &dyn Surroundings).map(PathBuf::from);
        let found =
            names.map(|path| Ok(Found { kind: look(&path, job)?, path })).collect::<Result<Vec<_>, LoadProblem>>()?;
        let options = &job.options;
        let found_bytes: Vec<u64> = found
            .iter()
            .map(|found| found.kind.1.unwrap_or(0).max(made.get(&found.path).copied().unwrap_or(0)))
            .collect();
        let parts = file_parts(&options.access, &options.files, &found_bytes, copy, seed)?;
        let mut plan = Self { files: Vec::with_capacity(found.len()), notes: Vec::new(), needs: None };
        for (Found { path, kind: (kind, found_bytes) }, part) in found.into_iter().zip(parts) {
            let part = if options.access.fill_device { plan.all_of(&path, kind, part, found_bytes) } else { part };
            let part = plan.fit(&path, kind, part, found_bytes)?;
            let needed_bytes = part.end();
            plan.files.push(PlannedFile { path, kind, found_bytes, needed_bytes, part });
        }
        let block = least_block(options);
        match plan.files.first() {
            // A job can do with one file that has room for a block.
            Some(first) if plan.files.iter().all(|file| file.part.bytes < block) => Err(if first.part.bytes == 0 {
                LoadProblem::NoSize { path: first.path.clone() }
            } else {
                LoadProblem::BlockTooLarge { path: first.path.clone(), block, bytes: first.part.bytes }
            }),
            _ => Ok(plan),
        }
    }

    /// The files of a trace.
    fn of_trace(job: &Job, trace: &str, read_only: bool) -> Result<Self, LoadProblem> {
        let needs = needs(job, trace, read_only)?;
        let mut files = Vec::with_capacity(needs.files.len());
        for (path, needed_bytes) in needs.files.clone() {
            let (kind, found_bytes) = look(&path, job)?;
            if kind == FileKind::Device && found_bytes.is_some_and(|found| found < needed_bytes) {
                let text = format!(
                    "{trace} goes to byte {needed_bytes} of {}, which has only {}: use replay_scale, or a larger device",
                    path.display(),
                    found_bytes.unwrap_or(0)
                );
                return Err(LoadProblem::Trace(text));
            }
            let part = FilePart { start: 0, bytes: needed_bytes };
            files.push(PlannedFile { path, kind, found_bytes, needed_bytes, part });
        }
        Ok(Self { files, notes: Vec::new(), needs: Some(needs) })
    }

    /// Whether the job changes its files.
    pub(crate) fn changes(&self, job: &Job) -> bool {
        let access = job.options.access.rw.access;
        match &self.needs {
            Some(needs) => needs.changes,
            None => (access.writes() && !job.options.verify.verify_only) || access.trims(),
        }
    }

    /// Whether the job reads its files, so that something has to be in them.
    pub(crate) fn reads(&self, job: &Job) -> bool {
        self.needs.is_some()
            || job.options.access.rw.access.reads()
            || job.options.files.overwrite
            || job.options.verify.verify_only
    }

    /// Of a device, only what is there can be used.
    fn fit(
        &mut self,
        path: &Path,
        kind: FileKind,
        part: FilePart,
        found_bytes: Option<u64>,
    ) -> Result<FilePart, LoadProblem> {
        let (FileKind::Device, Some(limit)) = (kind, found_bytes) else { return Ok(part) };
        if part.start >= limit {
            return Err(LoadProblem::OffsetBehindEnd { path: path.into(), offset: part.start, bytes: limit });
        }
        if part.end() > limit {
            self.notes.push(format!(
                "{} has only {} of the {} bytes that the job asks for: all of them are used",
                path.display(),
                limit - part.start,
                part.bytes
            ));
        }
        Ok(FilePart { start: part.start, bytes: part.bytes.min(limit - part.start) })
    }

    /// `fill_device`: a file may take all that is free; it ends with the error that says so.
    fn all_of(&self, path: &Path, kind: FileKind, part: FilePart, found_bytes: Option<u64>) -> FilePart {
        let free = match kind {
            FileKind::Regular => layout::free_bytes(path).unwrap_or(0).saturating_add(found_bytes.unwrap_or(0)),
            FileKind::Device | FileKind::Imagined => found_bytes.unwrap_or(0),
        };
        FilePart { start: part.start, bytes: part.bytes.max(free.saturating_sub(part.start)) }
    }

    /// The parts that are used.
    pub(crate) fn parts(&self) -> Vec<FilePart> {
        self.files.iter().map(|file| file.part).collect()
    }
}

struct Found {
    path: PathBuf,
    kind: (FileKind, Option<u64>),
}

/// The smallest block that any direction of the job uses.
fn least_block(options: &Options) -> u64 {
    let sizes = options.access.block_sizes();
    let access = options.access.rw.access;
    let used = [(access.reads(), &sizes.read), (access.writes(), &sizes.write), (access.trims(), &sizes.trim)];
    used.into_iter().filter(|(used, _)| *used).map(|(_, sizes)| sizes.least()).min().unwrap_or(1).max(1)
}
