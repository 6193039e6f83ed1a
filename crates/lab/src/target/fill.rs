//! Bringing a file system to a level of use: with files of the target's own, of mixed sizes, written one after the other.
//!
//! The level is what the file system tells of itself ([`FileSystem::usage`]), and so are the steps to it: how much a file
//! takes beside its data is the file system's affair.

use flashmark_core::clock::Clock as _;
use flashmark_core::data::Pattern;
use flashmark_core::ledger::Layer;
use flashmark_core::record::{Doubts, WarningCode};
use flashmark_core::simulation::Filled;
use flashmark_core::target::{Fault, FaultKind};
use flashmark_core::workload::Workload;
use flashmark_embedded_fs::{ErrorKind, FileId, FileSystem, FsError, OpenFlags, Usage};

use super::operations::fault;
use super::{FILE, LabTarget};
use crate::storage::Store;

/// Where the files are.
const DIRECTORY: &str = "/fill";

/// What names begin with in the directory, and what on a file system that has none.
const PREFIXES: [&str; 2] = ["/fill/", "/fill-"];

/// Sizes of the files, both included: what configurations, logs and web pages of such boards have.
const SIZES: (u64, u64) = (1 << 10, 32 << 10);

/// What is written with one call.
const BLOCK_BYTES: usize = 4096;

/// How often a file is tried that there is no room for: where space has to be reclaimed, a file system can be full once and
/// take a file the next time.
const TRIES: u32 = 8;

/// The most times that the level is looked at: each time but the last adds or removes files.
const LOOKS_MAX: usize = 1000;

const NEW: OpenFlags =
    OpenFlags { read: false, write: true, create: true, truncate: false, append: false, exclusive: true };

/// The files that fill a file system.
#[derive(Debug, Default)]
pub(super) struct Fill {
    /// The numbers of those that are there, and their sizes, the newest last.
    files: Vec<(u64, u64)>,
    /// The next one's number; none is used twice, so that all have sizes of their own.
    next: u64,
    /// What their names begin with, as soon as that is known.
    prefix: Option<&'static str>,
}

/// What became of a file.
enum Added {
    Whole,
    /// There is no room; it is gone again.
    Full,
}

/// The level to go to.
#[derive(Clone, Copy)]
struct Goal {
    /// What may be in use before the measured file has its full size.
    used_bytes: u64,
    /// How far above it is near enough.
    slack_bytes: u64,
    /// What has to stay free where the file system is full before its time.
    room_bytes: u64,
    seed: u64,
}

impl Fill {
    /// A file's name: 8.3 characters where there are directories.
    fn path(&self, number: u64) -> String {
        format!("{}{number:05}.bin", self.prefix.unwrap_or(PREFIXES[0]))
    }
}

/// The size of a file; evenly spread, in single bytes.
fn size_bytes(seed: u64, number: u64) -> u64 {
    // Splitmix64 (Steele, Lea, Flood 2014).
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    SIZES.0 + (z ^ (z >> 31)) % (SIZES.1 - SIZES.0 + 1)
}

const fn used(usage: &Usage) -> u64 {
    usage.total_bytes.saturating_sub(usage.free_bytes)
}

/// FatFs tells a full directory or volume as `Denied`.
fn is_full(error: &FsError) -> bool {
    matches!(error.kind(), ErrorKind::NoSpace | ErrorKind::Denied)
}

impl LabTarget {
    /// What can be filled.
    pub(super) fn check_fill(&self) -> Result<(), Fault> {
        match self.store {
            Store::Files(_) => Ok(()),
            Store::Raw(_) => Err(Fault::new(
                FaultKind::Unsupported,
                "a partition without a file system has nothing to fill: leave fill out, or name a storage with a file \
                 system (lab:esp32/littlefs)",
            )),
        }
    }

