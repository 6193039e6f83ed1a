//! How often each sector was erased.

use super::memory::Memory;

/// The erase counts of a chip, per sector of [`crate::nor::SECTOR_BYTES`].
#[derive(Clone, Copy, Debug)]
pub struct Wear<'a> {
    pub(super) memory: &'a Memory,
}

impl Wear<'_> {
    /// How many sectors the chip has.
    #[must_use]
    pub const fn sectors(&self) -> u32 {
        self.memory.sectors()
    }

    /// Erases of one sector; 0 for one that the chip does not have.
    #[must_use]
    pub fn get(&self, sector: u32) -> u32 {
        if sector < self.sectors() { self.memory.erases(sector) } else { 0 }
    }

    /// Erases of each sector, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.sectors()).map(|sector| self.memory.erases(sector))
    }

    /// The most worn sector's count.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.iter().max().unwrap_or(0)
    }

    /// All sectors' counts together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.iter().map(u64::from).sum()
    }

    /// How many sectors were erased more than `cycles` times, as the endurance in the profile.
    #[must_use]
    pub fn beyond(&self, cycles: u32) -> usize {
        self.iter().filter(|&erases| erases > cycles).count()
    }
}
