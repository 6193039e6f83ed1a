//! What may be written: files that flashmark made and nobody changed since, and what the user gave for it.
//!
//! A file's right is kept by what it is (device and inode), not by its path: a path may lead elsewhere by the time it is
//! opened, which may be hours after it was looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flashmark_fio::Job;
use flashmark_host::consent::ConsentArgs;
use flashmark_host::device::{self, Claim, Identity, Refusal, Sysfs};
use rustix::fs::{Mode, OFlags, XattrFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::io::Errno;

use super::{FileKind, FilePlan, PlannedFile};
use crate::error::{LoadProblem, Suspicion};

/// The extended attribute of files that a job made. Such a file is written again by the next job without asking, as a job
/// that writes and one that reads go together. It holds the size and time that flashmark left the file with: what was
/// copied over it since is not flashmark's.
const MADE: &str = "user.flashmark.job";

/// Which file something is, whatever its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileId {
    /// A regular file: `st_dev` and `st_ino`.
    File(u64, u64),
    /// A block device: `st_rdev`.
    Device(u64),
}

impl FileId {
    /// Nothing for what is neither a regular file nor a block device.
    pub(crate) fn of(found: &Metadata) -> Option<Self> {
        match found.file_type() {
            kind if kind.is_file() => Some(Self::File(found.dev(), found.ino())),
            kind if kind.is_block_device() => Some(Self::Device(found.rdev())),
            _ => None,
        }
    }
}

/// What a file's content is known by: its size, and when it was last changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp(String);

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self(format!("{} {}.{:09}", found.len(), found.mtime(), found.mtime_nsec()))
    }
}

/// A file that flashmark made.
#[derive(Debug)]
struct Own {
    path: PathBuf,
    /// How flashmark left it.
    stamp: Stamp,
    /// Whether a batch that is under way changes it, so that its stamp is an old one.
    is_busy: bool,
    /// Whether it could not be marked: it is known by its inode while it is busy, which it keeps as it is open.
    unmarked: bool,
    /// What keeps it open between its making and its use, where its maker's descriptors are those of the run.
    held: Option<File>,
}

/// By what right a file is used that flashmark did not make.
#[derive(Clone, Debug)]
enum Owned {
    /// The user consented to its loss.
    Claimed(Arc<Claim>),
    /// It is only read.
    Foreign,
}

/// The right to what a path leads to.
enum Right {
    /// It was not there.
    New,
    /// flashmark made it.
    Own,
    Claimed(Arc<Claim>),
    Foreign(FileId),
}

/// By what right each file of a run is used.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    read_only: bool,
    /// What was found at each path.
    paths: BTreeMap<PathBuf, FileId>,
    /// Where nothing was.
    new: BTreeSet<PathBuf>,
    owned: BTreeMap<FileId, Owned>,
    own: Mutex<BTreeMap<FileId, Own>>,
}

/// Whether a job changes a file by its accesses, or because it has to be made longer before.
fn is_changed(job: &Job, plan: &FilePlan, file: &PlannedFile) -> bool {
    let too_short = file.kind == FileKind::Regular && file.found_bytes.is_some_and(|found| found < file.needed_bytes);
    plan.changes(job) || too_short
}

/// What the mark of a file says.
fn read_mark(file: &File) -> Result<Vec<u8>, Errno> {
    let mut value = [0_u8; 128];
    let length = rustix::fs::fgetxattr(file, MADE, &mut value)?;
    Ok(value[..length].to_vec())
}

fn write_mark(file: &File, stamp: &Stamp) -> Result<(), Errno> {
    rustix::fs::fsetxattr(file, MADE, stamp.0.as_bytes(), XattrFlags::empty())
}

/// Opens what is there, and waits for nobody, whatever it has become.
fn open_found(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK;
    // Without the update of the access time, which is no part of what is measured. Only the file's owner may ask for it.
    let file = match open(path, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => open(path, flags, Mode::empty())?,
        opened => opened?,
    };
    // Engines take it for their own business.
    fcntl_setfl(&file, fcntl_getfl(&file)? & !OFlags::NONBLOCK)?;
    Ok(file.into())
}

/// What the file at a path is to flashmark.
fn is_ours(path: &Path) -> Result<Result<(FileId, Own), Suspicion>, io::Error> {
    // A link to it may have been put there by anybody.
    let file = match open_found(path, OFlags::RDONLY | OFlags::NOFOLLOW) {
        Ok(file) => file,
        Err(_) => return Ok(Err(Suspicion::Unmarked)),
    };
    let found = file.metadata()?;
    let Some(id @ FileId::File(..)) = FileId::of(&found) else { return Ok(Err(Suspicion::Unmarked)) };
    let stamp = Stamp::of(&found);
    Ok(match read_mark(&file) {
        Ok(mark) if mark == stamp.0.as_bytes() => {
            Ok((id, Own { path: path.into(), stamp, is_busy: false, unmarked: false, held: None }))
        }
        Ok(_) => Err(Suspicion::Changed),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(Suspicion::CannotBeMarked),
        Err(_) => Err(Suspicion::Unmarked),
    })
}

