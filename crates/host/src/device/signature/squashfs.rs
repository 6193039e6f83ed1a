//! Squashfs (kernel documentation, "Squashfs 4.0 filesystem"; `fs/squashfs/squashfs_fs.h`).

use super::{Medium, Signature};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let known = (medium.has(0, b"hsqs") && matches!(medium.u16(28)?, 1..=4))
        || (medium.has(0, b"sqsh") && matches!(medium.u16(28)?.swap_bytes(), 1..=3));
    known.then(|| Signature::file_system("squashfs", None))
}
