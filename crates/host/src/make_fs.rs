//! File systems that are made to be measured: in an image file in a directory, and gone afterwards.
//!
//! A [`FsSpec`] says which (`btrfs:compress=zstd`), [`FILE_SYSTEMS`] which there are, [`check`] whether this machine can
//! make it, and [`make`] makes it: an image file with every byte written, a loop device on it, a file system on that, and
//! a mount of it in a mount namespace of this process alone ([`PrivateMounts`]). [`MadeFs::remove`] undoes all of that;
//! [`remove_all_now`] does so in the middle of a measurement, for a process that is about to be ended.
//!
//! What a killed process leaves is a file, and an empty directory that was the mount point, both with names that
//! [`crate::leftovers`] knows: the mount goes with the process, and the loop device with the mount.
//!
//! A new file system is a file here and a line in [`FILE_SYSTEMS`].

mod btrfs;
mod error;
mod exfat;
mod ext;
mod f2fs;
#[cfg(target_os = "linux")]
mod linux;
mod recipe;
mod registry;
mod spec;
#[cfg(not(target_os = "linux"))]
mod unsupported;
mod vfat;
mod xfs;

pub use error::MakeError;
#[cfg(target_os = "linux")]
pub use linux::{MadeFs, PrivateMounts, availability, check, make, remove_all_now};
pub use recipe::{DirectoryStep, Recipe};
pub use registry::{FILE_SYSTEMS, FsEntry, FsOption, Takes};
pub use spec::{FsSpec, SpecError};
#[cfg(not(target_os = "linux"))]
pub use unsupported::{MadeFs, PrivateMounts, availability, check, make, remove_all_now};
