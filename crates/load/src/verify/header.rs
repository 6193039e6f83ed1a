//! The header of a piece (`struct verify_header` of `verify.h`, fio up to 3.40).
//!
//! | bytes | little endian |
//! |---|---|
//! | 0..2 | 0xacca |
//! | 2..4 | kind |
//! | 4..8 | length of the piece |
//! | 8..16 | seed of the data |
//! | 16..24 | offset of the piece in the file |
//! | 24..28, 28..32 | time of the write, seconds and nanoseconds |
//! | 32..34 | thread, from 1 |
//! | 34..36 | number of the write, from 0 |
//! | 36..40 | CRC-32C of what is before, not inverted at the end |

use flashmark_fio::options::VerifyKind;

use super::checksum::crc32c_open;
use super::mismatch::Check;

pub(super) const HEADER_BYTES: usize = 40;
const CRC_AT: usize = 36;
const MAGIC: u16 = 0xacca;

/// What is between the magic number and the checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: u16,
    pub piece_bytes: u32,
    pub seed: u64,
    pub offset: u64,
    pub time_s: u32,
    pub time_ns: u32,
    pub thread: u16,
    pub number: u16,
}

/// What a header should say.
pub(super) struct Expected {
    pub kind: VerifyKind,
    pub piece_bytes: u32,
    pub offset: u64,
    pub number: Option<u16>,
    pub seed: Option<u64>,
}

/// What is wrong with a header.
pub(super) struct Fault {
    /// Which byte of the header is the first wrong one, as far as can be told.
    pub at: usize,
    pub check: Check,
    pub expected: String,
    pub got: String,
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..2].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.piece_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.time_s.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.time_ns.to_le_bytes());
        bytes[32..34].copy_from_slice(&self.thread.to_le_bytes());
        bytes[34..36].copy_from_slice(&self.number.to_le_bytes());
        let crc = crc32c_open(&bytes[..CRC_AT]);
        bytes[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The fields, whatever they are; nothing if there are too few bytes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        Some(Self {
            kind: u16::from_le_bytes(field(bytes, 2)),
            piece_bytes: u32::from_le_bytes(field(bytes, 4)),
            seed: u64::from_le_bytes(field(bytes, 8)),
            offset: u64::from_le_bytes(field(bytes, 16)),
            time_s: u32::from_le_bytes(field(bytes, 24)),
            time_ns: u32::from_le_bytes(field(bytes, 28)),
            thread: u16::from_le_bytes(field(bytes, 32)),
            number: u16::from_le_bytes(field(bytes, 34)),
        })
    }

    /// The header at the start of `piece`, if it is as expected.
    ///
    /// A field that is wrong in a header whose own checksum is right tells of another block; otherwise of damage.
    pub fn check(piece: &[u8], expected: &Expected) -> Result<Self, Fault> {
        let (Some(header), Some(bytes)) = (Self::decode(piece), piece.first_chunk::<HEADER_BYTES>()) else {
            let (expected, got) = (HEADER_BYTES.to_string(), piece.len().to_string());
            return Err(Fault { at: 0, check: Check::Size, expected, got });
        };
        let stored = u32::from_le_bytes(field(bytes, CRC_AT));
        let computed = crc32c_open(&bytes[..CRC_AT]);
        let fault = header.fault(u16::from_le_bytes(field(bytes, 0)), expected);
        match fault {
            None if stored == computed => Ok(header),
            None => Err(Fault {
                at: 0,
                check: Check::Header,
                expected: format!("crc32c {stored:#010x}"),
                got: format!("{computed:#010x}"),
            }),
            Some(fault) if stored == computed || fault.check == Check::Magic => Err(fault),
            Some(fault) => Err(Fault {
                check: Check::Header,
                expected: format!("{} {}", field_name(fault.check), fault.expected),
                ..fault
            }),
        }
    }

    /// The first field that is not as expected.
    fn fault(&self, magic: u16, expected: &Expected) -> Option<Fault> {
        // Each field's place, what it should be, what it is, and how both are shown.
        let first = |at, check, wanted: u64, got: u64, show: fn(u64) -> String| {
            (wanted != got).then(|| {
                let differs = wanted.to_le_bytes().iter().zip(got.to_le_bytes()).position(|(a, b)| *a != b);
                Fault { at: at + differs.unwrap_or(0), check, expected: show(wanted), got: show(got) }
            })
        };
        let decimal: fn(u64) -> String = |value| value.to_string();
        let hexadecimal: fn(u64) -> String = |value| format!("{value:#x}");
        first(0, Check::Magic, MAGIC.into(), magic.into(), hexadecimal)
            .or_else(|| {
                if is_of_kind(self.kind, expected.kind) {
                    return None;
                }
                first(2, Check::Kind, code(expected.kind).into(), self.kind.into(), kind_name)
            })
            .or_else(|| first(4, Check::Length, expected.piece_bytes.into(), self.piece_bytes.into(), decimal))
            .or_else(|| first(16, Check::Place, expected.offset, self.offset, decimal))
            .or_else(|| first(34, Check::Number, expected.number?.into(), self.number.into(), decimal))
            .or_else(|| first(8, Check::Seed, expected.seed?, self.seed, hexadecimal))
    }
}

/// What a damaged field is called.
const fn field_name(check: Check) -> &'static str {
    match check {
        Check::Kind => "kind",
        Check::Length => "length",
        Check::Place => "offset",
        Check::Number => "number",
        Check::Seed => "seed",
        _ => "header",
    }
}

fn field<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// The kinds by their numbers in `verify.h`.
const KINDS: &[(u16, VerifyKind)] = &[
    (0, VerifyKind::None),
    (1, VerifyKind::Meta),
    (2, VerifyKind::Md5),
    (3, VerifyKind::Crc64),
    (4, VerifyKind::Crc32),
    (5, VerifyKind::Crc32c),
    // crc32c-intel
    (6, VerifyKind::Crc32c),
    (7, VerifyKind::Crc16),
    (8, VerifyKind::Crc7),
    (9, VerifyKind::Sha256),
    (10, VerifyKind::Sha512),
    (15, VerifyKind::Xxhash),
    (16, VerifyKind::Sha1),
    (17, VerifyKind::PatternHeader),
    (18, VerifyKind::Pattern),
    (19, VerifyKind::Null),
];

/// The number of a kind.
pub(super) fn code(kind: VerifyKind) -> u16 {
    KINDS.iter().find(|(_, known)| *known == kind).map_or(0, |(code, _)| *code)
}

/// Whether a header with this number can be checked as `kind`: `meta` and patterns have no checksum, and check any.
fn is_of_kind(code: u16, kind: VerifyKind) -> bool {
    kind == VerifyKind::Meta || KINDS.contains(&(code, kind))
}

fn kind_name(code: u64) -> String {
    match KINDS.iter().find(|(known, _)| u64::from(*known) == code) {
        Some((_, kind)) => kind.to_string(),
        None => format!("number {code}"),
    }
}
