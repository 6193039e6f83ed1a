//! XFS: mkfs.xfs(8).

use super::registry::FsEntry;

pub(super) const XFS: FsEntry = FsEntry {
    name: "xfs",
    program: "mkfs.xfs",
    package: "xfsprogs",
    // mkfs.xfs since 5.19.
    bytes_min: 300 << 20,
    options: &[],
    lists: &[],
    // `-K`: no discard.
    base: |recipe| recipe.mkfs(["-f", "-q", "-K"]),
};
