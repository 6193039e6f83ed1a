//! What a chip is asked against its data sheet.

use thiserror::Error;

/// What was asked of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reading memory.
    Read,
    /// Reading an identification or the SFDP table.
    Identify,
    /// Page program.
    Program,
    /// Erase of a sector or a block.
    Erase,
    /// Erase of everything.
    ChipErase,
    /// Write enable or disable.
    WriteEnable,
    /// Writing a status register.
    WriteStatus,
    /// Suspending a program or an erase.
    Suspend,
    /// Resuming it.
    Resume,
    /// Going to power-down.
    PowerDown,
    /// Coming back from power-down.
    Release,
    /// Software reset.
    Reset,
    /// Changing the address mode or the extended address.
    Address,
}

impl core::fmt::Display for Operation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Identify => "identification",
            Self::Program => "program",
            Self::Erase => "erase",
            Self::ChipErase => "chip erase",
            Self::WriteEnable => "write enable",
            Self::WriteStatus => "status write",
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::PowerDown => "power-down",
            Self::Release => "release from power-down",
            Self::Reset => "reset",
            Self::Address => "address mode change",
        })
    }
}

/// What the chip did with a request against its data sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: the request was ignored, and what was read is all ones.
    Ignored,
    /// What such a chip does: the request was carried out, though not as its author may have meant it.
    CarriedOut,
}

/// A request against the data sheet, and so a fault of the driver. The chip does with it what a real one does
/// ([`Violation::effect`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// A program, an erase or a status write without write enable before it.
    #[error(
        "{operation} without write enable: ignored; send write enable (06h) before each program, erase and status write"
    )]
    WriteDisabled {
        /// What was asked.
        operation: Operation,
    },
    /// A request while the chip is busy with another one.
    #[error(
        "{operation} while the chip is busy for another {remaining_ns} ns: ignored; poll the status register first"
    )]
    Busy {
        /// What was asked.
        operation: Operation,
        /// How long the chip would have been busy.
        remaining_ns: u64,
    },
    /// A request while the chip is in power-down, is on its way into or out of it, or is resetting.
    #[error(
        "{operation} while the chip is powered down, waking or resetting: ignored; release it (ABh) and wait its recovery time"
    )]
    PowerDown {
        /// What was asked.
        operation: Operation,
    },
    /// An address, or the end of a read, outside the chip. The chip drops the address bits it does not have.
    #[error("{operation} at {address:#x} outside the chip of {capacity_bytes:#x} bytes: wrapped around")]
    OutsideChip {
        /// What was asked.
        operation: Operation,
        /// The first address that is outside.
        address: u64,
        /// The size of the chip.
        capacity_bytes: u64,
    },
    /// A program over the end of its page. The chip goes on at the start of the same page.
    #[error(
        "program of {bytes} bytes at {address:#x} crosses the page's end: wrapped to the page's start; split it at the page"
    )]
    PageWrap {
        /// Where the program started.
        address: u64,
        /// Its length.
        bytes: u64,
    },
    /// A program that wants bits to go from 0 to 1. The chip leaves them at 0.
    #[error("program at {address:#x} needs {bits} bits to go from 0 to 1: they stay 0; erase first")]
    NeedsErase {
        /// Where the program started.
        address: u64,
        /// How many bits stay 0.
        bits: u32,
    },
    /// A program without data.
    #[error("program without data: ignored")]
    NoData,
    /// An erase of a size the chip has no command for.
    #[error("the chip has no erase of {bytes} bytes: ignored")]
    NoSuchErase {
        /// The size asked for.
        bytes: u32,
    },
    /// A suspend with nothing under way that can be suspended.
    #[error("suspend without a program or an erase under way, or with one suspended already: ignored")]
    NothingToSuspend,
    /// A resume with nothing suspended.
    #[error("resume without anything suspended: ignored")]
    NothingToResume,
    /// Access to what is suspended, or an operation that is not allowed while something is.
    #[error("{operation} at {address:#x} conflicts with a suspended operation: ignored; resume that and let it end")]
    Suspended {
        /// What was asked.
        operation: Operation,
        /// Where.
        address: u64,
    },
    /// An opcode the chip does not know.
    #[error("unknown opcode {opcode:#04x}: ignored")]
    UnknownOpcode {
        /// The opcode.
        opcode: u8,
    },
    /// A command with too few or too many clocks before the chip was deselected.
    #[error("command {opcode:#04x} had too few or too many bytes when the chip was deselected: ignored")]
    Malformed {
        /// The opcode.
        opcode: u8,
    },
    /// A part of a command on another number of lines than the chip takes it on.
    #[error("command {opcode:#04x} on {got} lines where the chip expects {expected}: ignored")]
    WrongLines {
        /// The opcode.
        opcode: u8,
        /// The number of lines in the data sheet.
        expected: u8,
        /// The number of lines the host used.
        got: u8,
    },
    /// A command on four lines while the chip's quad enable bit is clear.
    #[error(
        "command {opcode:#04x} needs four lines, but the quad enable bit is clear: ignored; set it in the status register"
    )]
    QuadDisabled {
        /// The opcode.
        opcode: u8,
    },
    /// A clock over what the command allows. A real chip may answer with garbage; this one answers right, and reports it.
    #[error("command {opcode:#04x} at {clock_hz} Hz, over its maximum of {max_hz} Hz")]
    TooFast {
        /// The opcode.
        opcode: u8,
        /// The clock used.
        clock_hz: u32,
        /// The clock allowed.
        max_hz: u32,
    },
    /// A reset in the middle of an operation. A real chip leaves the memory concerned undefined; this one leaves it as if
    /// the operation had ended.
    #[error("reset while the chip was busy: the memory under way is undefined")]
    Interrupted,
}

impl Violation {
    /// What the chip did.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        match self {
            Self::OutsideChip { .. }
            | Self::PageWrap { .. }
            | Self::NeedsErase { .. }
            | Self::TooFast { .. }
            | Self::Interrupted => Effect::CarriedOut,
            _ => Effect::Ignored,
        }
    }
}
