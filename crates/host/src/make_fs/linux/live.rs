//! The mounts of this process, for a process that is about to be ended.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use super::syscalls;
use crate::test_file::{name_of, random_id};

static LIVE: Mutex<Vec<Arc<Live>>> = Mutex::new(Vec::new());

/// A mount point, with what is mounted there.
#[derive(Debug)]
pub(super) struct Live {
    path: PathBuf,
    name: String,
    /// Where it was made: found again whatever is mounted on it.
    parent: File,
    /// Holds the lock by which it is known to be in use.
    _lease: File,
    /// The root of the mount, if there is one.
    root: Mutex<Option<OwnedFd>>,
}

fn live() -> MutexGuard<'static, Vec<Arc<Live>>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long an unmount waits for others to let the file system go.
const PATIENCE: Duration = Duration::from_secs(2);

impl Live {
    /// Makes an empty directory in `dir` with a name that [`crate::leftovers`] knows, to mount on.
    pub(super) fn create(dir: &Path) -> io::Result<Arc<Self>> {
        loop {
            let name = name_of(random_id());
            let path = dir.join(&name);
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                result => result?,
            }
            let opened = File::open(dir).and_then(|parent| Ok((parent, File::open(&path)?)));
            let (parent, lease) = match opened {
                Ok(opened) => opened,
                // Taken for a leftover before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound && dir.exists() => continue,
                Err(error) => return Err(error),
            };
            let locked = lease.try_lock();
            if locked.is_err_and(|error| matches!(error, std::fs::TryLockError::WouldBlock)) || !path.exists() {
                continue;
            }
            let made = Arc::new(Self { path, name, parent, _lease: lease, root: Mutex::new(None) });
            live().push(Arc::clone(&made));
            return Ok(made);
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// From now on there is a mount to be undone.
    pub(super) fn mounted(&self, root: OwnedFd) {
        *self.root() = Some(root);
    }

    fn root(&self) -> MutexGuard<'_, Option<OwnedFd>> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unmounts what is mounted, and removes the directory. Nothing is to be open on it any more.
    pub(super) fn remove(self: &Arc<Self>) -> io::Result<()> {
        let result = self.unmount().and_then(|()| self.remove_directory());
        live().retain(|other| !Arc::ptr_eq(other, self));
        result
    }

    fn unmount(&self) -> io::Result<()> {
        if self.root().take().is_none() {
            return Ok(());
        }
        let start = Instant::now();
        loop {
            match unmount(&self.path, UnmountFlags::NOFOLLOW) {
                Err(Errno::BUSY) if start.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
                // Nobody finds it any more; it goes when it is let go.
                Err(Errno::BUSY) => return Ok(unmount(&self.path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?),
                // Somebody removed the directory, and the mount with it.
                Err(Errno::INVAL | Errno::NOENT) => return Ok(()),
                result => return Ok(result?),
            }
        }
    }

    fn remove_directory(&self) -> io::Result<()> {
        match unlinkat(&self.parent, self.name.as_str(), AtFlags::REMOVEDIR) {
            Err(Errno::NOENT) => Ok(()),
            result => Ok(result?),
        }
    }
}

/// The root is known by its place alone, and has to be opened.
fn shut_down(root: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = openat(root, ".", flags, Mode::empty())?;
    let result = syscalls::shut_down(&open);
    // See below.
    std::mem::forget(open);
    result
}

/// Takes every mount of this process away, whatever is happening on it: for a process that is about to be ended. What a
/// file system has not written yet is dropped with it, so that nothing waits for a medium that does not answer.
pub fn remove_all_now() {
    let Ok(live) = LIVE.try_lock() else { return };
    for mount in live.iter() {
        let root = mount.root.try_lock().ok().and_then(|mut root| root.take());
        if let Some(root) = &root {
            let _ = unmount(&mount.path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
            let _ = mount.remove_directory();
            let _ = shut_down(root);
        } else {
            let _ = mount.remove_directory();
        }
        // Closing it could be the last use, and wait: the end of the process does that.
        std::mem::forget(root);
    }
}
