//! Taking hold of a device or file to overwrite it, after every check.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, IFlags, OFlags, flock, ioctl_getflags};
use rustix::io::Errno;

use super::findings::Findings;
use super::identity::Identity;
use super::openers::{self, Opener};
use super::refusal::Refusal;
use super::signature::{self, Medium};
use super::sysfs::{BlockDevice, Sysfs, node_number};
use super::usage::{self, InUse, Part, Process, Use};
use crate::consent::Consent;

const DEVICE_REMEDY: &str = "run as root, or join the group that owns the device (often `disk`)";

/// A device or file that may be overwritten, held until this is dropped.
///
/// A device is open with `O_EXCL`: as long as it is held, the kernel lets nobody mount it, swap to it or build another
/// device of it. A file is locked (`flock`), which holds off other programs that ask.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    file: File,
    identity: Identity,
    size_bytes: u64,
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

/// Claims a block device for overwriting.
///
/// # Errors
/// [`Refusal`], if it is no block device, not the one consented to, in use by anybody, can't be written, or if any of
/// that can't be checked. The device is not changed.
pub fn claim(path: &Path, consent: &Consent) -> Result<Claim, Refusal> {
    let meta = metadata(path)?;
    let device = device_at(path, &meta)?;
    let identity = covered(path, &meta, consent)?;
    let sysfs = Sysfs::default();
    // Once before, so that the message can name the reason, and so that a device in use is not even opened for writing;
    // once again when it is held, for what came between and for uses that don't exclude others.
    refuse_used(path, usage::uses_of_device(&sysfs, &device))?;
    if device.flag("ro") == Some(true) {
        let why = "the device says so; use its write-protect switch, or: blockdev --setrw";
        return Err(Refusal::ReadOnly { path: path.into(), why });
    }
    if device.size_bytes().unwrap_or(0) == 0 {
        return Err(Refusal::NoMedium { path: path.into() });
    }
    let mut file = open_exclusive(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::BUSY) => explain_busy(path, &device),
        _ => not_opened(path, error, DEVICE_REMEDY),
    })?;
    still_the_same(path, &file, &identity, consent)?;
    refuse_used(path, usage::uses_of_device(&sysfs, &device))?;
    refuse_used(path, Ok(lasting(|| writers_of_device(&device))))?;
    let size_bytes = end_of(&mut file).map_err(|source| Refusal::Io { path: path.into(), source })?;
    if size_bytes == 0 {
        return Err(Refusal::NoMedium { path: path.into() });
    }
    Ok(Claim { path: path.into(), file, identity, size_bytes })
}

/// Claims an existing regular file for overwriting.
///
/// # Errors
/// [`Refusal`], if it is no regular file, not the one consented to, a swap file, behind a loop device, open for
/// writing in another process, locked, immutable or read-only. The file is not changed.
pub fn claim_file(path: &Path, consent: &Consent) -> Result<Claim, Refusal> {
    let meta = metadata(path)?;
    if !meta.is_file() {
        return Err(Refusal::NotRegularFile { path: path.into(), what: what(&meta) });
    }
    let identity = covered(path, &meta, consent)?;
    refuse_used(path, usage::uses_of_file(&Sysfs::default(), &identity))?;
    // Root may write all the same, but whoever set the mode did not want that.
    if meta.mode() & 0o222 == 0 {
        return Err(Refusal::ReadOnly {
            path: path.into(),
            why: "nobody may write to it by its mode; chmod u+w first",
        });
    }
    refuse_immutable(path)?;
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
    refuse_used(path, Ok(lasting(|| writers_of_file(&identity))))?;
    let size_bytes = end_of(&mut file).map_err(|source| Refusal::Io { path: path.into(), source })?;
    Ok(Claim { path: path.into(), file, identity, size_bytes })
}

