//! Direct I/O: whether it can be had, and the flag that asks for it.

use std::fs::OpenOptions;
use std::path::Path;

use flashmark_core::workload::{Direct, FileMode, Workload};

use super::DirectState;
use super::truth::Truth;
use crate::engine::EngineEntry;

/// Decides before anything is opened, so that the record can say why not.
pub(super) fn decide(path: &Path, workload: &Workload, engine: &EngineEntry, truth: &Truth) -> DirectState {
    if workload.direct == Direct::Buffered {
        return DirectState::Buffered;
    }
    if truth.memory {
        return DirectState::Not(truth.memory_why());
    }
    if !engine.direct {
        return DirectState::Not(format!("the engine `{}` copies through a buffer of its own", engine.name));
    }
    match sys::alignment(path) {
        Err(why) => DirectState::Not(why),
        Ok(align) if workload.file == FileMode::Append && !end_is_aligned(path, align) => DirectState::Not(format!(
            "the file ends at no multiple of {align} bytes, which direct I/O needs here to go on from it"
        )),
        Ok(align) if !workload.block_bytes.is_multiple_of(align) => DirectState::Not(format!(
            "a block of {} bytes is not a multiple of {align} bytes, which direct I/O needs here",
            workload.block_bytes
        )),
        Ok(_) => DirectState::Direct,
    }
}

fn end_is_aligned(path: &Path, align: u32) -> bool {
    super::system::len_bytes(path).is_ok_and(|len| len.is_multiple_of(u64::from(align)))
}

/// Whether the kernel tells what direct I/O there is, so that it can be taken at its word for writes, which leave no
/// trace in the file's pages.
pub(super) fn is_told(path: &Path) -> bool {
    sys::is_told(path)
}

/// Asks for direct I/O on opening.
pub(super) fn set_flag(options: &mut OpenOptions) {
    sys::set_flag(options);
}

#[cfg(target_os = "linux")]
mod sys {
    use super::{OpenOptions, Path};
    use rustix::fs::{AtFlags, CWD, OFlags, StatxFlags, statx};
    use std::fs::File;
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

    use flashmark_core::runner::BUFFER_ALIGN;

    pub(super) fn set_flag(options: &mut OpenOptions) {
        options.custom_flags(OFlags::DIRECT.bits().cast_signed());
    }

    /// What offsets and lengths must be multiples of, or why there is no direct I/O.
    pub(super) fn alignment(path: &Path) -> Result<u32, String> {
        let mut options = OpenOptions::new();
        options.read(true);
        set_flag(&mut options);
        // The only sure sign: a file system without direct I/O refuses to open.
        let file = options.open(path).map_err(|error| format!("the file system refuses direct I/O ({error})"))?;
        let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).map_err(|error| error.to_string())?;
        // statx(2): since Linux 6.1; both are 0 where direct I/O is not supported for this file.
        if stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0 {
            return match (stat.stx_dio_mem_align, stat.stx_dio_offset_align) {
                (0, _) | (_, 0) => Err("the kernel reports no direct I/O for this file".into()),
                (memory, _) if memory as usize > BUFFER_ALIGN => {
                    Err(format!("direct I/O needs memory aligned to {memory} bytes here"))
                }
                (_, offset) => Ok(offset),
            };
        }
        Ok(logical_block(&file))
    }

    /// Whether the kernel knows and tells what direct I/O there is on this path, so that it can be taken at its word.
    pub(super) fn is_told(path: &Path) -> bool {
        let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN);
        stat.is_ok_and(|stat| stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0)
    }

    /// Where the kernel does not tell (before Linux 6.1, and btrfs): a device's logical block, the block of a btrfs
    /// (which buffers what is smaller), and for other files the 512 bytes that most allow. The first operation tells if
    /// it was wrong.
    fn logical_block(file: &File) -> u32 {
        /// `BTRFS_SUPER_MAGIC` of `linux/magic.h`.
        const BTRFS: i64 = 0x9123_683e;
        if file.metadata().is_ok_and(|m| m.file_type().is_block_device()) {
            return rustix::fs::ioctl_blksszget(file).unwrap_or(512);
        }
        match rustix::fs::fstatfs(file) {
            #[allow(clippy::unnecessary_cast, clippy::cast_lossless, reason = "the types differ between architectures")]
            Ok(stat) if stat.f_type as i64 == BTRFS => u32::try_from(stat.f_bsize).unwrap_or(4096),
            _ => 512,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use super::{OpenOptions, Path};

    pub(super) fn set_flag(_: &mut OpenOptions) {}

    pub(super) fn is_told(_: &Path) -> bool {
        false
    }

    pub(super) fn alignment(_: &Path) -> Result<u32, String> {
        Err("direct I/O is known for Linux only".into())
    }
}
