//! NTFS (its boot sector; the label is in a file and not read).

use super::{Medium, Signature};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium.has(3, b"NTFS    ").then(|| Signature::file_system("ntfs", None))
}
