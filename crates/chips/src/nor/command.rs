//! The serial commands of a chip: opcode -> shape.
//!
//! Those that all chips share are a table; reads and erases come from the profile.

use alloc::boxed::Box;

use super::check::ProfileError;
use super::profile::{Profile, ReadKind, SfdpSource};
use super::violation::Operation;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    WriteEnable,
    VolatileWriteEnable,
    WriteDisable,
    ReadStatus(u8),
    /// From which register on.
    WriteStatus(u8),
    ReadId,
    ManufacturerId,
    UniqueId,
    Sfdp,
    Read(ReadKind),
    Program,
    Erase(u32),
    ChipErase,
    Suspend,
    Resume,
    PowerDown,
    Release,
    EnableReset,
    Reset,
    FourByteMode(bool),
    ReadExtendedAddress,
    WriteExtendedAddress,
}

impl Action {
    pub const fn operation(self) -> Operation {
        match self {
            Self::WriteEnable | Self::VolatileWriteEnable | Self::WriteDisable => Operation::WriteEnable,
            Self::WriteStatus(_) => Operation::WriteStatus,
            Self::ReadStatus(_) | Self::ReadId | Self::ManufacturerId | Self::UniqueId | Self::Sfdp => {
                Operation::Identify
            }
            Self::Read(_) => Operation::Read,
            Self::Program => Operation::Program,
            Self::Erase(_) => Operation::Erase,
            Self::ChipErase => Operation::ChipErase,
            Self::Suspend => Operation::Suspend,
            Self::Resume => Operation::Resume,
            Self::PowerDown => Operation::PowerDown,
            Self::Release => Operation::Release,
            Self::EnableReset | Self::Reset => Operation::Reset,
            Self::FourByteMode(_) | Self::ReadExtendedAddress | Self::WriteExtendedAddress => Operation::Address,
        }
    }

    /// Whether a busy chip takes it.
    pub const fn while_busy(self) -> bool {
        matches!(self, Self::ReadStatus(_) | Self::Suspend | Self::EnableReset | Self::Reset)
    }
}

/// How many address bytes a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressBytes {
    None,
    Three,
    Four,
    /// Three, or four in four-byte mode.
    ByMode,
}

/// What follows the address and the dummies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    None,
    In,
    Out,
}

/// A command as it goes over the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub action: Action,
    pub address: AddressBytes,
    pub address_lines: u8,
    pub mode_clocks: u8,
    pub dummy_clocks: u8,
    pub data: Data,
    pub data_lines: u8,
    pub clock_max_hz: u32,
}

/// Opcode, what it does, what follows. Mode bits they have none, and all is on one line.
const COMMON: &[(u8, Action, AddressBytes, u8, Data)] = &[
    (0x06, Action::WriteEnable, AddressBytes::None, 0, Data::None),
    (0x50, Action::VolatileWriteEnable, AddressBytes::None, 0, Data::None),
    (0x04, Action::WriteDisable, AddressBytes::None, 0, Data::None),
    (0x05, Action::ReadStatus(0), AddressBytes::None, 0, Data::Out),
    (0x35, Action::ReadStatus(1), AddressBytes::None, 0, Data::Out),
    (0x15, Action::ReadStatus(2), AddressBytes::None, 0, Data::Out),
    (0x01, Action::WriteStatus(0), AddressBytes::None, 0, Data::In),
    (0x31, Action::WriteStatus(1), AddressBytes::None, 0, Data::In),
    (0x11, Action::WriteStatus(2), AddressBytes::None, 0, Data::In),
    (0x9f, Action::ReadId, AddressBytes::None, 0, Data::Out),
    (0x90, Action::ManufacturerId, AddressBytes::Three, 0, Data::Out),
    (0x4b, Action::UniqueId, AddressBytes::None, 32, Data::Out),
    (0x02, Action::Program, AddressBytes::ByMode, 0, Data::In),
    (0xc7, Action::ChipErase, AddressBytes::None, 0, Data::None),
    (0x60, Action::ChipErase, AddressBytes::None, 0, Data::None),
    (0xb9, Action::PowerDown, AddressBytes::None, 0, Data::None),
    (0xab, Action::Release, AddressBytes::None, 24, Data::Out),
    (0x66, Action::EnableReset, AddressBytes::None, 0, Data::None),
    (0x99, Action::Reset, AddressBytes::None, 0, Data::None),
];

/// Those of chips with four-byte addresses.
const FOUR_BYTE: &[(u8, Action, AddressBytes, u8, Data)] = &[
    (0xb7, Action::FourByteMode(true), AddressBytes::None, 0, Data::None),
    (0xe9, Action::FourByteMode(false), AddressBytes::None, 0, Data::None),
    (0xc8, Action::ReadExtendedAddress, AddressBytes::None, 0, Data::Out),
    (0xc5, Action::WriteExtendedAddress, AddressBytes::None, 0, Data::In),
    (0x12, Action::Program, AddressBytes::Four, 0, Data::In),
];

