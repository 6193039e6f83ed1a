//! What a chip is.

use alloc::string::String;
use alloc::vec::Vec;

use super::sfdp;

/// A command that reads memory, by how it uses the lines: the opcode always comes on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// 1-1-1 without dummy clocks (03h).
    Read,
    /// 1-1-1 with dummy clocks (0Bh).
    Fast,
    /// 1-1-2 (3Bh).
    DualOutput,
    /// 1-2-2 (BBh).
    DualIo,
    /// 1-1-4 (6Bh).
    QuadOutput,
    /// 1-4-4 (EBh).
    QuadIo,
}

impl ReadKind {
    /// All of them, from the slowest to the fastest.
    pub const ALL: [Self; 6] = [Self::Read, Self::Fast, Self::DualOutput, Self::DualIo, Self::QuadOutput, Self::QuadIo];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Fast => "fast",
            Self::DualOutput => "dual-output",
            Self::DualIo => "dual-io",
            Self::QuadOutput => "quad-output",
            Self::QuadIo => "quad-io",
        }
    }

    /// On how many lines the address and the mode bits come.
    #[must_use]
    pub const fn address_lines(self) -> u8 {
        match self {
            Self::DualIo => 2,
            Self::QuadIo => 4,
            _ => 1,
        }
    }

    /// On how many lines the data come.
    #[must_use]
    pub const fn data_lines(self) -> u8 {
        match self {
            Self::Read | Self::Fast => 1,
            Self::DualOutput | Self::DualIo => 2,
            Self::QuadOutput | Self::QuadIo => 4,
        }
    }

    /// The opcodes all makers use, with three and with four address bytes.
    #[must_use]
    pub const fn usual_opcodes(self) -> (u8, u8) {
        match self {
            Self::Read => (0x03, 0x13),
            Self::Fast => (0x0b, 0x0c),
            Self::DualOutput => (0x3b, 0x3c),
            Self::DualIo => (0xbb, 0xbc),
            Self::QuadOutput => (0x6b, 0x6c),
            Self::QuadIo => (0xeb, 0xec),
        }
    }
}

/// A read command of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadMode {
    /// How it uses the lines.
    pub kind: ReadKind,
    /// Its opcode.
    pub opcode: u8,
    /// The opcode of its twin that always takes four address bytes.
    pub address4_opcode: Option<u8>,
    /// Clocks for mode bits, after the address.
    pub mode_clocks: u8,
    /// Dummy clocks, after those.
    pub dummy_clocks: u8,
    /// The highest clock.
    pub clock_max_hz: u32,
}

impl ReadMode {
    /// Clocks from select to the first bit of data: opcode, address, mode, dummies.
    #[must_use]
    pub const fn setup_clocks(&self, address_bytes: u8) -> u32 {
        8 + address_bytes as u32 * 8 / self.kind.address_lines() as u32
            + self.mode_clocks as u32
            + self.dummy_clocks as u32
    }

    /// Clocks of a whole read.
    #[must_use]
    pub const fn clocks(&self, address_bytes: u8, data_bytes: u64) -> u64 {
        self.setup_clocks(address_bytes) as u64 + data_bytes * 8 / self.kind.data_lines() as u64
    }
}

/// An erase command of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseType {
    /// Its opcode.
    pub opcode: u8,
    /// The opcode of its twin that always takes four address bytes.
    pub address4_opcode: Option<u8>,
    /// What it erases, a power of two.
    pub bytes: u32,
    /// How long it takes, typically.
    pub typical_ns: u64,
    /// How long it takes at most.
    pub max_ns: u64,
}

/// How long programs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramTiming {
    /// The first byte of a program, typically.
    pub first_byte_ns: u64,
    /// Each further one.
    pub next_byte_ns: u64,
    /// A whole page, typically; no program's typical time is over it.
    pub page_typical_ns: u64,
    /// A whole page, at most; no program takes longer.
    pub page_max_ns: u64,
    /// The share of the typical time that is spent whatever the data, of 1000.
    pub unchanged_permille: u16,
}

/// The program command on four lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuadProgram {
    /// Its opcode: 32h where the address comes on one line, 38h where it comes on four.
    pub opcode: u8,
    /// On how many lines the address comes: 1 or 4.
    pub address_lines: u8,
}

/// The opcodes that suspend and resume programs and erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendOpcodes {
    /// 75h, or B0h (Macronix).
    pub suspend: u8,
    /// 7Ah, or 30h (Macronix).
    pub resume: u8,
}

/// The status bit without which a chip takes no command on four lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuadEnable {
    /// There is none, or it is always set.
    None,
    /// Bit 6 of status register 1 (Macronix, ISSI).
    Status1Bit6,
    /// Bit 1 of status register 2 (Winbond, GigaDevice, XMC).
    Status2Bit1,
}

