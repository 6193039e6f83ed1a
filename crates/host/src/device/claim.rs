//! Taking hold of a device or file to overwrite it, after every check.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FlockOperation, IFlags, OFlags, flock, ioctl_getflags};
use rustix::io::Errno;

use super::disk_lock::{self, DiskLock, NoLock};
use super::identity::Identity;
use super::lease;
use super::occupants::{self, explain_busy, places_of_device};
use super::opening::{DEVICE_REMEDY, device_at, metadata, not_opened, open_exclusive, size_of, what};
use super::refusal::Refusal;
use super::stack::{Layer, Stack};
use super::survey::{Survey, family, family_below, uses_of_device, uses_of_file};
use super::sysfs::{BlockDevice, Driver, Sysfs};
use super::usage::{InUse, Part, Use};
use crate::consent::Consent;

/// A device or file that may be overwritten, held until this is dropped.
///
/// A device is open with `O_EXCL`: as long as it is held, the kernel lets nobody mount it, swap to it or build another
/// device of it. So is, below a loop device, the block device that it is made of. The whole disk is locked (`flock` of its
/// node), which keeps udev from reading it while it is measured. A file is locked (`flock`), which holds off other
/// programs that ask.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    // What is open for writing is closed first: the disk's lock is still held then, so that udev looks at the disk once,
    // after all is over.
    file: File,
    identity: Identity,
    size_bytes: u64,
    doubts: Vec<String>,
    _below: Vec<File>,
    _lock: Option<Arc<DiskLock>>,
}

impl Claim {
    /// The path it was claimed by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open device or file, for reading and writing, buffered.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its size when it was claimed.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What could not be checked and does not stand against it for all that is known, for the user to be told: such as
    /// processes of other users, which may have it open. A clause each, without a full stop. Empty for root, outside of
    /// containers.
    #[must_use]
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Opens the same device or file once more, with flags such as `O_DIRECT`, whatever its path leads to by now.
    ///
    /// # Errors
    /// As of `open`; also without `/proc`.
    pub fn reopen(&self, flags: OFlags) -> io::Result<File> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let file = File::from(rustix::fs::open(path, flags | OFlags::CLOEXEC, rustix::fs::Mode::empty())?);
        if Identity::of(&file.metadata()?).as_ref() != Some(&self.identity) {
            return Err(io::Error::other("the path in /proc led to another file"));
        }
        Ok(file)
    }
}

/// Claims a block device for overwriting. Takes milliseconds, up to a second more if somebody else has the disk's lock.
///
/// # Errors
/// [`Refusal`], if it is no block device, not the one consented to, in use by anybody, itself or what it is made of, if
/// it is locked, can't be written, or if any of that can't be checked. The device is not changed.
pub fn claim(path: &Path, consent: &Consent) -> Result<Claim, Refusal> {
    let meta = metadata(path)?;
    let device = device_at(path, &meta)?;
    let identity = covered(path, &meta, consent)?;
    let sysfs = Sysfs::default();
    // Once before, so that the message can name the reason, and so that a device in use is not even opened for writing;
    // once again when it is held, for what came between and for uses that don't exclude others.
    refuse_used(path, uses_of_device(&sysfs, &device))?;
    if device.flag("ro") == Some(true) {
        let why = "the device says so; use its write-protect switch, or: blockdev --setrw";
        return Err(Refusal::ReadOnly { path: path.into(), why });
    }
    if device.size_bytes().unwrap_or(0) == 0 {
        return Err(Refusal::NoMedium { path: path.into() });
    }
    let mut file = open_exclusive(path, true).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::BUSY) => explain_busy(path, &device, &family(&device)),
        _ => not_opened(path, error, DEVICE_REMEDY),
    })?;
    still_the_same(path, &file, &identity, consent)?;
    let mut doubts = Vec::new();
    let lock = lock_disk(path, &device, &mut doubts)?;
    let stack = Stack::below(&sysfs, &device).map_err(|error| unchecked(path, &error))?;
    let below = hold_below(path, &device, &stack, &mut doubts)?;
    doubts.extend(refuse_used(path, uses_of_device(&sysfs, &device))?);
    doubts.extend(refuse_written(path, &places_of_device(&device, &stack))?);
    let size_bytes = size_of(path, &mut file)?;
    if size_bytes == 0 {
        return Err(Refusal::NoMedium { path: path.into() });
    }
    Ok(Claim { path: path.into(), file, identity, size_bytes, doubts, _below: below, _lock: lock })
}

