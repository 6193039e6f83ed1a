//! What became of a call, and how that is written down.

use std::fmt::Write as _;

use super::nor::Counts;
use super::script::{Call, Line};

/// What became of a call.
#[derive(Clone, Debug)]
pub struct Outcome<'s> {
    pub line: &'s Line,
    pub result: i64,
    pub counts: Counts,
    /// What else it told, with a space before each word.
    pub details: String,
    /// The flash's operations, a line each, if they were traced.
    pub trace: String,
    /// Whether the flash had no power when the call began.
    pub dead: bool,
    /// Whether the call was given up, as it took too many operations.
    pub endless: bool,
}

impl Outcome<'_> {
    /// `LINE CALL => RESULT reads=.. rbytes=.. programs=.. pbytes=.. erases=.. ops=CRC[ details][ overwrite=N][ dead]`,
    /// after the trace.
    pub fn full(&self) -> String {
        let Self { line: Line { number, text, .. }, result, counts, details, trace, .. } = self;
        if self.endless {
            return format!("{trace}{number} {text} => hang");
        }
        let mut full = format!(
            "{trace}{number} {text} => {result} reads={} rbytes={} programs={} pbytes={} erases={} ops={:08x}{details}",
            counts.reads,
            counts.read_bytes,
            counts.programs,
            counts.programmed_bytes,
            counts.erases,
            counts.operations.value(),
        );
        if counts.overwrites > 0 {
            let _ = write!(full, " overwrite={}", counts.overwrites);
        }
        full.push_str(if self.dead { " dead" } else { "" });
        full
    }

    /// The same as the recordings have it: `LINE RESULT READS/BYTES PROGRAMS/BYTES ERASES CRC[ details][ overwrite=N]`, or
    /// `LINE dead`.
    pub fn brief(&self) -> String {
        let Self { line: Line { number, .. }, result, counts, details, .. } = self;
        if self.dead {
            return format!("{number} dead");
        }
        if self.endless {
            return format!("{number} hang");
        }
        let mut brief = format!(
            "{number} {result} {}/{} {}/{} {} {:08x}{details}",
            counts.reads,
            counts.read_bytes,
            counts.programs,
            counts.programmed_bytes,
            counts.erases,
            counts.operations.value(),
        );
        if counts.overwrites > 0 {
            let _ = write!(brief, " overwrite={}", counts.overwrites);
        }
        brief
    }

    pub fn call(&self) -> &Call {
        &self.line.call
    }

    pub fn text(&self) -> &str {
        &self.line.text
    }
}

/// A name as the recordings have it.
pub fn printable(name: &[u8]) -> String {
    if name.is_empty() {
        return "\"\"".into();
    }
    let mut text = String::new();
    for byte in name {
        match byte {
            b'%' | b',' | b'"' | b'#' | ..=0x20 | 0x7f.. => {
                let _ = write!(text, "%{byte:02x}");
            }
            byte => text.push((*byte).into()),
        }
    }
    text
}
