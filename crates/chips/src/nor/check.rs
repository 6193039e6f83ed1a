//! Whether a profile is of a chip that could exist.

use thiserror::Error;

use super::command::Commands;
use super::profile::{Latencies, Profile, QuadEnable};

/// Why a profile is of no chip that could exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// Not a power of two, or out of range.
    #[error("{key} is {value}: must be a power of two from {min} to {max}")]
    NotPowerOfTwo {
        /// Which number.
        key: &'static str,
        /// What it is.
        value: u64,
        /// The least allowed.
        min: u64,
        /// The most allowed.
        max: u64,
    },
    /// No erase types, or more than four.
    #[error("{count} erase types: a chip has one to four")]
    EraseTypes {
        /// How many there are.
        count: usize,
    },
    /// Erase types are to be in order of size, each size once.
    #[error("erase types must rise in size, but {bytes} bytes follow {before}")]
    EraseOrder {
        /// The size that is out of order.
        bytes: u32,
        /// The size before it.
        before: u32,
    },
    /// A typical time over the maximum, or a time of zero, or one over a day (programs: a second).
    #[error(
        "{key}: typical time {typical_ns} ns and maximum {max_ns} ns must be over 0, in this order, and at most a day, programs at most a second"
    )]
    Time {
        /// Which time.
        key: &'static str,
        /// The typical time.
        typical_ns: u64,
        /// The maximum.
        max_ns: u64,
    },
    /// A share over the whole.
    #[error("{key} is {value}: must be at most {max} permille")]
    Share {
        /// Which share.
        key: &'static str,
        /// What it is.
        value: u16,
        /// The most allowed.
        max: u16,
    },
    /// Two commands have one opcode.
    #[error("opcode {opcode:#04x} means two commands")]
    OpcodeTwice {
        /// The opcode.
        opcode: u8,
    },
    /// No read command.
    #[error("a chip needs a read command")]
    NoRead,
    /// A read's mode and dummy clocks are not whole bytes on its address lines, so that no host could send them.
    #[error("read {kind}: {clocks} mode and dummy clocks on {lines} lines are no whole bytes")]
    DummyClocks {
        /// Which read.
        kind: &'static str,
        /// Mode and dummy clocks.
        clocks: u8,
        /// Lines.
        lines: u8,
    },
    /// Over 16 MiB without four-byte addresses.
    #[error("a chip of {capacity_bytes} bytes needs four-byte addresses to be reached beyond 16 MiB")]
    FourByte {
        /// The size.
        capacity_bytes: u64,
    },
    /// No status register, or too many; or the quad enable bit is in one that is not there.
    #[error("{count} status registers: must be 1 to 3, and 2 or more where the quad enable bit is in the second")]
    StatusRegisters {
        /// How many there are.
        count: u8,
    },
    /// A clock of zero.
    #[error("{key} must be over 0 Hz")]
    Clock {
        /// Which clock.
        key: &'static str,
    },
}

impl ProfileError {
    /// The part of a profile that is at fault, as the keys of profile files are named.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::NotPowerOfTwo { key, .. }
            | Self::Time { key, .. }
            | Self::Share { key, .. }
            | Self::Clock { key } => key,
            Self::EraseTypes { .. } | Self::EraseOrder { .. } => "erase",
            Self::OpcodeTwice { .. } => "chip.name",
            Self::StatusRegisters { .. } => "chip.status_registers",
            Self::NoRead | Self::DummyClocks { .. } => "read",
            Self::FourByte { .. } => "chip.capacity",
        }
    }
}

/// No operation of a chip takes that long: a day. SFDP's longest maximum is 18 hours.
const LIMIT_NS: u64 = 86_400_000_000_000;
/// Bounds what program times are computed with to 64 bits.
const PROGRAM_LIMIT_NS: u64 = 1_000_000_000;

impl Profile {
    /// Whether such a chip could exist.
    ///
    /// # Errors
    /// The first thing found that is impossible.
    pub fn check(&self) -> Result<(), ProfileError> {
        self.check_geometry()?;
        self.check_times()?;
        self.check_commands()
    }

