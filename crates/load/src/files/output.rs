//! Files that jobs leave besides their data: logs, traces, states and dumps of verification.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags, open};

/// Makes such a file anew. It goes through no link, and over nothing but a regular file.
pub(crate) fn create_output(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::from_raw_mode(0o666))?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no regular file: name another one"));
    }
    file.set_len(0)?;
    Ok(file)
}

/// Where `verify_dump` keeps wrong blocks.
#[derive(Debug, Default)]
pub(crate) struct Dumps {
    /// The folder; the working directory if empty.
    folder: PathBuf,
    /// Which file each dump of the run is of.
    of: Mutex<HashMap<String, String>>,
}

impl Dumps {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.into(), of: Mutex::default() }
    }

    /// Keeps a block of `source` under this name; where one of another file has it already, with a number behind.
    pub(crate) fn put(&self, source: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        create_output(&self.folder.join(self.free_name(source, name)))?.write_all(bytes)
    }

    fn free_name(&self, source: &str, name: &str) -> String {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let mut numbered = name.to_owned();
        let mut number = 1;
        while of.get(&numbered).is_some_and(|other| other != source) {
            number += 1;
            numbered = format!("{name}.{number}");
        }
        of.insert(numbered.clone(), source.to_owned());
        numbered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_go_through_no_link_and_over_no_device() {
        let dir = tempfile::tempdir().unwrap();
        let (precious, link) = (dir.path().join("precious"), dir.path().join("link"));
        std::fs::write(&precious, "sea").unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        assert!(create_output(&link).is_err());
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "sea");
        assert!(create_output(Path::new("/dev/null")).is_err());
        assert!(create_output(dir.path()).is_err());
        // What is longer is cut off.
        create_output(&precious).unwrap().write_all(b"a").unwrap();
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "a");
    }

    #[test]
    fn dumps_of_files_of_one_name_are_kept_apart() {
        let dir = tempfile::tempdir().unwrap();
        let dumps = Dumps::new(dir.path());
        for (source, bytes) in [("a/data", "1"), ("b/data", "2"), ("a/data", "3")] {
            dumps.put(source, "data.0.received", bytes.as_bytes()).unwrap();
        }
        let of = |name| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!((of("data.0.received"), of("data.0.received.2")), ("3".into(), "2".into()));
    }
}
