//! Cache truth: what a target's numbers can mean, and the checks around each repeat.

use std::path::Path;

use flashmark_core::record::{Doubts, TargetKind, Warning, WarningCode};
use flashmark_core::target::{Moved, Target as _};
use flashmark_core::workload::{Order, Workload};

use super::{Access, DirectState, HostTarget, direct};
use crate::cache;
use crate::environment::{LowerCache, Mount, lower_caches, mount_of};

/// What is known of the target before anything is measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    /// Its file system keeps files in memory: there is no medium, and nothing to pass by.
    pub memory: bool,
    /// Whatever is between, the medium at the bottom is memory.
    pub memory_below: bool,
    /// Below the device is another cache, which takes writes.
    pub cache_below: bool,
    /// Doubts about every workload on it.
    pub warnings: Vec<Warning>,
    what: String,
}

impl Truth {
    pub(super) fn of(path: &Path, kind: TargetKind) -> Self {
        let memory = (kind != TargetKind::Device).then(|| mount_of(path)).flatten().filter(Mount::is_memory);
        if let Some(mount) = memory {
            return Self { memory: true, what: mount.kind, ..Self::default() };
        }
        let mut truth = Self::default();
        for cache in lower_caches(path) {
            match cache {
                LowerCache::MemoryFileSystem { .. } | LowerCache::MemoryDevice { .. } => truth.memory_below = true,
                // What cannot be seen (below a container's overlay) may be a cache; that a sync goes no farther is not to
                // be assumed.
                LowerCache::LoopBuffered { .. } | LowerCache::CacheDevice { .. } | LowerCache::Unknown { .. } => {
                    truth.cache_below = true;
                }
            }
            truth.warnings.push(Warning::new(WarningCode::LowerCache, cache.to_string()));
        }
        truth
    }

    pub(super) fn memory_why(&self) -> String {
        format!("{} keeps its files in memory", self.what)
    }
}

/// What the caches held before a repeat.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// Pages of the file, after dropping them.
    resident_pages: u64,
    /// Pages that the machine has dirtied since it started, where that is needed.
    dirtied_pages: Option<u64>,
}

impl HostTarget {
    /// Before a repeat: where it reads, empties the cache of the file, and says what could not be emptied.
    pub(super) fn look_before(&mut self, workload: &Workload, doubts: &mut Doubts) {
        self.before = Before::default();
        if workload.reads() {
            self.drop_and_check(doubts);
        }
        if workload.writes() && self.direct == DirectState::Direct && !direct::is_told(&self.io_path) {
            self.before.dirtied_pages = sys::dirtied_pages();
        }
    }

    fn drop_and_check(&mut self, doubts: &mut Doubts) {
        if self.truth.memory {
            if self.direct == DirectState::Buffered {
                let message = format!("served from memory: {}", self.truth.memory_why());
                doubts.add(WarningCode::PageCache, message);
            }
            return;
        }
        let bytes = self.len_bytes().unwrap_or(0);
        let mut found = None;
        let mut holes = None;
        let checked = self.look(|file| {
            cache::drop_pages(file, bytes)?;
            found = Some(cache::residency(file, bytes)?);
            holes = holes_percent(file);
            Ok(())
        });
        match (checked, found) {
            (Ok(()), Some(residency)) => {
                self.before.resident_pages = residency.resident_pages;
                // Direct reads pass cached pages by, but for writing back those that are dirty.
                if residency.percent() > 0 && self.direct != DirectState::Direct {
                    let message = format!(
                        "served from the page cache: {} % of the file stayed in memory when it was dropped (in use by \
                         another program?)",
                        residency.percent()
                    );
                    doubts.add(WarningCode::PageCache, message);
                }
            }
            (Err(error), _) => {
                let message = format!("whether reads come from the page cache is unknown: {error}");
                doubts.add(WarningCode::PageCache, message);
            }
            (Ok(()), None) => {}
        }
        if let Some(percent) = holes.filter(|_| !matches!(self.access, Access::Own(_))) {
            let message = format!("{percent} % of the file are holes: reading them reads no medium");
            doubts.add(WarningCode::Sparse, message);
        }
        self.look_into_backing(doubts);
    }

    /// A loop device reads no medium either where its backing file has nothing.
    fn look_into_backing(&self, doubts: &mut Doubts) {
        let backing = self.environment.device.as_ref().and_then(|device| device.loop_backing.as_ref());
        let Some(backing) = backing.filter(|_| self.kind == TargetKind::Device) else { return };
        let holes = std::fs::File::open(&backing.file).ok().and_then(|file| holes_percent(&file));
        if let Some(percent) = holes {
            let message = format!(
                "{percent} % of {}, which is behind the device, are holes: reading them reads no medium",
                backing.file
            );
            doubts.add(WarningCode::Sparse, message);
        }
    }