    fn check_geometry(&self) -> Result<(), ProfileError> {
        let power = |key, value: u64, min: u64, max: u64| {
            let fits = value.is_power_of_two() && (min..=max).contains(&value);
            if fits { Ok(()) } else { Err(ProfileError::NotPowerOfTwo { key, value, min, max }) }
        };
        power("chip.capacity", self.capacity_bytes, 4096, 1 << 32)?;
        power("chip.page", u64::from(self.page_bytes), 1, 4096)?;
        if self.erase_types.is_empty() || self.erase_types.len() > 4 {
            return Err(ProfileError::EraseTypes { count: self.erase_types.len() });
        }
        for erase in &self.erase_types {
            power("erase.size", u64::from(erase.bytes), u64::from(self.page_bytes), self.capacity_bytes)?;
        }
        for pair in self.erase_types.windows(2) {
            if pair[1].bytes <= pair[0].bytes {
                return Err(ProfileError::EraseOrder { bytes: pair[1].bytes, before: pair[0].bytes });
            }
        }
        if self.capacity_bytes > 1 << 24 && !self.four_byte_address {
            return Err(ProfileError::FourByte { capacity_bytes: self.capacity_bytes });
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), ProfileError> {
        let time = |key, typical_ns, max_ns, limit_ns| {
            if typical_ns == 0 || typical_ns > max_ns || max_ns > limit_ns {
                return Err(ProfileError::Time { key, typical_ns, max_ns });
            }
            Ok(())
        };
        for erase in &self.erase_types {
            time("erase", erase.typical_ns, erase.max_ns, LIMIT_NS)?;
        }
        time("chip_erase", self.chip_erase_typical_ns, self.chip_erase_max_ns, LIMIT_NS)?;
        let program = &self.program;
        time("program.page", program.page_typical_ns, program.page_max_ns, PROGRAM_LIMIT_NS)?;
        time("program.first_byte", program.first_byte_ns, program.page_max_ns, PROGRAM_LIMIT_NS)?;
        if program.next_byte_ns > program.page_max_ns {
            let (typical_ns, max_ns) = (program.next_byte_ns, program.page_max_ns);
            return Err(ProfileError::Time { key: "program.next_byte", typical_ns, max_ns });
        }
        for (key, ns) in self.latencies.named() {
            if ns > LIMIT_NS {
                return Err(ProfileError::Time { key, typical_ns: ns, max_ns: ns });
            }
        }
        if let Some(ns) = self.blank_erase_ns.filter(|ns| *ns > LIMIT_NS || *ns == 0) {
            return Err(ProfileError::Time { key: "erase_model.blank", typical_ns: ns, max_ns: ns });
        }
        for (key, value, max) in [
            ("program.unchanged", program.unchanged_permille, 1000),
            ("erase_model.spread", self.erase_spread_permille, 1000),
            ("erase_model.wear", self.erase_wear_permille, u16::MAX),
        ] {
            if value > max {
                return Err(ProfileError::Share { key, value, max });
            }
        }
        Ok(())
    }

    fn check_commands(&self) -> Result<(), ProfileError> {
        if self.reads.is_empty() {
            return Err(ProfileError::NoRead);
        }
        for read in &self.reads {
            let (clocks, lines) = (read.mode_clocks.saturating_add(read.dummy_clocks), read.kind.address_lines());
            if !(u16::from(clocks) * u16::from(lines)).is_multiple_of(8) {
                return Err(ProfileError::DummyClocks { kind: read.kind.name(), clocks, lines });
            }
            if read.clock_max_hz == 0 {
                return Err(ProfileError::Clock { key: "read" });
            }
        }
        let registers = if self.quad_enable == QuadEnable::Status2Bit1 { 2..=3 } else { 1..=3 };
        if !registers.contains(&self.status_registers) {
            return Err(ProfileError::StatusRegisters { count: self.status_registers });
        }
        if self.clock_max_hz == 0 {
            return Err(ProfileError::Clock { key: "chip.clock_max" });
        }
        Commands::new(self).map(|_| ())
    }
}

impl Latencies {
    fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("latency.write_status", self.write_status_ns),
            ("latency.suspend", self.suspend_ns),
            ("latency.resume", self.resume_ns),
            ("latency.power_down", self.power_down_ns),
            ("latency.release", self.release_ns),
            ("latency.reset", self.reset_ns),
        ]
    }
}
