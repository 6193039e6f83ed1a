//! Why jobs cannot be run.

use std::io;
use std::path::PathBuf;

use flashmark_host::device::Refusal;
use flashmark_host::engine::EngineError;

use crate::accesses::{AccessError, PartError};
use crate::verify::VerifyError;

/// Why a job cannot be run. Nothing was written where this is given before the run.
#[derive(Debug, thiserror::Error)]
#[error("job `{job}`: {problem}")]
pub struct LoadError {
    /// The job's name.
    pub job: String,
    /// What is in the way.
    #[source]
    pub problem: LoadProblem,
}

impl LoadProblem {
    /// The system's number for it; `EINVAL` for what no system said.
    pub(crate) fn code(&self) -> i32 {
        const ENOSPC: i32 = 28;
        const EINVAL: i32 = 22;
        match self {
            Self::NoRoom { .. } | Self::NoRoomTogether { .. } => ENOSPC,
            Self::NotDirect { source, .. } | Self::Io { source, .. } => source.raw_os_error().unwrap_or(EINVAL),
            _ => EINVAL,
        }
    }
}

/// Why a file is taken for somebody's; the end of the clause "it exists and".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// It has no mark.
    Unmarked,
    /// It has the mark, but another size or time than flashmark left it with.
    Changed,
    /// Where it is, no file can be marked.
    CannotBeMarked,
}

impl std::fmt::Display for Suspicion {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str(match self {
            Self::Unmarked => "was not made by flashmark",
            Self::Changed => {
                "was made by flashmark, but its size or time is not what the last run left (another program wrote to it, \
                 or that run was killed)"
            }
            Self::CannotBeMarked => {
                "its file system keeps no extended attributes, so that nothing says whether flashmark made it"
            }
        })
    }
}

/// What is in the way of a job.
#[derive(Debug, thiserror::Error)]
pub enum LoadProblem {
    /// Nothing says how much is to be read or written.
    #[error("nothing says how large {path} is to be: give size=, filesize= or the path of a file that exists")]
    NoSize {
        /// The file.
        path: PathBuf,
    },
    /// The used part begins behind the end.
    #[error("offset={offset} is behind the end of {path}, which has {bytes} bytes")]
    OffsetBehindEnd {
        /// The file.
        path: PathBuf,
        /// The offset.
        offset: u64,
        /// Its size.
        bytes: u64,
    },
    /// Nothing fits in.
    #[error(
        "a block of {block} bytes does not fit in the {bytes} bytes of {path} that are used: make bs smaller or size larger"
    )]
    BlockTooLarge {
        /// The file.
        path: PathBuf,
        /// The smallest block.
        block: u64,
        /// The used part.
        bytes: u64,
    },
    /// Something that holds no data.
    #[error("{path} is {what}, not a file or block device")]
    WrongKind {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file that is missing and must not be made.
    #[error("{path} is not there, and allow_file_create=0 forbids making it")]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The data of somebody.
    #[error("{path} exists and {suspicion}: it is not overwritten; if its content may be lost, add: --destroy {path}")]
    Foreign {
        /// The path.
        path: PathBuf,
        /// Why it is taken for somebody's.
        suspicion: Suspicion,
    },
    /// A path that leads elsewhere by now.
    #[error(
        "{path} is not the file any more that was there when the run began: leave it alone while jobs run, and start again"
    )]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// A file that would be changed in spite of `--readonly`.
    #[error("{path} would have to be written, made or made longer, and --readonly allows none of it")]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// A device or file that must not be written.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// No room.
    #[error("{path} needs {needed} bytes more, and {free} bytes are free there: make size smaller, or free some space")]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// What it needs.
        needed: u64,
        /// What is free.
        free: u64,
    },
    /// No room for all files together.
    #[error(
        "the files below {folder} need {needed} bytes more together, and {free} bytes are free there: make size smaller, or free some space"
    )]
    NoRoomTogether {
        /// Where one of them is.
        folder: PathBuf,
        /// What they need.
        needed: u64,
        /// What is free.
        free: u64,
    },
    /// Direct I/O that the file system refuses.
    #[error("{path} cannot be opened for direct I/O ({source}): use direct=0")]
    NotDirect {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The engine cannot be set up.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// An offset that is in no file.
    #[error("{0}")]
    Part(#[from] PartError),
    /// The accesses make no sense.
    #[error("{0}")]
    Access(#[from] AccessError),
    /// The verification cannot be set up.
    #[error("{0}")]
    Verify(#[from] VerifyError),
    /// A trace that cannot be replayed.
    #[error("{0}")]
    Trace(String),
    /// An option that means nothing together with others, or that this machine does not have.
    #[error("{0}")]
    Option(String),
    /// Anything else that the system says.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was tried, such as `cannot open`.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The user stopped it.
    #[error("stopped while its files were made")]
    Stopped,
}