/// Looks at a block device or regular file without changing it: what it is, what is on it, who uses it.
///
/// # Errors
/// [`Refusal`], if it is neither, or can't be read.
pub fn inspect(path: &Path) -> Result<Findings, Refusal> {
    let (model, uses) = described(path)?;
    let mut file = File::open(path).map_err(|error| not_opened(path, error, DEVICE_REMEDY))?;
    let size_bytes = end_of(&mut file).map_err(|source| Refusal::Io { path: path.into(), source })?;
    if size_bytes == 0 && node_number(path).is_some() {
        return Err(Refusal::NoMedium { path: path.into() });
    }
    let medium = Medium::new(&file, size_bytes);
    let contents = signature::probe(&medium);
    Ok(Findings { model, size_bytes, contents, unreadable: medium.is_unreadable(), uses })
}

/// The refusal for a device or file that the command gives no consent for: [`Refusal::NoConsent`] with what is on it,
/// or the reason for which consent would not help.
#[must_use]
pub fn refuse_without_consent(path: &Path) -> Refusal {
    let found = described(path).and_then(|(_, uses)| {
        // Known even where the right to read what is on it is missing.
        refuse_used(path, Ok(uses))?;
        inspect(path)
    });
    match found {
        Ok(findings) => Refusal::NoConsent { path: path.into(), findings: Box::new(findings) },
        Err(refusal) => refusal,
    }
}

/// What can be said of a device or file without opening it: its model, and who uses it.
fn described(path: &Path) -> Result<(Option<String>, Vec<InUse>), Refusal> {
    let meta = metadata(path)?;
    let sysfs = Sysfs::default();
    let unchecked = |error: io::Error| Refusal::Unchecked { path: path.into(), why: error.to_string() };
    if let Some(identity @ Identity::File { .. }) = Identity::of(&meta) {
        return Ok((None, usage::uses_of_file(&sysfs, &identity).map_err(unchecked)?));
    }
    let device = device_at(path, &meta)?;
    let uses = usage::uses_of_device(&sysfs, &device).map_err(unchecked)?;
    Ok((crate::environment::model_of(&device.disk().unwrap_or(device)), uses))
}

fn metadata(path: &Path) -> Result<Metadata, Refusal> {
    std::fs::metadata(path)
        .map_err(|error| not_opened(path, error, "run as root, or get the right to enter the directories above it"))
}

fn device_at(path: &Path, meta: &Metadata) -> Result<BlockDevice, Refusal> {
    let Some(Identity::Device(number)) = Identity::of(meta) else {
        return Err(Refusal::NotBlockDevice { path: path.into(), what: what(meta) });
    };
    let sysfs = Sysfs::default();
    sysfs.block(number).ok_or_else(|| {
        if sysfs.path("sys/dev/block").is_dir() {
            // The node is there and the kernel's device is not.
            Refusal::NoMedium { path: path.into() }
        } else {
            Refusal::Unchecked { path: path.into(), why: "/sys/dev/block is missing".into() }
        }
    })
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

fn refuse_used(path: &Path, uses: io::Result<Vec<InUse>>) -> Result<(), Refusal> {
    let uses = uses.map_err(|error| Refusal::Unchecked { path: path.into(), why: error.to_string() })?;
    match uses.into_iter().next() {
        Some(usage) => Err(Refusal::InUse { path: path.into(), usage: Box::new(usage) }),
        None => Ok(()),
    }
}

/// `O_RDWR | O_EXCL | O_CLOEXEC`: without `O_CREAT`, `O_EXCL` on a block device fails with EBUSY if the system uses it,
/// and keeps others from using it (open(2)).
fn open_exclusive(path: &Path) -> io::Result<File> {
    // The type of the flags is the system's; O_EXCL is small and positive everywhere.
    #[allow(clippy::cast_possible_wrap)]
    let excl = OFlags::EXCL.bits() as i32;
    OpenOptions::new().read(true).write(true).custom_flags(excl).open(path)
}

fn not_opened(path: &Path, error: io::Error, remedy: &'static str) -> Refusal {
    let path = path.to_path_buf();
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::NOTDIR) => Refusal::Missing { path },
        Some(Errno::ACCESS | Errno::PERM) if rustix::process::geteuid().is_root() => Refusal::Denied {
            path,
            remedy: "even root may not; a container, a sandbox or a security module forbids it",
        },
        Some(Errno::ACCESS | Errno::PERM) => Refusal::Denied { path, remedy },
        Some(Errno::ROFS) => Refusal::ReadOnly { path, why: "the device or its file system is; remount or unlock it" },
        Some(Errno::NOMEDIUM | Errno::NXIO | Errno::NODEV) => Refusal::NoMedium { path },
        _ => Refusal::Io { path, source: error },
    }
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

