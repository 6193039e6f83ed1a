//! F2FS (`include/linux/f2fs_fs.h`, `struct f2fs_super_block`).

use super::{Medium, Signature, label_utf16};

/// Where the two superblocks are.
const AT: [u64; 2] = [1024, 4096 + 1024];

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let at = AT.into_iter().find(|&at| medium.u32(at) == Some(0xf2f5_2010))?;
    let name = medium.bytes::<1024>(at + 124).and_then(|bytes| label_utf16(&bytes));
    Some(Signature::file_system("f2fs", name))
}
