//! Faults of flash memory: the power goes.

use alloc::vec;

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use thiserror::Error;

use crate::random::SplitMix64;

/// How much of the operation under way is done when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing yet: it goes just before.
    None,
    /// A part. Of a program: its first bytes, and of the next one some bits, as many as chance has it. Of an erase: all
    /// bytes of the unit are somewhere on their way from what they were to ones.
    Partial,
    /// All of it: it goes just after.
    Whole,
}

/// Why a [`PowerCut`] did not do as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PowerCutError<E> {
    /// The power is gone.
    #[error("the power is cut")]
    Cut,
    /// The flash memory says so.
    #[error("{0:?}")]
    Flash(E),
}

impl<E: NorFlashError> NorFlashError for PowerCutError<E> {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Cut => NorFlashErrorKind::Other,
            Self::Flash(error) => error.kind(),
        }
    }
}

/// A flash memory whose power goes at a given program or erase, and comes back with [`PowerCut::restore`].
///
/// A write counts as one operation for each page it touches, an erase as one for each unit of `ERASE_SIZE`; they come in
/// the order of their addresses. When the power goes, the operation under way has the [`Extent`] asked for, those after it
/// in the same call do not begin, and from then on everything fails, reads too.
#[derive(Debug)]
pub struct PowerCut<F> {
    flash: F,
    random: SplitMix64,
    page_bytes: usize,
    operations: u64,
    plan: Option<(u64, Extent)>,
    cut: bool,
}

impl<F: NorFlash> PowerCut<F> {
    /// Wraps `flash`, of pages of 256 bytes. The power stays until [`PowerCut::cut_after`]. The seed determines what is left
    /// of operations that are done in part.
    pub const fn new(flash: F, seed: u64) -> Self {
        Self { flash, random: SplitMix64::new(seed), page_bytes: 256, operations: 0, plan: None, cut: false }
    }

    /// Sets the size of pages: a power of two, not under `WRITE_SIZE`; others are taken up to the next one.
    #[must_use]
    pub fn with_page_bytes(mut self, page_bytes: usize) -> Self {
        self.page_bytes = page_bytes.max(F::WRITE_SIZE).next_power_of_two();
        self
    }

    /// Lets `operations` more programs and erases pass; the power goes at the one after them.
    pub const fn cut_after(&mut self, operations: u64, extent: Extent) {
        self.plan = Some((self.operations.saturating_add(operations), extent));
    }

    /// The power comes back, and stays.
    pub const fn restore(&mut self) {
        self.cut = false;
        self.plan = None;
    }

    /// Whether the power is gone.
    pub const fn is_cut(&self) -> bool {
        self.cut
    }

    /// Programs and erases so far, that which was cut among them.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// The flash memory, to be looked at without power.
    pub const fn get_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    /// The flash memory.
    pub fn into_inner(self) -> F {
        self.flash
    }

    const fn check(&self) -> Result<(), PowerCutError<F::Error>> {
        if self.cut { Err(PowerCutError::Cut) } else { Ok(()) }
    }

    /// Counts an operation. Tells how much of it is done, if the power goes in it.
    const fn begin(&mut self) -> Option<Extent> {
        let number = self.operations;
        self.operations += 1;
        match self.plan {
            Some((at, extent)) if number >= at => {
                self.cut = true;
                Some(extent)
            }
            _ => None,
        }
    }

    fn program(&mut self, offset: u32, bytes: &[u8]) -> Result<(), PowerCutError<F::Error>> {
        let extent = self.begin();
        match extent {
            None | Some(Extent::Whole) => self.flash.write(offset, bytes).map_err(PowerCutError::Flash)?,
            Some(Extent::None) => {}
            Some(Extent::Partial) => {
                let done = self.random.below(bytes.len() as u64) as usize;
                // From there on it is what was there before, so that no bit is asked to rise.
                let mut part = vec![0; bytes.len()];
                self.flash.read(offset, &mut part).map_err(PowerCutError::Flash)?;
                part[..done].copy_from_slice(&bytes[..done]);
                part[done] &= bytes[done] | self.random.next() as u8;
                self.flash.write(offset, &part).map_err(PowerCutError::Flash)?;
            }
        }
        if extent.is_some() { Err(PowerCutError::Cut) } else { Ok(()) }
    }

    fn erase_unit(&mut self, from: u32) -> Result<(), PowerCutError<F::Error>> {
        let extent = self.begin();
        let to = from + F::ERASE_SIZE as u32;
        match extent {
            None | Some(Extent::Whole) => self.flash.erase(from, to).map_err(PowerCutError::Flash)?,
            Some(Extent::None) => {}
            Some(Extent::Partial) => {
                let mut unit = vec![0; F::ERASE_SIZE];
                self.flash.read(from, &mut unit).map_err(PowerCutError::Flash)?;
                // How far the erase got, of 8: each bit has risen with that chance.
                let risen = self.random.below(9) as u32;
                for byte in &mut unit {
                    *byte |= mask(&mut self.random, risen);
                }
                self.flash.erase(from, to).map_err(PowerCutError::Flash)?;
                self.flash.write(from, &unit).map_err(PowerCutError::Flash)?;
            }
        }
        if extent.is_some() { Err(PowerCutError::Cut) } else { Ok(()) }
    }
}

/// Bits that are 1 with a chance of `eighths`.
fn mask(random: &mut SplitMix64, eighths: u32) -> u8 {
    (0..8).fold(0, |mask, bit| mask | u8::from(random.below(8) < u64::from(eighths)) << bit)
}

impl<F: NorFlash> ErrorType for PowerCut<F> {
    type Error = PowerCutError<F::Error>;
}

impl<F: NorFlash> ReadNorFlash for PowerCut<F> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.check()?;
        self.flash.read(offset, bytes).map_err(PowerCutError::Flash)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash> NorFlash for PowerCut<F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.check()?;
        let unit = F::ERASE_SIZE as u32;
        if from > to || !from.is_multiple_of(unit) || !to.is_multiple_of(unit) || to as usize > self.capacity() {
            // The flash memory has the right error for it.
            return self.flash.erase(from, to).map_err(PowerCutError::Flash);
        }
        (from..to).step_by(F::ERASE_SIZE).try_for_each(|from| self.erase_unit(from))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.check()?;
        let write_size = F::WRITE_SIZE;
        let aligned = (offset as usize).is_multiple_of(write_size) && bytes.len().is_multiple_of(write_size);
        if !aligned || offset as usize + bytes.len() > self.capacity() {
            return self.flash.write(offset, bytes).map_err(PowerCutError::Flash);
        }
        let mut at = offset as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, more) = rest.split_at(rest.len().min(self.page_bytes - at % self.page_bytes));
            self.program(at as u32, part)?;
            at += part.len();
            rest = more;
        }
        Ok(())
    }
}

impl<F: MultiwriteNorFlash> MultiwriteNorFlash for PowerCut<F> {}
