//! Devices and existing files: what they are, what is on them, who uses them, and taking hold of them.
//!
//! Overwriting goes through [`claim`] or [`claim_file`] alone. Both take a [`Consent`](crate::consent::Consent), and both
//! refuse what is in use whatever was consented to.

#[cfg(target_os = "linux")]
mod claim;
#[cfg(not(target_os = "linux"))]
#[path = "device/unsupported.rs"]
mod claim;
#[cfg(target_os = "linux")]
mod disk_lock;
mod escape;
mod findings;
mod identity;
#[cfg(target_os = "linux")]
mod inspect;
#[cfg(target_os = "linux")]
mod lease;
mod loops;
pub mod mounts;
mod number;
#[cfg(target_os = "linux")]
mod occupants;
#[cfg(target_os = "linux")]
mod openers;
#[cfg(target_os = "linux")]
mod opening;
mod refusal;
mod shell;
pub mod signature;
mod stack;
pub mod survey;
pub mod swaps;
mod sysfs;
pub mod usage;

#[cfg(target_os = "linux")]
pub use claim::{Claim, claim, claim_file};
#[cfg(not(target_os = "linux"))]
pub use claim::{Claim, claim, claim_file, inspect, refuse_without_consent};
pub use findings::Findings;
pub use identity::Identity;
#[cfg(target_os = "linux")]
pub use inspect::{inspect, refuse_without_consent};
pub use number::{DeviceNumber, NotADeviceNumber};
pub use refusal::Refusal;
pub use survey::Survey;
pub use sysfs::{BlockDevice, Driver, Sysfs, node_number};
pub use usage::{Backing, InUse, Part, Use};

/// The block device that a path is the node of, or that the file system of a file or directory is on; `None` for file
/// systems that live elsewhere, and where the system doesn't tell.
#[must_use]
pub fn block_device_of(path: &std::path::Path) -> Option<BlockDevice> {
    let sysfs = Sysfs::default();
    match node_number(path) {
        Some(number) => sysfs.block(number),
        None => crate::environment::device_below(&sysfs, path),
    }
}
