//! Cache truth: dropping a file from the page cache, and seeing what is in it.

use std::fs::File;
use std::io;

/// How much of a file is in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Pages of the looked-at range that are in memory.
    pub resident_pages: u64,
    /// Pages of the range.
    pub pages: u64,
}

impl Residency {
    /// The share in memory in whole percent, rounded up: 0 only if there is nothing.
    #[must_use]
    pub const fn percent(&self) -> u64 {
        if self.pages == 0 { 0 } else { (self.resident_pages * 100).div_ceil(self.pages) }
    }
}

/// Asks the system to drop the first `bytes` of a file from its cache. Dirty pages cannot be dropped, so they are
/// written out first.
///
/// # Errors
/// What `fdatasync` or `posix_fadvise` report; `Unsupported` where the system has no such call.
pub fn drop_pages(file: &File, bytes: u64) -> io::Result<()> {
    sys::drop_pages(file, bytes)
}

/// Asks the system to forget the unchanged pages that it has of a file or device, and changes nothing. A disk and its
/// partitions have pages of their own: what was written through a partition does not show in pages that were read from
/// the disk before.
pub fn forget_clean_pages(file: &File) {
    sys::forget_clean_pages(file);
}

/// Looks at the first `bytes` of a file: `cachestat` (Linux 6.5), or else `mincore` on a mapping.
///
/// # Errors
/// What the system reports; `Unsupported` where it cannot tell.
pub fn residency(file: &File, bytes: u64) -> io::Result<Residency> {
    sys::residency(file, bytes)
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "two system calls that rustix does not have")]
mod sys {
    use super::{File, Residency, io};
    use rustix::fs::{Advice, fadvise};
    use std::num::NonZeroU64;
    use std::os::fd::AsRawFd;
    use std::ptr;

    /// From `include/uapi/asm-generic/unistd.h`, the same on every architecture.
    const SYS_CACHESTAT: libc::c_long = 451;

    /// `struct cachestat_range` of `include/uapi/linux/mman.h`.
    #[repr(C)]
    struct Range {
        offset: u64,
        len: u64,
    }

    /// `struct cachestat` of `include/uapi/linux/mman.h`.
    #[repr(C)]
    #[derive(Default)]
    struct CacheStat {
        cached: u64,
        dirty: u64,
        writeback: u64,
        evicted: u64,
        recently_evicted: u64,
    }

    pub(super) fn drop_pages(file: &File, bytes: u64) -> io::Result<()> {
        // A file opened for reading only can still have dirty pages of another writer; a refusal of the sync shows in
        // the residency.
        let _ = file.sync_data();
        fadvise(file, 0, NonZeroU64::new(bytes), Advice::DontNeed)?;
        Ok(())
    }

    pub(super) fn forget_clean_pages(file: &File) {
        // Where it is refused the pages are what there is.
        let _ = fadvise(file, 0, None, Advice::DontNeed);
    }

    pub(super) fn residency(file: &File, bytes: u64) -> io::Result<Residency> {
        let page = rustix::param::page_size() as u64;
        let pages = bytes.div_ceil(page);
        if pages == 0 {
            return Ok(Residency { resident_pages: 0, pages: 0 });
        }
        match cachestat(file, bytes) {
            Ok(cached) => Ok(Residency { resident_pages: cached.min(pages), pages }),
            Err(_) => Ok(Residency { resident_pages: mincore(file, bytes, page as usize)?, pages }),
        }
    }

    fn cachestat(file: &File, len: u64) -> io::Result<u64> {
        let range = Range { offset: 0, len };
        let mut stat = CacheStat::default();
        // SAFETY: both structures have the layout of the kernel's and live across the call; an unknown call number is
        // answered with ENOSYS.
        let result = unsafe {
            libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), ptr::from_ref(&range), ptr::from_mut(&mut stat), 0_u32)
        };
        if result == 0 { Ok(stat.cached) } else { Err(io::Error::last_os_error()) }
    }

    /// Maps the file in parts, so that memory stays small whatever its size.
    fn mincore(file: &File, bytes: u64, page: usize) -> io::Result<u64> {
        const PART: u64 = 256 << 20;
        let mut resident = 0;
        let mut states = vec![0_u8; (PART as usize).div_ceil(page)];
        let mut at = 0;
        while at < bytes {
            let len = usize::try_from((bytes - at).min(PART)).unwrap_or(usize::MAX);
            let offset = libc::off_t::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
            // SAFETY: a fresh mapping at an address of the kernel's choice; it is only asked about, never read.
            let map = unsafe {
                libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), offset)
            };
            if map == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: `states` has a byte for each page of the mapping.
            let result = unsafe { libc::mincore(map, len, states.as_mut_ptr()) };
            let error = io::Error::last_os_error();
            // SAFETY: the mapping made above, which nothing else refers to.
            unsafe { libc::munmap(map, len) };
            if result != 0 {
                return Err(error);
            }
            resident += states.iter().take(len.div_ceil(page)).filter(|s| **s & 1 == 1).count() as u64;
            at += len as u64;
        }
        Ok(resident)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::io::{Read, Seek, Write};

        fn file_on_disk(bytes: usize) -> File {
            // Not in /tmp, which may be a tmpfs whose pages cannot be dropped.
            let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
            file.write_all(&vec![7; bytes]).unwrap();
            file
        }

        #[test]
        fn dropping_empties_the_cache_and_reading_fills_it() {
            let mut file = file_on_disk(1 << 20);
            assert!(residency(&file, 1 << 20).unwrap().resident_pages > 0);
            drop_pages(&file, 1 << 20).unwrap();
            assert_eq!(residency(&file, 1 << 20).unwrap().percent(), 0);
            file.rewind().unwrap();
            file.read_to_end(&mut Vec::new()).unwrap();
            assert_eq!(residency(&file, 1 << 20).unwrap().percent(), 100);
        }

        #[test]
        fn both_calls_agree() {
            let mut file = file_on_disk(40 * 4096);
            drop_pages(&file, 40 * 4096).unwrap();
            file.rewind().unwrap();
            file.read_exact(&mut [0; 10]).unwrap();
            let page = rustix::param::page_size();
            match cachestat(&file, 40 * 4096) {
                Ok(cached) => assert_eq!(mincore(&file, 40 * 4096, page).unwrap(), cached),
                Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOSYS), "a kernel before 6.5"),
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use super::{File, Residency, io};

    pub(super) fn drop_pages(_: &File, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn forget_clean_pages(_: &File) {}

    pub(super) fn residency(_: &File, _: u64) -> io::Result<Residency> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
