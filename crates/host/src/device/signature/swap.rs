//! Swap areas (`include/linux/swap.h`, `union swap_header`): the magic ends the first page, whose size is the maker's.

use super::{Medium, Signature, label};

/// The page sizes of Linux.
const PAGES: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// What stands there while the machine is suspended to disk: the kernel's own, swsusp's user space's, TuxOnIce's.
const SUSPENDED: [&[u8]; 4] = [b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"];

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    for page in PAGES {
        let at = page - 10;
        if medium.has(at, b"SWAPSPACE2") {
            let name = medium.bytes::<16>(1052).and_then(|bytes| label(&bytes));
            return Some(Signature::new("swap", "swap area", name));
        }
        if medium.has(at, b"SWAP-SPACE") {
            return Some(Signature::new("swap", "swap area (old version)", None));
        }
        if SUSPENDED.iter().any(|magic| medium.has(at, magic)) {
            return Some(Signature::new("swsuspend", "swap area with a suspended system", None));
        }
    }
    None
}
