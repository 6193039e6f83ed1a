//! Tokio's asynchronous files: a current-thread runtime with one blocking thread that makes the system calls.
//!
//! Tokio copies through a buffer of its own, so there is no direct I/O; and a write is reported complete when it is in
//! that buffer, with the system call still to come. [`Engine::drain`] waits for it. Each operation is driven from outside
//! the runtime, which costs a few hundred nanoseconds, next to the two thread switches of tens of microseconds that it
//! has anyway.

use std::fs::OpenOptions;
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;

use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

use super::setup::{EngineError, QueueSetup};
use super::slots::Slots;
use super::{Engine, EngineEntry, QueueSide, calls, errno, not_open};

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "tokio",
    about: "tokio::fs on a current-thread runtime with one blocking thread; always buffered",
    direct: false,
    queue_depth_max: 1,
    blocking: Some(|| Ok(Box::new(Tokio { runtime: runtime()?, open: None }))),
    queue: Some(QueueSide { depth_max: 1, options: &[], concurrent: false, gathers: false, make: queue }),
};

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().max_blocking_threads(1).build()
}

struct Tokio {
    runtime: Runtime,
    open: Option<Open>,
}

struct Open {
    file: File,
    /// Where the file's own position is; seeking only when it has to move, as a program would.
    position: u64,
}

impl Open {
    fn new(file: std::fs::File, position: u64) -> Self {
        let mut file = File::from_std(file);
        // One operation is one call, whatever its size: tokio would cut it into pieces of 2 MiB.
        file.set_max_buf_size(usize::MAX);
        Self { file, position }
    }

    async fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.seek(offset).await?;
        let read = self.file.read(buf).await?;
        self.position += read as u64;
        Ok(read)
    }

    async fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        self.seek(offset).await?;
        let written = self.file.write(data).await?;
        self.position += written as u64;
        Ok(written)
    }

    async fn seek(&mut self, offset: u64) -> io::Result<()> {
        if self.position != offset {
            self.position = self.file.seek(SeekFrom::Start(offset)).await?;
        }
        Ok(())
    }
}

impl Engine for Tokio {
    fn open(&mut self, path: &Path, how: &OpenOptions) -> io::Result<()> {
        self.close()?;
        let options = tokio::fs::OpenOptions::from(how.clone());
        self.open = Some(self.runtime.block_on(async {
            let file = options.open(path).await?;
            io::Result::Ok(Open::new(file.into_std().await, 0))
        })?);
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(Open { mut file, .. }) = self.open.take() else { return Ok(()) };
        self.runtime.block_on(async {
            file.flush().await?;
            // A file that is dropped is closed in the background; as a plain one it is closed here.
            drop(file.into_std().await);
            Ok(())
        })
    }

    fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let open = self.open.as_mut().ok_or_else(not_open)?;
        self.runtime.block_on(open.read_at(offset, buf))
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        let open = self.open.as_mut().ok_or_else(not_open)?;
        self.runtime.block_on(open.write_at(offset, data))
    }

    fn sync(&mut self) -> io::Result<()> {
        let open = self.open.as_mut().ok_or_else(not_open)?;
        self.runtime.block_on(open.file.sync_data())
    }

    fn drain(&mut self) -> io::Result<()> {
        let open = self.open.as_mut().ok_or_else(not_open)?;
        self.runtime.block_on(open.file.flush())
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        let open = self.open.as_mut().ok_or_else(not_open)?;
        self.runtime.block_on(open.file.set_len(bytes))
    }

    fn with_file(&mut self, look: &mut dyn FnMut(&std::fs::File) -> io::Result<()>) -> io::Result<()> {
        let Open { mut file, position } = self.open.take().ok_or_else(not_open)?;
        self.runtime.block_on(async {
            let flushed = file.flush().await;
            let plain = file.into_std().await;
            let result = flushed.and_then(|()| look(&plain));
            self.open = Some(Open::new(plain, position));
            result
        })
    }
}

/// A queue of one operation at a time, complete when it is pushed; a write is complete when tokio has it.
struct TokioQueue {
    runtime: Runtime,
    files: Vec<Open>,
    slots: Slots,
}

fn queue(setup: QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError> {
    let slots = Slots::new(&setup)?;
    let io = |source| EngineError::Io { doing: "starting tokio".into(), source };
    let mut files = Vec::with_capacity(setup.files.len());
    for mut file in setup.files {
        // Where its position is, whoever opened it.
        let position = file.stream_position().map_err(io)?;
        files.push(Open::new(file, position));
    }
    Ok(Box::new(TokioQueue { runtime: runtime().map_err(io)?, files, slots }))
}

impl TokioQueue {
    fn run(&mut self, request: &Request) -> io::Result<usize> {
        let open = &mut self.files[request.file as usize];
        let bytes = request.bytes as usize;
        let buffer = self.slots.buffer(request.slot);
        match request.kind {
            IoKind::Read => self.runtime.block_on(open.read_at(request.offset, &mut buffer[..bytes])),
            IoKind::Write => self.runtime.block_on(open.write_at(request.offset, &buffer[..bytes])),
            IoKind::Sync => self.runtime.block_on(open.file.sync_all()).map(|()| 0),
            IoKind::DataSync => self.runtime.block_on(open.file.sync_data()).map(|()| 0),
            // Tokio has no such operation: a plain call, behind the writes before it.
            IoKind::Trim | IoKind::RangeSync(_) => {
                self.runtime.block_on(open.file.flush())?;
                calls::run(
                    request,
                    &self.runtime.block_on(async {
                        let file = open.file.try_clone().await?;
                        io::Result::Ok(file.into_std().await)
                    })?,
                )
                .map(|()| 0)
            }
        }
    }
}

impl Queue for TokioQueue {
    fn depth(&self) -> u32 {
        self.slots.depth()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.slots.check(request, self.files.len())?;
        // No more than was asked for, which is a `u32`.
        let result = self.run(request).map(|bytes| bytes as u32).map_err(|error| errno::code_of(&error));
        Ok(Some(Completion { slot: request.slot, result }))
    }

    fn submit(&mut self) -> Result<u32, ErrorCode> {
        Ok(0)
    }

    fn reap(&mut self, _at_least: u32, _patience: Patience, _done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        Ok(())
    }

    fn under_way(&self) -> u32 {
        0
    }

    fn drain(&mut self) -> Result<(), ErrorCode> {
        for open in &mut self.files {
            self.runtime.block_on(open.file.flush()).map_err(|error| errno::code_of(&error))?;
        }
        Ok(())
    }
}

impl Drop for TokioQueue {
    fn drop(&mut self) {
        // Files that are dropped are closed in the background, behind their last write; as plain ones they are closed here.
        for Open { mut file, .. } in self.files.drain(..) {
            // An error that shows only now is told by `drain`.
            let _ = self.runtime.block_on(file.flush());
            drop(self.runtime.block_on(file.into_std()));
        }
    }
}
