//! What killed runs left behind: test files, images of file systems and empty directories that these were mounted on, all
//! with names of test files, that nobody holds a lock on.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::test_file::is_test_file_name;

/// A test file or an empty directory that an earlier run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// Its length; 0 for a directory.
    pub bytes: u64,
}

/// What [`sweep`] found.
#[derive(Debug, Default)]
pub struct Sweep {
    /// Removed.
    pub removed: Vec<Leftover>,
    /// In use by a run that is alive.
    pub in_use: Vec<Leftover>,
    /// On a file system without locks, which would tell whether they are in use.
    pub unknown: Vec<Leftover>,
    /// Could not be removed.
    pub failed: Vec<(Leftover, io::Error)>,
}

/// Removes what killed runs left in `dir` (not below it).
///
/// # Errors
/// The system's error when the directory cannot be read.
pub fn sweep(dir: &Path) -> io::Result<Sweep> {
    let mut sweep = Sweep::default();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(is_test_file_name) {
            continue;
        }
        // Not followed: a symbolic link of that name is not ours.
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        let (bytes, remove): (u64, Remove) = match metadata.file_type() {
            kind if kind.is_file() => (metadata.len(), |path| fs::remove_file(path)),
            kind if kind.is_dir() => (0, |path| fs::remove_dir(path)),
            _ => continue,
        };
        let leftover = Leftover { path: entry.path(), bytes };
        match remove_unlocked(&leftover.path, remove) {
            // Somebody keeps something in a directory of that name: it is not ours.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Ok(Use::Over) => sweep.removed.push(leftover),
            Ok(Use::Current) => sweep.in_use.push(leftover),
            Ok(Use::Unknown) => sweep.unknown.push(leftover),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => sweep.failed.push((leftover, error)),
        }
    }
    Ok(sweep)
}

/// What is known of a test file's use.
enum Use {
    /// Nobody's; it was removed.
    Over,
    Current,
    Unknown,
}

type Remove = fn(&Path) -> io::Result<()>;

fn remove_unlocked(path: &Path, remove: Remove) -> io::Result<Use> {
    let file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => remove(path).map(|()| Use::Over),
        Err(TryLockError::WouldBlock) => Ok(Use::Current),
        Err(TryLockError::Error(_)) => Ok(Use::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_file::{TestFile, name_of};

    #[test]
    fn only_leftovers_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let names = [
            "flashmark-test-notes.tmp",
            "flashmark-test-0123456789abcdef.tmp",
            "FLASHMARK-TEST-0000000000000000.tmp",
            "data.bin",
        ];
        for name in names {
            fs::write(dir.path().join(name), b"mine").unwrap();
        }
        let leftover = dir.path().join(name_of(42));
        fs::write(&leftover, b"12345").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("data.bin", dir.path().join(name_of(43))).unwrap();
        fs::create_dir(dir.path().join(name_of(44))).unwrap();
        fs::write(dir.path().join(name_of(44)).join("notes"), b"mine").unwrap();
        let sweep = sweep(dir.path()).unwrap();
        assert_eq!(sweep.removed, [Leftover { path: leftover.clone(), bytes: 5 }]);
        assert!(!leftover.exists());
        assert!(names.iter().all(|name| dir.path().join(name).exists()));
        assert!(sweep.failed.is_empty() && sweep.in_use.is_empty());
    }

    /// A mount point: removed as long as nothing is in it, and nobody uses it.
    #[cfg(target_os = "linux")]
    #[test]
    fn empty_directories_of_that_name_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().join(name_of(45));
        fs::create_dir(&point).unwrap();
        let lease = File::open(&point).unwrap();
        lease.lock().unwrap();
        assert_eq!(sweep(dir.path()).unwrap().in_use, [Leftover { path: point.clone(), bytes: 0 }]);
        drop(lease);
        assert_eq!(sweep(dir.path()).unwrap().removed, [Leftover { path: point.clone(), bytes: 0 }]);
        assert!(!point.exists());
    }

    #[test]
    fn what_is_in_use_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = TestFile::create(dir.path()).unwrap();
        let found = sweep(dir.path()).unwrap();
        assert_eq!((found.in_use.len(), found.removed.len()), (1, 0));
        assert!(file.path().exists());
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        assert!(sweep(Path::new("/nonexistent")).is_err());
    }
}