    /// [`flashmark_core::target::Target::fill`]; what it costs is in [`Filled`] and nowhere else.
    pub(super) fn fill_to(&mut self, workload: &Workload, file_bytes: u64, doubts: &mut Doubts) -> Result<(), Fault> {
        self.check_fill()?;
        let Some(percent) = workload.fill_percent else { return Ok(()) };
        let (started_ns, spent, work) = (self.ledger.now_ns(), self.ledger.spent(), self.device_work());
        let result = self.bring_to(percent, file_bytes, workload.seed, doubts);
        self.gauge.spent_before.merge(&self.ledger.spent().since(&spent));
        self.gauge.work_before.add(&self.device_work().since(&work));
        let filled = result.map_err(|error| Fault { message: format!("filling: {error}"), ..fault(&error) })?;
        self.gauge.filled = Some(Filled { elapsed_ns: self.ledger.now_ns() - started_ns, ..filled });
        Ok(())
    }

    fn bring_to(&mut self, percent: u8, file_bytes: u64, seed: u64, doubts: &mut Doubts) -> Result<Filled, FsError> {
        let usage = self.on_files(|files| files.usage())?;
        let in_units = |bytes: u64| bytes.next_multiple_of(u64::from(usage.unit_bytes.max(1)));
        let there_bytes = match self.on_files(|files| files.stat(FILE)) {
            Ok(stat) => in_units(stat.size_bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let with_file = |usage: &Usage| (used(usage) + in_units(file_bytes)).saturating_sub(there_bytes);
        let wanted = usage.total_bytes / 100 * u64::from(percent) + usage.total_bytes % 100 * u64::from(percent) / 100;
        let goal = Goal {
            used_bytes: (wanted + there_bytes).saturating_sub(in_units(file_bytes)),
            slack_bytes: usage.total_bytes / 200,
            // Where a file is replaced, the old one and the new one are there for a while.
            room_bytes: 2 * in_units(file_bytes),
            seed,
        };
        let (usage, is_full) = self.approach(usage, goal)?;
        let reached = with_file(&usage);
        let near = u64::from(usage.unit_bytes).max(usage.total_bytes / 100);
        let level = || {
            let (reached, total) = (u128::from(reached), u128::from(usage.total_bytes.max(1)));
            let permille = (reached * 1000 + total / 2) / total;
            format!("the file system is {}.{} % full instead of {percent} %", permille / 10, permille % 10)
        };
        if reached > wanted + near {
            let why = "the file that is measured and what the file system needs for itself take more";
            doubts.add(WarningCode::FillLevel, format!("{}: {why}", level()));
        } else if reached + near < wanted || (is_full && reached + goal.slack_bytes < wanted) {
            let why = "it takes no more data beside the file that is measured";
            doubts.add(WarningCode::FillLevel, format!("{}: {why}", level()));
        }
        Ok(Filled {
            used_bytes: reached,
            total_bytes: usage.total_bytes,
            files: self.fill.files.len() as u64,
            elapsed_ns: 0,
        })
    }

    /// Removes and adds files until the level is as near as it gets from below. Tells the level, and whether the file
    /// system was full before.
    fn approach(&mut self, mut usage: Usage, goal: Goal) -> Result<(Usage, bool), FsError> {
        let unit = u64::from(usage.unit_bytes.max(1));
        // Files may take more than their data: where they took too much, the next ones have less of the gap.
        let mut share = 1;
        let mut has_added = false;
        let mut refusals = 0;
        for _ in 0..LOOKS_MAX {
            let before = used(&usage);
            if before > goal.used_bytes + goal.slack_bytes {
                if !self.remove_newest()? {
                    break;
                }
                share *= if has_added { 2 } else { 1 };
                has_added = false;
            } else {
                let gap = goal.used_bytes.saturating_sub(before);
                if gap < unit * share {
                    break;
                }
                has_added = true;
                match self.add_up_to(gap / share, unit, goal.seed)? {
                    Added::Whole => refusals = 0,
                    Added::Full => refusals += 1,
                }
                if refusals == TRIES {
                    self.make_room(goal.room_bytes)?;
                    return Ok((self.on_files(|files| files.usage())?, true));
                }
            }
            usage = self.on_files(|files| files.usage())?;
            if has_added && refusals == 0 && used(&usage) <= before {
                break;
            }
        }
        Ok((usage, false))
    }

    /// Adds files that take no more than `gap` bytes together in units of the file system, and one at least.
    fn add_up_to(&mut self, gap: u64, unit: u64, seed: u64) -> Result<Added, FsError> {
        let mut left = gap;
        while left >= unit {
            let size = size_bytes(seed, self.fill.next).min(left);
            if let Added::Full = self.add(size, seed)? {
                return Ok(Added::Full);
            }
            left = left.saturating_sub(size.next_multiple_of(unit));
        }
        Ok(Added::Whole)
    }

    fn add(&mut self, size: u64, seed: u64) -> Result<Added, FsError> {
        if self.fill.prefix.is_none() {
            let [in_directory, flat] = PREFIXES;
            self.fill.prefix = match self.on_files(|files| files.mkdir(DIRECTORY)) {
                Ok(()) => Some(in_directory),
                // An image that was filled before.
                Err(error) if error.kind() == ErrorKind::Exists => Some(in_directory),
                Err(error) if error.kind() == ErrorKind::Unsupported => Some(flat),
                Err(error) if is_full(&error) => return Ok(Added::Full),
                Err(error) => return Err(error),
            };
        }
        let (number, id) = loop {
            let number = self.fill.next;
            self.fill.next += 1;
            let path = self.fill.path(number);
            match self.on_files(|files| files.open(&path, NEW)) {
                Ok(id) => break (number, id),
                // As above.
                Err(error) if error.kind() == ErrorKind::Exists => {}
                Err(error) if is_full(&error) => return Ok(Added::Full),
                Err(error) => return Err(error),
            }
        };
        let written = self.write_all(id, size, seed ^ number);
        let closed = self.on_files(|files| files.close(id));
        match written.and_then(|whole| closed.map(|()| whole)) {
            Ok(true) => {
                self.fill.files.push((number, size));
                return Ok(Added::Whole);
            }
            Ok(false) => {}
            Err(error) if is_full(&error) => {}
            Err(error) => return Err(error),
        }
        let path = self.fill.path(number);
        match self.on_files(|files| files.remove(&path)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(Added::Full),
        }
    }

    /// Whether all of it was written; FatFs writes less where the volume is full.
    fn write_all(&mut self, id: FileId, size: u64, seed: u64) -> Result<bool, FsError> {
        let content = Workload { block_bytes: BLOCK_BYTES as u32, seed, ..Workload::named(DIRECTORY) };
        let mut pattern = Pattern::new(&content);
        let mut block = [0; BLOCK_BYTES];
        pattern.prime(&mut block);
        let mut left = size;
        while left > 0 {
            pattern.fill(&mut block, size - left, 0);
            let len = usize::try_from(left).unwrap_or(BLOCK_BYTES).min(BLOCK_BYTES);
            let part = block.get(..len).unwrap_or_default();
            if self.on_files(|files| files.write(id, part))? < len {
                return Ok(false);
            }
            left -= len as u64;
        }
        Ok(true)
    }

    fn remove_newest(&mut self) -> Result<bool, FsError> {
        let Some((number, _)) = self.fill.files.pop() else { return Ok(false) };
        let path = self.fill.path(number);
        self.on_files(|files| files.remove(&path))?;
        Ok(true)
    }

    /// Removes files of so many bytes together: a full file system cannot even replace the file that is measured.
    fn make_room(&mut self, bytes: u64) -> Result<(), FsError> {
        let mut freed = 0;
        while let Some(&(_, size)) = self.fill.files.last().filter(|_| freed < bytes) {
            self.remove_newest()?;
            freed += size;
        }
        Ok(())
    }

    /// A call of the file system as a program makes it.
    fn on_files<T>(&mut self, call: impl FnOnce(&mut dyn FileSystem) -> Result<T, FsError>) -> Result<T, FsError> {
        self.enter_file_system();
        match &mut self.store {
            Store::Files(files) => self.ledger.within(Layer::Metadata, || call(files.as_mut())),
            Store::Raw(_) => Err(FsError::NotMounted),
        }
    }
}

#[cfg(test)]
mod tests;
