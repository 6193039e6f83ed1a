//! exFAT (Microsoft, "exFAT file system specification", 3.1). The label is a directory entry and not read.

use super::{Medium, Signature};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    // The name field, and the zeros that keep a FAT driver away.
    let known = medium.has(3, b"EXFAT   ") && medium.has(11, &[0; 53]);
    known.then(|| Signature::file_system("exfat", None))
}
