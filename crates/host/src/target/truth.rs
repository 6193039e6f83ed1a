//! Cache truth: what a target's numbers can mean, and the checks around each repeat.

use std::path::Path;

use flashmark_core::record::{TargetKind, Warning, WarningCode};
use flashmark_core::target::Target as _;
use flashmark_core::workload::{Order, Workload};

use super::{Access, DirectState, HostTarget};
use crate::cache::{self, Residency};
use crate::environment::{LowerCache, Mount, lower_caches, mount_of};

/// What is known of the target before anything is measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    /// Its file system keeps files in memory: there is no medium, and nothing to pass by.
    pub memory: bool,
    /// Doubts about every workload on it.
    pub warnings: Vec<Warning>,
    what: String,
}

impl Truth {
    pub(super) fn of(path: &Path, kind: TargetKind) -> Self {
        let memory = (kind != TargetKind::Device).then(|| mount_of(path)).flatten().filter(Mount::is_memory);
        if let Some(mount) = memory {
            return Self { memory: true, warnings: Vec::new(), what: mount.kind };
        }
        let doubt = |cache: LowerCache| Warning::new(WarningCode::LowerCache, cache.to_string());
        Self { memory: false, warnings: lower_caches(path).into_iter().map(doubt).collect(), what: String::new() }
    }

    pub(super) fn memory_why(&self) -> String {
        format!("{} keeps its files in memory", self.what)
    }
}

impl HostTarget {
    /// Before reading: empties the cache of the file, and says what could not be emptied.
    pub(super) fn drop_and_check(&mut self, warnings: &mut Vec<Warning>) {
        self.baseline = Residency { resident_pages: 0, pages: 0 };
        if self.truth.memory {
            if self.direct == DirectState::Buffered {
                let message = format!("served from memory: {}", self.truth.memory_why());
                warnings.push(Warning::new(WarningCode::PageCache, message));
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
                self.baseline = residency;
                // Direct reads pass cached pages by, but for writing back those that are dirty.
                if residency.percent() > 0 && self.direct != DirectState::Direct {
                    let message = format!(
                        "served from the page cache: {} % of the file stayed in memory when it was dropped (in use by \
                         another program?)",
                        residency.percent()
                    );
                    warnings.push(Warning::new(WarningCode::PageCache, message));
                }
            }
            (Err(error), _) => {
                let message = format!("whether reads come from the page cache is unknown: {error}");
                warnings.push(Warning::new(WarningCode::PageCache, message));
            }
            (Ok(()), None) => {}
        }
        if let Some(percent) = holes.filter(|_| !matches!(self.access, Access::Own(_))) {
            let message = format!("{percent} % of the file are holes: reading them reads no medium");
            warnings.push(Warning::new(WarningCode::Sparse, message));
        }
    }

    /// After reading: direct reads must have left no pages; buffered ones must not have met their own.
    pub(super) fn check_after(
        &mut self,
        workload: &Workload,
        moved_bytes: u64,
        region_bytes: u64,
        warnings: &mut Vec<Warning>,
    ) {
        if self.truth.memory {
            return;
        }
        if self.direct == DirectState::Direct {
            let bytes = self.len_bytes().unwrap_or(0);
            let mut found = None;
            let _ = self.look(|file| {
                found = Some(cache::residency(file, bytes)?);
                Ok(())
            });
            let Some(now) = found else { return };
            let grown = now.resident_pages.saturating_sub(self.baseline.resident_pages);
            let page_bytes = bytes.checked_div(now.pages.max(1)).unwrap_or(4096).max(1);
            let touched = moved_bytes.min(region_bytes) / page_bytes;
            // A few pages are others' doing (a partition scanner, say); a share of what was read is not.
            if grown > 16 && grown > touched / 20 {
                let why = format!(
                    "the kernel answered direct I/O through its cache ({grown} of {touched} pages read are cached now)"
                );
                warnings.push(Warning::new(WarningCode::NotDirect, format!("not direct: {why}")));
                self.direct = DirectState::Not(why);
            }
            return;
        }
        let meets_itself = match workload.order {
            Order::Sequential | Order::RandomOnce => moved_bytes > region_bytes,
            // By chance a tenth of the reads repeat a block when a fifth of the blocks were read.
            Order::Random => moved_bytes > region_bytes / 5,
            Order::Zipf { .. } => true,
        };
        if meets_itself {
            warnings.push(Warning::new(
                WarningCode::PageCache,
                "served from the page cache in part: blocks were read more than once through the cache (use direct I/O, \
                 or a larger file-size)",
            ));
        }
    }

    pub(super) fn preallocate(&mut self, bytes: u64, warnings: &mut Vec<Warning>) {
        if let Err(error) = self.look(|file| sys::preallocate(file, bytes)) {
            let message = format!("the file's space could not be reserved: {error}");
            warnings.push(Warning::new(WarningCode::Skipped, message));
        }
    }
}

/// How much of a file has no blocks, in percent; `None` below one percent, or where it cannot be told.
fn holes_percent(file: &std::fs::File) -> Option<u64> {
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let allocated = sys::allocated_bytes(&metadata)?;
    let missing = metadata.len().checked_sub(allocated)?;
    Some(missing * 100 / metadata.len().max(1)).filter(|percent| *percent > 0)
}

#[cfg(target_os = "linux")]
mod sys {
    use rustix::fs::{FallocateFlags, fallocate};
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt;

    /// Reserves space without changing the length, as a program that knows its file's size does.
    pub(super) fn preallocate(file: &File, bytes: u64) -> io::Result<()> {
        Ok(fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes)?)
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

    pub(super) fn preallocate(_: &File, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn allocated_bytes(_: &Metadata) -> Option<u64> {
        None
    }
}
