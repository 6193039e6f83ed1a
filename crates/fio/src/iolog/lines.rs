//! Lines of a trace, of a bounded length.

use std::io::{BufRead, Read};
use std::sync::Arc;

use super::{TraceError, TraceProblem};
use crate::place::{Place, ordinal};

/// The longest line. fio has 4096 bytes, with a file name of at most 256.
const LINE_MAX: usize = 8192;

/// A word of a line and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) text: &'a str,
    /// The column, from 1.
    pub(super) column: u32,
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    file: Arc<str>,
    line: u32,
    buffer: Vec<u8>,
    failed: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, name: &str) -> Self {
        Self { reader, file: name.into(), line: 0, buffer: Vec::new(), failed: false }
    }

    /// An error at a column of the line that was read last.
    pub(super) fn error(&self, column: u32, problem: TraceProblem) -> TraceError {
        TraceError { place: Place::file(&self.file, self.line.max(1), column), problem }
    }

    /// Reads the next line; false at the end. A line that is too long is skipped after its error.
    pub(super) fn advance(&mut self) -> Result<bool, TraceError> {
        if self.failed {
            return Ok(false);
        }
        self.buffer.clear();
        self.line = self.line.saturating_add(1);
        let limit = LINE_MAX as u64 + 1;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| self.fail(&error))?;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if read > LINE_MAX {
            self.skip()?;
            return Err(self.error(1, TraceProblem::TooLong(LINE_MAX)));
        }
        Ok(read > 0)
    }

    fn fail(&mut self, error: &std::io::Error) -> TraceError {
        self.failed = true;
        self.error(1, TraceProblem::Unreadable(error.to_string()))
    }

    fn skip(&mut self) -> Result<(), TraceError> {
        loop {
            let (used, done) = match self.reader.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(bytes) => match bytes.iter().position(|byte| *byte == b'\n') {
                    Some(newline) => (newline + 1, true),
                    None => (bytes.len(), false),
                },
                Err(error) => return Err(self.fail(&error)),
            };
            self.reader.consume(used);
            if done {
                return Ok(());
            }
        }
    }

    /// The line that was read last.
    pub(super) fn text(&self) -> Result<&str, TraceError> {
        str::from_utf8(&self.buffer).map_err(|error| {
            let good = String::from_utf8_lossy(&self.buffer[..error.valid_up_to()]).chars().count();
            self.error(ordinal(good), TraceProblem::NotText)
        })
    }
}

/// The words of a line.
pub(super) fn fields(line: &str) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let mut rest = line;
    let mut column = 0;
    while let Some(start) = rest.find(|character: char| !character.is_ascii_whitespace()) {
        column += rest[..start].chars().count();
        let word = &rest[start..];
        let length = word.find(|character: char| character.is_ascii_whitespace()).unwrap_or(word.len());
        fields.push(Field { text: &word[..length], column: ordinal(column) });
        column += word[..length].chars().count();
        rest = &word[length..];
    }
    fields
}
