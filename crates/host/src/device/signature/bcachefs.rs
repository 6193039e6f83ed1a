//! bcachefs (`fs/bcachefs/bcachefs_format.h`).

use super::{Medium, Signature, label};

/// Where the superblock is.
const AT: u64 = 4096;
const MAGIC: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium
        .has(AT + 24, MAGIC)
        .then(|| Signature::file_system("bcachefs", medium.bytes::<32>(AT + 72).and_then(|bytes| label(&bytes))))
}
