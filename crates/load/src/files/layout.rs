//! Making files before a job: what is read has to be there, and what is written gets its space.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use flashmark_fio::Job;
use flashmark_fio::options::{Engine, Fallocate};
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;

use super::{FileKind, FilePlan, PlannedFile, Rights};
use crate::contents::Contents;
use crate::error::LoadProblem;

/// Bytes written at a time.
const BLOCK: usize = 1 << 20;

/// Is told how files are made, and may stop it.
pub(crate) trait Making {
    /// So many bytes of `path` are there of those it needs. `false` stops.
    fn made(&mut self, path: &Path, bytes: u64, of_bytes: u64) -> bool;
}

/// Makes the files of jobs.
pub(crate) struct Layout<'a> {
    pub rights: &'a Rights,
    pub making: &'a mut dyn Making,
    pub seed: u64,
    /// Whether the thread's descriptors are those of the run, see [`Rights::create`].
    pub may_hold: bool,
}

impl Layout<'_> {
    /// Makes what a copy of a job needs. What is long enough stays as it is.
    pub(crate) fn make(&mut self, job: &Job, plan: &FilePlan) -> Result<(), LoadProblem> {
        for file in plan.files.iter().filter(|file| file.kind == FileKind::Regular) {
            self.make_file(job, file, plan.reads(job))?;
        }
        Ok(())
    }

    fn make_file(&mut self, job: &Job, file: &PlannedFile, is_read: bool) -> Result<(), LoadProblem> {
        let path = &file.path;
        let failed =
            |doing: &'static str| move |source: io::Error| LoadProblem::Io { doing, path: path.clone(), source };
        // An earlier job of the run may have made it meanwhile.
        let found = match path.metadata() {
            Ok(metadata) => Some(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed("cannot look at")(error)),
        };
        if found.is_some_and(|bytes| bytes >= file.needed_bytes) {
            return if job.options.files.pre_read { self.pre_read(path, file.needed_bytes) } else { Ok(()) };
        }
        let made = match found {
            None => self.rights.create(path, self.may_hold)?,
            Some(_) => None,
        };
        let made = match made {
            Some(made) => made,
            // Another thread may have been faster.
            None => self.rights.open(path, OFlags::LARGEFILE, true)?,
        };
        let found = made.metadata().map_err(failed("cannot look at"))?.len();
        // It ends when there is no room, and must not find out before.
        let fills = job.options.access.fill_device;
        if fills && !is_read {
            return Ok(());
        }
        if is_read {
            self.check_room(path, file.needed_bytes.saturating_sub(found))?;
            self.write(job, &made, path, found, file.needed_bytes)?;
            if job.options.files.create_fsync {
                made.sync_all().map_err(failed("cannot sync"))?;
            }
        } else if found < file.needed_bytes {
            reserve(job.options.files.fallocate, &made, file.needed_bytes).map_err(|error| {
                if error.raw_os_error() == Some(Errno::NOSPC.raw_os_error()) {
                    let free = free_bytes(path).unwrap_or(0);
                    return LoadProblem::NoRoom {
                        path: path.clone(),
                        needed: file.needed_bytes.saturating_sub(found),
                        free,
                    };
                }
                failed("cannot reserve space for")(error)
            })?;
            // A mapping ends where its file does.
            if job.options.engine.ioengine == Engine::Mmap {
                made.set_len(file.needed_bytes).map_err(failed("cannot make longer"))?;
            }
        }
        if job.options.files.pre_read { self.pre_read(path, file.needed_bytes) } else { Ok(()) }
    }

    fn check_room(&self, path: &Path, needed: u64) -> Result<(), LoadProblem> {
        match free_bytes(path) {
            Some(free) if free < needed => Err(LoadProblem::NoRoom { path: path.into(), needed, free }),
            _ => Ok(()),
        }
    }

    fn write(&mut self, job: &Job, made: &File, path: &Path, from: u64, to: u64) -> Result<(), LoadProblem> {
        let mut contents = Contents::new(&job.options.buffers, &job.options.verify, self.seed);
        let mut block = vec![0_u8; BLOCK];
        let mut at = from;
        while at < to {
            if !self.making.made(path, at, to) {
                return Err(LoadProblem::Stopped);
            }
            let piece = &mut block[..usize::try_from(to - at).unwrap_or(BLOCK).min(BLOCK)];
            contents.prime(piece);
            made.write_all_at(piece, at).map_err(|source| LoadProblem::Io {
                doing: "cannot write to",
                path: path.into(),
                source,
            })?;
            at += piece.len() as u64;
        }
        self.making.made(path, to, to);
        Ok(())
    }

    /// Brings a file into the page cache.
    fn pre_read(&mut self, path: &Path, bytes: u64) -> Result<(), LoadProblem> {
        let failed = |source| LoadProblem::Io { doing: "cannot read", path: path.into(), source };
        let file = File::open(path).map_err(failed)?;
        let mut block = vec![0_u8; BLOCK];
        let mut at = 0;
        while at < bytes {
            if !self.making.made(path, at, bytes) {
                return Err(LoadProblem::Stopped);
            }
            match file.read_at(&mut block, at).map_err(failed)? {
                0 => break,
                read => at += read as u64,
            }
        }
        Ok(())
    }
}

/// Gives a file its size and space, as the job wants it.
fn reserve(how: Fallocate, file: &File, bytes: u64) -> io::Result<()> {
    let flags = match how {
        Fallocate::None => return Ok(()),
        Fallocate::Truncate => return file.set_len(bytes),
        Fallocate::Keep => FallocateFlags::KEEP_SIZE,
        Fallocate::Native | Fallocate::Posix => FallocateFlags::empty(),
    };
    match fallocate(file, flags, 0, bytes) {
        // A file system that cannot: the job writes all the same.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        result => Ok(result?),
    }
}

pub(super) fn free_bytes(path: &Path) -> Option<u64> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    free_bytes_at(dir)
}

/// What is free on the file system of what is there; nothing if it does not tell, as those in memory without a limit.
pub(super) fn free_bytes_at(there: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(there).ok()?;
    (stat.f_blocks > 0).then(|| stat.f_bavail.saturating_mul(stat.f_frsize))
}
