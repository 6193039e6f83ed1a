//! Which part of each file is used: `size`, `filesize`, `offset` (`setup_files` and `get_start_offset` of fio's `filesetup.c`).

use flashmark_core::order::below;
use flashmark_fio::options::{AccessOptions, BlockSizes, FileOptions};
use flashmark_fio::value::quantity::Amount;
use thiserror::Error;

use super::seeds::{Question, Seeds};

/// The part of a file that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Where it begins, in bytes from the file's start.
    pub start: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

impl FilePart {
    /// Where it ends: what the file must have at least.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes)
    }
}

/// An `offset` that is not in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "`offset` is byte {start} of file {file}, which has {file_bytes}; make it smaller, or the file larger with `size`"
)]
pub struct PartError {
    /// The file, from 0.
    pub file: u32,
    /// Where its part would begin.
    pub start: u64,
    /// How many bytes the file has, or will have.
    pub file_bytes: u64,
}

/// Which part of each file a job uses. `found_bytes` tells the size of each file or device, 0 if it is not there yet;
/// `copy` is the copy of the job, from 0, that `offset_increment` is about, and `seed` the one of sizes between two limits.
///
/// A part may end behind what was found: a file is to be extended, and of a device only the part that is there can be used.
///
/// # Errors
///
/// If a part would begin behind its file.
pub fn file_parts(
    access: &AccessOptions,
    files: &FileOptions,
    found_bytes: &[u64],
    copy: u32,
    seed: u64,
) -> Result<Vec<FilePart>, PartError> {
    let smallest = access.block_sizes().each().into_iter().map(BlockSizes::least).min().unwrap_or(1).max(1);
    let size = match access.size {
        Some(Amount::Bytes(bytes)) => bytes,
        _ => 0,
    };
    let count = found_bytes.len().max(1) as u64;
    // What does not divide makes the first files larger.
    let (each, larger) = (size / count, size % count / smallest);
    let mut numbers = Seeds::new(seed, 0).numbers(Question::File, 1);
    let part = |(file, found): (u32, &u64)| {
        let found = *found;
        let start = if files.file_append { found } else { start(access, found, copy, smallest) };
        let up_to = |file_bytes: u64| file_bytes.checked_sub(start).ok_or(PartError { file, start, file_bytes });
        let mut bytes = match files.filesize {
            None if each == 0 && u64::from(file) >= larger => up_to(found)?,
            None => each + if u64::from(file) < larger { smallest } else { 0 },
            Some((low, high)) if found < low || found > high => {
                up_to(low)?;
                let drawn = low + below(&mut numbers, (high - low).saturating_add(1));
                up_to(if low == high { low } else { (drawn - drawn % smallest).max(low) })?
            }
            Some(_) => up_to(found)?,
        };
        if let Some(percent @ Amount::Percent(0..100)) = access.size {
            let of_file = percent.of(start.saturating_add(bytes)).min(bytes);
            bytes = of_file - of_file % smallest;
        }
        Ok(FilePart { start, bytes })
    };
    (0_u32..).zip(found_bytes).map(part).collect()
}

/// Where a file's part begins. What is in percent is rounded up to `offset_align`, or else to the smallest block.
fn start(access: &AccessOptions, found: u64, copy: u32, smallest: u64) -> u64 {
    let further = access.offset_increment.of(found).saturating_mul(u64::from(copy));
    let start = access.offset.of(found).saturating_add(further);
    let in_percent =
        [access.offset, access.offset_increment].iter().any(|amount| matches!(amount, Amount::Percent(1..)));
    let align = if access.offset_align == 0 { smallest } else { access.offset_align };
    if in_percent { start.checked_next_multiple_of(align).unwrap_or(start) } else { start }
}
