//! Syncs and trims as plain calls, for engines that have no other way to them.

use std::fs::File;
use std::io;

use flashmark_core::queue::{IoKind, Request};

use super::inline::uninterrupted;

/// Does what is neither a read nor a write; those are refused.
pub(super) fn run(request: &Request, file: &File) -> io::Result<()> {
    match request.kind {
        IoKind::Sync => uninterrupted(|| file.sync_all()),
        IoKind::DataSync => uninterrupted(|| file.sync_data()),
        IoKind::RangeSync(_) | IoKind::Trim => system::run(request, file),
        IoKind::Read | IoKind::Write => Err(io::ErrorKind::InvalidInput.into()),
    }
}

#[cfg(target_os = "linux")]
pub(super) use system::{punch_hole_mode, range_sync_flags};

#[cfg(target_os = "linux")]
mod system {
    #![allow(unsafe_code, reason = "two system calls that rustix does not have")]

    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileTypeExt;

    use flashmark_core::queue::RangeSync;
    use rustix::fs::FallocateFlags;

    use super::{File, IoKind, Request, io, uninterrupted};

    pub(super) fn run(request: &Request, file: &File) -> io::Result<()> {
        match request.kind {
            IoKind::RangeSync(steps) => uninterrupted(|| sync_range(file, request, steps)),
            _ if file.metadata()?.file_type().is_block_device() => uninterrupted(|| discard(file, request)),
            _ => uninterrupted(|| {
                Ok(rustix::fs::fallocate(file, punch_hole_mode(), request.offset, request.bytes.into())?)
            }),
        }
    }

    /// How `fallocate` gives a range of a file back.
    pub(in super::super) fn punch_hole_mode() -> FallocateFlags {
        FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE
    }

    /// The flags of `sync_file_range`.
    pub(in super::super) const fn range_sync_flags(steps: RangeSync) -> u32 {
        let mut flags = 0;
        if steps.wait_before {
            flags |= libc::SYNC_FILE_RANGE_WAIT_BEFORE;
        }
        if steps.write {
            flags |= libc::SYNC_FILE_RANGE_WRITE;
        }
        if steps.wait_after {
            flags |= libc::SYNC_FILE_RANGE_WAIT_AFTER;
        }
        flags
    }

    fn sync_range(file: &File, request: &Request, steps: RangeSync) -> io::Result<()> {
        // Offsets were checked to fit (`Slots::check`).
        let offset = i64::try_from(request.offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a call on an open file that touches no memory of ours.
        let answer =
            unsafe { libc::sync_file_range(file.as_raw_fd(), offset, request.bytes.into(), range_sync_flags(steps)) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// `BLKDISCARD` of linux/fs.h, `_IO(0x12, 119)`.
    const BLKDISCARD: libc::Ioctl = 0x1277;

    fn discard(file: &File, request: &Request) -> io::Result<()> {
        let range = [request.offset, u64::from(request.bytes)];
        // SAFETY: the call reads two numbers of 64 bits, which `range` is.
        let answer = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{File, Request, io};

    pub(super) fn run(_request: &Request, _file: &File) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(super::super::errno::UNSUPPORTED.number()))
    }
}
