//! The checksums that follow headers, byte for byte those of fio 3.33 (`verify.c` and `crc/`).

use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, CRC_64_REDIS, Crc, Table};
use flashmark_fio::options::VerifyKind;
use md5::Md5;
use sha1::{Digest as _, Sha1};
use sha2::block_api::compress256;
use xxhash_rust::xxh32::xxh32;

/// How long the longest is.
pub(super) const MOST_BYTES: usize = 128;

const BLOCK_256_BYTES: usize = 64;
const BLOCK_512_BYTES: usize = 128;

/// The polynomial of CRC-32/CKSUM, but from zero and not inverted.
const CRC_32_FIO: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};

static CRC_7: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&CRC_7_MMC);
static CRC_16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
static CRC_32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_FIO);
static CRC_64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// How long the checksum of a kind is (`struct vhdr_*` of `verify.h`).
pub(super) const fn bytes(kind: VerifyKind) -> usize {
    match kind {
        VerifyKind::None | VerifyKind::Meta | VerifyKind::Pattern | VerifyKind::PatternHeader | VerifyKind::Null => 0,
        VerifyKind::Crc7 => 1,
        VerifyKind::Crc16 => 2,
        VerifyKind::Crc32 | VerifyKind::Crc32c | VerifyKind::Xxhash => 4,
        VerifyKind::Crc64 => 8,
        VerifyKind::Md5 => 16,
        VerifyKind::Sha1 => 20,
        VerifyKind::Sha256 => 64,
        VerifyKind::Sha512 => 128,
    }
}

/// Writes the checksum of `data` to `out`, which is as long as [`bytes`] says.
pub(super) fn write(kind: VerifyKind, data: &[u8], out: &mut [u8]) {
    match kind {
        VerifyKind::None | VerifyKind::Meta | VerifyKind::Pattern | VerifyKind::PatternHeader | VerifyKind::Null => {}
        VerifyKind::Crc7 => out.copy_from_slice(&[CRC_7.checksum(data)]),
        VerifyKind::Crc16 => out.copy_from_slice(&CRC_16.checksum(data).to_le_bytes()),
        VerifyKind::Crc32 => out.copy_from_slice(&CRC_32.checksum(data).to_le_bytes()),
        VerifyKind::Crc32c => out.copy_from_slice(&crc32c_open(data).to_le_bytes()),
        VerifyKind::Crc64 => out.copy_from_slice(&CRC_64.checksum(data).to_le_bytes()),
        VerifyKind::Xxhash => out.copy_from_slice(&xxh32(data, 1).to_le_bytes()),
        VerifyKind::Md5 => out.copy_from_slice(&Md5::digest(data)),
        VerifyKind::Sha1 => {
            out.copy_from_slice(&Sha1::digest(data));
            out.chunks_exact_mut(4).for_each(<[u8]>::reverse);
        }
        VerifyKind::Sha256 => out.copy_from_slice(&sha256_of_fio(data)),
        VerifyKind::Sha512 => out.copy_from_slice(&sha512_of_fio(data)),
    }
}

/// Castagnoli's CRC before its last inversion, as fio has it.
pub(super) fn crc32c_open(data: &[u8]) -> u32 {
    !crc32c::crc32c(data)
}

/// `crc/sha256.c`: the length at the end is little endian, and the digest is laid over the last block, of each word of the
/// state only the low byte.
fn sha256_of_fio(data: &[u8]) -> [u8; BLOCK_256_BYTES] {
    let mut state =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    let (blocks, rest) = data.as_chunks::<BLOCK_256_BYTES>();
    compress256(&mut state, blocks);
    let mut last = [0; BLOCK_256_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= BLOCK_256_BYTES - 8 {
        compress256(&mut state, &[last]);
        last = [0; BLOCK_256_BYTES];
    }
    // The count of bytes has 32 bits.
    let bits = u64::from(data.len() as u32) << 3;
    last[BLOCK_256_BYTES - 8..].copy_from_slice(&bits.to_le_bytes());
    compress256(&mut state, &[last]);
    for (byte, word) in last.iter_mut().zip(state) {
        *byte = word as u8;
    }
    last
}

/// `crc/sha512.c`, which is never finished: what is kept is its buffer, that is, the first block of data, and over it what
/// comes after the last whole block.
fn sha512_of_fio(data: &[u8]) -> [u8; BLOCK_512_BYTES] {
    let mut buffer = [0; BLOCK_512_BYTES];
    let (blocks, rest) = data.as_chunks::<BLOCK_512_BYTES>();
    if let Some(first) = blocks.first() {
        buffer = *first;
    }
    buffer[..rest.len()].copy_from_slice(rest);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: &[u8] = b"123456789";

    fn of(kind: VerifyKind, data: &[u8]) -> Vec<u8> {
        let mut out = vec![0; bytes(kind)];
        write(kind, data, &mut out);
        out
    }

    #[test]
    fn checksums_are_the_catalogues_where_fio_has_no_own() {
        assert_eq!(of(VerifyKind::Crc7, CHECK), [0x75]);
        assert_eq!(of(VerifyKind::Crc16, CHECK), 0xbb3d_u16.to_le_bytes());
        assert_eq!(of(VerifyKind::Crc32c, CHECK), (!0xe306_9283_u32).to_le_bytes());
        assert_eq!(of(VerifyKind::Crc64, CHECK), 0xe9c6_d914_c4b8_d9ca_u64.to_le_bytes());
        assert_eq!(of(VerifyKind::Crc32, CHECK), CRC_32_FIO.check.to_le_bytes());
    }
}
