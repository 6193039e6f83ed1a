//! Headers and checks of written data (fio HOWTO, "Verification").
//!
//! The bytes are those of fio 3.33 and its successors up to 3.38 (3.39 finishes its `sha512` and numbers its states
//! anew, 3.41 has longer headers): each piece of `verify_interval` bytes begins with a header of 40 bytes and a
//! checksum of the rest; with `verify_offset` they change places with the bytes there. The data between is made from
//! the seed that the header names, with fio's generator, or is `verify_pattern`. So fio checks what was written here,
//! this checks what fio wrote, and where a checksum is wrong the data is made again to find the byte.
//!
//! | kind | what follows the header |
//! |---|---|
//! | `md5`, `crc64` (Jones), `crc16` (ARC), `crc7` (MMC), `xxhash` (32 bits, seed 1) | as everywhere |
//! | `sha1` | its five words little endian |
//! | `crc32` | the polynomial of CKSUM, neither begun nor ended with ones |
//! | `crc32c` | without the final inversion |
//! | `sha256` | the low byte of each word of a SHA-256 whose length is little endian, then the last block's other bytes |
//! | `sha512` | no hash: the data's first 128 bytes, with what follows the last whole 128 over them |
//!
//! As fio's `sha512` sees only the ends of the data, here all of it is compared with what is made again from the seed.

mod checksum;
mod content;
mod dump;
mod error;
mod header;
mod mismatch;
mod pieces;
mod state;

use std::mem;

use flashmark_fio::options::{BufferOptions, VerifyKind, VerifyOptions};

use crate::contents::{mix, repeat};
use content::Content;
pub use dump::DumpFile;
pub use error::VerifyError;
use header::{HEADER_BYTES, Header};
pub use mismatch::{Check, Mismatch, WrongByte};
use pieces::Layout;
pub use state::{Completion, StateError, VerifyState, state_file_name};

/// What is known of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Where the block goes, in bytes from the start of the file.
    pub offset: u64,
    /// The number of the write, from 0. The header holds its low 16 bits; the data's seed follows from all of it.
    pub number: u64,
    /// When the write is issued, in nanoseconds of any clock; the header holds it, and nobody checks it.
    pub time_ns: u64,
    /// The number of the thread, from 1; the header holds its low 16 bits, and nobody checks it.
    pub thread: u32,
}

/// What a block that is checked should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The whole block that a verifier of the same options and seed wrote there as number `number`.
    ///
    /// Of the number the header holds 16 bits, which `verify_write_sequence` has checked; all of it is in the seed of the
    /// data, which is checked if `verify_header_seed` is given as well.
    Write {
        /// The number of the write, as in [`Stamp::number`].
        number: u64,
    },
    /// Any block for that place, no matter who wrote it, or when.
    Any,
}

/// Stamps blocks that are written and checks blocks that were read. One for each thread.
#[derive(Clone, Debug)]
pub struct Verifier {
    kind: VerifyKind,
    layout: Layout,
    /// What `verify_interval` says; 0 is the whole block.
    interval_bytes: usize,
    check_number: bool,
    check_seed: bool,
    seed: u64,
    content: Content,
    /// A piece whose header was put back to its start.
    straight: Vec<u8>,
    /// A block's data, made again.
    again: Vec<u8>,
    /// Of which block that is: its seed, offset and length. The pieces of a block mostly have one seed.
    again_of: Option<(u64, u64, usize)>,
}

