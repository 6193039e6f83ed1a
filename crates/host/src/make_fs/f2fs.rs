//! F2FS: mkfs.f2fs(8), the kernel's `filesystems/f2fs`.

use super::recipe::DirectoryStep;
use super::registry::{FsEntry, FsOption, Takes};

pub(super) const F2FS: FsEntry = FsEntry {
    name: "f2fs",
    program: "mkfs.f2fs",
    package: "f2fs-tools",
    bytes_min: 64 << 20,
    options: &[
        FsOption {
            name: "compress",
            // lz4 is the kernel's default since 5.7.
            takes: Takes::OneOf { values: &["lz4", "lzo", "lzo-rle", "zstd"], levels: true },
            about: "the measured directory is compressed (chattr +c)",
            needs: &["fs/f2fs/features/compression"],
            apply: |recipe, value| {
                recipe.mkfs(["-O", "extra_attr,compression"]);
                recipe.mount(&format!("compress_algorithm={value}"));
                recipe.directory.push(DirectoryStep::Compress);
            },
        },
        FsOption {
            name: "encrypt",
            takes: Takes::Nothing,
            about: "files are encrypted by the file system (fscrypt)",
            needs: &["fs/f2fs/features/encryption"],
            apply: |recipe, _| {
                recipe.mkfs(["-O", "encrypt"]);
                recipe.directory.push(DirectoryStep::Encrypt);
            },
        },
    ],
    lists: &["-O"],
    base: |recipe| {
        // `-t 0`: no discard; the kernel discards unless told not to.
        recipe.mkfs(["-f", "-q", "-t", "0"]);
        recipe.mount("nodiscard");
    },
};
