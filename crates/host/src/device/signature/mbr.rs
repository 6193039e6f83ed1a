//! MBR partition tables: four entries in the first sector, and a chain of further tables in an extended partition.

use super::{Medium, Partition, Signature, gpt, vfat};

const SECTOR: u64 = 512;
const PROTECTIVE: u8 = 0xee;
const EXTENDED: [u8; 3] = [0x05, 0x0f, 0x85];
/// As many logical partitions as are listed; a chain that bites its tail ends here.
const LOGICAL_MAX: u32 = 64;

#[derive(Clone, Copy)]
struct Entry {
    kind: u8,
    start: u32,
    sectors: u32,
}

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    // The boot sectors of FAT, exFAT and NTFS end in the same magic and have code where a table has its entries.
    if vfat::width(medium).is_some() || medium.has(3, b"NTFS    ") || medium.has(3, b"EXFAT   ") {
        return None;
    }
    let entries = entries(medium)?;
    let used: Vec<(u32, Entry)> = (1..).zip(entries).filter(|(_, entry)| entry.kind != 0).collect();
    let disk_id = medium.u32(440)?;
    if used.is_empty() {
        return (disk_id != 0).then(|| Signature::new("dos", "MBR partition table (empty)", None));
    }
    if used.iter().any(|(_, entry)| entry.kind == PROTECTIVE) {
        let damaged = || Signature::new("PMBR", "protective MBR of a GPT that is damaged", None);
        return gpt::first(medium).is_none().then(damaged);
    }
    let mut found = Signature::new("dos", "MBR partition table", None);
    for (index, entry) in used {
        let mut listed = partition(index, u64::from(entry.start), entry.sectors);
        if EXTENDED.contains(&entry.kind) {
            listed.contents.push(Signature::new("extended", "extended partition", None));
        }
        found.partitions.push(listed);
        if EXTENDED.contains(&entry.kind) {
            found.partitions.extend(logical(medium, u64::from(entry.start)));
        }
    }
    Some(found)
}

/// The four entries of a table, if it can be one: each entry is unused, or has a size and a flag of 0 or 0x80.
fn entries(medium: &Medium<'_>) -> Option<[Entry; 4]> {
    let sector: [u8; 512] = medium.bytes(0)?;
    if sector[510..] != [0x55, 0xaa] {
        return None;
    }
    let word = |at: usize| u32::from_le_bytes([sector[at], sector[at + 1], sector[at + 2], sector[at + 3]]);
    let mut entries = [Entry { kind: 0, start: 0, sectors: 0 }; 4];
    for (n, entry) in entries.iter_mut().enumerate() {
        let at = 446 + 16 * n;
        *entry = Entry { kind: sector[at + 4], start: word(at + 8), sectors: word(at + 12) };
        let plausible = sector[at] & 0x7f == 0 && (entry.kind == 0 || entry.sectors != 0);
        if !plausible {
            return None;
        }
    }
    Some(entries)
}

/// The partitions in an extended one: each table has one, and a link to the next table, counted from the first.
fn logical(medium: &Medium<'_>, extended: u64) -> Vec<Partition> {
    let mut found = Vec::new();
    let mut table = extended;
    for index in 5..5 + LOGICAL_MAX {
        let Some([own, next, ..]) = entries(&medium.part(table * SECTOR, SECTOR)) else { break };
        if own.kind == 0 || own.sectors == 0 {
            break;
        }
        found.push(partition(index, table + u64::from(own.start), own.sectors));
        if !EXTENDED.contains(&next.kind) || next.start == 0 {
            break;
        }
        table = extended + u64::from(next.start);
    }
    found
}

fn partition(index: u32, start: u64, sectors: u32) -> Partition {
    Partition {
        index,
        start_bytes: start * SECTOR,
        size_bytes: u64::from(sectors) * SECTOR,
        label: None,
        contents: Vec::new(),
    }
}
