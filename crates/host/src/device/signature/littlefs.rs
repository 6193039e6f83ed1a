//! littlefs (its SPEC.md, "Superblock": the first tag of a metadata pair is followed by the magic string).

use super::{Medium, Signature};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium.has(8, b"littlefs").then(|| Signature::file_system("littlefs", None))
}
