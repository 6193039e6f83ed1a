//! The mount namespace in which file systems are measured.

use std::io;

use rustix::mount::{MountPropagationFlags, mount_change};

use super::super::error::MakeError;
use super::syscalls;

/// The proof that this process is in a mount namespace of its own: what it mounts is seen by nobody else, and goes with it.
#[derive(Debug)]
pub struct PrivateMounts(());

impl PrivateMounts {
    /// Enters a new mount namespace. To be called before the process has threads, since only the calling one enters it and
    /// those that it starts later. What others mount and unmount meanwhile is seen here, so that no medium is kept busy.
    ///
    /// # Errors
    /// [`MakeError::NotRoot`], [`MakeError::Threads`], [`MakeError::Namespace`].
    pub fn enter() -> Result<Self, MakeError> {
        let threads = std::fs::read_dir("/proc/self/task").map_err(MakeError::Namespace)?.count();
        if threads > 1 {
            return Err(MakeError::Threads);
        }
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => MakeError::NotRoot,
            _ => MakeError::Namespace(error),
        };
        syscalls::unshare_mounts().map_err(refused)?;
        // Downstream: events come in, none goes out.
        let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
        mount_change("/", flags).map_err(|error| refused(error.into()))?;
        Ok(Self(()))
    }
}