/// Claims an existing regular file for overwriting.
///
/// # Errors
/// [`Refusal`], if it is no regular file, not the one consented to, a swap file, behind a loop device, open for
/// writing elsewhere, locked, immutable or read-only. The file is not changed.
pub fn claim_file(path: &Path, consent: &Consent) -> Result<Claim, Refusal> {
    let meta = metadata(path)?;
    if !meta.is_file() {
        return Err(Refusal::NotRegularFile { path: path.into(), what: what(&meta) });
    }
    let identity = covered(path, &meta, consent)?;
    let mut doubts = refuse_used(path, uses_of_file(&Sysfs::default(), &identity))?;
    // Root may write all the same, but whoever set the mode did not want that.
    if meta.mode() & 0o222 == 0 {
        return Err(Refusal::ReadOnly {
            path: path.into(),
            why: "nobody may write to it by its mode; chmod u+w first",
        });
    }
    refuse_immutable(path)?;
    let places = [(Part::Itself, identity.clone())];
    // Before it is opened for writing here too.
    let alone = has_no_writer(path, &places, &mut doubts)?;
    let file = OpenOptions::new().read(true).write(true).open(path);
    let mut file = file.map_err(|error| not_opened(path, error, "run as the file's owner, or change its mode"))?;
    still_the_same(path, &file, &identity, consent)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Err(Refusal::Locked { path: path.into() }),
        // File systems without locks can't tell; the other checks stand.
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK) => {}
        Err(error) => return Err(Refusal::Io { path: path.into(), source: error.into() }),
    }
    let unseen = refuse_written(path, &places)?;
    if !alone {
        doubts.extend(unseen);
    }
    let size_bytes = size_of(path, &mut file)?;
    Ok(Claim { path: path.into(), file, identity, size_bytes, doubts, _below: Vec::new(), _lock: None })
}

fn covered(path: &Path, meta: &Metadata, consent: &Consent) -> Result<Identity, Refusal> {
    let other = || Refusal::OtherConsent { path: path.into(), given: consent.path().into() };
    Identity::of(meta).filter(|identity| consent.covers(identity)).ok_or_else(other)
}

/// Between looking and opening, a path can come to lead elsewhere.
fn still_the_same(path: &Path, file: &File, identity: &Identity, consent: &Consent) -> Result<(), Refusal> {
    let meta = file.metadata().map_err(|source| Refusal::Io { path: path.into(), source })?;
    if Identity::of(&meta).as_ref() == Some(identity) {
        return Ok(());
    }
    Err(Refusal::OtherConsent { path: path.into(), given: consent.path().into() })
}

fn unchecked(path: &Path, error: &io::Error) -> Refusal {
    Refusal::Unchecked { path: path.into(), why: error.to_string() }
}

/// Gives the doubts, if there is no use.
fn refuse_used(path: &Path, survey: io::Result<Survey>) -> Result<Vec<String>, Refusal> {
    let Survey { uses, doubts } = survey.map_err(|error| unchecked(path, &error))?;
    refuse_first(path, uses).map(|()| doubts)
}

/// Gives the doubts, if there is no writer.
fn refuse_written(path: &Path, places: &[(Part, Identity)]) -> Result<Vec<String>, Refusal> {
    let found = occupants::writers(places);
    refuse_first(path, found.uses)?;
    let doubt = |unseen| format!("{unseen}; {} may be open for writing there", path.display());
    Ok(found.unseen.into_iter().map(doubt).collect())
}