/// Read SFDP: three address bytes and eight dummy clocks, whatever the mode (JESD216).
const SFDP: (u8, Action, AddressBytes, u8, Data) = (0x5a, Action::Sfdp, AddressBytes::Three, 8, Data::Out);

/// Whether a chip knows a command that not all chips know.
fn knows(profile: &Profile, action: Action, address: AddressBytes) -> bool {
    match action {
        Action::ReadStatus(register) | Action::WriteStatus(register) => register < profile.status_registers,
        Action::VolatileWriteEnable => profile.status_registers > 1,
        Action::UniqueId => profile.unique_id,
        Action::EnableReset | Action::Reset => profile.software_reset,
        Action::Sfdp => profile.sfdp != SfdpSource::Absent,
        Action::FourByteMode(_) | Action::ReadExtendedAddress | Action::WriteExtendedAddress => {
            profile.four_byte_address
        }
        Action::Program => address != AddressBytes::Four || profile.four_byte_address,
        _ => true,
    }
}

/// All commands of a chip.
#[derive(Clone, Debug)]
pub(super) struct Commands(Box<[Option<Command>; 256]>);

impl Commands {
    /// The commands of a chip; an error where two have one opcode.
    pub fn new(profile: &Profile) -> Result<Self, ProfileError> {
        let mut commands = Self(Box::new([None; 256]));
        let suspend = profile.suspend.map(|opcodes| {
            [(opcodes.suspend, Action::Suspend), (opcodes.resume, Action::Resume)]
                .map(|(opcode, action)| (opcode, action, AddressBytes::None, 0, Data::None))
        });
        let all = COMMON.iter().chain(FOUR_BYTE).chain([&SFDP]).chain(suspend.iter().flatten());
        for &(opcode, action, address, dummy_clocks, data) in all.filter(|entry| knows(profile, entry.1, entry.2)) {
            let clock_max_hz = profile.clock_max_hz;
            let command = Command {
                action,
                address,
                address_lines: 1,
                mode_clocks: 0,
                dummy_clocks,
                data,
                data_lines: 1,
                clock_max_hz,
            };
            commands.add(opcode, command)?;
        }
        commands.add_reads(profile)?;
        commands.add_quad_program(profile)?;
        commands.add_erases(profile)?;
        Ok(commands)
    }

    pub fn get(&self, opcode: u8) -> Option<&Command> {
        self.0[usize::from(opcode)].as_ref()
    }

    fn add(&mut self, opcode: u8, command: Command) -> Result<(), ProfileError> {
        match self.0[usize::from(opcode)].replace(command) {
            None => Ok(()),
            Some(_) => Err(ProfileError::OpcodeTwice { opcode }),
        }
    }

    fn add_reads(&mut self, profile: &Profile) -> Result<(), ProfileError> {
        for read in &profile.reads {
            let command = Command {
                action: Action::Read(read.kind),
                address: AddressBytes::ByMode,
                address_lines: read.kind.address_lines(),
                mode_clocks: read.mode_clocks,
                dummy_clocks: read.dummy_clocks,
                data: Data::Out,
                data_lines: read.kind.data_lines(),
                clock_max_hz: read.clock_max_hz,
            };
            self.add(read.opcode, command)?;
            if let Some(opcode) = read.address4_opcode {
                self.add(opcode, Command { address: AddressBytes::Four, ..command })?;
            }
        }
        Ok(())
    }

    fn add_quad_program(&mut self, profile: &Profile) -> Result<(), ProfileError> {
        let Some(quad) = profile.quad_program else { return Ok(()) };
        let command = Command {
            action: Action::Program,
            address: AddressBytes::ByMode,
            address_lines: quad.address_lines,
            mode_clocks: 0,
            dummy_clocks: 0,
            data: Data::In,
            data_lines: 4,
            clock_max_hz: profile.clock_max_hz,
        };
        self.add(quad.opcode, command)?;
        if profile.four_byte_address {
            // 34h and 3Eh (JESD216, table of four-byte instructions).
            let opcode = if quad.address_lines == 1 { 0x34 } else { 0x3e };
            self.add(opcode, Command { address: AddressBytes::Four, ..command })?;
        }
        Ok(())
    }

    fn add_erases(&mut self, profile: &Profile) -> Result<(), ProfileError> {
        for erase in &profile.erase_types {
            let command = Command {
                action: Action::Erase(erase.bytes),
                address: AddressBytes::ByMode,
                address_lines: 1,
                mode_clocks: 0,
                dummy_clocks: 0,
                data: Data::None,
                data_lines: 1,
                clock_max_hz: profile.clock_max_hz,
            };
            self.add(erase.opcode, command)?;
            if let Some(opcode) = erase.address4_opcode {
                self.add(opcode, Command { address: AddressBytes::Four, ..command })?;
            }
        }
        Ok(())
    }
}
