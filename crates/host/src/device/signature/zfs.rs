//! ZFS pool members ("ZFS On-Disk Specification", 1.2: vdev labels): four labels of 256 KiB, two at each end, and in the
//! second half of each an array of uberblocks, 1 KiB or more apart.

use super::{Medium, Signature};

const LABEL: u64 = 256 << 10;
const MAGIC: u64 = 0x00ba_b10c;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let end = medium.len_bytes() & !(LABEL - 1);
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    let known = labels.into_iter().flatten().any(|label| has_uberblock(medium, label + LABEL / 2));
    known.then(|| Signature::new("zfs_member", "member of a ZFS pool", None))
}

fn has_uberblock(medium: &Medium<'_>, array: u64) -> bool {
    (0..128).any(|n| {
        let at = array + n * 1024;
        let (Some(magic), Some(version)) = (medium.u64(at), medium.u64(at + 8)) else { return false };
        let valid = |magic, version| magic == MAGIC && (1..=5000).contains(&version);
        valid(magic, version) || valid(magic.swap_bytes(), version.swap_bytes())
    })
}
