//! ext2, ext3 and ext4 (kernel documentation, "ext4 data structures: super block").

use super::{Medium, Signature, label};

const AT: u64 = 1024;

const COMPAT_HAS_JOURNAL: u32 = 0x4;
const INCOMPAT_JOURNAL_DEVICE: u32 = 0x8;
/// file types in directories, journal recovery, meta block groups: what ext3 knows of the incompatible features.
const INCOMPAT_EXT3: u32 = 0x2 | 0x4 | 0x10;
/// sparse superblocks, large files, B-tree directories: what ext3 knows of the read-only compatible features.
const RO_COMPAT_EXT3: u32 = 0x1 | 0x2 | 0x4;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    if medium.u16(AT + 0x38)? != 0xef53 {
        return None;
    }
    let compat = medium.u32(AT + 0x5c)?;
    let incompat = medium.u32(AT + 0x60)?;
    let ro_compat = medium.u32(AT + 0x64)?;
    let name = medium.bytes::<16>(AT + 0x78).and_then(|bytes| label(&bytes));
    if incompat & INCOMPAT_JOURNAL_DEVICE != 0 {
        return Some(Signature::new("jbd", "journal of an ext file system", name));
    }
    let kind = if incompat & !INCOMPAT_EXT3 != 0 || ro_compat & !RO_COMPAT_EXT3 != 0 {
        "ext4"
    } else if compat & COMPAT_HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    Some(Signature::file_system(kind, name))
}
