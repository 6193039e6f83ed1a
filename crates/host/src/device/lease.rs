//! Asking the kernel whether anybody has a file open for writing: leases (fcntl(2), "Leases").
#![allow(unsafe_code, reason = "fcntl with F_SETLEASE, which rustix does not have")]

use std::fs::File;
use std::os::fd::AsRawFd as _;

use rustix::io::Errno;

/// `F_SETSIG` of asm-generic/fcntl.h, the same on every architecture that Rust has.
const F_SETSIG: libc::c_int = 10;

/// What the kernel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// Nobody: no process of any user or container, no mapping, and not the kernel itself.
    None,
    /// Somebody.
    Some,
    /// It does not tell: the file belongs to another user, or is on a file system without leases.
    Untold,
}

/// Whether anybody has a file open for writing, this process included. `file` must be open for reading only.
///
/// A lease for reading is granted exactly if nobody has. It is given back at once; whoever opens the file for writing in
/// between waits for the microsecond that takes. A lease for writing would be refused for readers too, who do no harm.
/// Network file systems refuse leases for reasons of their own: don't ask them.
pub(crate) fn writers(file: &File) -> Writers {
    // A lease that is asked back makes a signal. SIGIO ends the process by default, SIGURG is ignored by default.
    match fcntl(file, F_SETSIG, libc::SIGURG).and_then(|()| fcntl(file, libc::F_SETLEASE, libc::F_RDLCK)) {
        Ok(()) => {
            // Failing is no matter: closing the file gives the lease back too.
            let _ = fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
            Writers::None
        }
        Err(Errno::AGAIN) => Writers::Some,
        Err(_) => Writers::Untold,
    }
}

fn fcntl(file: &File, command: libc::c_int, argument: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the descriptor is open as long as `file` is borrowed, and both commands take an int and no pointer.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
        -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn writers_are_told_and_readers_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "x").unwrap();
        let file = File::open(&path).unwrap();
        let _reader = File::open(&path).unwrap();
        if writers(&file) == Writers::Untold {
            return; // the file system of temporary files has no leases
        }
        assert_eq!(writers(&file), Writers::None);
        let writer = OpenOptions::new().append(true).open(&path).unwrap();
        assert_eq!(writers(&file), Writers::Some);
        drop(writer);
        assert_eq!(writers(&file), Writers::None);
    }
}
