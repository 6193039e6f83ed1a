//! exFAT: mkfs.exfat(8) of exfatprogs.

use super::registry::FsEntry;

pub(super) const EXFAT: FsEntry = FsEntry {
    name: "exfat",
    program: "mkfs.exfat",
    package: "exfatprogs",
    // The program places its areas at whole MiB.
    bytes_min: 4 << 20,
    options: &[],
    lists: &[],
    base: |_| {},
};
