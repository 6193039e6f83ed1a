//! EROFS (`fs/erofs/erofs_fs.h`, `struct erofs_super_block`).

use super::{Medium, Signature, label};

const AT: u64 = 1024;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    (medium.u32(AT)? == 0xe0f5_e1e2)
        .then(|| Signature::file_system("erofs", medium.bytes::<16>(AT + 64).and_then(|bytes| label(&bytes))))
}
