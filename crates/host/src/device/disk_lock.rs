//! The lock that keeps udev away from a disk (systemd, "Locking Block Device Access").
//!
//! Whenever a device that was open for writing is closed, udevd reads it through to see what is on it now, unless
//! somebody has the lock (`flock`) of the whole disk's node. Other programs that change disks take the same lock.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

use super::identity::Identity;
use super::number::DeviceNumber;
use super::sysfs::{BlockDevice, node_number};

/// How long to wait for udevd, which has the lock for moments; several times, if partitions are many.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(20);

/// A disk's lock, held until this is dropped.
#[derive(Debug)]
pub(crate) struct DiskLock {
    _node: File,
}

/// Why there is no lock.
#[derive(Debug)]
pub(crate) enum NoLock {
    /// Another program has it.
    Taken,
    /// The disk has no node here: there is no udevd either.
    NoNode,
    /// The system said no.
    Failed(io::Error),
}

/// The locks of this process: partitions of one disk share it.
static HELD: Mutex<Vec<(DeviceNumber, Weak<DiskLock>)>> = Mutex::new(Vec::new());

/// Takes the lock of a disk; `path` is a node of it or of a partition. Waits a second for others.
pub(crate) fn lock(disk: &BlockDevice, path: &Path) -> Result<Arc<DiskLock>, NoLock> {
    // The lock is the node's, not the device's: only the one that udevd uses keeps it away.
    let usual = disk.node();
    let nodes = [usual.as_path(), path];
    let node = nodes.into_iter().find(|node| node_number(node) == Some(disk.number)).ok_or(NoLock::NoNode)?;
    let mut waited = Duration::ZERO;
    loop {
        match try_lock(disk, node) {
            Err(NoLock::Taken) if waited < PATIENCE => std::thread::sleep(PAUSE),
            answer => return answer,
        }
        waited += PAUSE;
    }
}

fn try_lock(disk: &BlockDevice, node: &Path) -> Result<Arc<DiskLock>, NoLock> {
    // A panic elsewhere leaves the list as whole as it was.
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|(_, lock)| lock.strong_count() > 0);
    let own = held.iter().find(|(number, _)| *number == disk.number);
    if let Some(lock) = own.and_then(|(_, lock)| lock.upgrade()) {
        return Ok(lock);
    }
    // Reading only: closing it again is nothing that udevd would look at the disk for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let node = File::from(open(node, flags, Mode::empty()).map_err(|error| NoLock::Failed(error.into()))?);
    let opened = node.metadata().map_err(NoLock::Failed)?;
    if Identity::of(&opened) != Some(Identity::Device(disk.number)) {
        return Err(NoLock::NoNode);
    }
    match flock(&node, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Err(NoLock::Taken),
        Err(error) => return Err(NoLock::Failed(error.into())),
    }
    let lock = Arc::new(DiskLock { _node: node });
    held.push((disk.number, Arc::downgrade(&lock)));
    Ok(lock)
}
