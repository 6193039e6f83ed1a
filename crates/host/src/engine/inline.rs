//! Queues that do one thing after the other, inside of `push`; and the blocking side of the same engines.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};

use super::calls;
use super::errno;
use super::setup::{EngineError, QueueSetup};
use super::slots::Slots;
use super::{Engine, not_open};

/// How data is moved, once, by one call.
pub(super) trait Transfer {
    /// Reads at a place; a short count is the system's.
    fn read_at(&self, file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Writes at a place; a short count is the system's.
    fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> io::Result<usize>;
}

/// A queue that completes everything when it is pushed.
pub(super) struct InlineQueue<T> {
    transfer: T,
    files: Vec<File>,
    slots: Slots,
}

impl<T: Transfer + Send + 'static> InlineQueue<T> {
    pub(super) fn boxed(transfer: T, setup: QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError> {
        let slots = Slots::new(&setup)?;
        Ok(Box::new(Self { transfer, files: setup.files, slots }))
    }
}

impl<T: Transfer> Queue for InlineQueue<T> {
    fn depth(&self) -> u32 {
        self.slots.depth()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.slots.check(request, self.files.len())?;
        let file = &self.files[request.file as usize];
        let bytes = request.bytes as usize;
        let moved = match request.kind {
            IoKind::Read => {
                let buf = &mut self.slots.buffer(request.slot)[..bytes];
                uninterrupted(|| self.transfer.read_at(file, request.offset, buf))
            }
            IoKind::Write => {
                let data = &self.slots.buffer(request.slot)[..bytes];
                uninterrupted(|| self.transfer.write_at(file, request.offset, data))
            }
            _ => calls::run(request, file).map(|()| 0),
        };
        // No more than was asked for, which is a `u32`.
        let result = moved.map(|bytes| bytes as u32).map_err(|error| errno::code_of(&error));
        Ok(Some(Completion { slot: request.slot, result }))
    }

    #[inline]
    fn submit(&mut self) -> Result<u32, ErrorCode> {
        Ok(0)
    }

    #[inline]
    fn reap(&mut self, _at_least: u32, _patience: Patience, _done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        Ok(())
    }

    #[inline]
    fn under_way(&self) -> u32 {
        0
    }
}

/// The blocking side: one open file.
pub(super) struct Blocking<T> {
    transfer: T,
    file: Option<File>,
}

impl<T: Transfer + 'static> Blocking<T> {
    pub(super) fn boxed(transfer: T) -> Box<dyn Engine> {
        Box::new(Self { transfer, file: None })
    }

    #[inline]
    fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(not_open)
    }
}

impl<T: Transfer + 'static> Engine for Blocking<T> {
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
        uninterrupted(|| self.transfer.read_at(file, offset, buf))
    }

    #[inline]
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        let file = self.file()?;
        uninterrupted(|| self.transfer.write_at(file, offset, data))
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

/// Repeats a call that a signal interrupted before it did anything.
#[inline]
pub(super) fn uninterrupted<R>(mut call: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
