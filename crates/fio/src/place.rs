//! Where something stands in what the user gave.

use std::fmt;
use std::sync::Arc;

/// A position in a job file, an iolog or on the command line. Shown as `FILE:LINE:COLUMN` or `argument N:COLUMN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In what.
    pub source: Source,
    /// The line of a file, or the number of an argument, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// What a [`Place`] is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, by the name it was opened with.
    File(Arc<str>),
    /// The command line; its "lines" are the arguments after the program's name.
    CommandLine,
}

impl Place {
    /// A position in a file.
    #[must_use]
    pub fn file(file: &Arc<str>, line: u32, column: u32) -> Self {
        Self { source: Source::File(Arc::clone(file)), line, column }
    }

    /// A position on the command line.
    #[must_use]
    pub fn argument(number: u32, column: u32) -> Self {
        Self { source: Source::CommandLine, line: number, column }
    }

    /// The same line, so many characters further on.
    #[must_use]
    pub fn right(&self, characters: usize) -> Self {
        let by = u32::try_from(characters).unwrap_or(u32::MAX);
        Self { column: self.column.saturating_add(by), ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::File(file) => write!(f, "{file}:{}:{}", self.line, self.column),
            Source::CommandLine => write!(f, "argument {}:{}", self.line, self.column),
        }
    }
}

/// The number of a line or column as [`Place`] counts it, from an index that begins with 0.
pub(crate) fn ordinal(index: usize) -> u32 {
    u32::try_from(index).map_or(u32::MAX, |index| index.saturating_add(1))
}
