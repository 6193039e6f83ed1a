//! The file systems that can be made.

use super::recipe::Recipe;
use super::{btrfs, exfat, ext, f2fs, vfat, xfs};

/// A file system that can be made.
pub struct FsEntry {
    /// What it is called, on the command line and by the kernel.
    pub name: &'static str,
    /// The program that makes it.
    pub program: &'static str,
    /// Debian's package with the program.
    pub package: &'static str,
    /// The smallest image that the program takes without options of one's own.
    pub bytes_min: u64,
    /// Its options, beside those that all have.
    pub options: &'static [FsOption],
    /// See [`Recipe`].
    pub(super) lists: &'static [&'static str],
    /// What is always done: overwrite what is there without a question, say little, and give no space of the image back.
    pub(super) base: fn(&mut Recipe),
}

/// An option of a file system.
pub struct FsOption {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub takes: Takes,
    /// What it does.
    pub about: &'static str,
    /// Files below `/sys` that are there if the kernel can do it.
    pub needs: &'static [&'static str],
    pub(super) apply: fn(&mut Recipe, &str),
}

/// Values of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// One of these, the first one if none is given; with `levels`, a number can follow after a colon.
    OneOf {
        /// In the kernel's spelling.
        values: &'static [&'static str],
        /// Whether a level can follow.
        levels: bool,
    },
    /// Any text that is not empty.
    Text,
}

impl Takes {
    /// Whether the value is one of these.
    #[must_use]
    pub fn takes(self, value: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Text => !value.trim().is_empty(),
            Self::OneOf { values, levels } => {
                let (name, level) = value.split_once(':').map_or((value, None), |(name, level)| (name, Some(level)));
                values.contains(&name) && level.is_none_or(|level| levels && level.parse::<u8>().is_ok())
            }
        }
    }
}

/// Every file system that can be made.
pub const FILE_SYSTEMS: &[FsEntry] =
    &[ext::EXT4, ext::EXT3, ext::EXT2, xfs::XFS, btrfs::BTRFS, f2fs::F2FS, vfat::VFAT, exfat::EXFAT];

/// The options that every file system has.
pub(super) const COMMON: &[FsOption] = &[
    FsOption {
        name: "mkfs",
        takes: Takes::Text,
        about: "words for the mkfs program, separated by spaces",
        needs: &[],
        apply: |recipe, value| recipe.mkfs(value.split_whitespace()),
    },
    FsOption {
        name: "mount",
        takes: Takes::Text,
        about: "mount options, separated by commas",
        needs: &[],
        apply: |recipe, value| recipe.mount(value),
    },
];

impl FsEntry {
    /// The file system of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FILE_SYSTEMS.iter().find(|entry| entry.name == name)
    }

    /// Its own options, then those that all have.
    pub fn all_options(&self) -> impl Iterator<Item = &'static FsOption> + use<> {
        self.options.iter().chain(COMMON)
    }

    /// How it is made without options.
    pub(super) fn recipe(&self) -> Recipe {
        let mut recipe = Recipe { lists: self.lists, ..Recipe::default() };
        (self.base)(&mut recipe);
        recipe
    }
}

impl std::fmt::Debug for FsEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FsEntry").field("name", &self.name).finish_non_exhaustive()
    }
}
