//! Reading run files: forgiving about a torn last line, about nothing else.

use std::io::{self, BufRead, Read as _};

use flashmark_core::record::{Record, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The longest line that is read; a record is some kilobytes. It keeps memory bounded whatever file is given.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// How every record that flashmark writes begins. A last line is taken for a torn record only if it begins so: a file
/// of something else is refused and never cut.
const RECORD_START: &[u8] = br#"{"schema":"#;

/// An incomplete last line, left by a crash while it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornLine {
    /// Its number, from 1.
    pub line: u64,
    /// How many bytes of it there are.
    pub bytes: u64,
}

impl std::fmt::Display for TornLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} is torn ({} bytes of a record) and left out", self.line, self.bytes)
    }
}

/// Why a file is not a run.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system cannot read it.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A line is not JSON. Only the last line may be incomplete.
    #[error("line {line} is not JSON ({source}); a run file has one record a line")]
    NotJson {
        /// The line, from 1.
        line: u64,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A line is JSON, but no record.
    #[error("line {line} is not a flashmark record: {source}")]
    NotARecord {
        /// The line, from 1.
        line: u64,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A record of a later version.
    #[error(
        "line {line} has a record of schema version {found}, written by flashmark {by}; this flashmark reads versions \
         up to {SCHEMA}: use that version or a later one"
    )]
    NewerSchema {
        /// The line, from 1.
        line: u64,
        /// The record's schema version.
        found: u64,
        /// The version of flashmark that wrote it, `?` if it does not say.
        by: String,
    },
    /// A line that no record can be.
    #[error("line {line} is longer than {MAX_LINE_BYTES} bytes; this is no run file")]
    LineTooLong {
        /// The line, from 1.
        line: u64,
    },
}

/// Reads all records of a run file. A torn last line is left out and told; blank lines are passed over; members that
/// this version does not know are ignored.
///
/// # Errors
/// [`ReadError`], with the number of the line, for everything else that is not a record.
pub fn read_records(reader: impl BufRead) -> Result<(Vec<Record>, Option<TornLine>), ReadError> {
    read_whole(reader).map(|whole| (whole.records, whole.torn))
}

/// What a run file holds.
pub(super) struct Whole {
    pub(super) records: Vec<Record>,
    pub(super) torn: Option<TornLine>,
    /// Bytes up to the end of the last whole line.
    pub(super) whole_bytes: u64,
    /// The last record is complete, but its newline is not there.
    pub(super) ends_without_newline: bool,
}

pub(super) fn read_whole(mut reader: impl BufRead) -> Result<Whole, ReadError> {
    let mut whole = Whole { records: Vec::new(), torn: None, whole_bytes: 0, ends_without_newline: false };
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let read_bytes = reader.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut text)?;
        if read_bytes == 0 {
            break;
        }
        if read_bytes > MAX_LINE_BYTES {
            return Err(ReadError::LineTooLong { line });
        }
        if !text.iter().all(u8::is_ascii_whitespace) {
            match parse(line, &text) {
                Ok(record) => whole.records.push(record),
                Err(error) => {
                    let is_last = reader.fill_buf()?.is_empty();
                    if !is_last || !is_torn(&error, &text, whole.records.is_empty()) {
                        return Err(error);
                    }
                    whole.torn = Some(TornLine { line, bytes: read_bytes as u64 });
                    break;
                }
            }
        }
        whole.whole_bytes += read_bytes as u64;
        whole.ends_without_newline = text.last() != Some(&b'\n');
    }
    Ok(whole)
}

/// Whether the last line is what is left of a record.
///
/// A record is written at once and synced, so what a crash leaves is its start, or, where the file system had its size
/// on the medium before its data, zeros in place of parts of it.
fn is_torn(error: &ReadError, text: &[u8], is_first: bool) -> bool {
    let starts_so = text.starts_with(RECORD_START) || RECORD_START.starts_with(text);
    let has_zeros = !is_first && text.contains(&0);
    matches!(error, ReadError::NotJson { .. }) && (starts_so || has_zeros)
}

/// What every version of a record has.
#[derive(Deserialize)]
struct Head {
    schema: u64,
    #[serde(default)]
    flashmark: Option<String>,
}

/// Reads one line: first whether it is JSON at all (only that can be torn), then its version, then the record.
fn parse(line: u64, text: &[u8]) -> Result<Record, ReadError> {
    serde_json::from_slice::<IgnoredAny>(text).map_err(|source| ReadError::NotJson { line, source })?;
    let head: Head = serde_json::from_slice(text).map_err(|source| ReadError::NotARecord { line, source })?;
    if head.schema > u64::from(SCHEMA) {
        let by = head.flashmark.map_or_else(|| "?".into(), |by| crate::figures::printable(&by));
        return Err(ReadError::NewerSchema { line, found: head.schema, by });
    }
    serde_json::from_slice(text).map_err(|source| ReadError::NotARecord { line, source })
}
