//! How many operations, in which region: the workload's sizes against the target's.

use alloc::format;

use crate::target::{Fault, FaultKind, Ownership, Target};
use crate::workload::{FileMode, Workload};

/// The sizes of one repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Blocks that offsets are taken from; at least 1.
    pub region_blocks: u64,
    /// The bytes they are part of; a layout writes all of these.
    pub region_bytes: u64,
    /// What the workload asked for, where the target has less and cannot grow.
    pub cut_from: Option<u64>,
    /// Operations in a repeat; `u64::MAX` where only the time ends it.
    pub ops: u64,
}

pub(super) fn resolve<T: Target>(workload: &Workload, target: &mut T) -> Result<Plan, Fault> {
    let block = u64::from(workload.block_bytes);
    let unsupported = |message| Fault::new(FaultKind::Unsupported, message);
    if workload.fill_percent.is_some() {
        target.can_fill()?;
    }
    // What was there before may be smaller than a suite expects, and not grow; then all of it serves.
    let own = target.ownership() == Ownership::Own;
    let is_fixed = !own && (workload.file == FileMode::Existing || !target.can_grow());
    let wanted = match (workload.file, workload.file_bytes) {
        (FileMode::Append, bytes) => workload.size_bytes.or(bytes).or(Some(u64::MAX)),
        (FileMode::New, bytes) => bytes.or(workload.size_bytes),
        (FileMode::Existing, bytes) => bytes,
    };
    let region_bytes = match wanted {
        Some(bytes) if is_fixed => bytes.min(target.len_bytes()?),
        Some(bytes) => bytes,
        None if !own => target.len_bytes()?,
        None if workload.file == FileMode::New => {
            return Err(unsupported("a new file needs a size: give size or file-size (--size 64MiB)".into()));
        }
        None => {
            return Err(unsupported(
                "a file that is yet to be made has no size of its own to read: give file-size or size (--file-size 64KiB), or \
                 name a file, a device or a raw storage"
                    .into(),
            ));
        }
    };
    let region_blocks = region_bytes / block;
    if region_blocks == 0 {
        return Err(unsupported(format!(
            "{region_bytes} bytes do not hold one block of {block} bytes: make block smaller, or the file larger"
        )));
    }
    let ops = match (workload.size_bytes, workload.time_ns) {
        (Some(bytes), _) => bytes / block,
        (None, Some(_)) => u64::MAX,
        (None, None) => region_blocks,
    };
    let cut_from = wanted.filter(|bytes| *bytes > region_bytes);
    Ok(Plan { region_blocks, region_bytes, ops, cut_from })
}

/// How large the file gets over all repeats; of a file that only a time limit keeps from growing, as large as it is.
pub(super) fn file_bytes<T: Target>(workload: &Workload, plan: &Plan, target: &mut T) -> Result<u64, Fault> {
    if workload.file != FileMode::Append {
        return Ok(plan.region_bytes);
    }
    let repeats = u64::from(workload.warm_up) + u64::from(workload.repeats);
    let added = workload.size_bytes.map_or(0, |bytes| bytes.saturating_mul(repeats));
    Ok(target.len_bytes()?.saturating_add(added))
}
