//! What a result is measured with: the machine, the file system, the device.
//!
//! Read from `/proc` and `/sys`; nothing is guessed, and what can't be read is left out. Nothing that identifies the
//! machine or its owner is read unless asked for ([`Collect::serials`]).

mod card;
mod device;
mod file_system;
mod layers;
mod lower;
mod system;

use std::path::Path;

use flashmark_core::environment::Environment;
use flashmark_core::record::{Warning, WarningCode};

pub use device::{describe_device, model_of};
pub use file_system::{Mount, device_below, device_of_mount, mount_of};
pub use lower::{LowerCache, lower_caches};
pub use system::describe_system;

use crate::device::{Sysfs, block_device_of, node_number};

/// What to collect beyond the usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collect {
    /// Also the device's serial number.
    pub serials: bool,
}

/// The environment of a directory, file or block device, and warnings for what should be known and could not be read.
///
/// Takes a few milliseconds. It never fails: what can't be read is left out.
#[must_use]
pub fn collect(path: &Path, options: Collect) -> (Environment, Vec<Warning>) {
    let sysfs = Sysfs::default();
    let mut warnings = Vec::new();
    let mut environment = describe_system(&sysfs);
    // A device's node lies on a file system (/dev) that has nothing to do with it.
    if node_number(path).is_none() {
        environment.file_system = file_system::describe(path);
        if environment.file_system.is_none() && cfg!(target_os = "linux") {
            warnings.push(unknown(format!("cannot tell which file system {} is on", path.display())));
        }
    }
    let device = block_device_of(path);
    if let Some(device) = &device {
        environment.device = Some(describe_device(&sysfs, device, options, &mut warnings));
    }
    if let (None, Some(file_system)) = (&device, &environment.file_system)
        && matches!(file_system.kind.as_str(), "overlay" | "btrfs")
        // With the files in memory, there is none.
        && !lower_caches(path).iter().any(|cache| matches!(cache, LowerCache::MemoryFileSystem { .. }))
    {
        warnings.push(unknown(format!(
            "cannot tell which device is below the {} of {}",
            file_system.kind,
            path.display()
        )));
    }
    (environment, warnings)
}

fn unknown(message: impl Into<String>) -> Warning {
    Warning::new(WarningCode::Environment, message)
}
