//! Writing fio's iolog.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::{Action, Record, TraceFormat};

/// The longest name of a file that fio reads.
const NAME_MAX: usize = 256;

/// Why a record cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file system says no.
    #[error("the trace cannot be written: {0}")]
    Io(#[from] io::Error),
    /// A name does not fit into the format.
    #[error("the name `{0}` cannot stand in an iolog: it is empty, has a blank, or more than {NAME_MAX} bytes")]
    Name(String),
    /// The format cannot be written.
    #[error("only versions 2 and 3 of fio's iolog can be written")]
    Format,
}

/// Writes version 2 or 3, one record after another. Files that are used without having been added or opened are added and
/// opened.
#[derive(Debug)]
pub struct IologWriter<W> {
    writer: W,
    timed: bool,
    waited_ms: u64,
    /// The files that were added, and whether they are open.
    files: HashMap<Arc<str>, bool>,
}

impl<W: Write> IologWriter<W> {
    /// Writes the first line.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or `format` is none of fio's.
    pub fn new(mut writer: W, format: TraceFormat) -> Result<Self, WriteError> {
        let (timed, version) = match format {
            TraceFormat::Version2 => (false, 2),
            TraceFormat::Version3 => (true, 3),
            TraceFormat::Blkparse => return Err(WriteError::Format),
        };
        writeln!(writer, "fio version {version} iolog")?;
        Ok(Self { writer, timed, waited_ms: 0, files: HashMap::new() })
    }

    /// Writes a record. Times are cut to microseconds in version 3, and to milliseconds in version 2, where waits are
    /// what [`WaitRule::AbsoluteMilliseconds`](super::WaitRule) says.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or the file's name cannot stand in an iolog.
    pub fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        let name = &record.file;
        if name.is_empty() || name.len() > NAME_MAX || name.contains(|character: char| character.is_ascii_whitespace())
        {
            return Err(WriteError::Name(name.to_string()));
        }
        let time_us = record.time_ns / 1000;
        let open = self.files.get(name).copied();
        if open.is_none() && record.action != Action::Add {
            self.file_line(time_us, name, Action::Add)?;
        }
        if open != Some(true) && record.action.is_io() {
            self.file_line(time_us, name, Action::Open)?;
        }
        if !record.action.is_io() {
            return self.file_line(time_us, name, record.action);
        }
        let time_ms = time_us / 1000;
        if self.timed {
            write!(self.writer, "{time_us} ")?;
        } else if time_ms > self.waited_ms {
            writeln!(self.writer, "{name} wait {time_ms} 0")?;
            self.waited_ms = time_ms;
        }
        writeln!(self.writer, "{name} {} {} {}", record.action, record.offset, record.bytes)?;
        Ok(())
    }

    fn file_line(&mut self, time_us: u64, name: &Arc<str>, action: Action) -> Result<(), WriteError> {
        if self.timed {
            write!(self.writer, "{time_us} ")?;
        }
        writeln!(self.writer, "{name} {action}")?;
        let open = match action {
            Action::Open => true,
            Action::Add => self.files.get(name).copied().unwrap_or(false),
            _ => false,
        };
        self.files.insert(Arc::clone(name), open);
        Ok(())
    }

    /// Closes the files that are open, at this time, and gives the writer back, flushed.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(mut self, time_ns: u64) -> Result<W, WriteError> {
        let mut open: Vec<Arc<str>> =
            self.files.iter().filter(|(_, open)| **open).map(|(name, _)| Arc::clone(name)).collect();
        open.sort_unstable();
        for name in open {
            self.file_line(time_ns / 1000, &name, Action::Close)?;
        }
        self.writer.flush()?;
        Ok(self.writer)
    }
}
