//! bcache (Linux `include/uapi/linux/bcache.h` before 5.16, `drivers/md/bcache/bcache_ondisk.h` since).

use super::{Medium, Signature, label};

/// Where the superblock is.
const AT: u64 = 4096;
const MAGIC: &[u8] = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    medium.has(AT + 24, MAGIC).then(|| {
        let name = medium.bytes::<32>(AT + 72).and_then(|bytes| label(&bytes));
        Signature::new("bcache", "bcache device", name)
    })
}
