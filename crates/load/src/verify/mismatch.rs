//! What is wrong with a block.

use std::fmt;

use flashmark_fio::options::VerifyKind;
use thiserror::Error;

/// What was checked and found wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The block has no room for a header: less was read than written, or other options were given.
    Size,
    /// There is no header: something else was written there, or nothing.
    Magic,
    /// The header is of another kind of verification.
    Kind,
    /// The header is of a piece of another length: other block sizes, or another `verify_interval`.
    Length,
    /// The header is whole and belongs to another place: the block was written to the wrong place, or read from it.
    Place,
    /// The header is whole and of another write: an old version, a lost write.
    Number,
    /// The header is whole, and its data's seed is of another write or job.
    Seed,
    /// The header is damaged.
    Header,
    /// The data does not have the header's checksum.
    Checksum(VerifyKind),
    /// The data is not the pattern.
    Pattern,
    /// The data is not what the header's seed makes.
    Data,
}

impl Check {
    /// Whether the header was found wrong, so that nothing can be said of the data.
    #[must_use]
    pub const fn is_of_header(self) -> bool {
        !matches!(self, Self::Checksum(_) | Self::Pattern | Self::Data)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size => f.write_str("bytes read"),
            Self::Magic => f.write_str("magic number of the header"),
            Self::Kind => f.write_str("kind of verification"),
            Self::Length => f.write_str("length in the header"),
            Self::Place => f.write_str("a block of another place: offset in the header"),
            Self::Number => f.write_str("a block of another write: number in the header"),
            Self::Seed => f.write_str("a block of another write: seed in the header"),
            Self::Header => f.write_str("damaged header"),
            Self::Checksum(kind) => write!(f, "{kind} of the data"),
            Self::Pattern => f.write_str("verify_pattern"),
            Self::Data => f.write_str("data"),
        }
    }
}

/// The first byte that is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongByte {
    /// What was written.
    pub expected: u8,
    /// What was read.
    pub got: u8,
}

/// A block that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("offset {offset}: {check}: expected {expected}, got {got}{}", WrongByteText(*check, *wrong_byte))]
pub struct Mismatch {
    /// The first wrong byte, in bytes from the start of the file; where that cannot be told the start of what was checked.
    pub offset: u64,
    /// What was wrong.
    pub check: Check,
    /// What it should be, for people.
    pub expected: String,
    /// What it is, for people.
    pub got: String,
    /// The byte at `offset`, where it is known what was written.
    pub wrong_byte: Option<WrongByte>,
    /// Where the piece begins that was checked, in bytes from the start of the file.
    pub piece_offset: u64,
    /// How long that is.
    pub piece_bytes: usize,
}

impl Mismatch {
    pub(super) fn too_short(offset: u64, bytes: usize, least: usize) -> Self {
        Self {
            offset,
            check: Check::Size,
            expected: format!("at least {least}"),
            got: bytes.to_string(),
            wrong_byte: None,
            piece_offset: offset,
            piece_bytes: bytes,
        }
    }
}

/// What is said of a byte that `expected` and `got` do not tell of.
struct WrongByteText(Check, Option<WrongByte>);

impl fmt::Display for WrongByteText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(Check::Checksum(_), Some(WrongByte { expected, got })) => {
                write!(f, "; the byte there is {got:#04x}, written was {expected:#04x}")
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::from("0x");
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
