//! Why a path cannot be a target.

use std::io;
use std::path::{Path, PathBuf};

use crate::device::Refusal;

/// A path that cannot be measured; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Nothing is there.
    #[error("{} does not exist: name a directory, a file or a block device", path.display())]
    Missing {
        /// As given.
        path: PathBuf,
    },
    /// Neither a directory nor a file nor a block device.
    #[error("{} is not a directory, a regular file or a block device", path.display())]
    WrongKind {
        /// As given.
        path: PathBuf,
    },
    /// The directory is on a read-only file system.
    #[error("{} is read-only: name a directory that can be written, or a file in it to read", path.display())]
    ReadOnly {
        /// As given.
        path: PathBuf,
    },
    /// A directory of the kernel's, not of a file system.
    #[error("{} takes no files: name a directory on a disk or card", path.display())]
    NoFiles {
        /// As given.
        path: PathBuf,
    },
    /// Missing rights.
    #[error("{}: permission denied: choose another path, or run with the rights to it", path.display())]
    Denied {
        /// As given.
        path: PathBuf,
    },
    /// Must not be written, in spite of consent.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// This build has no engine for plain files.
    #[error("this build has no engine `sync`")]
    NoEngine,
    /// Any other error of the system.
    #[error("{}: {source}", path.display())]
    Io {
        /// As given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl TargetError {
    pub(super) fn of_path(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            _ => Self::Io { path, source },
        }
    }

    pub(super) fn of_directory(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path: path.to_owned() },
            // It is there: what failed is making a file in it (/proc, say).
            io::ErrorKind::NotFound => Self::NoFiles { path: path.to_owned() },
            _ => Self::of_path(path, source),
        }
    }
}
