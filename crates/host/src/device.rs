//! Devices and existing files: what they are, what is on them, who uses them, and taking hold of them.
//!
//! Overwriting goes through [`claim`] or [`claim_file`] alone. Both take a [`Consent`](crate::consent::Consent), and both
//! refuse what is in use whatever was consented to.

#[cfg(target_os = "linux")]
mod claim;
#[cfg(not(target_os = "linux"))]
#[path = "device/unsupported.rs"]
mod claim;
mod escape;
mod findings;
mod identity;
pub mod mounts;
mod number;
#[cfg(target_os = "linux")]
mod openers;
mod refusal;
mod shell;
pub mod signature;
pub mod swaps;
mod sysfs;
pub mod usage;

pub use claim::{Claim, claim, claim_file, inspect, refuse_without_consent};
pub use findings::Findings;
pub use identity::Identity;
pub use number::{DeviceNumber, NotADeviceNumber};
pub use refusal::Refusal;
pub use sysfs::{BlockDevice, Driver, Sysfs, node_number};
pub use usage::{InUse, Part, Use};

/// The block device that a path is the node of, or that the file system of a file or directory is on; `None` for file
/// systems that live elsewhere, and where the system doesn't tell.
#[must_use]
pub fn block_device_of(path: &std::path::Path) -> Option<BlockDevice> {
    let sysfs = Sysfs::default();
    match node_number(path) {
        Some(number) => sysfs.block(number),
        None => crate::environment::device_of_mount(&sysfs, &crate::environment::mount_of(path)?),
    }
}
