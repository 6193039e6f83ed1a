//! md arrays (`include/uapi/linux/raid/md_p.h`): superblock 1.1 at the start, 1.2 at 4 KiB, 1.0 and 0.90 at the end.

use super::{Medium, Signature, label};

const MAGIC: u32 = 0xa92b_4efc;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let sectors = medium.len_bytes() / 512;
    let v1_0 = sectors.checked_sub(16).map(|at| (at & !7) * 512);
    let places = [(Some(0), "1.1"), (Some(4096), "1.2"), (v1_0, "1.0")];
    for (at, version) in places {
        let Some(at) = at else { continue };
        if medium.u32(at) == Some(MAGIC) && medium.u32(at + 4) == Some(1) {
            let name = medium.bytes::<32>(at + 32).and_then(|bytes| label(&bytes));
            return Some(member(version, name));
        }
    }
    let v0_90 = (medium.len_bytes() & !0xffff).checked_sub(0x1_0000)?;
    let first: [u8; 8] = medium.bytes(v0_90)?;
    // Version 0.90 is in the byte order of the machine that made it.
    let little = first[..4] == MAGIC.to_le_bytes() && first[4..] == [0; 4];
    let big = first[..4] == MAGIC.to_be_bytes() && first[4..] == [0; 4];
    (little || big).then(|| member("0.90", None))
}

fn member(version: &str, name: Option<String>) -> Signature {
    Signature::new("linux_raid_member", format!("md array member (superblock {version})"), name)
}
