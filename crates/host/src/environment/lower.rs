//! Caches and memory below the page cache of a target: direct I/O passes the page cache by, but not these.

use std::fmt;
use std::path::{Path, PathBuf};

use super::file_system::{device_of_mount, mount_of};
use super::layers::{self, Layer};
use crate::device::{BlockDevice, Driver, Sysfs, node_number};

/// Something below a target that can answer from memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LowerCache {
    /// The file system itself lives in memory.
    MemoryFileSystem {
        /// Its type, e.g. `tmpfs`.
        kind: String,
    },
    /// The block device is memory.
    MemoryDevice {
        /// Its name, e.g. `zram0`.
        device: String,
    },
    /// A loop device that goes through the page cache of its backing file.
    LoopBuffered {
        /// Its name, e.g. `loop0`.
        device: String,
        /// The backing file.
        backing_file: PathBuf,
    },
    /// A cache in front of a slower device.
    CacheDevice {
        /// Its name, e.g. `bcache0`.
        device: String,
    },
    /// A file system on another one that is out of sight: anything may be below it, memory too.
    Unknown {
        /// Its type, e.g. `overlay`.
        kind: String,
        /// Where it is mounted.
        at: PathBuf,
    },
}

impl fmt::Display for LowerCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemoryFileSystem { kind } => write!(f, "{kind} keeps its files in memory"),
            Self::MemoryDevice { device } => write!(f, "{device} is memory"),
            Self::LoopBuffered { device, backing_file } => write!(
                f,
                "{device} goes through the page cache of {}; use losetup --direct-io=on",
                backing_file.display()
            ),
            Self::CacheDevice { device } => write!(f, "{device} has a cache on another device"),
            Self::Unknown { kind, at } => write!(
                f,
                "what is below the {kind} on {} cannot be seen from here; it may be memory or have a cache",
                at.display()
            ),
        }
    }
}

/// Every such thing below a directory, file or block device, from the top down; empty if none is known. Of file systems
/// on others, the layer counts that a file is read from, and that new files of a directory are written to.
#[must_use]
pub fn lower_caches(path: &Path) -> Vec<LowerCache> {
    let mut found = Vec::new();
    below_path(&Sysfs::default(), path, 16, &mut found);
    found
}

/// `depth` bounds the height of the pile of devices and files.
fn below_path(sysfs: &Sysfs, path: &Path, depth: u8, found: &mut Vec<LowerCache>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Some(number) = node_number(path) {
        if let Some(device) = sysfs.block(number) {
            below_device(sysfs, device.disk().unwrap_or(device), depth, found);
        }
        return;
    }
    let Some(mount) = mount_of(path) else { return };
    if mount.is_memory() {
        found.push(LowerCache::MemoryFileSystem { kind: mount.kind });
    } else if let Some(device) = device_of_mount(sysfs, &mount) {
        below_device(sysfs, device.disk().unwrap_or(device), depth, found);
    } else {
        match layers::below(&mount, path) {
            Some(Layer::At(below)) => below_path(sysfs, &below, depth, found),
            Some(Layer::Unseen) => found.push(LowerCache::Unknown { kind: mount.kind, at: mount.point }),
            None => {}
        }
    }
}

fn below_device(sysfs: &Sysfs, device: BlockDevice, depth: u8, found: &mut Vec<LowerCache>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match device.driver() {
        Driver::Zram | Driver::RamDisk => {
            found.push(LowerCache::MemoryDevice { device: device.name });
            return;
        }
        Driver::Bcache => found.push(LowerCache::CacheDevice { device: device.name.clone() }),
        Driver::Loop => {
            if let Some(file) = device.text("loop/backing_file") {
                if device.flag("loop/dio") != Some(true) {
                    found.push(LowerCache::LoopBuffered {
                        device: device.name.clone(),
                        backing_file: file.clone().into(),
                    });
                }
                if sysfs.is_live() {
                    below_path(sysfs, Path::new(&file), depth, found);
                }
            }
        }
        _ => {}
    }
    for name in device.slave_names() {
        if let Some(slave) = sysfs.block_named(&name) {
            below_device(sysfs, slave.disk().unwrap_or(slave), depth, found);
        }
    }
}