impl Verifier {
    /// The verifier that a finished [`flashmark_fio::Job`]'s options ask for. `seed` is the thread's.
    ///
    /// # Errors
    ///
    /// If the header does not fit into a piece of `verify_interval` bytes, or if the pattern is missing.
    pub fn new(options: &VerifyOptions, buffers: &BufferOptions, seed: u64) -> Result<Self, VerifyError> {
        let kind = options.verify;
        let pattern = options.verify_pattern.clone().filter(|pattern| !pattern.bytes.is_empty());
        if matches!(kind, VerifyKind::Pattern | VerifyKind::PatternHeader) && pattern.is_none() {
            return Err(VerifyError::NoPattern { kind });
        }
        let layout = Layout::new(kind, options.verify_offset as usize);
        let interval_bytes = options.verify_interval as usize;
        if interval_bytes != 0 {
            layout.check(interval_bytes)?;
        } else {
            layout.check_offset()?;
        }
        Ok(Self {
            kind,
            layout,
            interval_bytes,
            check_number: options.verify_write_sequence,
            check_seed: options.verify_header_seed,
            seed,
            content: Content::new(pattern, buffers),
            straight: vec![0; if options.verify_offset == 0 { 0 } else { interval_bytes }],
            again: Vec::new(),
            again_of: None,
        })
    }

    /// Makes room for blocks of up to `block_bytes`, so that stamping and checking them allocates nothing.
    ///
    /// # Errors
    ///
    /// If blocks of `block_bytes` have no room for a header.
    pub fn reserve(&mut self, block_bytes: usize) -> Result<(), VerifyError> {
        self.layout.check(self.piece_bytes(block_bytes))?;
        if self.layout.is_exchanged() && self.straight.len() < block_bytes {
            self.straight.resize(block_bytes, 0);
        }
        if self.kind == VerifyKind::Sha512 && self.again.len() < block_bytes {
            self.again.resize(block_bytes, 0);
        }
        Ok(())
    }

