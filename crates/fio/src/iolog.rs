//! Traces: fio's iolog, versions 2 and 3 (fio HOWTO, "Trace file format"), and the text that `blkparse` makes of a
//! blktrace. They are read and written line by line; what is kept is the names of files.

mod blkparse;
mod lines;
mod read;
mod write;

use std::io::BufRead;
use std::sync::Arc;

use crate::place::Place;
use crate::value::choice::words;
pub use blkparse::BlkparseReader;
pub use read::{IologReader, WaitRule};
pub use write::{IologWriter, WriteError};

use lines::Lines;

words! {
    /// What a line of a trace does.
    Action:
    /// A file becomes known.
    Add = "add",
    /// It is opened.
    Open = "open",
    /// It is closed.
    Close = "close",
    /// A read.
    Read = "read",
    /// A write.
    Write = "write",
    /// `fsync`.
    Sync = "sync",
    /// `fdatasync`.
    Datasync = "datasync",
    /// A trim.
    Trim = "trim",
}

impl Action {
    /// Whether it has an offset and a length.
    #[must_use]
    pub const fn is_io(self) -> bool {
        !matches!(self, Self::Add | Self::Open | Self::Close)
    }
}

/// One action of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When, from the beginning of the trace.
    pub time_ns: u64,
    /// On which file. A device of a blktrace is `/dev/block/MAJOR:MINOR`.
    pub file: Arc<str>,
    /// What.
    pub action: Action,
    /// Where in the file; 0 for actions without an offset.
    pub offset: u64,
    /// How much; 0 for actions without a length.
    pub bytes: u64,
}

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// fio's, with waits between actions.
    Version2,
    /// fio's, with a time for each action.
    Version3,
    /// `blkparse`'s text.
    Blkparse,
}

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct TraceError {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: TraceProblem,
}

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceProblem {
    /// It cannot be read.
    #[error("the trace cannot be read: {0}")]
    Unreadable(String),
    /// A line is too long.
    #[error("the line has more than {0} bytes")]
    TooLong(usize),
    /// A line is not text.
    #[error("the line is not UTF-8 text")]
    NotText,
    /// It is of no known kind.
    #[error(
        "`{0}` begins no trace; one begins with `fio version 2 iolog`, `fio version 3 iolog`, or is the text of blkparse"
    )]
    UnknownKind(String),
    /// It is a blktrace that was not made text.
    #[error("this is a binary blktrace; make it text with `blkparse -i FILE`")]
    Binary,
    /// It is empty.
    #[error("the trace is empty")]
    Empty,
    /// A line has too few or too many fields.
    #[error("the line has {found} fields, and {expected} are expected")]
    Fields {
        /// How many there are.
        found: usize,
        /// What is expected.
        expected: &'static str,
    },
    /// A number is none.
    #[error("`{found}` is not {what}")]
    Number {
        /// What was found.
        found: String,
        /// What is expected.
        what: &'static str,
    },
    /// An action is unknown.
    #[error("`{found}` is no action; there are {expected}{}", crate::nearest::guess(.nearest.as_deref()))]
    UnknownAction {
        /// What was found.
        found: String,
        /// What there is.
        expected: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A wait in a version that has times.
    #[error("version 3 has no `wait`; the time in front of each action says when it is due")]
    Wait,
    /// A file was not added.
    #[error("`{0}` was not added before (`FILE add`)")]
    NotAdded(String),
    /// A file is not open.
    #[error("`{0}` is not open (`FILE open`)")]
    NotOpen(String),
    /// There are too many files.
    #[error("the trace has more than {0} files")]
    TooManyFiles(usize),
    /// A time, an offset or an end is too large.
    #[error("this goes beyond 2^64")]
    TooLarge,
}

/// A trace of any kind.
#[derive(Debug)]
pub enum Trace<R> {
    /// fio's.
    Iolog(IologReader<R>),
    /// `blkparse`'s.
    Blkparse(BlkparseReader<R>),
}

impl<R: BufRead> Trace<R> {
    /// Looks at the first line to see what it is. `name` is for errors.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is no trace.
    pub fn new(mut reader: R, name: &str) -> Result<Self, TraceError> {
        let file: Arc<str> = name.into();
        let beginning = reader.fill_buf().map_err(|error| TraceError {
            place: Place::file(&file, 1, 1),
            problem: TraceProblem::Unreadable(error.to_string()),
        })?;
        // The magic number of a blktrace in either byte order, whose lowest byte is a version.
        if matches!(beginning, [0..=31, b't', b'a', b'e', ..] | [b'e', b'a', b't', 0..=31, ..]) {
            return Err(TraceError { place: Place::file(&file, 1, 1), problem: TraceProblem::Binary });
        }
        if beginning.starts_with(b"fio version") {
            return IologReader::new(reader, name).map(Self::Iolog);
        }
        let start = beginning.trim_ascii_start();
        if beginning.is_empty() {
            return Err(TraceError { place: Place::file(&file, 1, 1), problem: TraceProblem::Empty });
        }
        if start.first().is_some_and(u8::is_ascii_digit) || start.is_empty() {
            return Ok(Self::Blkparse(BlkparseReader::new(reader, name)));
        }
        let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line: String = String::from_utf8_lossy(line).chars().take(40).collect();
        Err(TraceError { place: Place::file(&file, 1, 1), problem: TraceProblem::UnknownKind(line) })
    }

    /// What it is.
    pub fn format(&self) -> TraceFormat {
        match self {
            Self::Iolog(reader) => reader.format(),
            Self::Blkparse(_) => TraceFormat::Blkparse,
        }
    }
}

impl<R: BufRead> Iterator for Trace<R> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Iolog(reader) => reader.next(),
            Self::Blkparse(reader) => reader.next(),
        }
    }
}
