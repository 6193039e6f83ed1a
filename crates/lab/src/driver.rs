//! Models of the drivers that a board's software drives its flash chip with: what they put on the bus, in which pieces,
//! how they wait, and what their code costs.
//!
//! A new driver is a file here and a line in [`DRIVERS`].

mod esp_flash;

use std::rc::Rc;

use flashmark_chips::nor;
use flashmark_core::ledger::Ledger;

use crate::board::{Board, BoardError, Key};

/// The memory that a buffer is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// RAM of the chip itself, which is there whatever the flash does.
    Internal,
    /// Memory behind the flash's bus or cache (PSRAM, flash): not there while the flash is driven, so that it is copied.
    External,
}

/// An access that the chip did not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chip refused: {0}")]
pub struct DriverFault(pub nor::Violation);

/// A driver with its chip. Addresses are those of the chip.
pub trait FlashDriver {
    /// Reads all of `buf`.
    ///
    /// # Errors
    /// [`DriverFault`].
    fn read(&mut self, address: u64, buf: &mut [u8], memory: Memory) -> Result<(), DriverFault>;

    /// Programs `data`: bits go from 1 to 0 only.
    ///
    /// # Errors
    /// [`DriverFault`].
    fn write(&mut self, address: u64, data: &[u8], memory: Memory) -> Result<(), DriverFault>;

    /// Erases whole sectors.
    ///
    /// # Errors
    /// [`DriverFault`].
    fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DriverFault>;

    /// The chip, for what costs no time: images, counters, wear.
    fn chip(&self) -> &nor::Chip;

    /// The chip, to be filled with an image.
    fn chip_mut(&mut self) -> &mut nor::Chip;
}

/// A driver in the registry.
pub struct Driver {
    /// What profiles call it.
    pub name: &'static str,
    /// Whose it is.
    pub about: &'static str,
    /// The settings it reads.
    pub keys: &'static [Key],
    check: fn(&Board, &nor::Profile) -> Result<(), BoardError>,
    make: Make,
}

/// Makes a driver of a board around a chip.
type Make = fn(&Board, &Rc<Ledger>, nor::Chip) -> Result<Box<dyn FlashDriver>, BoardError>;

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Driver {
    /// Whether the board's settings fit the driver and the chip.
    ///
    /// # Errors
    /// [`BoardError`] names the setting.
    pub fn check(&self, board: &Board, chip: &nor::Profile) -> Result<(), BoardError> {
        (self.check)(board, chip)
    }

    /// The driver with a chip.
    ///
    /// # Errors
    /// As [`Driver::check`].
    pub fn make(
        &self,
        board: &Board,
        ledger: &Rc<Ledger>,
        chip: nor::Chip,
    ) -> Result<Box<dyn FlashDriver>, BoardError> {
        (self.make)(board, ledger, chip)
    }
}

/// All drivers.
pub static DRIVERS: &[Driver] = &[esp_flash::DRIVER];

/// The driver of this name.
pub(crate) fn find(name: &str) -> Option<&'static Driver> {
    DRIVERS.iter().find(|driver| driver.name == name)
}

/// What there is.
pub(crate) fn names() -> Vec<&'static str> {
    DRIVERS.iter().map(|driver| driver.name).collect()
}