/// Refuses a file that the kernel itself uses, as a swap file or behind a loop device.
fn refuse_used(path: &Path, found: &Metadata) -> Result<(), LoadProblem> {
    let refused = |refusal| LoadProblem::Refused(Box::new(refusal));
    let Some(identity) = Identity::of(found) else { return Err(LoadProblem::Replaced { path: path.into() }) };
    let survey = device::survey::uses_of_file(&Sysfs::default(), &identity)
        .map_err(|error| refused(Refusal::Unchecked { path: path.into(), why: error.to_string() }))?;
    match survey.uses.into_iter().next() {
        Some(usage) => Err(refused(Refusal::InUse { path: path.into(), usage: Box::new(usage) })),
        None => Ok(()),
    }
}

impl Rights {
    /// Finds out for every file, and claims what the user consented to. Nothing is changed. With `read_only`, files that
    /// would have to be changed are errors.
    pub(crate) fn of<'a>(
        plans: impl IntoIterator<Item = (&'a Job, &'a FilePlan)>,
        consent: &ConsentArgs,
        read_only: bool,
    ) -> Result<Self, (String, LoadProblem)> {
        let mut rights = Self { read_only, ..Self::default() };
        for (job, plan) in plans {
            // Of what is only imagined there is nothing to have a right to.
            for file in plan.files.iter().filter(|file| file.kind != FileKind::Imagined) {
                rights.find(job, plan, file, consent).map_err(|problem| (job.name.clone(), problem))?;
            }
        }
        Ok(rights)
    }

    fn find(
        &mut self,
        job: &Job,
        plan: &FilePlan,
        file: &PlannedFile,
        consent: &ConsentArgs,
    ) -> Result<(), LoadProblem> {
        let path = &file.path;
        let found = match path.metadata() {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(LoadProblem::Io { doing: "cannot look at", path: path.clone(), source }),
        };
        let changes = is_changed(job, plan, file);
        if self.read_only && (changes || found.is_none()) {
            return Err(LoadProblem::ReadOnly { path: path.clone() });
        }
        let Some(found) = found else {
            if !job.options.files.allow_file_create {
                return Err(LoadProblem::Missing { path: path.clone() });
            }
            self.new.insert(path.clone());
            return Ok(());
        };
        let Some(id) = FileId::of(&found) else { return Err(LoadProblem::Replaced { path: path.clone() }) };
        self.paths.insert(path.clone(), id);
        let removes = job.options.files.unlink && !self.read_only;
        let changes = changes || removes;
        let is_own = locked(&self.own).contains_key(&id);
        let is_known = match self.owned.get(&id) {
            Some(Owned::Claimed(_)) => true,
            // What an earlier job only reads may still be claimed for this one.
            Some(Owned::Foreign) => !changes,
            None => is_own && !(changes && path.is_symlink()),
        };
        if is_known {
            return Ok(());
        }
        let suspicion = match id {
            FileId::Device(_) => Suspicion::Unmarked,
            FileId::File(..) => {
                let ours = is_ours(path);
                let ours =
                    ours.map_err(|source| LoadProblem::Io { doing: "cannot look at", path: path.clone(), source })?;
                match ours {
                    Ok((same, own)) if same == id => {
                        if changes {
                            refuse_used(path, &found)?;
                        }
                        self.owned.remove(&id);
                        locked(&self.own).insert(id, own);
                        return Ok(());
                    }
                    Ok(_) => return Err(LoadProblem::Replaced { path: path.clone() }),
                    Err(suspicion) => suspicion,
                }
            }
        };
        let owned = if changes { claim(file, consent, suspicion)? } else { Owned::Foreign };
        locked(&self.own).remove(&id);
        self.owned.insert(id, owned);
        Ok(())
    }

    /// The right to a path's file; nothing if the run has none.
    fn to(&self, path: &Path) -> Option<Right> {
        let Some(id) = self.paths.get(path) else { return self.new.contains(path).then_some(Right::New) };
        Some(match self.owned.get(id) {
            Some(Owned::Claimed(claim)) => Right::Claimed(Arc::clone(claim)),
            Some(Owned::Foreign) => Right::Foreign(*id),
            None => Right::Own,
        })
    }

    /// Makes a file where nothing was; `None` if something is there by now, such as what another thread of the run made.
    /// `may_hold` says that the calling thread's descriptors are those of the run.
    pub(super) fn create(&self, path: &Path, may_hold: bool) -> Result<Option<File>, LoadProblem> {
        if self.read_only {
            return Err(LoadProblem::ReadOnly { path: path.into() });
        }
        if !matches!(self.to(path), Some(Right::New | Right::Own)) {
            return Err(LoadProblem::Replaced { path: path.into() });
        }
        let failed = |source| LoadProblem::Io { doing: "cannot make", path: path.into(), source };
        // Held until it is known, so that whoever finds the file finds its right too.
        let mut own = locked(&self.own);
        let made = match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
            Ok(made) => made,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let found = made.metadata().map_err(failed)?;
        let Some(id) = FileId::of(&found) else { return Err(LoadProblem::Replaced { path: path.into() }) };
        let stamp = Stamp::of(&found);
        // Where it cannot be marked, later runs will not know it, and ask before they write to it.
        let unmarked = write_mark(&made, &stamp).is_err();
        let held = if unmarked && may_hold { Some(made.try_clone().map_err(failed)?) } else { None };
        own.insert(id, Own { path: path.into(), stamp, is_busy: true, unmarked, held });
        Ok(Some(made))
    }

    /// Opens a file of the run, if it is still what it was when its right was found. `changes` says whether it is opened to
    /// be changed; `flags` are the others.
    pub(super) fn open(&self, path: &Path, flags: OFlags, changes: bool) -> Result<File, LoadProblem> {
        if changes && self.read_only {
            return Err(LoadProblem::ReadOnly { path: path.into() });
        }
        let failed = |source| LoadProblem::Io { doing: "cannot open", path: path.into(), source };
        let replaced = || LoadProblem::Replaced { path: path.into() };
        let flags = flags | if changes { OFlags::RDWR } else { OFlags::RDONLY };
        match self.to(path).ok_or_else(replaced)? {
            Right::Claimed(claim) => claim.reopen(flags).map_err(failed),
            Right::Foreign(_) if changes => {
                Err(LoadProblem::Foreign { path: path.into(), suspicion: Suspicion::Unmarked })
            }
            Right::Foreign(id) => {
                let file = open_found(path, flags).map_err(failed)?;
                let found = file.metadata().map_err(failed)?;
                if FileId::of(&found) == Some(id) { Ok(file) } else { Err(replaced()) }
            }
            Right::New | Right::Own => {
                let not_by_links = if changes { OFlags::NOFOLLOW } else { OFlags::empty() };
                let file = match open_found(path, flags | not_by_links) {
                    Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Err(replaced()),
                    opened => opened.map_err(failed)?,
                };
                self.vouch(path, &file, changes)?;
                Ok(file)
            }
        }
    }

    /// Whether an open file is one that flashmark made, with nothing in it that somebody else put there.
    fn vouch(&self, path: &Path, file: &File, changes: bool) -> Result<(), LoadProblem> {
        let failed = |source| LoadProblem::Io { doing: "cannot look at", path: path.into(), source };
        let found = file.metadata().map_err(failed)?;
        let mut own = locked(&self.own);
        let Some(own) = FileId::of(&found).and_then(|id| own.get_mut(&id)) else {
            return Err(LoadProblem::Replaced { path: path.into() });
        };
        if !changes {
            return Ok(());
        }
        if own.is_busy {
            // A file that took the inode over has no mark.
            if !own.unmarked && read_mark(file).is_err() {
                return Err(LoadProblem::Replaced { path: path.into() });
            }
            return Ok(());
        }
        if own.stamp != Stamp::of(&found) {
            return Err(LoadProblem::Foreign { path: path.into(), suspicion: Suspicion::Changed });
        }
        refuse_used(path, &found)?;
        own.unmarked = read_mark(file).is_err();
        own.is_busy = true;
        Ok(())
    }

    /// Marks what a batch changed, now that nobody writes to it any more.
    pub(crate) fn settle(&self) {
        for (id, own) in locked(&self.own).iter_mut().filter(|(_, own)| own.is_busy) {
            own.is_busy = false;
            own.held = None;
            let unmarked = std::mem::take(&mut own.unmarked);
            let Ok(file) = open_found(&own.path, OFlags::RDONLY | OFlags::NOFOLLOW) else { continue };
            let Ok(found) = file.metadata() else { continue };
            // What has been put in its place is not to be marked.
            if FileId::of(&found) != Some(*id) || !unmarked && read_mark(&file).is_err() {
                continue;
            }
            own.stamp = Stamp::of(&found);
            // Without a new mark the next run asks, which is safe.
            let _ = write_mark(&file, &own.stamp);
        }
    }

    /// What the claims could not check, for people.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = &String> {
        self.owned.values().flat_map(|owned| match owned {
            Owned::Claimed(claim) => claim.doubts(),
            Owned::Foreign => &[],
        })
    }
}

fn locked(own: &Mutex<BTreeMap<FileId, Own>>) -> MutexGuard<'_, BTreeMap<FileId, Own>> {
    own.lock().unwrap_or_else(PoisonError::into_inner)
}

fn claim(file: &PlannedFile, consent: &ConsentArgs, suspicion: Suspicion) -> Result<Owned, LoadProblem> {
    let path = &file.path;
    match consent.consent_to(path) {
        Some(consent) => {
            let claim = match file.kind {
                FileKind::Device => device::claim(path, &consent),
                FileKind::Regular | FileKind::Imagined => device::claim_file(path, &consent),
            };
            Ok(Owned::Claimed(Arc::new(claim.map_err(|refusal| LoadProblem::Refused(Box::new(refusal)))?)))
        }
        None if file.kind == FileKind::Device => {
            Err(LoadProblem::Refused(Box::new(device::refuse_without_consent(path))))
        }
        None => Err(LoadProblem::Foreign { path: path.clone(), suspicion }),
    }
}
