//! UBI (`drivers/mtd/ubi/ubi-media.h`, `struct ubi_ec_hdr`).

use super::{Medium, Signature};

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium.has(0, b"UBI#\x01").then(|| Signature::new("ubi", "UBI volumes", None))
}
