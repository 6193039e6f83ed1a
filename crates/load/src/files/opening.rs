//! Opening a job's files for its queue.

use std::fs::File;
use std::io;
use std::path::Path;

use flashmark_fio::Job;
use flashmark_fio::options::{Engine, Fadvise, SyncMode};
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::io::Errno;

use super::{FileKind, FilePlan, PlannedFile, Rights};
use crate::error::LoadProblem;

/// Opens all of them, with what the page cache holds dropped as the job wants it.
pub(crate) fn open_all(job: &Job, plan: &FilePlan, rights: &Rights) -> Result<Vec<File>, LoadProblem> {
    plan.files.iter().map(|file| open_one(job, plan, file, rights)).collect()
}

fn open_one(job: &Job, plan: &FilePlan, planned: &PlannedFile, rights: &Rights) -> Result<File, LoadProblem> {
    let options = &job.options;
    let path = &planned.path;
    let failed = |doing: &'static str, source: io::Error| LoadProblem::Io { doing, path: path.clone(), source };
    if planned.kind == FileKind::Imagined {
        return File::open("/dev/null").map_err(|source| failed("cannot open /dev/null for", source));
    }
    let access = options.access.rw.access;
    let changes = plan.changes(job);
    let mut flags = OFlags::CLOEXEC | OFlags::LARGEFILE;
    if options.engine.direct {
        flags |= OFlags::DIRECT;
    }
    flags |= match options.engine.sync {
        SyncMode::None => OFlags::empty(),
        SyncMode::Sync => OFlags::SYNC,
        SyncMode::Dsync => OFlags::DSYNC,
    };
    // A mapping that is written has to be readable too, and verification reads what was written.
    let file = rights.open(path, flags, changes).map_err(|problem| match problem {
        LoadProblem::Io { source, .. }
            if options.engine.direct && source.raw_os_error() == Some(Errno::INVAL.raw_os_error()) =>
        {
            LoadProblem::NotDirect { path: path.clone(), source }
        }
        problem => problem,
    })?;
    advise(options.files.fadvise_hint, access.is_random(), options.engine.ioengine, &file);
    if options.files.invalidate && !options.files.pre_read {
        // What is dirty is written out first; what cannot be dropped is told by the page cache's own count.
        let _ = flashmark_host::cache::drop_pages(&file, planned.needed_bytes);
    }
    Ok(file)
}

fn advise(hint: Fadvise, random: bool, engine: Engine, file: &File) {
    let advice = match hint {
        Fadvise::None => return,
        Fadvise::ByPattern if random => Advice::Random,
        Fadvise::ByPattern => Advice::Sequential,
        Fadvise::Random => Advice::Random,
        Fadvise::Sequential => Advice::Sequential,
        Fadvise::NoReuse => Advice::NoReuse,
    };
    if engine != Engine::Mmap {
        // A hint, no more.
        let _ = fadvise(file, 0, None, advice);
    }
}

/// How much of a file's used part is in the page cache, in pages; nothing where the system does not tell.
pub(crate) fn resident_pages(path: &Path, bytes: u64) -> Option<u64> {
    let file = File::open(path).ok()?;
    flashmark_host::cache::residency(&file, bytes).ok().map(|residency| residency.resident_pages)
}
