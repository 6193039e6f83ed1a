//! Looking at a device or file without changing it.

use std::fs::File;
use std::io;
use std::path::Path;

use super::findings::Findings;
use super::identity::Identity;
use super::opening::{DEVICE_REMEDY, device_at, metadata, not_opened, size_of};
use super::refusal::Refusal;
use super::signature::{self, Medium};
use super::survey::{uses_of_device, uses_of_file};
use super::sysfs::{Sysfs, node_number};
use super::usage::InUse;

/// Looks at a block device or regular file without changing it: what it is, what is on it, who uses it.
///
/// # Errors
/// [`Refusal`], if it is neither, or can't be read.
pub fn inspect(path: &Path) -> Result<Findings, Refusal> {
    let (model, uses) = described(path)?;
    let mut file = File::open(path).map_err(|error| not_opened(path, error, DEVICE_REMEDY))?;
    let size_bytes = size_of(path, &mut file)?;
    if size_bytes == 0 && node_number(path).is_some() {
        return Err(Refusal::NoMedium { path: path.into() });
    }
    crate::cache::forget_clean_pages(&file);
    let medium = Medium::new(&file, size_bytes);
    let contents = signature::probe(&medium);
    Ok(Findings { model, size_bytes, contents, unreadable: medium.is_unreadable(), uses })
}

/// The refusal for a device or file that the command gives no consent for: [`Refusal::NoConsent`] with what is on it,
/// or the reason for which consent would not help.
#[must_use]
pub fn refuse_without_consent(path: &Path) -> Refusal {
    let found = described(path).and_then(|(_, uses)| {
        // Known even where the right to read what is on it is missing.
        match uses.into_iter().next() {
            Some(usage) => Err(Refusal::InUse { path: path.into(), usage: Box::new(usage) }),
            None => inspect(path),
        }
    });
    match found {
        Ok(findings) => Refusal::NoConsent { path: path.into(), findings: Box::new(findings) },
        Err(refusal) => refusal,
    }
}

/// What can be said of a device or file without opening it: its model, and who uses it.
fn described(path: &Path) -> Result<(Option<String>, Vec<InUse>), Refusal> {
    let meta = metadata(path)?;
    let sysfs = Sysfs::default();
    let unchecked = |error: io::Error| Refusal::Unchecked { path: path.into(), why: error.to_string() };
    if let Some(identity @ Identity::File { .. }) = Identity::of(&meta) {
        return Ok((None, uses_of_file(&sysfs, &identity).map_err(unchecked)?.uses));
    }
    let device = device_at(path, &meta)?;
    let uses = uses_of_device(&sysfs, &device).map_err(unchecked)?.uses;
    Ok((crate::environment::model_of(&device.disk().unwrap_or(device)), uses))
}