fn refuse_first(path: &Path, uses: Vec<InUse>) -> Result<(), Refusal> {
    match uses.into_iter().next() {
        Some(usage) => Err(Refusal::InUse { path: path.into(), usage: Box::new(usage) }),
        None => Ok(()),
    }
}

fn lock_disk(path: &Path, device: &BlockDevice, doubts: &mut Vec<String>) -> Result<Option<Arc<DiskLock>>, Refusal> {
    let disk = device.disk().unwrap_or_else(|| device.clone());
    match disk_lock::lock(&disk, path) {
        Ok(lock) => Ok(Some(lock)),
        Err(NoLock::Taken) => Err(Refusal::Locked { path: path.into() }),
        Err(NoLock::NoNode) => Ok(None),
        Err(NoLock::Failed(error)) => {
            doubts.push(format!("/dev/{} can't be locked ({error}); udev may read it during the run", disk.name));
            Ok(None)
        }
    }
}

/// Claims the block devices below loop devices as well. The kernel's other devices hold what they are made of themselves;
/// a loop device does not, so that it can be mounted or claimed by somebody whom `/proc` and `/sys` don't show.
fn hold_below(path: &Path, top: &BlockDevice, stack: &Stack, doubts: &mut Vec<String>) -> Result<Vec<File>, Refusal> {
    let mut held: Vec<(BlockDevice, File)> = Vec::new();
    for layer in &stack.layers {
        let Layer::Device { device, above } = layer else { continue };
        if above.driver() != Driver::Loop || held.iter().any(|(other, _)| other.number == device.number) {
            continue;
        }
        let node = device.node();
        let opened = open_exclusive(&node, false).and_then(|file| match Identity::of(&file.metadata()?) {
            Some(Identity::Device(number)) if number == device.number => Ok(file),
            _ => Err(Errno::NODEV.into()),
        });
        match opened {
            Ok(file) => held.push((device.clone(), file)),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::BUSY) => {
                return Err(explain_busy(path, top, &family_below(device)));
            }
            Err(error) => doubts.push(format!(
                "whether another program claims /dev/{}, which is below {}, can't be told: {error}",
                device.name,
                path.display()
            )),
        }
    }
    Ok(held.into_iter().map(|(_, file)| file).collect())
}

/// Whether the kernel itself says that nobody has a file open for writing; `false` if it does not tell.
///
/// # Errors
/// [`Refusal::Locked`] or [`Refusal::InUse`], if somebody has it open for longer than a moment.
fn has_no_writer(path: &Path, places: &[(Part, Identity)], doubts: &mut Vec<String>) -> Result<bool, Refusal> {
    let mount = crate::environment::mount_of(path);
    if let Some(mount) = mount.filter(|mount| mount.is_network()) {
        doubts.push(format!("{} is on {}; other machines may have it open", path.display(), mount.kind));
        return Ok(false);
    }
    // What can only be written can't be asked about.
    let Ok(file) = File::open(path) else { return Ok(false) };
    for _ in 0..20 {
        match lease::writers(&file) {
            lease::Writers::None => return Ok(true),
            lease::Writers::Untold => return Ok(false),
            lease::Writers::Some => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        return Err(Refusal::Locked { path: path.into() });
    }
    refuse_written(path, places)?;
    let by = Use::OpenForWriting { processes: Vec::new() };
    Err(Refusal::InUse { path: path.into(), usage: Box::new(InUse { part: Part::Itself, by }) })
}

fn refuse_immutable(path: &Path) -> Result<(), Refusal> {
    let read_only = |why| Err(Refusal::ReadOnly { path: path.into(), why });
    let Ok(file) = File::open(path) else { return Ok(()) };
    // File systems without such flags (tmpfs of old kernels, network ones) have no immutable files either.
    match ioctl_getflags(&file) {
        Ok(flags) if flags.contains(IFlags::IMMUTABLE) => read_only("it is immutable; chattr -i first"),
        Ok(flags) if flags.contains(IFlags::APPEND) => read_only("it can only be appended to; chattr -a first"),
        _ => Ok(()),
    }
}
