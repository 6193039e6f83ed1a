//! GUID partition tables (UEFI specification, 5.3), with the second one at the end of the medium.

use super::{Medium, Partition, Signature, label_utf16};

const MAGIC: &[u8] = b"EFI PART";
/// Logical block sizes in use; the medium doesn't say its own.
const BLOCKS: [u64; 4] = [512, 4096, 1024, 2048];
/// More entries than any tool writes; what goes beyond is not listed.
const ENTRIES_MAX: u32 = 1024;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    if let Some(block) = first(medium) {
        let mut found = Signature::new("gpt", "GPT partition table", None);
        found.partitions = partitions(medium, block, block);
        return Some(found);
    }
    let (block, header) = BLOCKS.into_iter().find_map(|block| {
        let header = (medium.len_bytes() / block).checked_sub(1)? * block;
        medium.has(header, MAGIC).then_some((block, header))
    })?;
    let mut found = Signature::new("gpt", "GPT partition table (the copy at the end only)", None);
    found.partitions = partitions(medium, block, header);
    Some(found)
}

/// The block size of the table at the start, if there is one.
pub(super) fn first(medium: &Medium<'_>) -> Option<u64> {
    BLOCKS.into_iter().find(|&block| medium.has(block, MAGIC))
}

fn partitions(medium: &Medium<'_>, block: u64, header: u64) -> Vec<Partition> {
    let table = || Some((medium.u64(header + 72)?, medium.u32(header + 80)?, medium.u32(header + 84)?));
    let Some((entries_block, count, entry_bytes)) = table() else { return Vec::new() };
    if !(128..=4096).contains(&entry_bytes) {
        return Vec::new();
    }
    (0..count.min(ENTRIES_MAX))
        .filter_map(|n| {
            let at = entries_block.checked_mul(block)?.checked_add(u64::from(n) * u64::from(entry_bytes))?;
            let entry: [u8; 128] = medium.bytes(at)?;
            let unused = entry[..16] == [0; 16];
            let word = |at: usize| entry[at..at + 8].iter().rev().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
            let (first, last) = (word(32), word(40));
            let blocks = last.checked_sub(first)?.checked_add(1)?;
            (!unused).then_some(Partition {
                index: n + 1,
                start_bytes: first.checked_mul(block)?,
                size_bytes: blocks.checked_mul(block)?,
                label: label_utf16(&entry[56..128]),
                contents: Vec::new(),
            })
        })
        .collect()
}
