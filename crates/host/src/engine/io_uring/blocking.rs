//! The blocking side: an operation is submitted and waited for with one call.
#![allow(unsafe_code, reason = "the caller's buffer is handed to the kernel, for the time of a call")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use flashmark_core::queue::Patience;
use io_uring::types::{Fd, FsyncFlags};
use io_uring::{opcode, squeue};

use super::ring::{Ring, RingOptions};
use crate::engine::{Engine, not_open};

pub(super) fn make() -> io::Result<Box<dyn Engine>> {
    let mut alone = Alone::new(RingOptions::default());
    // A kernel that refuses is to say so here, and not at the first operation.
    alone.ring()?;
    Ok(Box::new(UringBlocking { alone, file: None }))
}

/// A ring for one operation at a time.
pub(super) struct Alone {
    options: RingOptions,
    ring: Option<Ring>,
}

impl Alone {
    /// Makes the ring when it is first used.
    pub(super) const fn new(options: RingOptions) -> Self {
        Self { options, ring: None }
    }

    #[inline]
    fn ring(&mut self) -> io::Result<&mut Ring> {
        let ring = match self.ring.take() {
            Some(ring) => ring,
            None => super::new_ring(1, self.options).map_err(io::Error::other)?,
        };
        Ok(self.ring.insert(ring))
    }

    /// Reads once.
    #[inline]
    pub(super) fn read_at(&mut self, file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let fd = Fd(file.as_raw_fd());
        let entry = opcode::Read::new(fd, buf.as_mut_ptr(), length(buf.len())).offset(offset).build();
        // SAFETY: `buf` is borrowed mutably until the call returns.
        unsafe { self.run(entry) }
    }

    /// Runs one operation and gives its count.
    ///
    /// # Safety
    /// The memory that the entry names lives and is left alone until this returns.
    #[inline]
    unsafe fn run(&mut self, entry: squeue::Entry) -> io::Result<usize> {
        let ring = self.ring()?;
        // SAFETY: the caller's promise; there is no return below with the operation under way or in the ring.
        if !unsafe { ring.push(&entry) } {
            return Err(io::Error::from_raw_os_error(libc::EBUSY));
        }
        let mut outcome = None;
        loop {
            if ring.under_way() == 0 {
                if let Err(error) = ring.submit_and_wait(1, Patience::Forever) {
                    // The entry is still there, and goes with the ring.
                    self.ring = None;
                    return Err(error);
                }
            } else if let Err(error) = ring.wait(1, Patience::Forever) {
                give_up(&error);
            }
            ring.take(1, |_, result| outcome = Some(result));
            if let Some(result) = outcome {
                let count = usize::try_from(result);
                return count.map_err(|_| io::Error::from_raw_os_error(-result));
            }
        }
    }
}

/// The kernel has the caller's memory and does not say when it is done with it. This has no reason that could pass, and
/// going on would be to risk that memory; it is not known to happen.
#[cold]
fn give_up(error: &io::Error) -> ! {
    let _ = io::Write::write_all(&mut io::stderr(), format!("io_uring does not answer any more: {error}\n").as_bytes());
    std::process::abort()
}

struct UringBlocking {
    alone: Alone,
    file: Option<File>,
}

impl UringBlocking {
    #[inline]
    fn descriptor(&self) -> io::Result<Fd> {
        self.file.as_ref().map(|file| Fd(file.as_raw_fd())).ok_or_else(not_open)
    }
}

/// A length as entries have it; more than a call moves anyway is cut.
#[inline]
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Engine for UringBlocking {
    fn open(&mut self, path: &Path, how: &OpenOptions) -> io::Result<()> {
        self.file = None;
        self.file = Some(how.open(path)?);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        self.file = None;
        Ok(())
    }

    #[inline]
    fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.alone.read_at(self.file.as_ref().ok_or_else(not_open)?, offset, buf)
    }

    #[inline]
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        let entry = opcode::Write::new(self.descriptor()?, data.as_ptr(), length(data.len())).offset(offset).build();
        // SAFETY: `data` is borrowed until the call returns, and only read.
        unsafe { self.alone.run(entry) }
    }

    fn sync(&mut self) -> io::Result<()> {
        let entry = opcode::Fsync::new(self.descriptor()?).flags(FsyncFlags::DATASYNC).build();
        // SAFETY: the entry names no memory.
        unsafe { self.alone.run(entry) }.map(drop)
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.file.as_ref().ok_or_else(not_open)?.set_len(bytes)
    }

    fn with_file(&mut self, look: &mut dyn FnMut(&File) -> io::Result<()>) -> io::Result<()> {
        look(self.file.as_ref().ok_or_else(not_open)?)
    }
}
