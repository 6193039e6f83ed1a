//! LUKS ("LUKS1 On-Disk Format Specification", "LUKS2 On-Disk Format Specification").

use super::{Medium, Signature, label};

/// Where LUKS2 keeps its second header, by the size of the first.
const SECOND: [u64; 9] = [0x4000, 0x8000, 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000];

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    if medium.has(0, b"LUKS\xba\xbe") {
        let version = u16::from_be_bytes(medium.bytes(6)?);
        let name = if version == 2 { medium.bytes::<48>(0x18).and_then(|bytes| label(&bytes)) } else { None };
        return Some(Signature::new("crypto_LUKS", format!("LUKS{version} encrypted volume"), name));
    }
    let at = SECOND.into_iter().find(|&at| medium.has(at, b"SKUL\xba\xbe"))?;
    let name = medium.bytes::<48>(at + 0x18).and_then(|bytes| label(&bytes));
    Some(Signature::new("crypto_LUKS", "LUKS2 encrypted volume (second header only)", name))
}
