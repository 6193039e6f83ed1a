//! LVM2 physical volumes (LVM2 `lib/format_text/layout.h`, `lib/label/label.h`): a label in one of the first 4 sectors.

use super::{Medium, Signature};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let known = (0..4).any(|sector| {
        let at = sector * 512;
        medium.has(at, b"LABELONE") && medium.has(at + 24, b"LVM2 001")
    });
    known.then(|| Signature::new("LVM2_member", "LVM2 physical volume", None))
}
