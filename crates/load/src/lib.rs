//! Runs jobs: threads that keep queues of I/O full, paced, verified and logged.
//!
//! A job is described in fio's terms ([`flashmark_fio::Job`]), since these are the field's standard, and its result is
//! [`flashmark_fio::results`]. The I/O is issued by the engines of [`flashmark_host::engine`]. From the outside in:
//!
//! * [`run()`]: plans and checks all jobs, makes their files, runs them in batches, and sums up;
//! * `files`: which files, how large, by what right; `thread`: one copy of a job; `worker`: its loop;
//! * [`accesses`], [`contents`], [`verify`], `pace`: which access comes next, what it writes, how that is checked, when it
//!   is meant to start;
//! * `tally`, `series`, `logs`, `disks`, `report`: what is counted, logged and told.
#![forbid(unsafe_code)]

pub mod accesses;
pub mod contents;
mod disks;
mod error;
mod files;
mod flow;
mod logs;
mod pace;
mod replay;
mod report;
mod run;
mod series;
mod tally;
mod thread;
pub mod verify;
mod worker;

pub use error::{LoadError, LoadProblem, Suspicion};
pub use replay::trace_files;
pub use run::{Finished, How, Status, Watch, run};
pub use tally::FailedAccess;
pub use thread::ThreadOutcome;
