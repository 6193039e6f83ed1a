//! One `pread` or `pwrite` at a time.

use std::fs::File;
use std::io;

use super::inline::{Blocking, InlineQueue, Transfer};
use super::{EngineEntry, QueueSide};

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "sync",
    about: "one pread or pwrite after the other",
    direct: true,
    queue_depth_max: 1,
    blocking: Some(|| Ok(Blocking::boxed(Positioned))),
    queue: Some(QueueSide {
        depth_max: u32::MAX,
        options: &[],
        concurrent: false,
        gathers: false,
        make: |setup| InlineQueue::boxed(Positioned, setup),
    }),
};

/// Reading and writing at a place, as each system calls it.
pub(super) struct Positioned;

// The system call itself: libc's wrapper is a cancellation point, which costs tens of nanoseconds in a process with threads.
#[cfg(unix)]
impl Transfer for Positioned {
    #[inline]
    fn read_at(&self, file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::pread(file, buf, offset)?)
    }

    #[inline]
    fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::pwrite(file, data, offset)?)
    }
}

#[cfg(windows)]
impl Transfer for Positioned {
    fn read_at(&self, file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(file, buf, offset)
    }

    fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(file, data, offset)
    }
}
