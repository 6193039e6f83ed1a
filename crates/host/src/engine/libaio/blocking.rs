//! The blocking side: an operation is submitted and waited for.
#![allow(unsafe_code, reason = "the caller's buffer is handed to the kernel, for the time of a call")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use flashmark_core::queue::Patience;

use super::context::{Command, Context, Control};
use super::refusal;
use crate::engine::inline::uninterrupted;
use crate::engine::{Engine, not_open};

pub(super) fn make() -> io::Result<Box<dyn Engine>> {
    let context = Context::new(1).map_err(|error| io::Error::other(refusal::of(1, error)))?;
    Ok(Box::new(Blocking { context, file: None }))
}

struct Blocking {
    context: Context,
    file: Option<File>,
}

impl Blocking {
    fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(not_open)
    }

    /// Runs one operation and gives its count.
    ///
    /// # Safety
    /// The memory lives and is left alone until this returns.
    unsafe fn run(&mut self, command: Command, address: u64, bytes: usize, offset: u64) -> io::Result<usize> {
        let mut control = Control::new(0, command, self.file()?.as_raw_fd(), address, bytes as u64, offset);
        let mut block: *mut Control = &raw mut control;
        // SAFETY: the caller's promise, and there is no return below with the operation under way.
        uninterrupted(|| unsafe { self.context.submit(&raw mut block, 1) })?;
        while match self.context.wait(1, 1, Patience::Forever) {
            Ok(count) => count == 0,
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => true,
            Err(error) => {
                // Waits for it in another way.
                if !self.context.destroy() {
                    give_up(&error);
                }
                return Err(error);
            }
        } {}
        let result = self.context.events()[0].result;
        usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-(result as i32)))
    }
}

/// The kernel has the caller's memory and does not say when it is done with it. This has no reason that could pass, and
/// going on would be to risk that memory; it is not known to happen.
#[cold]
fn give_up(error: &io::Error) -> ! {
    let _ = io::Write::write_all(&mut io::stderr(), format!("libaio does not answer any more: {error}\n").as_bytes());
    std::process::abort()
}

impl Engine for Blocking {
    fn open(&mut self, path: &Path, how: &OpenOptions) -> io::Result<()> {
        self.file = None;
        self.file = Some(how.open(path)?);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        self.file = None;
        Ok(())
    }

    fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        // SAFETY: `buf` is borrowed mutably until the call returns.
        unsafe { self.run(Command::Read, buf.as_mut_ptr().expose_provenance() as u64, buf.len(), offset) }
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        // SAFETY: `data` is borrowed until the call returns, and only read.
        unsafe { self.run(Command::Write, data.as_ptr().expose_provenance() as u64, data.len(), offset) }
    }

    fn sync(&mut self) -> io::Result<()> {
        // SAFETY: a sync names no memory.
        match unsafe { self.run(Command::Fdsync, 0, 0, 0) } {
            // Before Linux 4.18.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => self.file()?.sync_data(),
            result => result.map(drop),
        }
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.file()?.set_len(bytes)
    }

    fn with_file(&mut self, look: &mut dyn FnMut(&File) -> io::Result<()>) -> io::Result<()> {
        look(self.file()?)
    }
}
