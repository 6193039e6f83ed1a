//! Where a run may be written: to a regular file, or to what takes text and keeps none of it (a pipe, a socket, a
//! terminal, the null device).
//!
//! Everything else has content that the first record would overwrite, such as a disk from its first byte on, or does
//! something with what it gets. A device is judged by its number and never opened to find out: opening alone starts a
//! watchdog, rewinds a tape and resets the board behind a serial port.

use std::fs::Metadata;

/// What a path that a run may be written to leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It can be locked, synced and cut.
    Regular,
    /// It can do none of that, and has no content to lose.
    Stream,
}

impl Place {
    /// Judges a path (links followed) or an open file by its metadata.
    ///
    /// # Errors
    /// What it is instead, e.g. `a block device`.
    pub(super) fn of(found: &Metadata) -> Result<Self, &'static str> {
        if found.is_file() {
            Ok(Self::Regular)
        } else if found.is_dir() {
            Err("a directory")
        } else {
            of_special(found)
        }
    }
}

#[cfg(unix)]
fn of_special(found: &Metadata) -> Result<Place, &'static str> {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let kind = found.file_type();
    if kind.is_fifo() || kind.is_socket() {
        return Ok(Place::Stream);
    }
    if kind.is_block_device() {
        return Err("a block device");
    }
    let is_harmless = || harmless().any(|known| known.file_type().is_char_device() && known.rdev() == found.rdev());
    if kind.is_char_device() && is_harmless() { Ok(Place::Stream) } else { Err("a device that is no terminal") }
}

#[cfg(not(unix))]
fn of_special(_: &Metadata) -> Result<Place, &'static str> {
    Err("a device")
}

/// The character devices that a run may be written to. Their numbers differ from system to system; these paths do not
/// (POSIX.1-2017, 10.1, and full(4) on Linux), and of other terminals only those of this process are known without
/// opening them.
#[cfg(unix)]
fn harmless() -> impl Iterator<Item = Metadata> {
    use std::fs::{File, metadata};
    use std::io::{IsTerminal, stderr, stdin, stdout};
    use std::os::fd::AsFd;

    fn terminal(stream: impl AsFd + IsTerminal) -> Option<Metadata> {
        let own = stream.as_fd().try_clone_to_owned().ok().filter(IsTerminal::is_terminal)?;
        File::from(own).metadata().ok()
    }

    let named = ["/dev/null", "/dev/full", "/dev/tty"].into_iter().filter_map(|path| metadata(path).ok());
    named.chain([terminal(stdin()), terminal(stdout()), terminal(stderr())].into_iter().flatten())
}
