//! JFFS2 (`include/uapi/linux/jffs2.h`): a node at the start of the medium, in either byte order.

use super::{Medium, Signature};

const MAGIC: u16 = 0x1985;

pub(super) fn probe(medium: &Medium<'_>) -> Option<Signature> {
    let header: [u8; 8] = medium.bytes(0)?;
    let crc: [u8; 4] = medium.bytes(8)?;
    let magic = [header[0], header[1]];
    let known = if magic == MAGIC.to_le_bytes() {
        u32::from_le_bytes(crc) == crc32(&header)
    } else {
        magic == MAGIC.to_be_bytes() && u32::from_be_bytes(crc) == crc32(&header)
    };
    known.then(|| Signature::file_system("jffs2", None))
}

/// The CRC of node headers: IEEE 802.3, begun with 0 and not inverted (`crc32(0, ...)` of the kernel).
fn crc32(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleanmarker_as_mtd_utils_write_it() {
        // `mkfs.jffs2 -l` and `-b`: magic, node type 0x2003, length 12, check sum.
        let little = b"\x85\x19\x03\x20\x0c\x00\x00\x00\xb1\xb0\x1e\xe4".as_slice();
        let big = b"\x19\x85\x20\x03\x00\x00\x00\x0c\xf0\x60\xdc\x98".as_slice();
        for bytes in [little, big] {
            assert_eq!(probe(&Medium::new(&bytes, 12)).map(|found| found.name), Some("jffs2"));
        }
        let wrong = b"\x85\x19\x03\x20\x0c\x00\x00\x00\xb1\xb0\x1e\xe5".as_slice();
        assert_eq!(probe(&Medium::new(&wrong, 12)), None);
    }
}
