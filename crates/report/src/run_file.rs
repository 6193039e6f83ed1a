//! The file of a run: JSON Lines, a record a line, each on the medium before the next workload starts.
//!
//! A crash, a kill or a pulled plug can tear the last line at most. Such a line is left out on reading, and cut off
//! when the run goes on. Files can be joined with `cat`. The rules are in `docs/records.md`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use flashmark_core::record::Record;

mod read;

pub use read::{MAX_LINE_BYTES, ReadError, TornLine, read_records};

/// A run file being written.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    file: File,
    /// Bytes up to the end of the last whole record.
    whole_bytes: u64,
    /// A pipe or a terminal can neither be synced nor cut.
    is_regular: bool,
}

impl RunFile {
    /// Makes the file of a new run. An empty file that exists is taken, and so is what has no content to lose: a pipe,
    /// a terminal.
    ///
    /// # Errors
    /// [`RunFileError::Exists`] for a file that holds anything; [`RunFileError::Open`] if the system refuses.
    pub fn create(path: &Path) -> Result<Self, RunFileError> {
        let open_error = |source| RunFileError::Open { path: path.into(), source };
        let file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => {
                sync_parent(path);
                file
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                OpenOptions::new().write(true).open(path).map_err(open_error)?
            }
            Err(error) => return Err(open_error(error)),
        };
        let metadata = file.metadata().map_err(open_error)?;
        if metadata.is_file() && metadata.len() > 0 {
            return Err(RunFileError::Exists { path: path.into() });
        }
        Ok(Self { path: path.into(), file, whole_bytes: 0, is_regular: metadata.is_file() })
    }

    /// Opens the file of an interrupted run to go on with it: reads its records, and cuts a torn last line off.
    ///
    /// Nothing is changed in a file that is refused.
    ///
    /// # Errors
    /// [`RunFileError::Missing`] if there is no such file, [`RunFileError::Read`] if it is not a run file in every line
    /// but a torn last one, [`RunFileError::Open`] and [`RunFileError::Write`] if the system refuses.
    pub fn resume(path: &Path) -> Result<(Self, Vec<Record>, Option<TornLine>), RunFileError> {
        let mut file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RunFileError::Missing { path: path.into() });
            }
            Err(source) => return Err(RunFileError::Open { path: path.into(), source }),
        };
        let is_regular = file.metadata().map_err(|source| RunFileError::Open { path: path.into(), source })?.is_file();
        if !is_regular {
            return Err(RunFileError::NotAFile { path: path.into() });
        }
        let read = read::read_whole(BufReader::new(&mut file));
        let read = read.map_err(|source| RunFileError::Read { path: path.into(), source })?;
        let mut run = Self { path: path.into(), file, whole_bytes: read.whole_bytes, is_regular };
        run.cut().map_err(|source| run.write_error(source))?;
        if read.ends_without_newline {
            run.put(b"\n").map_err(|source| run.write_error(source))?;
        }
        Ok((run, read.records, read.torn))
    }

    /// Appends a record, and returns when it is on the medium (as far as the medium tells the truth). After an error
    /// the file still ends with the record before, and the next call tries anew.
    ///
    /// # Errors
    /// [`RunFileError::Write`], e.g. if the file system is full.
    pub fn append(&mut self, record: &Record) -> Result<(), RunFileError> {
        let mut line = serde_json::to_vec(record).map_err(|error| self.write_error(error.into()))?;
        line.push(b'\n');
        self.put(&line).map_err(|source| self.write_error(source))
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.flush()).and_then(|()| self.sync());
        match written {
            Ok(()) => {
                self.whole_bytes += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Part of the line may be there. If it cannot be cut off, it is a torn last line, which reading allows.
                let _ = self.cut();
                Err(error)
            }
        }
    }

    fn sync(&self) -> io::Result<()> {
        if self.is_regular { self.file.sync_data() } else { Ok(()) }
    }

    /// Cuts off what follows the last whole record and goes to its end.
    fn cut(&mut self) -> io::Result<()> {
        if !self.is_regular {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.whole_bytes))?;
        if self.file.metadata()?.len() != self.whole_bytes {
            self.file.set_len(self.whole_bytes)?;
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn write_error(&self, source: io::Error) -> RunFileError {
        RunFileError::Write { path: self.path.clone(), source }
    }
}

/// Makes the new file's name durable too, where a directory can be synced (POSIX); elsewhere the file system sees to
/// it.
fn sync_parent(path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(directory) = File::open(parent) {
        // Not every file system can, and the record's own sync does not depend on it.
        let _ = directory.sync_all();
    }
}

/// Why a run file cannot be written or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// The file holds something that would be lost.
    #[error(
        "{file} exists and is not empty: choose another name, remove it, or go on with the run in it: --resume {file}",
        file = path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to go on with.
    #[error("{file} does not exist, so there is no run to resume: start one with -o {file}", file = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A pipe, a device or a directory.
    #[error("{} is not a file, and only a run in a file can be resumed", path.display())]
    NotAFile {
        /// What was given.
        path: PathBuf,
    },
    /// The file cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A record cannot be written.
    #[error("cannot write to {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The content is not a run.
    #[error("cannot resume {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        source: ReadError,
    },
}

#[cfg(test)]
mod tests;
