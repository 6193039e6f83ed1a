//! The file of a run: JSON Lines, a record a line, each on the medium before the next workload starts.
//!
//! A crash, a kill or a pulled plug can tear the last line at most. Such a line is left out on reading, and cut off
//! when the run has something to append. One flashmark at a time writes a file: it holds a lock on it. Files can be
//! joined with `cat`. The rules are in `docs/records.md`.

use std::fs::{File, Metadata, OpenOptions, TryLockError, metadata};
use std::io::{self, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use flashmark_core::record::Record;

mod place;
mod read;

use place::Place;
pub use read::{MAX_LINE_BYTES, ReadError, TornLine, read_records};

/// A run file being written. While it lives, no other `RunFile` has the same file, in this process or another; reading
/// needs no lock. A file system without locks has to do without.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    file: File,
    /// A pipe or a terminal can neither be locked, synced nor cut.
    is_regular: bool,
    /// Bytes up to the end of the last whole record.
    whole_bytes: u64,
    /// Bytes of a torn record behind them, to be cut off before anything is appended.
    torn_bytes: u64,
    /// The last line has no newline yet.
    needs_newline: bool,
}

impl RunFile {
    /// Makes the file of a new run. An empty file that exists is taken, and so is what has no content to lose: a pipe,
    /// a socket, a terminal of this process, the null device. Whatever else exists is not even opened.
    ///
    /// # Errors
    /// [`RunFileError::Exists`] for a file that holds anything; [`RunFileError::Unsuitable`] for a device or a
    /// directory; [`RunFileError::InUse`] while another run has it; [`RunFileError::Open`] if the system refuses.
    pub fn create(path: &Path) -> Result<Self, RunFileError> {
        let open_error = |source| RunFileError::Open { path: path.into(), source };
        let file = match to_append().create_new(true).open(path) {
            Ok(file) => {
                sync_parent(path);
                file
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                place(path, &metadata(path).map_err(open_error)?)?;
                to_append().open(path).map_err(open_error)?
            }
            Err(error) => return Err(open_error(error)),
        };
        // Once more, of what was opened: the name may lead to something else by now.
        let is_regular = place(path, &file.metadata().map_err(open_error)?)? == Place::Regular;
        if is_regular {
            lock(&file, path)?;
            // Only now: a run that has just ended may have filled it.
            if file.metadata().map_err(open_error)?.len() > 0 {
                return Err(RunFileError::Exists { path: path.into() });
            }
        }
        Ok(Self { path: path.into(), file, is_regular, whole_bytes: 0, torn_bytes: 0, needs_newline: false })
    }

