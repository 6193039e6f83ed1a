//! Where file systems cannot be made.

use std::path::Path;

use super::error::MakeError;
use super::registry::FsEntry;
use super::spec::FsSpec;

/// Never made here.
#[derive(Debug)]
pub struct PrivateMounts(std::convert::Infallible);

impl PrivateMounts {
    /// # Errors
    /// [`MakeError::NotLinux`].
    pub fn enter() -> Result<Self, MakeError> {
        Err(MakeError::NotLinux)
    }
}

/// Never made here.
#[derive(Debug)]
pub struct MadeFs(std::convert::Infallible);

impl MadeFs {
    /// The directory to be measured.
    #[must_use]
    pub fn directory(&self) -> &Path {
        match self.0 {}
    }

    /// How it was made.
    #[must_use]
    pub fn made_with(&self) -> &[String] {
        match self.0 {}
    }

    /// # Errors
    /// None here.
    pub fn remove(self) -> Result<(), MakeError> {
        match self.0 {}
    }
}

/// What keeps a file system from being made.
#[must_use]
pub fn availability(_: &FsEntry) -> Vec<String> {
    vec![MakeError::NotLinux.to_string()]
}

/// # Errors
/// [`MakeError::NotLinux`].
pub fn check(_: &Path, _: &FsSpec, _: u64) -> Result<(), MakeError> {
    Err(MakeError::NotLinux)
}

/// # Errors
/// [`MakeError::NotLinux`].
pub fn make(_: &PrivateMounts, _: &Path, _: &FsSpec, _: u64, _: &dyn Fn() -> bool) -> Result<MadeFs, MakeError> {
    Err(MakeError::NotLinux)
}

/// Nothing to remove.
pub fn remove_all_now() {}