/// How a chip recognises, by the mode bits of a 1-2-2 or 1-4-4 read, that the next command comes without an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContinuousRead {
    /// It has no such mode.
    None,
    /// Mode bits 5 and 4 are 1 and 0 (Winbond, GigaDevice, XMC).
    Bits54,
    /// The high half of the mode bits is the complement of the low half (Macronix; 1-4-4 only).
    Complement,
}

/// Latencies of the lesser operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// A write of the status registers.
    pub write_status_ns: u64,
    /// From suspend until the chip can be read.
    pub suspend_ns: u64,
    /// From resume until the operation goes on, on top of what was left of it.
    pub resume_ns: u64,
    /// From the command until the chip is in power-down.
    pub power_down_ns: u64,
    /// From release until the chip takes commands.
    pub release_ns: u64,
    /// From a software reset until the chip takes commands.
    pub reset_ns: u64,
}

/// What a chip answers to Read SFDP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SfdpSource {
    /// The chip is older than SFDP: the command is unknown to it.
    Absent,
    /// A JESD216B table made from the profile.
    Generated,
    /// A dump of a real chip.
    Dump(Vec<u8>),
}

/// What a chip is: geometry, commands, times. Check it with [`Profile::check`]; a chip can only be made of a profile that
/// passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The part's name.
    pub name: String,
    /// Who makes it.
    pub manufacturer: String,
    /// The answer to 9Fh.
    pub jedec_id: [u8; 3],
    /// The answer to ABh, and the second byte of that to 90h.
    pub electronic_id: u8,
    /// Size, a power of two.
    pub capacity_bytes: u64,
    /// The unit of programs, a power of two.
    pub page_bytes: u32,
    /// One to four, from the smallest to the largest.
    pub erase_types: Vec<EraseType>,
    /// Erase of the whole chip, typically.
    pub chip_erase_typical_ns: u64,
    /// Erase of the whole chip, at most.
    pub chip_erase_max_ns: u64,
    /// How long programs take.
    pub program: ProgramTiming,
    /// How long an erase of a blank sector or block takes, where the chip looks first.
    pub blank_erase_ns: Option<u64>,
    /// By how much erase times spread around the typical one, up and down, of 1000.
    pub erase_spread_permille: u16,
    /// By how much erases are longer at the end of the endurance than at its start, of 1000, rising in between.
    pub erase_wear_permille: u16,
    /// Latencies of the lesser operations.
    pub latencies: Latencies,
    /// The read commands.
    pub reads: Vec<ReadMode>,
    /// The highest clock of all commands that are not reads of memory.
    pub clock_max_hz: u32,
    /// The program command on four lines, if there is one.
    pub quad_program: Option<QuadProgram>,
    /// What enables four lines.
    pub quad_enable: QuadEnable,
    /// Whether it comes from the factory with four lines enabled.
    pub quad_enabled: bool,
    /// Reads without opcodes.
    pub continuous_read: ContinuousRead,
    /// Whether it knows four-byte addresses: the mode (B7h, E9h), the extended address register, and programs 12h and 34h.
    pub four_byte_address: bool,
    /// How it suspends programs and erases, if it can.
    pub suspend: Option<SuspendOpcodes>,
    /// How many status registers it has: 1 to 3.
    pub status_registers: u8,
    /// Whether it has a unique id (4Bh). Ours is made from the chip's seed.
    pub unique_id: bool,
    /// Whether it knows the software reset (66h, 99h).
    pub software_reset: bool,
    /// Erases that a sector is good for.
    pub endurance_cycles: u32,
    /// What it answers to Read SFDP.
    pub sfdp: SfdpSource,
}

impl Profile {
    /// The read command of a kind.
    #[must_use]
    pub fn read_mode(&self, kind: ReadKind) -> Option<&ReadMode> {
        self.reads.iter().find(|mode| mode.kind == kind)
    }

    /// The erase command for a size.
    #[must_use]
    pub fn erase_type(&self, bytes: u32) -> Option<&EraseType> {
        self.erase_types.iter().find(|erase| erase.bytes == bytes)
    }

    /// What the chip answers to Read SFDP: the dump, or a JESD216B table that tells this geometry and these times, rounded
    /// up to the format's units; with a table of four-byte opcodes where the chip has them. `None` for a chip without SFDP.
    #[must_use]
    pub fn sfdp_table(&self) -> Option<Vec<u8>> {
        match &self.sfdp {
            SfdpSource::Absent => None,
            SfdpSource::Generated => Some(sfdp::encode(self)),
            SfdpSource::Dump(dump) => Some(dump.clone()),
        }
    }
}
