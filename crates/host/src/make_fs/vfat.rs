//! FAT: mkfs.fat(8). It chooses the width of the table by the size.

use super::registry::FsEntry;

pub(super) const VFAT: FsEntry = FsEntry {
    name: "vfat",
    program: "mkfs.vfat",
    package: "dosfstools",
    bytes_min: 1 << 20,
    options: &[],
    lists: &[],
    // `-I`: on the whole device.
    base: |recipe| recipe.mkfs(["-I"]),
};
