//! What flashmark shows and keeps: the files that records live in, and every form they are shown in.
//!
//! * [`run_file`]: a run as JSON Lines, written so that a pulled plug loses one record at most, and read back;
//! * [`mod@format`]: the output formats behind one trait, listed in [`format::formats`]: a table for people, JSON and
//!   CSV for programs, Markdown for documents, and the very lines of the original benchmarks;
//! * [`views`]: what only simulated boards tell (where the time went, how the medium wore), and targets side by side;
//! * [`sweep`]: records sorted by a figure, a line each, with the settings that they differ in;
//! * [`figures`]: numbers as people read them, with exact units.
//!
//! A new format is a file in `src/format/` and a line in its registry. Nothing here touches an operating system beyond
//! `std`.

pub mod figures;
pub mod format;
pub mod run_file;
pub mod sweep;
pub mod views;

mod attribution;
mod comparison;
mod notes;
mod rows;
mod simulation;
mod sparkline;
mod targets;
mod terminal;
mod wear;

#[cfg(test)]
mod samples;

pub use notes::remarks;
