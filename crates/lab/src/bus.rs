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

/// How many bits of address a command carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressWidth {
    /// Up to 16 MiB.
    Bits24,
    /// Beyond, with the four-byte commands.
    Bits32,
}

impl AddressWidth {
    /// What an access takes that ends at `address + bytes`, as ESP-IDF's `IS_REGION_32BIT` has it.
    #[must_use]
    pub const fn of(address: u64, bytes: u64) -> Self {
        if address.saturating_add(bytes) > 1 << 24 { Self::Bits32 } else { Self::Bits24 }
    }

    const fn bytes(self) -> u8 {
        match self {
            Self::Bits24 => 3,
            Self::Bits32 => 4,
        }
    }
}

/// The bus of one chip.
#[derive(Clone, Copy, Debug)]
pub struct SpiBus {
    clock_hz: u64,
    read: ReadMode,
}

impl SpiBus {
    /// A bus at this clock, with the chip's command for reading.
    #[must_use]
    pub const fn new(clock_hz: u64, read: ReadMode) -> Self {
        Self { clock_hz, read }
    }

    /// The time of a number of clocks, in picoseconds.
    #[must_use]
    pub fn clocks_ps(&self, clocks: u64) -> u64 {
        let clock_hz = self.clock_hz.max(1);
        match clocks.checked_mul(1_000_000_000_000) {
            Some(product) => product / clock_hz,
            None => u64::try_from(u128::from(clocks) * 1_000_000_000_000 / u128::from(clock_hz)).unwrap_or(u64::MAX),
        }
    }

    /// Clocks to read `bytes`: command, address, mode, dummies and data, each on the lines of the mode.
    #[must_use]
    pub const fn read_clocks(&self, width: AddressWidth, bytes: u64) -> u64 {
        self.read.clocks(width.bytes(), bytes)
    }

    /// Clocks to program `bytes` with the page program command 0x02, all on one line: the one that ESP-IDF's generic
    /// driver uses in every mode (`memspi_host_program_page`).
    #[must_use]
    pub const fn program_clocks(&self, width: AddressWidth, bytes: u64) -> u64 {
        8 + width.bytes() as u64 * 8 + bytes * 8
    }

    /// Clocks of an erase command.
    #[must_use]
    pub const fn erase_clocks(&self, width: AddressWidth) -> u64 {
        8 + width.bytes() as u64 * 8
    }

    /// Clocks of a command that moves `bytes` without an address: write enable (0), read status (1).
    #[must_use]
    pub const fn command_clocks(&self, bytes: u64) -> u64 {
        8 + bytes * 8
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
        let bus = |name| SpiBus::new(80_000_000, *chip.read_mode(read_kind(name).unwrap()).unwrap());
        assert_eq!(bus("qio").read_clocks(AddressWidth::Bits24, 64), 8 + 6 + 2 + 4 + 128);
        assert_eq!(bus("qout").read_clocks(AddressWidth::Bits24, 64), 8 + 24 + 8 + 128);
        assert_eq!(bus("dio").read_clocks(AddressWidth::Bits24, 64), 8 + 12 + 4 + 256);
        assert_eq!(bus("dout").read_clocks(AddressWidth::Bits24, 64), 8 + 24 + 8 + 256);
        assert_eq!(bus("fast").read_clocks(AddressWidth::Bits24, 64), 8 + 24 + 8 + 512);
        assert_eq!(bus("slow").read_clocks(AddressWidth::Bits24, 64), 8 + 24 + 512);
        assert_eq!(bus("qio").read_clocks(AddressWidth::Bits32, 64), 8 + 8 + 2 + 4 + 128);
        assert_eq!(AddressWidth::of((1 << 24) - 64, 64), AddressWidth::Bits24);
        assert_eq!(AddressWidth::of((1 << 24) - 64, 65), AddressWidth::Bits32);
        assert_eq!(bus("qio").clocks_ps(bus("qio").program_clocks(AddressWidth::Bits24, 64)), 6_800_000);
    }
}
