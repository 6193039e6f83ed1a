//! What a path leads to, and opening it, with every error as a refusal.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::identity::Identity;
use super::refusal::Refusal;
use super::sysfs::{BlockDevice, Sysfs};

pub(crate) const DEVICE_REMEDY: &str = "run as root, or join the group that owns the device (often `disk`)";

pub(crate) fn metadata(path: &Path) -> Result<Metadata, Refusal> {
    std::fs::metadata(path)
        .map_err(|error| not_opened(path, error, "run as root, or get the right to enter the directories above it"))
}

pub(crate) fn device_at(path: &Path, meta: &Metadata) -> Result<BlockDevice, Refusal> {
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

/// `O_RDWR | O_EXCL | O_CLOEXEC`, or `O_RDONLY` of it: without `O_CREAT`, `O_EXCL` on a block device fails with EBUSY if
/// the system uses it, and keeps others from using it (open(2)).
pub(crate) fn open_exclusive(path: &Path, writing: bool) -> io::Result<File> {
    // The type of the flags is the system's; O_EXCL is small and positive everywhere.
    #[allow(clippy::cast_possible_wrap)]
    let excl = OFlags::EXCL.bits() as i32;
    OpenOptions::new().read(true).write(writing).custom_flags(excl).open(path)
}

pub(crate) fn not_opened(path: &Path, error: io::Error, remedy: &'static str) -> Refusal {
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

/// The size of an open file or device; seeking tells that of block devices too.
pub(crate) fn size_of(path: &Path, file: &mut File) -> Result<u64, Refusal> {
    let end = file.seek(SeekFrom::End(0)).and_then(|end| file.seek(SeekFrom::Start(0)).map(|_| end));
    end.map_err(|source| Refusal::Io { path: path.into(), source })
}

pub(crate) fn what(meta: &Metadata) -> &'static str {
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
