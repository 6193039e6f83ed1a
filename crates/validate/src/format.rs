//! A report as text.

mod csv;
mod json;
mod markdown;
mod table;
mod words;

use std::io;

use crate::report::Report;

/// A way to write a report.
#[derive(Clone, Copy)]
pub struct Format {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Whether it shows the summary and the messages; otherwise they have to be said elsewhere.
    pub is_whole: bool,
    write: fn(&Report, &mut dyn io::Write) -> io::Result<()>,
}

/// A line a format; the first one is the default.
pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "for people, at most 100 columns wide", is_whole: true, write: table::write },
    Format { name: "json", about: "everything, for programs", is_whole: true, write: json::write },
    Format { name: "csv", about: "a line a row, for spreadsheets", is_whole: false, write: csv::write },
    Format { name: "markdown", about: "for documents", is_whole: true, write: markdown::write },
];

impl Format {
    /// The format of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Writes a report.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        (self.write)(report, out)
    }
}

/// Summary and messages as sentences, a line each, for formats that do not show them.
#[must_use]
pub fn remarks(report: &Report) -> Vec<String> {
    words::remarks(report)
}
