//! Where in a piece the header is.

use std::ops::Range;

use flashmark_fio::options::VerifyKind;

use super::checksum;
use super::error::VerifyError;
use super::header::HEADER_BYTES;

/// Where the header and its checksum are in each piece.
///
/// With `verify_offset` they change places with the bytes there, after the checksum was computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    kind: VerifyKind,
    header_bytes: usize,
    offset: usize,
}

impl Layout {
    pub fn new(kind: VerifyKind, offset: usize) -> Self {
        let header_bytes = match kind {
            VerifyKind::None | VerifyKind::Null | VerifyKind::Pattern => 0,
            kind => HEADER_BYTES + checksum::bytes(kind),
        };
        Self { kind, header_bytes, offset: if header_bytes == 0 { 0 } else { offset } }
    }

    /// Header and checksum.
    pub const fn header_bytes(&self) -> usize {
        self.header_bytes
    }

    pub const fn has_header(&self) -> bool {
        self.header_bytes != 0
    }

    pub const fn is_exchanged(&self) -> bool {
        self.offset != 0
    }

    /// Whether pieces of this size have room for header and data.
    pub fn check(&self, piece_bytes: usize) -> Result<(), VerifyError> {
        self.check_offset()?;
        let (kind, header_bytes) = (self.kind, self.header_bytes);
        // As fio's `sha512` is made of data, it needs as much of it.
        let data_bytes = if kind == VerifyKind::Sha512 { checksum::MOST_BYTES } else { 1 };
        if self.has_header() && piece_bytes < header_bytes + data_bytes {
            return Err(VerifyError::Small { kind, piece_bytes, least_bytes: header_bytes + data_bytes });
        }
        if self.offset + header_bytes > piece_bytes {
            return Err(VerifyError::OffsetOutside { offset: self.offset, kind, header_bytes, piece_bytes });
        }
        Ok(())
    }

    /// Whether the header does not overlap the bytes it changes places with.
    pub const fn check_offset(&self) -> Result<(), VerifyError> {
        if self.is_exchanged() && self.offset < self.header_bytes {
            return Err(VerifyError::OffsetInHeader {
                offset: self.offset,
                kind: self.kind,
                header_bytes: self.header_bytes,
            });
        }
        Ok(())
    }

    /// Exchanges the header, at the start or where it belongs, with the bytes at the other place.
    pub fn exchange(&self, piece: &mut [u8]) {
        if self.is_exchanged() {
            let (start, rest) = piece.split_at_mut(self.offset);
            start[..self.header_bytes].swap_with_slice(&mut rest[..self.header_bytes]);
        }
    }

    /// The piece with its header at its start, in `straight` if it is elsewhere.
    pub fn straighten<'p>(&self, piece: &'p [u8], straight: &'p mut Vec<u8>) -> &'p [u8] {
        if !self.is_exchanged() {
            return piece;
        }
        if straight.len() < piece.len() {
            straight.resize(piece.len(), 0);
        }
        let straight = &mut straight[..piece.len()];
        straight.copy_from_slice(piece);
        self.exchange(straight);
        straight
    }

    /// Where in the piece a byte is that is at `at` if the header is at the start.
    pub fn position(&self, at: usize) -> usize {
        let header: Range<usize> = 0..self.header_bytes;
        if header.contains(&at) {
            self.offset + at
        } else if self.is_exchanged() && (self.offset..self.offset + self.header_bytes).contains(&at) {
            at - self.offset
        } else {
            at
        }
    }
}
