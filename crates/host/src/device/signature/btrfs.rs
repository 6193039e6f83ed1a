//! btrfs (`include/uapi/linux/btrfs_tree.h`, `struct btrfs_super_block`).

use super::{Medium, Signature, label};

/// Where the first superblock is.
const AT: u64 = 64 * 1024;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium
        .has(AT + 0x40, b"_BHRfS_M")
        .then(|| Signature::file_system("btrfs", medium.bytes::<256>(AT + 0x12b).and_then(|bytes| label(&bytes))))
}
