//! Whether files can be polled for completions: asked before a queue is made, so that not each operation fails.

use std::fs::File;
use std::io;

use rustix::fs::{OFlags, fcntl_getfl};

use super::inline::uninterrupted;
use super::setup::{EngineError, QueueSetup};
use super::slots::Slots;

/// Checks that all files of a setup are open for direct I/O, and that one polled read of each that may be read is not
/// refused as unsupported. `read` makes the read, at the file's start.
///
/// # Errors
/// [`EngineError::Refused`] with `remedy`.
pub(super) fn check(
    engine: &'static str,
    setup: &QueueSetup,
    remedy: &str,
    read: &mut dyn FnMut(&File, &mut [u8]) -> io::Result<()>,
) -> Result<(), EngineError> {
    let refused = |why: &str, source| EngineError::Refused { engine, why: why.into(), remedy: remedy.into(), source };
    let one = QueueSetup { files: Vec::new(), depth: 1, ..*setup };
    let mut slots = Slots::new(&one)?;
    for file in &setup.files {
        let flags = fcntl_getfl(file)
            .map_err(|error| EngineError::Io { doing: "asking how a file is open".into(), source: error.into() })?;
        if !flags.contains(OFlags::DIRECT) {
            let source = io::ErrorKind::InvalidInput.into();
            return Err(refused("only direct I/O can be polled for, and a file is not open for it", source));
        }
        if flags & OFlags::ACCMODE == OFlags::WRONLY {
            continue;
        }
        match uninterrupted(|| read(file, slots.buffer(0))) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                return Err(refused("the file's device or file system cannot be polled", error));
            }
            // Anything else is what the queue's own reads may meet as well, and is told there.
            _ => {}
        }
    }
    Ok(())
}
