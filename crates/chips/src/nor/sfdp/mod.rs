//! Serial Flash Discoverable Parameters (JESD216B): the table in which a chip tells what it is.
//!
//! All of it is little-endian 32-bit words. Word numbers below count from 1, as in the standard.

mod decode;
mod encode;
mod times;

use thiserror::Error;

pub(super) use encode::encode;

/// The clock up to which a chip known only from its SFDP table is taken to work. Tables of revision B tell no clock; chips that
/// have such a table are made for 80 to 133 MHz. A profile in TOML says it for good.
pub const SFDP_CLOCK_HZ: u32 = 133_000_000;

/// The signature, "SFDP".
const SIGNATURE: u32 = 0x5044_4653;
/// Parameter table of basic flash parameters.
const BASIC: u16 = 0xff00;
/// Parameter table of four-byte address instructions.
const FOUR_BYTE: u16 = 0xff84;

/// Why a dump is not a chip.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SfdpError {
    /// No signature at the start.
    #[error("no SFDP signature at the start: give a binary dump of the table from address 0 on")]
    Signature,
    /// The dump ends before the table does.
    #[error("the dump has {bytes} bytes, but goes on to byte {needed}: dump more of the table")]
    Short {
        /// The dump's size.
        bytes: usize,
        /// What is needed.
        needed: usize,
    },
    /// No basic flash parameter table.
    #[error("no basic flash parameter table")]
    NoBasicTable,
    /// A table from before JESD216A, which tells no times.
    #[error(
        "the table has {words} words and tells no times (before JESD216A): write a profile with the data sheet's times"
    )]
    NoTimes {
        /// Words in the table.
        words: u8,
    },
    /// A density that is no chip's.
    #[error("density word {word:#010x} is not a power of two from 4 KiB to 4 GiB")]
    Density {
        /// Word 2.
        word: u32,
    },
    /// What the table tells is impossible.
    #[error("the table describes no possible chip: {0}")]
    Profile(#[from] super::ProfileError),
}

/// The little-endian words of a table.
fn word(table: &[u8], number: usize) -> Option<u32> {
    let at = (number - 1) * 4;
    table.get(at..at + 4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// `width` bits of a word from bit `low` on.
const fn bits(word: u32, low: u32, width: u32) -> u32 {
    word >> low & ((1 << width) - 1)
}

#[cfg(test)]
mod tests;
