//! Where devices are not known: nothing that flashmark did not create is written to.

use std::convert::Infallible;
use std::fs::File;
use std::path::Path;

use super::findings::Findings;
use super::refusal::Refusal;
use crate::consent::Consent;

/// A device or file that may be overwritten. There is none on this operating system.
#[derive(Debug)]
pub struct Claim(Infallible);

impl Claim {
    /// The path it was claimed by.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// The open device or file.
    #[must_use]
    pub fn file(&self) -> &File {
        match self.0 {}
    }

    /// Its size when it was claimed.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        match self.0 {}
    }

    /// What could not be checked.
    #[must_use]
    pub fn doubts(&self) -> &[String] {
        match self.0 {}
    }
}

/// Claims a block device for overwriting.
///
/// # Errors
/// Always [`Refusal::Unsupported`].
pub fn claim(path: &Path, _: &Consent) -> Result<Claim, Refusal> {
    Err(Refusal::Unsupported { path: path.into() })
}

/// Claims an existing regular file for overwriting.
///
/// # Errors
/// Always [`Refusal::Unsupported`].
pub fn claim_file(path: &Path, _: &Consent) -> Result<Claim, Refusal> {
    Err(Refusal::Unsupported { path: path.into() })
}

/// Looks at a block device or regular file.
///
/// # Errors
/// Always [`Refusal::Unsupported`].
pub fn inspect(path: &Path) -> Result<Findings, Refusal> {
    Err(Refusal::Unsupported { path: path.into() })
}

/// The refusal for a device or file that the command gives no consent for.
#[must_use]
pub fn refuse_without_consent(path: &Path) -> Refusal {
    Refusal::Unsupported { path: path.into() }
}
