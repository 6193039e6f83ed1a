//! Reading fio's iolog.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use super::lines::{Field, fields};
use super::{Action, Lines, Record, TraceError, TraceFormat, TraceProblem};
use crate::nearest::nearest;
use crate::value::alternatives;

/// How many files a trace may have.
const FILES_MAX: usize = 65_536;

/// What the number of a `wait` in version 2 is. fio's manual and its program do not agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitRule {
    /// Milliseconds after the beginning, as the program does (`read_iolog_get` of `iolog.c`).
    #[default]
    AbsoluteMilliseconds,
    /// Microseconds after the action before, as the manual says.
    RelativeMicroseconds,
}

/// Reads version 2 or 3, one record after another. After an error it goes on with the next line.
///
/// Times are nanoseconds from the beginning: in version 3 from the microseconds in front of each line, in version 2 from
/// the waits before it. Files have to be added and opened before they are used.
#[derive(Debug)]
pub struct IologReader<R> {
    lines: Lines<R>,
    format: TraceFormat,
    waits: WaitRule,
    now_ns: u64,
    /// The files that were added, and whether they are open.
    files: HashMap<Arc<str>, bool>,
}

impl<R: BufRead> IologReader<R> {
    /// Reads the first line. `name` is for errors.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not that of version 2 or 3.
    pub fn new(reader: R, name: &str) -> Result<Self, TraceError> {
        let mut lines = Lines::new(reader, name);
        if !lines.advance()? {
            return Err(lines.error(1, TraceProblem::Empty));
        }
        let first = lines.text()?;
        let format = if first.starts_with("fio version 2 iolog") {
            TraceFormat::Version2
        } else if first.starts_with("fio version 3 iolog") {
            TraceFormat::Version3
        } else {
            let found = first.chars().take(40).collect();
            return Err(lines.error(1, TraceProblem::UnknownKind(found)));
        };
        Ok(Self { lines, format, waits: WaitRule::default(), now_ns: 0, files: HashMap::new() })
    }

    /// With this meaning of `wait`.
    #[must_use]
    pub fn with_waits(mut self, waits: WaitRule) -> Self {
        self.waits = waits;
        self
    }

    /// Which version it is.
    pub fn format(&self) -> TraceFormat {
        self.format
    }

    /// The record of the line that was read last; none if it is empty or a wait.
    fn record(&mut self) -> Result<Option<Record>, TraceError> {
        let line = self.lines.text()?;
        let words = fields(line);
        let timed = self.format == TraceFormat::Version3;
        let (time, words) = match words.split_first() {
            None => return Ok(None),
            Some((time, rest)) if timed => (Some(*time), rest),
            Some(_) => (None, words.as_slice()),
        };
        let (file, action, io) = match words {
            [file, action] => (file, action, None),
            [file, action, offset, bytes] => (file, action, Some((offset, bytes))),
            _ => {
                let expected = match self.format {
                    TraceFormat::Version3 => "3 (TIME FILE ACTION) or 5 (TIME FILE ACTION OFFSET LENGTH)",
                    _ => "2 (FILE ACTION) or 4 (FILE ACTION OFFSET LENGTH)",
                };
                let found = words.len() + usize::from(timed);
                return Err(self.lines.error(1, TraceProblem::Fields { found, expected }));
            }
        };
        let time_ns = match time {
            Some(field) => {
                let time_us = self.number(field, "a time in microseconds")?;
                time_us.checked_mul(1000).ok_or_else(|| self.lines.error(field.column, TraceProblem::TooLarge))?
            }
            None => self.now_ns,
        };
        let io = io
            .map(|(offset, bytes)| Ok((offset, self.number(*offset, "an offset")?, self.number(*bytes, "a length")?)));
        let io = io.transpose()?;
        if action.text == "wait" {
            let (offset, wait, _) = io.ok_or_else(|| self.unknown(*action, false))?;
            if timed {
                return Err(self.lines.error(action.column, TraceProblem::Wait));
            }
            let column = offset.column;
            return match self.after(wait) {
                Some(time_ns) => {
                    self.now_ns = time_ns;
                    Ok(None)
                }
                None => Err(self.lines.error(column, TraceProblem::TooLarge)),
            };
        }
        let known = Action::ALL.iter().find(|(word, known)| *word == action.text && known.is_io() == io.is_some());
        let Some((_, known)) = known else {
            return Err(self.unknown(*action, io.is_some()));
        };
        let (offset, bytes) = match io {
            Some((field, offset, bytes)) if offset.checked_add(bytes).is_none() => {
                return Err(self.lines.error(field.column, TraceProblem::TooLarge));
            }
            Some((_, offset, bytes)) => (offset, bytes),
            None => (0, 0),
        };
        let (name, column) = (file.text, file.column);
        let file = self.files.get_key_value(name).map(|(file, open)| (Arc::clone(file), *open));
        let file = match (file, known) {
            (Some((file, _)), Action::Add | Action::Open | Action::Close) | (Some((file, true)), _) => file,
            (Some((file, false)), _) => return Err(self.lines.error(column, TraceProblem::NotOpen(file.to_string()))),
            (None, Action::Add) if self.files.len() >= FILES_MAX => {
                return Err(self.lines.error(column, TraceProblem::TooManyFiles(FILES_MAX)));
            }
            (None, Action::Add) => name.into(),
            (None, _) => return Err(self.lines.error(column, TraceProblem::NotAdded(name.to_owned()))),
        };
        match known {
            Action::Open => drop(self.files.insert(Arc::clone(&file), true)),
            Action::Close => drop(self.files.insert(Arc::clone(&file), false)),
            Action::Add => drop(self.files.entry(Arc::clone(&file)).or_insert(false)),
            _ => {}
        }
        Ok(Some(Record { time_ns, file, action: *known, offset, bytes }))
    }

    fn number(&self, field: Field<'_>, what: &'static str) -> Result<u64, TraceError> {
        let digits = !field.text.is_empty() && field.text.bytes().all(|byte| byte.is_ascii_digit());
        field
            .text
            .parse()
            .ok()
            .filter(|_| digits)
            .ok_or_else(|| self.lines.error(field.column, TraceProblem::Number { found: field.text.to_owned(), what }))
    }

    /// The time after a wait.
    fn after(&self, wait: u64) -> Option<u64> {
        match self.waits {
            WaitRule::RelativeMicroseconds => self.now_ns.checked_add(wait.checked_mul(1000)?),
            WaitRule::AbsoluteMilliseconds => Some(wait.checked_mul(1_000_000)?.max(self.now_ns)),
        }
    }

    fn unknown(&self, action: Field<'_>, io: bool) -> TraceError {
        let words = Action::ALL.iter().filter(|(_, action)| action.is_io() == io).map(|(word, _)| *word);
        let wait = Some("wait").filter(|_| io && self.format == TraceFormat::Version2);
        let words: Vec<&str> = words.chain(wait).collect();
        let expected = alternatives(words.iter().copied());
        let nearest = nearest(action.text, words).map(str::to_owned);
        self.lines
            .error(action.column, TraceProblem::UnknownAction { found: action.text.to_owned(), expected, nearest })
    }
}

impl<R: BufRead> Iterator for IologReader<R> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            if let Some(record) = self.record().transpose() {
                return Some(record);
            }
        }
    }
}
