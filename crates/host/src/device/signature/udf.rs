//! UDF (ECMA-167, part 2: volume recognition sequence; part 3 for `NSR`).

use super::{Medium, Signature};

/// The sequence starts behind 32 KiB.
const AT: u64 = 32 * 1024;
/// A descriptor takes 2048 bytes, or a sector where that is larger; 2048 divides all.
const STEP: u64 = 2048;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let has = |id: &[u8]| (0..64).any(|n| medium.has(AT + n * STEP + 1, id));
    (has(b"BEA01") && (has(b"NSR02") || has(b"NSR03"))).then(|| Signature::file_system("udf", None))
}
