//! A chip behind `embedded_storage`'s traits.

use core::cell::RefCell;

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use flashmark_core::clock::Clock;
use flashmark_core::ledger::{Account, Ledger};
use thiserror::Error;

use super::SECTOR_BYTES;
use super::chip::Chip;
use super::violation::Violation;

/// A chip as a `NorFlash`: splits programs at pages, takes the largest erase commands that fit, and waits out each operation
/// on [`Account::Busy`]. The bus and the driver cost nothing here.
///
/// Erases are multiples of 4 KiB; a chip without a 4 KiB erase takes those that its units make up.
#[derive(Clone, Copy, Debug)]
pub struct Flash<'a> {
    chip: &'a RefCell<Chip>,
    ledger: &'a Ledger,
}

/// Why a [`Flash`] did not do as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FlashError {
    /// Beyond the chip.
    #[error("access beyond the end of the chip")]
    OutOfBounds,
    /// An erase that is not made up of the chip's erase units.
    #[error("the range is not made up of the chip's erase units")]
    NotAligned,
    /// Against the chip's data sheet, as a program over data that were not erased.
    #[error(transparent)]
    Chip(#[from] Violation),
}

impl NorFlashError for FlashError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::OutOfBounds => NorFlashErrorKind::OutOfBounds,
            Self::NotAligned => NorFlashErrorKind::NotAligned,
            Self::Chip(_) => NorFlashErrorKind::Other,
        }
    }
}

impl<'a> Flash<'a> {
    /// A way to `chip` in the time of `ledger`.
    #[must_use]
    pub const fn new(chip: &'a RefCell<Chip>, ledger: &'a Ledger) -> Self {
        Self { chip, ledger }
    }

    fn check(&self, offset: u32, bytes: usize) -> Result<(), FlashError> {
        let end = u64::from(offset) + bytes as u64;
        if end > self.chip.borrow().profile().capacity_bytes { Err(FlashError::OutOfBounds) } else { Ok(()) }
    }

    fn run(&self, operation: impl FnOnce(&mut Chip, u64) -> Result<u64, Violation>) -> Result<(), FlashError> {
        let mut chip = self.chip.borrow_mut();
        self.ledger.spend_until(Account::Busy, chip.busy_until_ns());
        let now_ns = self.ledger.now_ns();
        chip.write_enable(now_ns)?;
        let result = operation(&mut chip, now_ns);
        self.ledger.spend_until(Account::Busy, chip.busy_until_ns());
        result?;
        Ok(())
    }
}

impl ErrorType for Flash<'_> {
    type Error = FlashError;
}

impl ReadNorFlash for Flash<'_> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FlashError> {
        self.check(offset, bytes.len())?;
        let mut chip = self.chip.borrow_mut();
        self.ledger.spend_until(Account::Busy, chip.busy_until_ns());
        chip.read(self.ledger.now_ns(), u64::from(offset), bytes)?;
        Ok(())
    }

    fn capacity(&self) -> usize {
        usize::try_from(self.chip.borrow().profile().capacity_bytes).unwrap_or(usize::MAX)
    }
}

impl NorFlash for Flash<'_> {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = SECTOR_BYTES as usize;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), FlashError> {
        if from > to {
            return Err(FlashError::OutOfBounds);
        }
        self.check(from, (to - from) as usize)?;
        if !from.is_multiple_of(SECTOR_BYTES) || !to.is_multiple_of(SECTOR_BYTES) {
            return Err(FlashError::NotAligned);
        }
        let mut at = from;
        while at < to {
            let largest = |chip: &Chip| {
                let fits = |bytes: &u32| at.is_multiple_of(*bytes) && to - at >= *bytes;
                chip.profile().erase_types.iter().map(|erase| erase.bytes).filter(fits).max()
            };
            let bytes = largest(&self.chip.borrow()).ok_or(FlashError::NotAligned)?;
            self.run(|chip, now_ns| chip.erase(now_ns, bytes, u64::from(at)))?;
            at += bytes;
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashError> {
        self.check(offset, bytes.len())?;
        let page_bytes = self.chip.borrow().profile().page_bytes as usize;
        let mut at = offset as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, more) = rest.split_at(rest.len().min(page_bytes - at % page_bytes));
            self.run(|chip, now_ns| chip.program(now_ns, at as u64, part))?;
            at += part.len();
            rest = more;
        }
        Ok(())
    }
}

/// NOR flash takes programs over programmed bytes, as long as no bit is to go from 0 to 1.
impl MultiwriteNorFlash for Flash<'_> {}
