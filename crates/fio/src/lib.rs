//! fio's language: job files, command lines and traces.
//!
//! This crate reads what people have written for fio and says what it means, without running anything. From the outside
//! in:
//!
//! * [`CommandLine`]: fio's arguments; [`CommandLine::resolve`] reads the job files among them and gives a [`JobSet`];
//! * [`JobFile`]: the sections of a job file, with the place of every word;
//! * [`JobSet`], [`Job`]: what is to be run, every option typed and with its default, checked as fio checks them, with
//!   [`Warning`]s;
//! * [`options`]: the one table of options; an option that is known and not supported stops with the nearest way, or is
//!   listed in [`JobSet::dropped`];
//! * [`value`]: sizes, times, triples, distributions and all else that can stand behind an option;
//! * [`iolog`]: traces, fio's own and `blkparse`'s, read and written line by line.
//!
//! Every error ([`FioError`]) says where, what was found, what is taken, and what was probably meant. The words are fio's
//! (fio HOWTO); what fio takes for something that nobody can have meant is an error here, and says so.
#![forbid(unsafe_code)]

mod command_line;
mod error;
pub mod iolog;
mod job;
mod jobs;
mod nearest;
pub mod options;
pub mod output;
mod place;
pub mod results;
mod setting;
mod substitute;
mod surroundings;
pub mod value;

pub use command_line::{CommandLine, EtaWhen, OutputFormat, Program, Request};
pub use error::{FioError, Problem};
pub use job::{JobFile, Section};
pub use jobs::{Dropped, Job, JobSet, Rules, Unsupported, Warning};
pub use place::{Place, Source};
pub use setting::Setting;
pub use surroundings::{Surroundings, ThisMachine};
