//! ext4, ext3 and ext2: mke2fs(8).

use super::recipe::{DirectoryStep, Recipe};
use super::registry::{FsEntry, FsOption, Takes};

/// The tables are written at once: the kernel would do it in the background, which is during the measurement.
fn base(recipe: &mut Recipe) {
    recipe.mkfs(["-F", "-q", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"]);
}

/// mke2fs obeys the last of several `-E` or `-O` only.
const LISTS: &[&str] = &["-E", "-O"];

pub(super) const EXT4: FsEntry = FsEntry {
    name: "ext4",
    program: "mkfs.ext4",
    package: "e2fsprogs",
    bytes_min: 8 << 20,
    options: &[FsOption {
        name: "encrypt",
        takes: Takes::Nothing,
        about: "files are encrypted by the file system (fscrypt)",
        needs: &["fs/ext4/features/encryption"],
        apply: |recipe, _| {
            recipe.mkfs(["-O", "encrypt"]);
            recipe.directory.push(DirectoryStep::Encrypt);
        },
    }],
    lists: LISTS,
    base,
};

pub(super) const EXT3: FsEntry = FsEntry {
    name: "ext3",
    program: "mkfs.ext3",
    options: &[],
    package: EXT4.package,
    bytes_min: 8 << 20,
    lists: LISTS,
    base,
};

pub(super) const EXT2: FsEntry = FsEntry {
    name: "ext2",
    program: "mkfs.ext2",
    options: &[],
    package: EXT4.package,
    bytes_min: 1 << 20,
    lists: LISTS,
    base,
};
