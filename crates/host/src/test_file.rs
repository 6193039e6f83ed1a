//! Test files, with names that prove their origin.
//!
//! A test file is `flashmark-test-` and 16 hexadecimal digits and `.tmp`; the last four digits are a checksum of the
//! first twelve, so that no other program's file is taken for one. While a run uses its file it holds a lock on it
//! (`flock`), which the system drops with the process: a file of that name without a lock is a leftover
//! ([`crate::leftovers`]).

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const PREFIX: &str = "flashmark-test-";
const SUFFIX: &str = ".tmp";

/// The test files of this process, for [`remove_all_now`].
static IN_USE: Mutex<Vec<Arc<Place>>> = Mutex::new(Vec::new());

/// Where a test file was made. The directory is kept open, so that the file is found again when something was mounted over
/// it or unmounted under it.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    directory: Option<File>,
}

impl Place {
    fn remove(&self) -> io::Result<()> {
        match &self.directory {
            Some(directory) => sys::remove_in(directory, &self.path).or_else(|_| fs::remove_file(&self.path)),
            None => fs::remove_file(&self.path),
        }
    }
}

#[cfg(unix)]
mod sys {
    use rustix::fs::{AtFlags, unlinkat};
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }

    pub(super) fn remove_in(directory: &File, path: &Path) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(unlinkat(directory, name, AtFlags::empty())?)
    }
}

#[cfg(not(unix))]
mod sys {
    use std::fs::{File, Metadata};
    use std::io;
    use std::path::Path;

    pub(super) fn is_same(_: &Metadata, _: &Metadata) -> bool {
        true
    }

    pub(super) fn remove_in(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A number that no other run has, from the system's entropy.
#[must_use]
pub fn random_id() -> u64 {
    // Each `RandomState` has fresh keys; that is all the entropy a name needs.
    RandomState::new().build_hasher().finish()
}

pub(crate) fn name_of(id: u64) -> String {
    let id = id & 0xffff_ffff_ffff;
    format!("{PREFIX}{id:012x}{:04x}{SUFFIX}", check_digits(id))
}

/// Whether a file name is one that flashmark gives to its test files.
#[must_use]
pub fn is_test_file_name(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some((id, _)) = digits.filter(|d| d.len() == 16 && d.is_ascii()).map(|d| d.split_at(12)) else { return false };
    u64::from_str_radix(id, 16).is_ok_and(|id| name_of(id) == name)
}

/// CRC-16/CCITT-FALSE of the number's six low bytes.
fn check_digits(id: u64) -> u16 {
    id.to_be_bytes()[2..].iter().fold(0xffff, |crc, byte| {
        (0..8)
            .fold(crc ^ (u16::from(*byte) << 8), |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 })
    })
}

/// A test file of this process: locked while it lives, removed when dropped.
#[derive(Debug)]
pub struct TestFile {
    place: Arc<Place>,
    /// Holds the lock.
    lease: File,
}

impl TestFile {
    /// Creates an empty test file in `dir`, exclusively.
    ///
    /// # Errors
    /// The system's error: a missing or read-only directory, missing rights, a full file system.
    pub fn create(dir: &Path) -> io::Result<Self> {
        // A directory that can be written but not read cannot be opened; then the path has to do.
        let open_directory = || File::open(dir).ok();
        loop {
            let path = dir.join(name_of(random_id()));
            let lease = match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                result => result?,
            };
            let file = Self { place: Arc::new(Place { path, directory: open_directory() }), lease };
            in_use().push(Arc::clone(&file.place));
            match file.lease.try_lock() {
                // A file system without locks: others will see it as in use, which errs on the safe side.
                Err(TryLockError::Error(_)) => return Ok(file),
                // Between the two calls another run may have taken it for a leftover and removed it.
                Ok(()) if file.path().exists() => return Ok(file),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// The file itself, open for reading and writing.
    #[must_use]
    pub const fn lease(&self) -> &File {
        &self.lease
    }

    /// Removes the file.
    ///
    /// # Errors
    /// The system's error; the file is still there then. One that was removed by somebody else is no error.
    pub fn remove(self) -> io::Result<()> {
        match self.place.remove() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the path still leads to this file: not if it was removed, or its file system unmounted.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        match (self.lease.metadata(), self.path().symlink_metadata()) {
            (Ok(made), Ok(found)) => sys::is_same(&made, &found),
            _ => false,
        }
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // The way out of an error that is told already; after `remove` nothing is left to do.
        let _ = self.place.remove();
        in_use().retain(|place| !Arc::ptr_eq(place, &self.place));
    }
}

fn in_use() -> MutexGuard<'static, Vec<Arc<Place>>> {
    // A panic elsewhere does not make a list of paths wrong.
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the test files of this process, whatever it is doing: for a process that is about to be ended. Waits for
/// nobody, so that it can be called when the measuring thread hangs in the kernel.
pub fn remove_all_now() {
    if let Ok(places) = IN_USE.try_lock() {
        for place in places.iter() {
            let _ = place.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_lives_as_long_as_its_value() {
        let dir = tempfile::tempdir().unwrap();
        let file = TestFile::create(dir.path()).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(is_test_file_name(&name), "{name}");
        assert!(file.is_in_place());
        drop(file);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn removing_it_tells_what_went_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let file = TestFile::create(dir.path()).unwrap();
        fs::remove_file(file.path()).unwrap();
        assert!(!file.is_in_place());
        assert!(file.remove().is_ok(), "it is gone, whoever removed it");
        assert!(TestFile::create(Path::new("/nonexistent")).is_err());
    }

    proptest! {
        #[test]
        fn our_names_are_recognised(id: u64) {
            prop_assert!(is_test_file_name(&name_of(id)));
        }

        #[test]
        fn a_changed_digit_is_noticed(id: u64, at in 0_usize..16) {
            let mut name = name_of(id).into_bytes();
            let digit = &mut name[PREFIX.len() + at];
            *digit = if *digit == b'0' { b'1' } else { b'0' };
            prop_assert!(!is_test_file_name(std::str::from_utf8(&name).unwrap_or_default()));
        }

        #[test]
        fn other_names_are_not_ours(name in "\\PC{0,40}") {
            prop_assert!(!is_test_file_name(&name));
        }
    }
}
