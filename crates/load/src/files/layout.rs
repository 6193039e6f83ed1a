//! Making files before a job: what is read has to be there, and what is written gets its space.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use flashmark_fio::Job;
use flashmark_fio::options::Fallocate;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::ownership::mark;
use super::{FileKind, FilePlan, Owned, PlannedFile, Rights};
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
            Err(_) => None,
        };
        if found.is_some_and(|bytes| bytes >= file.needed_bytes) {
            return if job.options.files.pre_read { self.pre_read(path, file.needed_bytes) } else { Ok(()) };
        }
        let owned = self.rights.to(path);
        let made = match (found, &owned) {
            (None, _) => {
                let made = OpenOptions::new().read(true).write(true).create_new(true).open(path);
                let made = made.map_err(failed("cannot make"))?;
                // Where this fails, the next job asks before it writes to the file.
                let _ = mark(&made);
                made
            }
            (Some(_), Owned::Claimed(claim)) => {
                let reopened = claim.reopen(rustix::fs::OFlags::RDWR);
                reopened.map_err(failed("cannot open"))?
            }
            (Some(_), Owned::Ours | Owned::New) => {
                OpenOptions::new().read(true).write(true).open(path).map_err(failed("cannot open"))?
            }
            (Some(_), Owned::Foreign | Owned::Imagined) => return Err(LoadProblem::Foreign { path: path.clone() }),
        };
        let found = found.unwrap_or(0);
        // It ends when there is no room, and must not find out before.
        let fills = job.options.access.fill_device;
        if fills && !is_read {
            return Ok(());
        }
        if is_read {
            self.check_room(path, file.needed_bytes - found)?;
            self.write(job, &made, path, found, file.needed_bytes)?;
            if job.options.files.create_fsync {
                made.sync_all().map_err(failed("cannot sync"))?;
            }
        } else {
            reserve(job.options.files.fallocate, &made, file.needed_bytes).map_err(|error| {
                if error.raw_os_error() == Some(Errno::NOSPC.raw_os_error()) {
                    let free = free_bytes(path).unwrap_or(0);
                    return LoadProblem::NoRoom { path: path.clone(), needed: file.needed_bytes - found, free };
                }
                failed("cannot reserve space for")(error)
            })?;
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
    let stat = rustix::fs::statvfs(dir).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}
