//! A mapping of a whole file.
#![allow(unsafe_code, reason = "memory that is a file")]

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::ptr::{self, NonNull};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};

use super::bus_error::Guard;
use crate::engine::errno;

/// A mapping of a file, as long as the file was when it was made. Its memory is never borrowed, only copied from and to by
/// address, since others can change the file at any time.
#[derive(Debug)]
pub(super) struct Map {
    /// Nothing is mapped of an empty file.
    mapped: Option<Mapped>,
}

#[derive(Debug)]
struct Mapped {
    start: NonNull<u8>,
    bytes: usize,
    protection: ProtFlags,
    guard: Guard,
}

// SAFETY: a mapping is the process's, and bound to no thread.
unsafe impl Send for Mapped {}

impl Map {
    /// Maps a file that is open for reading, and for writing if that is wanted.
    pub(super) fn new(file: &File) -> io::Result<Self> {
        let protection = match fcntl_getfl(file)? & OFlags::ACCMODE {
            OFlags::RDONLY => ProtFlags::READ,
            _ => ProtFlags::READ | ProtFlags::WRITE,
        };
        // Block devices have their length at their end.
        let length = (&*file).seek(SeekFrom::End(0))?;
        let bytes = usize::try_from(length).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))?;
        if bytes == 0 {
            return Ok(Self { mapped: None });
        }
        // SAFETY: the kernel chooses a place where nothing is.
        let start = unsafe { mmap(ptr::null_mut(), bytes, protection, MapFlags::SHARED, file, 0) }?;
        let Some(start) = NonNull::new(start.cast::<u8>()) else { return Err(io::ErrorKind::OutOfMemory.into()) };
        let guard = Guard::new(start.addr().get(), bytes)?;
        Ok(Self { mapped: Some(Mapped { start, bytes, protection, guard }) })
    }

    /// No mapping.
    pub(super) const fn none() -> Self {
        Self { mapped: None }
    }

    /// How many bytes are mapped.
    pub(super) fn bytes(&self) -> u64 {
        self.mapped.as_ref().map_or(0, |mapped| mapped.bytes as u64)
    }

    /// Reads; short at the end of the mapping.
    #[inline]
    pub(super) fn read(&mut self, file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Some(mapped) = &mut self.mapped else { return Ok(0) };
        let Some((at, bytes)) = mapped.part(offset, buf.len()) else { return Ok(0) };
        // SAFETY: `bytes` fit into the mapping from `at` on, and into `buf`, which is memory of its own.
        unsafe { ptr::copy_nonoverlapping(at.cast_const(), buf.as_mut_ptr(), bytes) }
        mapped.outcome(file, bytes)
    }

    /// Writes; short at the end of the mapping, and `EFBIG` behind it.
    #[inline]
    pub(super) fn write(&mut self, file: &File, offset: u64, data: &[u8]) -> io::Result<usize> {
        let too_large = || io::Error::from_raw_os_error(errno::TOO_LARGE.number());
        let mapped = self.mapped.as_mut().ok_or_else(too_large)?;
        if !mapped.protection.contains(ProtFlags::WRITE) {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        let (at, bytes) = mapped.part(offset, data.len()).ok_or_else(too_large)?;
        // SAFETY: `bytes` fit into the mapping from `at` on, which may be written, and into `data`, which is memory of its
        // own.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), at, bytes) }
        mapped.outcome(file, bytes)
    }

    /// Makes data durable, and what is needed to find it.
    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        match &self.mapped {
            // SAFETY: the mapping is there; the call changes no memory.
            Some(mapped) => Ok(unsafe { msync(mapped.start.as_ptr().cast(), mapped.bytes, MsyncFlags::SYNC) }?),
            None => file.sync_data(),
        }
    }
}

impl Mapped {
    /// Where an operation starts and how many bytes it has; `None` behind the end.
    #[inline]
    fn part(&self, offset: u64, bytes: usize) -> Option<(*mut u8, usize)> {
        let offset = usize::try_from(offset).ok().filter(|offset| *offset < self.bytes)?;
        // SAFETY: inside of the mapping.
        let at = unsafe { self.start.as_ptr().add(offset) };
        Some((at, bytes.min(self.bytes - offset)))
    }

    /// What came of a copy of so many bytes.
    #[inline]
    fn outcome(&self, file: &File, bytes: usize) -> io::Result<usize> {
        if self.guard.was_hit() { self.restore(file) } else { Ok(bytes) }
    }

    /// Puts the file back where a bus error left empty memory, and says what that means for the operation.
    #[cold]
    fn restore(&self, file: &File) -> io::Result<usize> {
        let at = self.start.as_ptr().cast();
        // SAFETY: replaces this very mapping, of which there are no borrows, by one of the same file and size.
        unsafe { mmap(at, self.bytes, self.protection, MapFlags::SHARED | MapFlags::FIXED, file, 0) }?;
        self.guard.reset();
        Err(io::Error::from_raw_os_error(errno::IO.number()))
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.guard.release();
        // SAFETY: the mapping is of `new`, and nothing uses it any more. It cannot fail for what was mapped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    fn file(bytes: u64) -> File {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).unwrap();
        file.set_len(bytes).unwrap();
        file
    }

    /// Without the guard this test would end the whole test program with SIGBUS.
    #[test]
    fn a_file_that_is_made_shorter_fails_the_operation_and_not_the_process() {
        let file = file(100_000);
        let mut map = Map::new(&file).unwrap();
        assert_eq!(map.write(&file, 0, &[7; 100_000]).unwrap(), 100_000);
        file.set_len(4096).unwrap();
        let mut buf = vec![1; 20_000];
        for _ in 0..2 {
            assert_eq!(map.read(&file, 8192, &mut buf).unwrap_err().raw_os_error(), Some(libc::EIO));
            assert_eq!(map.write(&file, 8192, &buf).unwrap_err().raw_os_error(), Some(libc::EIO));
        }
        // What is still there is the file's.
        assert_eq!(map.read(&file, 0, &mut buf[..4096]).unwrap(), 4096);
        assert!(buf[..4096].iter().all(|b| *b == 7));
        // And what comes back is.
        file.set_len(100_000).unwrap();
        assert_eq!(map.read(&file, 8192, &mut buf).unwrap(), 20_000);
        assert!(buf.iter().all(|b| *b == 0));
    }

    #[test]
    fn ends_of_mappings_are_ends_of_files() {
        let file = file(5000);
        let mut map = Map::new(&file).unwrap();
        assert_eq!(map.bytes(), 5000);
        let mut buf = [0; 1000];
        assert_eq!(map.read(&file, 4500, &mut buf).unwrap(), 500);
        assert_eq!(map.read(&file, 5000, &mut buf).unwrap(), 0);
        assert_eq!(map.read(&file, u64::MAX, &mut buf).unwrap(), 0);
        assert_eq!(map.write(&file, 4500, &buf).unwrap(), 500);
        assert_eq!(map.write(&file, 5000, &buf).unwrap_err().raw_os_error(), Some(libc::EFBIG));
        map.sync(&file).unwrap();
        assert_eq!(Map::new(&self::file(0)).unwrap().bytes(), 0);
    }
}
