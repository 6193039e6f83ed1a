//! XFS ("XFS Algorithms & Data Structures", superblocks).

use super::{Medium, Signature, label};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium
        .has(0, b"XFSB")
        .then(|| Signature::file_system("xfs", medium.bytes::<12>(108).and_then(|bytes| label(&bytes))))
}