    /// Opens the file of an interrupted run to go on with it, and reads its records. Nothing in the file is changed
    /// before the first [`RunFile::append`], which cuts a torn last line off.
    ///
    /// # Errors
    /// [`RunFileError::Missing`] if there is no such file, [`RunFileError::Unsuitable`] for a device or a directory and
    /// [`RunFileError::NotAFile`] for a pipe or a terminal, [`RunFileError::InUse`] while another run has it,
    /// [`RunFileError::NoRecord`] if there is no whole record in it, [`RunFileError::Read`] if it is not a run file in
    /// every line but a torn last one, [`RunFileError::Open`] if the system refuses.
    pub fn resume(path: &Path) -> Result<(Self, Vec<Record>, Option<TornLine>), RunFileError> {
        let open_error = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => RunFileError::Missing { path: path.into() },
            _ => RunFileError::Open { path: path.into(), source },
        };
        let must_be_regular = |found: io::Result<Metadata>| match place(path, &found.map_err(open_error)?)? {
            Place::Regular => Ok(()),
            Place::Stream => Err(RunFileError::NotAFile { path: path.into() }),
        };
        must_be_regular(metadata(path))?;
        let mut file = to_append().read(true).open(path).map_err(open_error)?;
        // Once more, of what was opened: the name may lead to something else by now.
        must_be_regular(file.metadata())?;
        lock(&file, path)?;
        let read = read::read_whole(BufReader::new(&mut file));
        let read = read.map_err(|source| RunFileError::Read { path: path.into(), source })?;
        if read.records.is_empty() {
            return Err(RunFileError::NoRecord { path: path.into() });
        }
        let run = Self {
            path: path.into(),
            file,
            is_regular: true,
            whole_bytes: read.whole_bytes,
            torn_bytes: read.torn.as_ref().map_or(0, |torn| torn.bytes),
            needs_newline: read.ends_without_newline,
        };
        Ok((run, read.records, read.torn))
    }

    /// Appends a record, and returns when it is on the medium (as far as the medium tells the truth). After an error
    /// the file still ends with the record before, and the next call tries anew.
    ///
    /// # Errors
    /// [`RunFileError::Write`], e.g. if the file system is full.
    pub fn append(&mut self, record: &Record) -> Result<(), RunFileError> {
        self.append_all(std::slice::from_ref(record))
    }

    /// Appends records in their order with one write and one sync, and returns when all of them are on the medium. A crash
    /// on the way leaves the first of them, whole, and perhaps a torn one. After an error the file ends with a whole
    /// record: the one before these, or one of these where the file system was full behind it. Without records nothing is
    /// done.
    ///
    /// # Errors
    /// As [`RunFile::append`].
    pub fn append_all(&mut self, records: &[Record]) -> Result<(), RunFileError> {
        if records.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record).map_err(|error| self.write_error(error.into()))?;
            lines.push(b'\n');
        }
        let written = self.make_ready().and_then(|()| self.put(lines)).and_then(|()| self.is_there());
        written.map_err(|source| self.write_error(source))
    }

    /// What is written to a file that was removed is lost.
    #[cfg(unix)]
    fn is_there(&self) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt as _;
        if self.is_regular && self.file.metadata()?.nlink() == 0 {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed"));
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn is_there(&self) -> io::Result<()> {
        Ok(())
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sees to it that the file ends with a whole record.
    fn make_ready(&mut self) -> io::Result<()> {
        if !self.is_regular {
            return Ok(());
        }
        let length = self.file.metadata()?.len();
        if length == self.whole_bytes + self.torn_bytes {
            return self.cut();
        }
        // Something that keeps to no lock has changed the file. Its bytes are not ours to cut; a record of our own
        // starts on a line of its own (blank lines are passed over).
        (self.whole_bytes, self.torn_bytes, self.needs_newline) = (length, 0, length > 0);
        Ok(())
    }

    fn put(&mut self, mut lines: Vec<u8>) -> io::Result<()> {
        if self.needs_newline {
            lines.insert(0, b'\n');
        }
        let written = self.write(&lines);
        if !self.is_regular {
            return written;
        }
        let arrived = if written.is_ok() { &lines } else { self.part_of(&lines) };
        let whole = arrived.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let before = (self.whole_bytes, self.needs_newline);
        self.torn_bytes = (arrived.len() - whole) as u64;
        self.whole_bytes += whole as u64;
        self.needs_newline &= whole == 0;
        // If the rest of a line cannot be cut off, it is a torn last line, which reading allows.
        let synced = self.cut().and_then(|()| self.file.sync_data());
        if synced.is_err() {
            // Nobody knows what of it is on the medium.
            (self.whole_bytes, self.needs_newline) = before;
            self.torn_bytes = self.file.metadata().map_or(0, |file| file.len().saturating_sub(self.whole_bytes));
            let _ = self.cut();
        }
        written.and(synced)
    }

    /// What is in the file of lines that were not written to their end.
    fn part_of<'a>(&self, lines: &'a [u8]) -> &'a [u8] {
        let length = self.file.metadata().map_or(0, |file| file.len());
        let there = usize::try_from(length.saturating_sub(self.whole_bytes)).unwrap_or(usize::MAX);
        lines.get(..there).unwrap_or(lines)
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if cfg!(windows) && self.is_regular {
            self.file.seek(SeekFrom::End(0))?;
        }
        self.file.write_all(lines)?;
        self.file.flush()
    }

    /// Cuts off what follows the last whole record.
    fn cut(&mut self) -> io::Result<()> {
        if self.torn_bytes > 0 {
            self.file.set_len(self.whole_bytes)?;
            self.torn_bytes = 0;
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn write_error(&self, source: io::Error) -> RunFileError {
        RunFileError::Write { path: self.path.clone(), source }
    }
}

/// Whether a run may be written to what was found at `path`.
fn place(path: &Path, found: &Metadata) -> Result<Place, RunFileError> {
    Place::of(found).map_err(|what| RunFileError::Unsuitable { path: path.into(), what })
}

/// Opens so that a write always goes to the file's end, wherever that is by then. Windows cuts no file that is opened
/// so; there the end is looked for before each write.
fn to_append() -> OpenOptions {
    let mut options = OpenOptions::new();
    if cfg!(windows) {
        options.write(true)
    } else {
        options.append(true)
    };
    options
}

/// Takes the file for this run alone, until it is closed.
fn lock(file: &File, path: &Path) -> Result<(), RunFileError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RunFileError::InUse { path: path.into() }),
        // Not every file system has locks, and a run without one is better than none.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
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
    /// Another run writes to the file.
    #[error("{} is in use by another flashmark; wait for it, or choose another name", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to go on with: the file is empty, or its first record is torn.
    #[error("{} holds no whole record, so nothing tells what ran; start again with -o", path.display())]
    NoRecord {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to go on with.
    #[error("{file} does not exist, so there is no run to resume: start one with -o {file}", file = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// What is there would be overwritten, or does something with what it gets.
    #[error(
        "{} is {what}, and a run file is a regular file or a pipe: name a file that is not there yet", path.display()
    )]
    Unsuitable {
        /// What was given.
        path: PathBuf,
        /// What it is, with its article: `a block device`.
        what: &'static str,
    },
    /// A pipe or a terminal.
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