    /// After a repeat: direct I/O must have left no trace in the cache, and buffered reads must not have met their own.
    pub(super) fn look_after(&mut self, workload: &Workload, moved: Moved, doubts: &mut Doubts) {
        if self.truth.memory {
            return;
        }
        if self.direct == DirectState::Direct {
            let found = if workload.reads() { self.pages_left_by_reads(moved) } else { None };
            if let Some(why) = found.or_else(|| self.pages_dirtied_by_writes(workload, moved)) {
                doubts.add(WarningCode::NotDirect, format!("not direct: {why}"));
                self.found_buffered = Some(why);
            }
        } else if workload.reads() && meets_itself(workload.order, moved) {
            doubts.add(
                WarningCode::PageCache,
                "served from the page cache in part: blocks were read more than once through the cache (use direct I/O, \
                 or a larger file-size)",
            );
        }
    }

    /// Why the reads were not direct, if they filled the cache.
    fn pages_left_by_reads(&mut self, moved: Moved) -> Option<String> {
        let bytes = self.len_bytes().unwrap_or(0);
        let mut found = None;
        let _ = self.look(|file| {
            found = Some(cache::residency(file, bytes)?);
            Ok(())
        });
        let now = found?;
        let grown = now.resident_pages.saturating_sub(self.before.resident_pages);
        let page_bytes = bytes.checked_div(now.pages.max(1)).unwrap_or(4096).max(1);
        let touched = moved.bytes.min(moved.region_bytes) / page_bytes;
        // A few pages are others' doing (a partition scanner, say); a share of what was read is not.
        (grown > 16 && grown > touched / 20).then(|| {
            format!("the kernel answered direct I/O through its cache ({grown} of {touched} pages read are cached now)")
        })
    }

    /// Why the writes were not direct, if they dirtied the cache: on file systems that fall back to it without a word (a
    /// btrfs with checksums, since Linux 6.15). The count is the machine's, so that only nearly all of what was written
    /// means anything.
    fn pages_dirtied_by_writes(&self, workload: &Workload, moved: Moved) -> Option<String> {
        let dirtied = sys::dirtied_pages()?.saturating_sub(self.before.dirtied_pages?);
        let written = moved.bytes / sys::page_bytes() / 100 * u64::from(100 - workload.read_percent.min(100));
        (written >= 64 && dirtied >= written / 10 * 9).then(|| {
            format!("the kernel put direct writes into its cache (about {} of {written} pages)", dirtied.min(written))
        })
    }

    pub(super) fn preallocate(&mut self, bytes: u64, doubts: &mut Doubts) {
        if let Err(error) = self.look(|file| sys::preallocate(file, bytes)) {
            let message = format!("the file's space could not be reserved: {error}");
            doubts.add(WarningCode::Skipped, message);
        }
    }
}

/// Whether buffered reads in this order met blocks that they had read before.
fn meets_itself(order: Order, moved: Moved) -> bool {
    match order {
        Order::Sequential | Order::RandomOnce => moved.bytes > moved.region_bytes,
        // By chance a tenth of the reads repeat a block when a fifth of the blocks were read.
        Order::Random => moved.bytes > moved.region_bytes / 5,
        Order::Zipf { .. } => true,
    }
}

/// How much of a file has no blocks, in percent; `None` without holes, or where it cannot be told. Few blocks alone are no
/// holes: a file system that compresses needs few.
fn holes_percent(file: &std::fs::File) -> Option<u64> {
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let missing = metadata.len().checked_sub(sys::allocated_bytes(&metadata)?)?;
    let percent = missing * 100 / metadata.len().max(1);
    (percent > 0 && sys::has_hole(file, metadata.len())).then_some(percent)
}

#[cfg(target_os = "linux")]
mod sys {
    use rustix::fs::{FallocateFlags, fallocate};
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt;

    /// `nr_dirtied` of /proc/vmstat: pages that anybody has dirtied since the machine started.
    pub(super) fn dirtied_pages() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/vmstat").ok()?;
        text.lines().find_map(|line| line.strip_prefix("nr_dirtied "))?.trim().parse().ok()
    }

    pub(super) fn page_bytes() -> u64 {
        rustix::param::page_size() as u64
    }

    /// Reserves space without changing the length, as a program that knows its file's size does.
    pub(super) fn preallocate(file: &File, bytes: u64) -> io::Result<()> {
        Ok(fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes)?)
    }

    /// Whether the file system knows of a hole before the file's end (lseek(2), `SEEK_HOLE`).
    pub(super) fn has_hole(file: &File, len: u64) -> bool {
        rustix::fs::seek(file, rustix::fs::SeekFrom::Hole(0)).is_ok_and(|at| at < len)
    }

    pub(super) fn allocated_bytes(metadata: &Metadata) -> Option<u64> {
        // stat(2): in units of 512 bytes.
        Some(metadata.blocks() * 512)
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::fs::{File, Metadata};
    use std::io;

    pub(super) fn dirtied_pages() -> Option<u64> {
        None
    }

    pub(super) fn page_bytes() -> u64 {
        4096
    }

    pub(super) fn preallocate(_: &File, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn allocated_bytes(_: &Metadata) -> Option<u64> {
        None
    }

    pub(super) fn has_hole(_: &File, _: u64) -> bool {
        false
    }
}
