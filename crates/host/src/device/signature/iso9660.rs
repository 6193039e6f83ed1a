//! ISO 9660 (ECMA-119, 8.4: primary volume descriptor).

use super::{Medium, Signature, label};

/// Sector 16 of 2048 bytes.
const AT: u64 = 16 * 2048;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium
        .has(AT, b"\x01CD001")
        .then(|| Signature::file_system("iso9660", medium.bytes::<32>(AT + 40).and_then(|bytes| label(&bytes))))
}
