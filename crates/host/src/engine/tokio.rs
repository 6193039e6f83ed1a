//! Tokio's asynchronous files: a current-thread runtime with one blocking thread that makes the system calls.
//!
//! Tokio copies through a buffer of its own, so there is no direct I/O; and a write is reported complete when it is in
//! that buffer, with the system call still to come. [`Engine::drain`] waits for it. Each operation is driven from outside
//! the runtime, which costs a few hundred nanoseconds, next to the two thread switches of tens of microseconds that it
//! has anyway.

use std::fs::OpenOptions;
use std::io::{self, SeekFrom};
use std::path::Path;

use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

use super::{Engine, EngineEntry, not_open};

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "tokio",
    about: "tokio::fs on a current-thread runtime with one blocking thread; always buffered",
    direct: false,
    queue_depth_max: 1,
    make: || {
        let runtime = Builder::new_current_thread().max_blocking_threads(1).build()?;
        Ok(Box::new(Tokio { runtime, open: None }))
    },
};

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
        let mut file = self.runtime.block_on(options.open(path))?;
        // One operation is one call, whatever its size: tokio would cut it into pieces of 2 MiB.
        file.set_max_buf_size(usize::MAX);
        self.open = Some(Open { file, position: 0 });
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
        self.runtime.block_on(async {
            open.seek(offset).await?;
            let read = open.file.read(buf).await?;
            open.position += read as u64;
            Ok(read)
        })
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<usize> {
        let open = self.open.as_mut().ok_or_else(not_open)?;
        self.runtime.block_on(async {
            open.seek(offset).await?;
            let written = open.file.write(data).await?;
            open.position += written as u64;
            Ok(written)
        })
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
            let mut file = File::from_std(plain);
            file.set_max_buf_size(usize::MAX);
            self.open = Some(Open { file, position });
            result
        })
    }
}
