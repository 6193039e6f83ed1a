//! The options of a job: one table, from which reading, names and defaults follow.
//!
//! An option that is supported is one entry in the table of its subject below; there it has its field, default, names
//! and reader. One that fio has and that is not supported is one line in `unsupported` or `engine_options`, with the
//! nearest way. Every option of fio's HOWTO is in one of them, so that a misspelled one is told apart.

mod access;
mod buffers;
mod effects;
mod engine;
mod engine_options;
mod files;
mod log;
mod pace;
mod replay;
mod report;
mod run;
mod table;
mod unsupported;
mod verify;

pub use access::{AccessOptions, BlockSizes, RandomGenerator, Sequencer};
pub use buffers::{BufferMemory, BufferOptions, DedupeMode};
pub use engine::{Engine, EngineOptions, SubmitMode, SyncFileRange, SyncMode};
pub use files::{Fadvise, Fallocate, FileOptions, FileService, ServiceKind};
pub use log::{LogOptions, LogWindow};
pub use pace::{PaceOptions, RateProcess};
pub use replay::{ReplayOptions, ReplaySkip};
pub use report::{ReportOptions, UnifiedReporting, UnitBase};
pub use run::{ClockSource, ContinueOn, CpuPolicy, ExitWhat, RunOptions};
pub use table::{Entry, KnownOption, Standing, known_options};
pub(crate) use table::{Found, find};
pub(crate) use verify::HEADER_BYTES;
pub use verify::{VerifyKind, VerifyOptions};

/// Every option of one job, with fio's defaults where nothing was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What is done to the files: directions, block sizes, offsets.
    pub access: AccessOptions,
    /// Which files.
    pub files: FileOptions,
    /// How I/O is issued.
    pub engine: EngineOptions,
    /// How fast.
    pub pace: PaceOptions,
    /// What is written.
    pub buffers: BufferOptions,
    /// How it is checked.
    pub verify: VerifyOptions,
    /// How long, how often, on which processors, and what happens after errors.
    pub run: RunOptions,
    /// What is logged over time.
    pub log: LogOptions,
    /// What is reported at the end.
    pub report: ReportOptions,
    /// Traces.
    pub replay: ReplayOptions,
}
