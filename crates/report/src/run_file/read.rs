//! Reading run files: forgiving about a torn last line, about nothing else.

use std::io::{self, BufRead, Read as _};

use flashmark_core::record::{Record, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::figures::{counted, printable};

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
        let bytes = counted(self.bytes, "byte", "bytes");
        write!(f, "line {} is torn ({bytes} of a record) and left out", self.line)
    }
}

/// Why a file is not a run.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system cannot read it.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A line is not JSON. Only the last line may be incomplete.
    #[error(
        "line {line} is not JSON (see column {column}), so it is not a flashmark record; a run file has one a line"
    )]
    NotJson {
        /// The line, from 1.
        line: u64,
        /// Where in it, in bytes from 1.
        column: usize,
    },
    /// A line is JSON, but no record.
    #[error("line {line} is not a flashmark record{}", detail.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    NotARecord {
        /// The line, from 1.
        line: u64,
        /// Which member is missing or wrong, if the line looks like a record otherwise.
        detail: Option<String>,
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
/// on the medium before its data, zeros in place of parts of it. A file with nothing before that line may be anything,
/// and has to show more.
fn is_torn(error: &ReadError, text: &[u8], is_first: bool) -> bool {
    let starts_so = text.starts_with(RECORD_START);
    let may_start_so = !is_first && (RECORD_START.starts_with(text) || text.contains(&0));
    matches!(error, ReadError::NotJson { .. }) && (starts_so || may_start_so)
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
    serde_json::from_slice::<IgnoredAny>(text).map_err(|error| ReadError::NotJson { line, column: error.column() })?;
    // The parser would take a list for an object, its items for the members in order.
    let is_object = text.trim_ascii_start().starts_with(b"{");
    let head = serde_json::from_slice::<Head>(text).ok().filter(|_| is_object);
    let head = head.ok_or(ReadError::NotARecord { line, detail: None })?;
    if head.schema > u64::from(SCHEMA) {
        let by = head.flashmark.map_or_else(|| "?".into(), |by| printable(&by));
        return Err(ReadError::NewerSchema { line, found: head.schema, by });
    }
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(text))
        .map_err(|error| ReadError::NotARecord { line, detail: Some(detail(&error)) })
}

/// The longest description of what is wrong with a record; the parser quotes what it found, however long it is.
const DETAIL_CHARS_MAX: usize = 200;

/// What is wrong with a record, and in which member; without what the parser says of its own types and places.
fn detail(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let said = error.inner().to_string();
    let said = said.rsplit_once(" at line ").map_or(&*said, |(what, _)| what);
    let said = said.rsplit_once(", expected ").map_or(said, |(what, _)| what);
    let member = error.path().to_string();
    let text = if member == "." { said.to_owned() } else { format!("{member}: {said}") };
    printable(&text).chars().take(DETAIL_CHARS_MAX).collect()
}
