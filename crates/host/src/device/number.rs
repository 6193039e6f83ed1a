//! Device numbers, as the kernel prints them.

use std::fmt;
use std::str::FromStr;

/// The number of a block device: what tells two devices apart, however their nodes are called.
///
/// Shown and read as `MAJOR:MINOR`, as in `/sys/dev/block` and in `/proc/self/mountinfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver's number; 0 for file systems that have no device of their own (btrfs, tmpfs, overlay).
    pub major: u32,
    /// The device's number in its driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// From a `dev_t` as `stat` gives it (`st_dev`, `st_rdev`).
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn from_raw(dev: u64) -> Self {
        Self { major: rustix::fs::major(dev), minor: rustix::fs::minor(dev) }
    }

    /// Whether the number was made up for a file system without a device of its own.
    #[must_use]
    pub const fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = NotADeviceNumber;

    fn from_str(text: &str) -> Result<Self, NotADeviceNumber> {
        let (major, minor) = text.trim().split_once(':').ok_or(NotADeviceNumber)?;
        Ok(Self {
            major: major.parse().map_err(|_| NotADeviceNumber)?,
            minor: minor.parse().map_err(|_| NotADeviceNumber)?,
        })
    }
}

/// A text is not `MAJOR:MINOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a device number; expected MAJOR:MINOR, such as 179:0")]
pub struct NotADeviceNumber;
