//! The file systems by name.

use crate::device::Device;
use crate::error::FsError;
use crate::file_system::FileSystem;
use crate::options::{Key, OptionError, Options};
use crate::{fatfs, littlefs, spiffs};

/// Makes a file system on a device, neither formatted nor mounted.
///
/// Errors: [`FsError::Option`] where the options contradict each other or the device.
pub type Make = fn(Box<dyn Device>, &Options) -> Result<Box<dyn FileSystem>, FsError>;

/// A file system that can be made.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// How ESP-IDF's benchmark writes the name in its rows.
    pub label: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its options.
    pub keys: &'static [Key],
    /// Makes it.
    pub make: Make,
}

/// All file systems.
pub static FILE_SYSTEMS: &[Entry] = &[fatfs::ENTRY, littlefs::ENTRY, spiffs::ENTRY];

/// The file system of a name.
///
/// # Errors
/// [`OptionError::UnknownFileSystem`].
pub fn entry(name: &str) -> Result<&'static Entry, OptionError> {
    FILE_SYSTEMS.iter().find(|entry| entry.name == name).ok_or_else(|| OptionError::UnknownFileSystem {
        name: name.into(),
        known: FILE_SYSTEMS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// Makes a file system by name on a device, neither formatted nor mounted.
///
/// # Errors
/// [`FsError::Option`].
pub fn make(name: &str, device: Box<dyn Device>, options: &Options) -> Result<Box<dyn FileSystem>, FsError> {
    (entry(name)?.make)(device, options)
}
