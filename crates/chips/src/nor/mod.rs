//! SPI NOR flash.
//!
//! ```text
//! Profile   what a chip is: geometry, commands, times (from a TOML file, an SFDP dump, or made by hand)
//! Chip      the chip: memory, registers, busy times, wear, counters, and what was done to it against its data sheet
//! Wire      serial commands on 1, 2 or 4 lines -> Chip, bus time on a ledger; an `embedded_hal::spi::SpiDevice`
//! Flash     `embedded_storage::nor_flash::NorFlash` -> Chip, busy time on a ledger
//! ```
//!
//! # Time
//!
//! A program of n bytes takes `D = min(page, first byte + (n - 1) x next byte)` where the data are ordinary, that is where
//! half of their bits change from 1 to 0. A share of D is spent whatever the data ([`ProgramTiming::unchanged_permille`]:
//! set-up, verify), the rest in proportion to the bits that change, and all of it never exceeds the page's maximum. An erase
//! takes its typical time with a bounded, seeded spread, and never more than its maximum.
//!
//! # What is not modelled
//!
//! The effect comes at once, the time after it: what a reset or a loss of power in the middle of an operation does to the
//! memory is not the chip's business, but that of [`crate::fault::PowerCut`]. Block protection bits can be written and
//! read, but protect nothing. There is no QPI mode, no double transfer rate, no one-time-programmable area, and WP# and
//! HOLD# are taken as inactive.

mod check;
mod chip;
mod command;
mod counters;
mod flash;
mod memory;
mod profile;
#[cfg(feature = "profiles")]
pub mod profiles;
mod registers;
mod sfdp;
mod timing;
mod transfer;
mod violation;
mod wear;
mod wire;

pub use check::ProfileError;
pub use chip::{Chip, Overwrite};
pub use counters::Counters;
pub use flash::{Flash, FlashError};
pub use profile::{
    ContinuousRead, EraseType, Latencies, Profile, ProgramTiming, QuadEnable, QuadProgram, ReadKind, ReadMode,
    SfdpSource, SuspendOpcodes,
};
pub use sfdp::{SFDP_CLOCK_HZ, SfdpError};
pub use violation::{Effect, Operation, Violation};
pub use wear::Wear;
pub use wire::{Lines, Phase, Wire};

/// The unit of wear counters and of `NorFlash::erase`: 4 KiB, the smallest erase unit of nearly every SPI NOR chip.
pub const SECTOR_BYTES: u32 = 4096;
