//! What a loop device is made of, as the kernel knows it (loop(4), `linux/loop.h`).

use std::path::PathBuf;

use super::identity::Identity;
use super::sysfs::{BlockDevice, Sysfs};

/// What a loop device is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoopBacking {
    /// A block device.
    Device(BlockDevice),
    /// A regular file.
    File(BackingFile),
    /// Something that can't be told: its file is gone or in another mount namespace, and the loop device's node can't be
    /// opened.
    Hidden(PathBuf),
}

/// A regular file behind a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackingFile {
    /// As the kernel prints it, for people: it can be gone, or be another file by now.
    pub(crate) path: PathBuf,
    /// Which file it is; `None` in a recorded tree whose files are not here.
    pub(crate) identity: Option<Identity>,
}

impl BackingFile {
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.identity, &other.identity) {
            (Some(own), Some(other)) => own == other,
            _ => self.path == other.path,
        }
    }
}

/// What a loop device is made of; `None` for a device that is no loop device, or one without anything behind it.
pub(crate) fn backing(sysfs: &Sysfs, device: &BlockDevice) -> Option<LoopBacking> {
    let path = PathBuf::from(device.text("loop/backing_file")?);
    if !sysfs.is_live() {
        return Some(match sysfs.block_of_source(&path) {
            Some(below) => LoopBacking::Device(below),
            None => {
                let identity = Identity::of_path(&path).ok().flatten();
                LoopBacking::File(BackingFile { path, identity })
            }
        });
    }
    #[cfg(target_os = "linux")]
    match status::of(device) {
        Ok(status) => {
            let Some(below) = status.block_number() else {
                return Some(LoopBacking::File(BackingFile { path, identity: Some(status.file()) }));
            };
            return Some(sysfs.block(below).map_or(LoopBacking::Hidden(path), LoopBacking::Device));
        }
        // Detached since the attribute was read.
        Err(rustix::io::Errno::NXIO) => return None,
        // No right, no node: then the path has to do.
        Err(_) => {}
    }
    Some(match Identity::of_path(&path) {
        #[cfg(target_os = "linux")]
        Ok(Some(Identity::Device(number))) => {
            sysfs.block(number).map_or(LoopBacking::Hidden(path), LoopBacking::Device)
        }
        Ok(Some(identity)) => LoopBacking::File(BackingFile { path, identity: Some(identity) }),
        Ok(None) | Err(_) => LoopBacking::Hidden(path),
    })
}

/// `LOOP_GET_STATUS64`. The path in `/sys` is one at the time of attaching, in the attacher's mount namespace; only the
/// driver knows what it has open.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "an ioctl that rustix has no wrapper for")]
mod status {
    use rustix::fs::{Mode, OFlags, fstat, open};
    use rustix::io::{Errno, Result};
    use rustix::ioctl::{Getter, Opcode, ioctl};

    use super::super::number::DeviceNumber;
    use super::{BlockDevice, Identity};

    const LOOP_GET_STATUS64: Opcode = 0x4C05;

    /// `struct loop_info64` as words; it is 232 bytes long, and what is read of it comes first.
    type LoopInfo64 = [u64; 29];

    /// `lo_device`, `lo_inode` and `lo_rdevice`: `st_dev`, `st_ino` and `st_rdev` of what is behind.
    pub(super) struct Status {
        device: u64,
        inode: u64,
        number: u64,
    }

    impl Status {
        /// The number of the block device behind; `None` for a regular file.
        pub(super) fn block_number(&self) -> Option<DeviceNumber> {
            (self.number != 0).then(|| DeviceNumber::from_raw(self.number))
        }

        pub(super) fn file(&self) -> Identity {
            Identity::File { device: self.device, inode: self.inode }
        }
    }

    pub(super) fn of(device: &BlockDevice) -> Result<Status> {
        let file = open(device.node(), OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        let stat = fstat(&file)?;
        if DeviceNumber::from_raw(stat.st_rdev) != device.number {
            return Err(Errno::NODEV);
        }
        // SAFETY: the opcode is `LOOP_GET_STATUS64` on every architecture (linux/loop.h), the file is a block device of
        // the loop driver's number, and the driver fills in one `struct loop_info64`, which the output has the size and
        // at least the alignment of; all bit patterns are valid.
        let [device, inode, number, ..] = unsafe { ioctl(&file, Getter::<LOOP_GET_STATUS64, LoopInfo64>::new()) }?;
        Ok(Status { device, inode, number })
    }
}
