//! The file that a file system is made in.
//!
//! Every byte of it is written before the file system is measured. A sparse file would have the file system below find space
//! in the middle of the measurement, and reading a hole reads no medium; space that is only reserved is little better, as
//! its first use changes what the file system below knows of it, and reading it reads nothing.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FallocateFlags, SeekFrom, StatxFlags, fallocate, seek, statvfs, statx};

use super::super::error::MakeError;
use crate::cache;
use crate::test_file::TestFile;

/// What is written at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Whether the directory has room for an image.
pub(super) fn check_room(dir: &Path, bytes: u64) -> Result<(), MakeError> {
    let stat = statvfs(dir).map_err(|error| MakeError::Image { dir: dir.to_owned(), source: error.into() })?;
    // Some file systems report no sizes at all. Down to whole MiB, for people.
    let free_bytes = stat.f_bfree.saturating_mul(stat.f_frsize) >> 20 << 20;
    if stat.f_blocks > 0 && free_bytes < bytes {
        return Err(MakeError::NoRoom { dir: dir.to_owned(), free_bytes, needed_bytes: bytes });
    }
    Ok(())
}

/// Makes the image.
pub(super) fn create(dir: &Path, bytes: u64, stop: &dyn Fn() -> bool) -> Result<TestFile, MakeError> {
    let failed = |source: io::Error| MakeError::Image { dir: dir.to_owned(), source };
    let image = TestFile::create(dir).map_err(failed)?;
    let file = image.lease();
    // In one piece, where that can be had, and without room an error before anything is written.
    match fallocate(file, FallocateFlags::empty(), 0, bytes).map_err(io::Error::from) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(failed(error)),
        _ => {}
    }
    write_zeros(file, 0..bytes, stop).map_err(|error| interrupted_or(error, failed))?;
    file.sync_all().map_err(failed)?;
    // It is in nobody's way if it stays.
    let _ = cache::drop_pages(file, bytes);
    Ok(image)
}

/// Writes what the program that made the file system had zeroed without a write, which leaves space that is reserved and not
/// written (mke2fs does so with the journal and the tables of inodes). Such ranges read as zeros before and after.
pub(super) fn fill(dir: &Path, file: &File, stop: &dyn Fn() -> bool) -> Result<(), MakeError> {
    let failed = |source: io::Error| MakeError::Image { dir: dir.to_owned(), source };
    let bytes = file.metadata().map_err(failed)?.len();
    let mut at = 0;
    // A file system that knows of no holes tells the end of the file.
    while let Ok(hole @ 0..) = seek(file, SeekFrom::Hole(at))
        && hole < bytes
    {
        let end = seek(file, SeekFrom::Data(hole)).unwrap_or(bytes);
        write_zeros(file, hole..end, stop).map_err(|error| interrupted_or(error, failed))?;
        at = end;
    }
    file.sync_all().map_err(failed)?;
    // As above.
    let _ = cache::drop_pages(file, bytes);
    Ok(())
}

/// Asked to stop, it fails with the kind `Interrupted`, and with that kind then only.
fn write_zeros(file: &File, range: Range<u64>, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let zeros = vec![0; CHUNK_BYTES];
    let mut at = range.start;
    while at < range.end {
        if stop() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let chunk = zeros.len().min(usize::try_from(range.end - at).unwrap_or(usize::MAX));
        // It goes on by itself when a signal interrupts it.
        file.write_all_at(&zeros[..chunk], at)?;
        at += chunk as u64;
    }
    Ok(())
}

fn interrupted_or(error: io::Error, failed: impl Fn(io::Error) -> MakeError) -> MakeError {
    if error.kind() == io::ErrorKind::Interrupted { MakeError::Interrupted } else { failed(error) }
}

/// The block that a loop device on the file needs to pass the page cache by (statx(2), since Linux 6.1).
pub(super) fn direct_block_bytes(file: &File) -> u32 {
    const SECTOR: u32 = 512;
    let stat = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    let told = stat.ok().filter(|stat| stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0);
    let page = u32::try_from(rustix::param::page_size()).unwrap_or(4096);
    told.map(|stat| stat.stx_dio_offset_align)
        .filter(|align| align.is_power_of_two() && *align <= page)
        .map_or(SECTOR, |align| align.max(SECTOR))
}
