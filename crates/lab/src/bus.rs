//! The SPI bus between a controller and a flash chip: how long a transaction takes.

use flashmark_chips::nor::{ReadKind, ReadMode};

/// The read modes by the names that ESP-IDF gives them (`esp_flash_io_mode_t`), fastest first.
pub const MODES: &[&str] = &["qio", "qout", "dio", "dout", "fast", "slow"];

/// The chip's read command for a mode of that name.
#[must_use]
pub fn read_kind(mode: &str) -> Option<ReadKind> {
    match mode {
        "qio" => Some(ReadKind::QuadIo),
        "qout" => Some(ReadKind::QuadOutput),
        "dio" => Some(ReadKind::DualIo),
        "dout" => Some(ReadKind::DualOutput),
        "fast" => Some(ReadKind::Fast),
        "slow" => Some(ReadKind::Read),
        _ => None,
    }
}

/// The bus of one chip.
#[derive(Clone, Copy, Debug)]
pub struct SpiBus {
    clock_hz: u64,
    read: ReadMode,
    address_bytes: u8,
}

impl SpiBus {
    /// A bus at this clock; chips over 16 MiB take 32 address bits.
    #[must_use]
    pub const fn new(clock_hz: u64, read: ReadMode, capacity_bytes: u64) -> Self {
        Self { clock_hz, read, address_bytes: if capacity_bytes > 1 << 24 { 4 } else { 3 } }
    }

    /// The time of a number of clocks, in picoseconds.
    #[must_use]
    pub fn clocks_ps(&self, clocks: u64) -> u64 {
        let ps = u128::from(clocks) * 1_000_000_000_000 / u128::from(self.clock_hz.max(1));
        u64::try_from(ps).unwrap_or(u64::MAX)
    }

    /// Clocks to read `bytes`: command, address, mode, dummies and data, each on the lines of the mode.
    #[must_use]
    pub const fn read_clocks(&self, bytes: u32) -> u64 {
        self.read.clocks(self.address_bytes, bytes as u64)
    }

    /// Clocks to program `bytes` with the page program command 0x02, all on one line: the one that ESP-IDF's generic
    /// driver uses in every mode (`memspi_host_program_page`).
    #[must_use]
    pub const fn program_clocks(&self, bytes: u32) -> u64 {
        8 + self.address_bytes as u64 * 8 + bytes as u64 * 8
    }

    /// Clocks of an erase command.
    #[must_use]
    pub const fn erase_clocks(&self) -> u64 {
        8 + self.address_bytes as u64 * 8
    }

    /// Clocks of a command that moves `bytes` without an address: write enable (0), read status (1).
    #[must_use]
    pub const fn command_clocks(&self, bytes: u32) -> u64 {
        8 + bytes as u64 * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_its_command() {
        assert!(MODES.iter().all(|mode| read_kind(mode).is_some()));
        assert_eq!(read_kind("opi"), None);
    }

    /// 64 bytes at 80 MHz, counted by hand from the instruction diagrams of the W25Q32JV.
    #[test]
    fn clocks_are_those_of_the_data_sheet() {
        let chip = flashmark_chips::nor::profiles::load("w25q32jv").unwrap();
        let bus =
            |name| SpiBus::new(80_000_000, *chip.read_mode(read_kind(name).unwrap()).unwrap(), chip.capacity_bytes);
        assert_eq!(bus("qio").read_clocks(64), 8 + 6 + 2 + 4 + 128);
        assert_eq!(bus("qout").read_clocks(64), 8 + 24 + 8 + 128);
        assert_eq!(bus("dio").read_clocks(64), 8 + 12 + 4 + 256);
        assert_eq!(bus("dout").read_clocks(64), 8 + 24 + 8 + 256);
        assert_eq!(bus("fast").read_clocks(64), 8 + 24 + 8 + 512);
        assert_eq!(bus("slow").read_clocks(64), 8 + 24 + 512);
        assert_eq!(bus("qio").clocks_ps(bus("qio").program_clocks(64)), 6_800_000);
    }
}
