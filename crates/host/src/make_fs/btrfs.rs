//! btrfs: mkfs.btrfs(8), btrfs(5).

use super::registry::{FsEntry, FsOption, Takes};

/// What the kernel can compress with, its default first.
const ALGORITHMS: Takes = Takes::OneOf { values: &["zlib", "lzo", "zstd"], levels: true };

pub(super) const BTRFS: FsEntry = FsEntry {
    name: "btrfs",
    program: "mkfs.btrfs",
    package: "btrfs-progs",
    // What mkfs.btrfs asks for is 109 MiB for a system with metadata twice.
    bytes_min: 110 << 20,
    options: &[
        FsOption {
            name: "compress",
            takes: ALGORITHMS,
            about: "files that look compressible are compressed",
            needs: &[],
            apply: |recipe, value| recipe.mount(&format!("compress={value}")),
        },
        FsOption {
            name: "compress-force",
            takes: ALGORITHMS,
            about: "every file is compressed",
            needs: &[],
            apply: |recipe, value| recipe.mount(&format!("compress-force={value}")),
        },
    ],
    lists: &[],
    base: |recipe| {
        // `-K`: no discard; the kernel discards by itself since 6.2.
        recipe.mkfs(["-f", "-q", "-K"]);
        recipe.mount("nodiscard");
    },
};
