//! Whether this machine can make a file system.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{FsOpenFlags, fsopen};

use super::super::error::MakeError;
use super::super::registry::{FsEntry, FsOption};
use super::super::spec::FsSpec;
use super::image;

/// What keeps a file system from being made here, each with what to do where something can be done; empty if nothing does.
/// Asked by root, the kernel loads the file system's module for it.
#[must_use]
pub fn availability(entry: &FsEntry) -> Vec<String> {
    let mut reasons = Vec::new();
    reasons.extend(not_in_kernel(entry.name));
    if program_path(entry.program).is_none() {
        reasons.push(format!("{} is missing: install the package {}", entry.program, entry.package));
    }
    reasons
}

fn not_in_kernel(name: &str) -> Option<String> {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if known.lines().any(|line| line.split_whitespace().next_back() == Some(name)) {
        return None;
    }
    match fsopen(name, FsOpenFlags::FSOPEN_CLOEXEC) {
        Ok(_) => None,
        Err(Errno::PERM) => Some(format!("the kernel has not loaded {name}, and only root can have it tried")),
        Err(_) => Some(format!("this kernel has no {name}: it takes one that has it, or its module")),
    }
}

/// What the kernel lacks for an option.
fn option_lacks(entry: &FsEntry, option: &FsOption) -> Option<String> {
    let missing = option.needs.iter().any(|path| !Path::new("/sys").join(path).exists());
    missing.then(|| format!("this kernel's {} cannot {}", entry.name, option.name))
}

/// Where a program is: in the user's path, or where system administrators' programs are.
pub(super) fn program_path(program: &str) -> Option<PathBuf> {
    let paths = std::env::var("PATH").unwrap_or_default() + ":/usr/local/sbin:/usr/sbin:/sbin";
    paths.split(':').filter(|dir| !dir.is_empty()).map(|dir| Path::new(dir).join(program)).find(|path| path.is_file())
}

/// Whether a file system can be made in an image of this size in `dir`; nothing is made.
///
/// # Errors
/// [`MakeError`] with what is missing.
pub fn check(dir: &Path, spec: &FsSpec, image_bytes: u64) -> Result<(), MakeError> {
    let entry = spec.entry();
    let mut reasons = availability(entry);
    if reasons.is_empty() {
        reasons.extend(spec.options().filter_map(|option| option_lacks(entry, option)));
    }
    if !reasons.is_empty() {
        return Err(MakeError::Unavailable { file_system: spec.to_string(), reasons });
    }
    if !rustix::process::geteuid().is_root() {
        return Err(MakeError::NotRoot);
    }
    if !Path::new("/dev/loop-control").exists() {
        return Err(MakeError::Loop { source: io::ErrorKind::NotFound.into() });
    }
    if image_bytes < entry.bytes_min && !spec.has_own_mkfs() {
        let file_system = spec.to_string();
        return Err(MakeError::TooSmall { file_system, least_bytes: entry.bytes_min, given_bytes: image_bytes });
    }
    image::check_room(dir, image_bytes)
}