/// Who holds a device that nothing in `/sys` and `/proc/self` shows in use.
fn explain_busy(path: &Path, device: &BlockDevice) -> Refusal {
    let in_use = |usage| Refusal::InUse { path: path.into(), usage: Box::new(usage) };
    let family = family(device);
    for (part, member) in &family {
        if let Some((process, at)) = openers::mounted_elsewhere(member.number) {
            return in_use(InUse { part: part.clone(), by: Use::MountedElsewhere { at, process } });
        }
    }
    // It may have been mounted since the first look.
    if let Ok(uses) = usage::uses_of_device(&Sysfs::default(), device)
        && let Some(usage) = uses.into_iter().next()
    {
        return in_use(usage);
    }
    let openers = openers::openers_of(&identities(&family));
    for (part, member) in family {
        let processes = processes_of(&openers, &member, |_| true);
        if !processes.is_empty() {
            return in_use(InUse { part, by: Use::Exclusive { processes } });
        }
    }
    in_use(InUse { part: Part::Itself, by: Use::Exclusive { processes: Vec::new() } })
}

/// Programs that write to a device without claiming it, such as a virtual machine: the kernel would let both.
fn writers_of_device(device: &BlockDevice) -> Vec<InUse> {
    let family = family(device);
    let openers = openers::openers_of(&identities(&family));
    let writing = |(part, member)| {
        let processes = processes_of(&openers, &member, |opener| opener.writes);
        (!processes.is_empty()).then_some(InUse { part, by: Use::OpenForWriting { processes } })
    };
    family.into_iter().filter_map(writing).collect()
}

/// Programs that write to a file.
fn writers_of_file(identity: &Identity) -> Vec<InUse> {
    let openers = openers::openers_of(std::slice::from_ref(identity)).into_iter();
    let processes: Vec<Process> = openers.filter(|opener| opener.writes).map(|opener| opener.process).collect();
    if processes.is_empty() {
        return Vec::new();
    }
    vec![InUse { part: Part::Itself, by: Use::OpenForWriting { processes } }]
}

/// Uses that are still there after a while. Programs that look for a free loop device, or have just made a file system,
/// have a device open for writing for a moment.
fn lasting(look: impl Fn() -> Vec<InUse>) -> Vec<InUse> {
    const PAUSE: Duration = Duration::from_millis(50);
    for _ in 0..4 {
        if look().is_empty() {
            return Vec::new();
        }
        std::thread::sleep(PAUSE);
    }
    look()
}

fn identities(family: &[(Part, BlockDevice)]) -> Vec<Identity> {
    family.iter().map(|(_, member)| Identity::Device(member.number)).collect()
}

fn processes_of(openers: &[Opener], device: &BlockDevice, which: impl Fn(&Opener) -> bool) -> Vec<Process> {
    let target = Identity::Device(device.number);
    let wanted = openers.iter().filter(|opener| opener.target == target && which(opener));
    wanted.map(|opener| opener.process.clone()).collect()
}

/// A device, its partitions and its disk: what shares bytes with it.
fn family(device: &BlockDevice) -> Vec<(Part, BlockDevice)> {
    let mut family = vec![(Part::Itself, device.clone())];
    family.extend(device.partitions().into_iter().map(|member| (Part::Partition(member.name.clone()), member)));
    family.extend(device.disk().map(|member| (Part::Disk(member.name.clone()), member)));
    family
}

/// Seeking tells the size of block devices too.
fn end_of(file: &mut File) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(0))?;
    Ok(end)
}

fn what(meta: &Metadata) -> &'static str {
    let kind = meta.file_type();
    match () {
        () if kind.is_dir() => "a directory",
        () if kind.is_file() => "a regular file",
        () if kind.is_block_device() => "a block device",
        () if kind.is_char_device() => "a character device",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "something else",
    }
}
