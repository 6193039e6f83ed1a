//! The checksum of all wear-levelling records.

/// The register's change by each value of its low four bits (polynomial 0x04C11DB7, least significant bit first).
const NIBBLES: [u32; 16] = {
    let mut table = [0; 16];
    let mut index = 0;
    while index < 16 {
        let mut register = index as u32;
        let mut bit = 0;
        while bit < 4 {
            register = if register & 1 == 1 { register >> 1 ^ 0xEDB8_8320 } else { register >> 1 };
            bit += 1;
        }
        table[index] = register;
        index += 1;
    }
    table
};

/// What `esp_rom_crc32_le(start, bytes)` returns: the register starts as `!start` and comes out inverted.
///
/// Wear levelling passes `u32::MAX` as `start` (`WL_CFG_CRC_CONST` in `WL_Flash.cpp`), so that its register starts as
/// 0. The usual CRC-32, which starts from all ones, is `start` = 0.
pub const fn crc32_le(start: u32, bytes: &[u8]) -> u32 {
    let mut register = !start;
    let mut index = 0;
    while index < bytes.len() {
        register ^= bytes[index] as u32;
        register = register >> 4 ^ NIBBLES[(register & 15) as usize];
        register = register >> 4 ^ NIBBLES[(register & 15) as usize];
        index += 1;
    }
    !register
}

/// The checksum as wear levelling uses it.
pub(crate) const fn checksum(bytes: &[u8]) -> u32 {
    crc32_le(u32::MAX, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32/ISO-HDLC, and the same bytes from a register of zeros (`zlib.crc32(b"123456789",
    /// 0xffffffff)`).
    #[test]
    fn start_values() {
        assert_eq!(crc32_le(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32_le(u32::MAX, b"123456789"), 0xD202_D277);
        assert_eq!(checksum(b""), u32::MAX);
    }
}