    /// Whether blocks are stamped and checked at all: not with `verify=null`, nor without `verify`.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        !matches!(self.kind, VerifyKind::None | VerifyKind::Null)
    }

    /// Makes `block` what is to be written: all of its bytes, data and headers.
    ///
    /// A block shorter than a header has data only, and [`Verifier::check`] will not accept it.
    pub fn stamp(&mut self, block: &mut [u8], stamp: &Stamp) {
        if !self.is_active() {
            return;
        }
        let seed = self.seed_of(stamp.offset, stamp.number);
        self.content.lay(block, seed, stamp.offset);
        if !self.layout.has_header() {
            return;
        }
        let piece_bytes = self.piece_bytes(block.len());
        if self.layout.check(piece_bytes).is_err() {
            return;
        }
        let mut header = Header {
            kind: header::code(self.kind),
            piece_bytes: piece_bytes as u32,
            seed,
            offset: stamp.offset,
            time_s: (stamp.time_ns / 1_000_000_000) as u32,
            time_ns: (stamp.time_ns % 1_000_000_000) as u32,
            thread: stamp.thread as u16,
            number: stamp.number as u16,
        };
        for piece in block.chunks_exact_mut(piece_bytes) {
            self.head(piece, &header);
            header.offset += piece_bytes as u64;
        }
    }

    /// Checks a block that was read from `offset`. It must be a whole block as it was written: `%o` in a pattern is the
    /// offset of the block.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn check(&mut self, block: &[u8], offset: u64, expectation: Expectation) -> Result<(), Mismatch> {
        if !self.is_active() {
            return Ok(());
        }
        let piece_bytes = self.piece_bytes(block.len());
        if self.layout.check(piece_bytes).is_err() {
            return Err(Mismatch::too_short(offset, block.len(), self.layout.header_bytes() + 1));
        }
        self.content.set_offset(offset);
        let mut straight = mem::take(&mut self.straight);
        let mut place = Piece { start: 0, block_offset: offset, block_bytes: block.len() };
        let mut result = Ok(());
        // An empty block has no pieces.
        for piece in block.chunks_exact(piece_bytes.max(1)) {
            let piece = self.layout.straighten(piece, &mut straight);
            result = self.check_piece(piece, &place, expectation);
            if result.is_err() {
                break;
            }
            place.start += piece_bytes;
        }
        self.straight = straight;
        result
    }

    /// The files that fio writes with `verify_dump` for a mismatch: what was read and what was expected, each of the piece
    /// that was wrong; of a wrong header only what was read. `file` is the path of the file that was read.
    #[must_use]
    pub fn dump(&mut self, file: &str, block: &[u8], block_offset: u64, mismatch: &Mismatch) -> Vec<DumpFile> {
        let Some(at) = mismatch.piece_offset.checked_sub(block_offset).and_then(|at| usize::try_from(at).ok()) else {
            return Vec::new();
        };
        let Some(received) = block.get(at..).and_then(|rest| rest.get(..mismatch.piece_bytes)) else {
            return Vec::new();
        };
        let name = |kind| dump::file_name(file, mismatch.piece_offset, kind);
        if mismatch.check.is_of_header() {
            return vec![DumpFile { name: name("hdr_fail"), bytes: received.to_vec() }];
        }
        let mut straight = mem::take(&mut self.straight);
        let header = Header::decode(self.layout.straighten(received, &mut straight));
        self.straight = straight;
        let mut expected = vec![0; block.len()];
        self.content.lay(&mut expected, header.map_or(0, |header| header.seed), block_offset);
        let expected = &mut expected[at..at + mismatch.piece_bytes];
        if let (true, Some(header)) = (self.layout.has_header(), header) {
            self.head(expected, &Header { kind: header::code(self.kind), ..header });
        }
        vec![
            DumpFile { name: name("received"), bytes: received.to_vec() },
            DumpFile { name: name("expected"), bytes: expected.to_vec() },
        ]
    }

    /// How long the pieces of a block are.
    const fn piece_bytes(&self, block_bytes: usize) -> usize {
        let interval = self.interval_bytes;
        if interval == 0 || interval > block_bytes || !block_bytes.is_multiple_of(interval) {
            block_bytes
        } else {
            interval
        }
    }

    /// Puts header and checksum over a piece's data.
    fn head(&self, piece: &mut [u8], header: &Header) {
        let (head, data) = piece.split_at_mut(self.layout.header_bytes());
        let (fields, checksum) = head.split_at_mut(HEADER_BYTES);
        fields.copy_from_slice(&header.encode());
        checksum::write(self.kind, data, checksum);
        self.layout.exchange(piece);
    }

    /// What the data of a write is made from. Never 0, of which zeros would be made.
    fn seed_of(&self, offset: u64, number: u64) -> u64 {
        mix(self.seed ^ mix(offset ^ mix(number))) | 1
    }

    /// Checks a piece whose header is at its start.
    fn check_piece(&mut self, piece: &[u8], place: &Piece, expectation: Expectation) -> Result<(), Mismatch> {
        let mut seed = None;
        if self.layout.has_header() {
            let header = self.check_header(piece, place, expectation)?;
            seed = Some(header.seed);
        }
        let data = &piece[self.layout.header_bytes()..];
        let start = place.start + self.layout.header_bytes();
        match self.kind {
            VerifyKind::Meta | VerifyKind::Pattern | VerifyKind::PatternHeader => {
                let Some(pattern) = self.content.pattern() else { return Ok(()) };
                match repeat::first_difference(pattern, start % pattern.len(), data) {
                    None => Ok(()),
                    Some(at) => {
                        let expected = pattern[(start + at) % pattern.len()];
                        Err(self.wrong_byte(Check::Pattern, piece, place, at, expected))
                    }
                }
            }
            kind => {
                let mut computed = [0; checksum::MOST_BYTES];
                let computed = &mut computed[..checksum::bytes(kind)];
                checksum::write(kind, data, computed);
                let stored = &piece[HEADER_BYTES..self.layout.header_bytes()];
                if stored != computed {
                    return Err(self.wrong_checksum(piece, place, seed.unwrap_or(0), stored, computed));
                }
                if kind == VerifyKind::Sha512 {
                    let again = self.make_again(place, seed.unwrap_or(0));
                    if let Some(at) = difference(&again[start..start + data.len()], data) {
                        let expected = again[start + at];
                        return Err(self.wrong_byte(Check::Data, piece, place, at, expected));
                    }
                }
                Ok(())
            }
        }
    }

    fn check_header(&self, piece: &[u8], place: &Piece, expectation: Expectation) -> Result<Header, Mismatch> {
        let expected = header::Expected {
            kind: self.kind,
            piece_bytes: piece.len() as u32,
            offset: place.offset(),
            number: match expectation {
                Expectation::Write { number } if self.check_number => Some(number as u16),
                _ => None,
            },
            seed: match expectation {
                // The number is in the seed.
                Expectation::Write { number } if self.check_seed && self.check_number => {
                    Some(self.seed_of(place.block_offset, number))
                }
                _ => None,
            },
        };
        Header::check(piece, &expected).map_err(|fault| Mismatch {
            offset: place.offset() + self.layout.position(fault.at) as u64,
            check: fault.check,
            expected: fault.expected,
            got: fault.got,
            wrong_byte: None,
            piece_offset: place.offset(),
            piece_bytes: piece.len(),
        })
    }

    /// A byte of the data, the one at `at`, is not what is known to have been written.
    fn wrong_byte(&self, check: Check, piece: &[u8], place: &Piece, at: usize, expected: u8) -> Mismatch {
        let at = at + self.layout.header_bytes();
        let byte = WrongByte { expected, got: piece[at] };
        Mismatch {
            offset: place.offset() + self.layout.position(at) as u64,
            check,
            expected: format!("{expected:#04x}"),
            got: format!("{:#04x}", byte.got),
            wrong_byte: Some(byte),
            piece_offset: place.offset(),
            piece_bytes: piece.len(),
        }
    }

    /// The checksum is wrong: of which byte can be told if the data is what the seed makes.
    fn wrong_checksum(&mut self, piece: &[u8], place: &Piece, seed: u64, stored: &[u8], computed: &[u8]) -> Mismatch {
        let head = self.layout.header_bytes();
        let data = &piece[head..];
        let again = &self.make_again(place, seed)[place.start + head..][..data.len()];
        let alike = data.iter().zip(again).filter(|(read, made)| read == made).count();
        let (at, byte) = match difference(again, data) {
            // As made: the checksum itself was damaged.
            None => (HEADER_BYTES + difference(stored, computed).unwrap_or(0), None),
            // Of any data one byte in 256 is alike; this is other data.
            Some(_) if alike < data.len() / 8 => (head, None),
            Some(at) => (head + at, Some(WrongByte { expected: again[at], got: data[at] })),
        };
        Mismatch {
            offset: place.offset() + self.layout.position(at) as u64,
            check: Check::Checksum(self.kind),
            expected: mismatch::hexadecimal(stored),
            got: mismatch::hexadecimal(computed),
            wrong_byte: byte,
            piece_offset: place.offset(),
            piece_bytes: piece.len(),
        }
    }

    /// The data of a whole block, without headers.
    fn make_again(&mut self, place: &Piece, seed: u64) -> &[u8] {
        if self.again.len() < place.block_bytes {
            self.again.resize(place.block_bytes, 0);
        }
        let again = &mut self.again[..place.block_bytes];
        let this = Some((seed, place.block_offset, place.block_bytes));
        if self.again_of != this {
            self.content.lay(again, seed, place.block_offset);
            self.again_of = this;
        }
        again
    }
}

/// Where a piece is.
struct Piece {
    /// Where in its block it begins.
    start: usize,
    block_offset: u64,
    block_bytes: usize,
}

impl Piece {
    /// Where in the file it begins.
    const fn offset(&self) -> u64 {
        self.block_offset + self.start as u64
    }
}

/// Where two slices of the same length first differ.
fn difference(one: &[u8], other: &[u8]) -> Option<usize> {
    if one == other {
        return None;
    }
    one.iter().zip(other).position(|(one, other)| one != other)
}
