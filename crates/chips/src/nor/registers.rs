//! Status registers, and what else a chip forgets when it loses power.

use super::profile::{ContinuousRead, Profile, QuadEnable};

/// Status register 1: write in progress.
pub const WIP: u8 = 1 << 0;
/// Status register 1: write enable latch.
pub const WEL: u8 = 1 << 1;
/// Status register 2: something is suspended (Winbond; bit 7).
pub const SUSPENDED: u8 = 1 << 7;

/// The registers of a chip.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    /// As they are now, without the bits that tell the chip's state.
    current: [u8; 3],
    /// As they come back after a reset.
    stored: [u8; 3],
    pub write_enabled: bool,
    /// The next status write is not stored.
    pub volatile_write: bool,
    pub four_byte_mode: bool,
    /// The upper address byte of three-byte addresses.
    pub extended_address: u8,
    /// The next byte can be a reset.
    pub reset_enabled: bool,
    /// The opcode of the read that goes on without opcodes.
    pub continuous: Option<u8>,
}

impl Registers {
    pub fn new(profile: &Profile) -> Self {
        let mut stored = [0; 3];
        if profile.quad_enabled {
            match profile.quad_enable {
                QuadEnable::None => {}
                QuadEnable::Status1Bit6 => stored[0] |= 1 << 6,
                QuadEnable::Status2Bit1 => stored[1] |= 1 << 1,
            }
        }
        Self {
            current: stored,
            stored,
            write_enabled: false,
            volatile_write: false,
            four_byte_mode: false,
            extended_address: 0,
            reset_enabled: false,
            continuous: None,
        }
    }

    /// Everything back to what is stored.
    pub fn reset(&mut self) {
        self.current = self.stored;
        self.write_enabled = false;
        self.volatile_write = false;
        self.four_byte_mode = false;
        self.extended_address = 0;
        self.reset_enabled = false;
        self.continuous = None;
    }

    pub const fn get(&self, index: usize) -> u8 {
        self.current[index]
    }

    /// Sets what of a register can be written.
    pub fn set(&mut self, index: usize, value: u8) {
        let value = value & [!(WIP | WEL), !SUSPENDED, 0xff][index];
        self.current[index] = value;
        if !self.volatile_write {
            self.stored[index] = value;
        }
    }

    pub const fn quad_enabled(&self, by: QuadEnable) -> bool {
        match by {
            QuadEnable::None => true,
            QuadEnable::Status1Bit6 => self.current[0] & 1 << 6 != 0,
            QuadEnable::Status2Bit1 => self.current[1] & 1 << 1 != 0,
        }
    }
}

impl ContinuousRead {
    /// Whether these mode bits of a read on `address_lines` ask for a next command without opcode.
    pub(super) const fn asked_by(self, mode: u8, address_lines: u8) -> bool {
        match self {
            Self::None => false,
            Self::Bits54 => mode & 0x30 == 0x20,
            Self::Complement => address_lines == 4 && mode >> 4 == !mode & 0x0f,
        }
    }
}
