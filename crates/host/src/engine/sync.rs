//! One `pread` or `pwrite` at a time.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::{Engine, EngineEntry, not_open};

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "sync",
    about: "one pread or pwrite after the other",
    direct: true,
    queue_depth_max: 1,
    make: || Ok(Box::new(Sync { file: None })),
};

struct Sync {
    file: Option<File>,
}

impl Sync {
    #[inline]
    fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(not_open)
    }
}

impl Engine for Sync {
    fn open(&mut self, path: &Path, how: &OpenOptions) -> io::Result<()> {
        self.file = None;
        self.file = Some(how.open(path)?);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        // Dropping a `File` is `close` without its result, which on Linux carries no news that a sync would not.
        self.file = None;
        Ok(())
    }

    #[inline]
    fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let file = self.file()?;
        loop {
            match positioned::read_at(file, buf, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    #[inline]
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        let file = self.file()?;
        loop {
            match positioned::write_at(file, data, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file()?.sync_data()
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.file()?.set_len(bytes)
    }

    fn with_file(&mut self, look: &mut dyn FnMut(&File) -> io::Result<()>) -> io::Result<()> {
        look(self.file()?)
    }
}

/// Reading and writing at a place, as each system calls it.
mod positioned {
    use super::{File, io};

    // The system call itself: libc's wrapper is a cancellation point, which costs tens of nanoseconds in a process with
    // threads.
    #[cfg(unix)]
    #[inline]
    pub(super) fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pread(file, buf, offset)?)
    }

    #[cfg(unix)]
    #[inline]
    pub(super) fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pwrite(file, data, offset)?)
    }

    #[cfg(windows)]
    pub(super) fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(file, buf, offset)
    }

    #[cfg(windows)]
    pub(super) fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(file, data, offset)
    }
}
