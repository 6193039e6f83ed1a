//! Why options cannot be verified with.

use flashmark_fio::options::VerifyKind;
use thiserror::Error;

/// Why blocks cannot be verified as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// No pattern was given.
    #[error("verify={kind} needs `verify_pattern`, which says what is written")]
    NoPattern {
        /// The kind.
        kind: VerifyKind,
    },
    /// A piece is too small for header, checksum and data.
    #[error(
        "verify={kind} needs {least_bytes} bytes for header, checksum and data, and checks pieces of {piece_bytes}; give \
         larger blocks or a larger `verify_interval`"
    )]
    Small {
        /// The kind.
        kind: VerifyKind,
        /// How large the pieces are.
        piece_bytes: usize,
        /// How large they must be.
        least_bytes: usize,
    },
    /// The header would leave the piece.
    #[error(
        "verify={kind} writes {header_bytes} bytes at byte {offset} of every {piece_bytes}, where they do not fit; give a \
         smaller `verify_offset` or a larger `verify_interval`"
    )]
    OffsetOutside {
        /// `verify_offset`.
        offset: usize,
        /// The kind.
        kind: VerifyKind,
        /// How long header and checksum are.
        header_bytes: usize,
        /// How large the pieces are.
        piece_bytes: usize,
    },
    /// The header would change places with a part of itself.
    #[error(
        "verify={kind} has a header of {header_bytes} bytes, which cannot change places with the bytes at {offset}; give \
         `verify_offset={header_bytes}` or more"
    )]
    OffsetInHeader {
        /// `verify_offset`.
        offset: usize,
        /// The kind.
        kind: VerifyKind,
        /// How long header and checksum are.
        header_bytes: usize,
    },
}
