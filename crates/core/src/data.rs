//! What is written, and the check of what is read.
//!
//! Without full verification a pool of blocks is filled once. Random data is written from one place of it after the other,
//! and the first eight bytes of every 512 are new each time: no two blocks are alike, what repeats is far apart, and
//! filling costs next to nothing.
//!
//! With full verification every 512 bytes of the file are a *cell* whose content follows from its offset, the pass that
//! wrote it and the seed: bytes 0..8 its offset, 8..12 the pass, 12..16 a hash of the three, then the data (a text is
//! laid from the start of each cell). So a lost write, a write to the wrong place and a stale read are all found.

use alloc::string::ToString;
use core::ops::RangeInclusive;

use rand_core::{RngCore as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::target::{Fault, FaultKind};
use crate::workload::{Data, Verify, Workload};

/// The size of a cell in bytes.
pub const CELL_BYTES: usize = 512;
const STAMP_BYTES: usize = 16;

/// Fills blocks for writing and checks blocks that were read.
#[derive(Clone, Debug)]
pub struct Pattern<'w> {
    data: &'w Data,
    seed: u64,
    block_bytes: usize,
    verify: Verify,
    /// A fingerprint of the workload's name, so that no two workloads write the same.
    name: u64,
    serial: u64,
}

/// Data that is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The stamp of the cell names another place.
    #[error("offset {offset}: the data belongs to offset {found}")]
    Misplaced {
        /// Where it was read.
        offset: u64,
        /// Where it was written.
        found: u64,
    },
    /// The data is of another pass than can be: an old version, or nothing was written.
    #[error("offset {offset}: stale data of pass {found}, expected {expected}")]
    Stale {
        /// Where it was read.
        offset: u64,
        /// The pass in its stamp.
        found: u32,
        /// The pass that was written last.
        expected: u32,
    },
    /// Any other difference.
    #[error("offset {offset}: read {found:#04x}, wrote {expected:#04x}")]
    Differs {
        /// The first byte that differs.
        offset: u64,
        /// What was read.
        found: u8,
        /// What was written.
        expected: u8,
    },
}

impl Mismatch {
    /// Where it is, in bytes from the start.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        let (Self::Misplaced { offset, .. } | Self::Stale { offset, .. } | Self::Differs { offset, .. }) = self;
        *offset
    }
}

impl From<Mismatch> for Fault {
    fn from(mismatch: Mismatch) -> Self {
        Self::new(FaultKind::Corrupt, mismatch.to_string())
    }
}

impl<'w> Pattern<'w> {
    /// The pattern of a workload.
    #[must_use]
    pub fn new(workload: &'w Workload) -> Self {
        Self {
            data: &workload.data,
            seed: workload.seed,
            block_bytes: (workload.block_bytes as usize).max(1),
            verify: workload.verify,
            name: fingerprint(workload.name.as_bytes()),
            serial: 0,
        }
    }

    /// Whether blocks differ from each other, so that they should come from more than one place.
    #[must_use]
    pub const fn varies(&self) -> bool {
        !self.is_costly()
            && match self.data {
                Data::Random => true,
                Data::Compressible { percent } => *percent < 100,
                Data::Fixed | Data::Zeros | Data::Text { .. } => false,
            }
    }

    /// Begins a pass: what was written in another one is not written again.
    pub fn start_pass(&mut self, pass: u32) {
        self.serial = hash(self.name ^ hash(self.seed ^ hash(u64::from(pass))));
    }

    /// Whether [`Pattern::fill`] computes every byte anew, so that its time must not count.
    #[must_use]
    pub const fn is_costly(&self) -> bool {
        matches!(self.verify, Verify::Full)
    }

    /// Fills a buffer of one or more blocks with the content that [`Pattern::fill`] then keeps fresh.
    pub fn prime(&self, buf: &mut [u8]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        match self.data {
            Data::Zeros => buf.fill(0),
            Data::Random => rng.fill_bytes(buf),
            Data::Fixed => {
                // Each block anew from the same seed.
                for block in buf.chunks_mut(self.block_bytes) {
                    Xoshiro256PlusPlus::seed_from_u64(self.seed).fill_bytes(block);
                }
            }
            Data::Text { text, end } => {
                for block in buf.chunks_mut(self.block_bytes) {
                    lay_text(block, text.as_bytes());
                    // A last block that is cut short has no end.
                    if block.len() == self.block_bytes {
                        let end = end.as_bytes();
                        let end = end.get(end.len().saturating_sub(block.len())..).unwrap_or(end);
                        let at = block.len() - end.len();
                        block[at..].copy_from_slice(end);
                    }
                }
            }
            Data::Compressible { percent } => {
                for cell in buf.chunks_mut(CELL_BYTES) {
                    let (random, zeros) = cell.split_at_mut(random_bytes(cell.len(), *percent));
                    rng.fill_bytes(random);
                    zeros.fill(0);
                }
            }
        }
    }

    /// Makes a primed buffer ready to be written at `offset` in this pass.
    #[inline]
    pub fn fill(&mut self, buf: &mut [u8], offset: u64, pass: u32) {
        if self.is_costly() {
            self.stamp(buf, offset, pass);
            return;
        }
        let random = match self.data {
            Data::Random => CELL_BYTES,
            Data::Compressible { percent } => random_bytes(CELL_BYTES, *percent),
            Data::Fixed | Data::Zeros | Data::Text { .. } => return,
        };
        if random < 8 {
            return;
        }
        for cell in buf.chunks_exact_mut(CELL_BYTES) {
            self.serial = self.serial.wrapping_add(0x9e37_79b9_7f4a_7c15);
            if let Some(first) = cell.first_chunk_mut::<8>() {
                *first = self.serial.to_le_bytes();
            }
        }
    }

    fn stamp(&self, buf: &mut [u8], offset: u64, pass: u32) {
        for_each_cell(buf.len(), offset, |range, cell_offset, inside| {
            let cell = self.cell(cell_offset, pass);
            buf[range].copy_from_slice(&cell[inside]);
        });
    }

    fn cell(&self, cell_offset: u64, pass: u32) -> [u8; CELL_BYTES] {
        let mut cell = [0; CELL_BYTES];
        let key = hash(self.seed ^ hash(cell_offset ^ hash(u64::from(pass))));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(key);
        match self.data {
            Data::Zeros => {}
            Data::Random | Data::Fixed => rng.fill_bytes(&mut cell),
            Data::Text { text, .. } => lay_text(&mut cell, text.as_bytes()),
            Data::Compressible { percent } => rng.fill_bytes(&mut cell[..random_bytes(CELL_BYTES, *percent)]),
        }
        cell[..8].copy_from_slice(&cell_offset.to_le_bytes());
        cell[8..12].copy_from_slice(&pass.to_le_bytes());
        cell[12..STAMP_BYTES].copy_from_slice(&(key as u32).to_le_bytes());
        cell
    }

    /// Spoils what [`Pattern::check`] looks at, so that a read that transfers nothing is noticed.
    #[inline]
    pub fn spoil(&self, buf: &mut [u8]) {
        match self.verify {
            Verify::None => {}
            Verify::LastByte => {
                if let Some(last) = buf.last_mut() {
                    *last = !self.last_byte();
                }
            }
            Verify::Full => buf.fill(0xa5),
        }
    }

    /// How many bytes of a block [`Pattern::check`] looks at.
    #[must_use]
    pub const fn checked_bytes(&self, block_bytes: usize) -> u64 {
        match self.verify {
            Verify::None => 0,
            Verify::LastByte => 1,
            Verify::Full => block_bytes as u64,
        }
    }

    /// Checks a block read from `offset` that was written in one of `passes`.
    ///
    /// # Errors
    /// The first [`Mismatch`].
    pub fn check(&self, buf: &[u8], offset: u64, passes: RangeInclusive<u32>) -> Result<(), Mismatch> {
        match self.verify {
            Verify::None => Ok(()),
            Verify::LastByte => {
                let expected = self.last_byte();
                match buf.last() {
                    Some(&found) if found != expected => {
                        Err(Mismatch::Differs { offset: offset + buf.len() as u64 - 1, found, expected })
                    }
                    _ => Ok(()),
                }
            }
            Verify::Full => {
                let mut result = Ok(());
                for_each_cell(buf.len(), offset, |range, cell_offset, inside| {
                    if result.is_ok() {
                        result = self.check_cell(&buf[range], cell_offset, inside.start, &passes);
                    }
                });
                result
            }
        }
    }

    fn check_cell(
        &self,
        found: &[u8],
        cell_offset: u64,
        start: usize,
        passes: &RangeInclusive<u32>,
    ) -> Result<(), Mismatch> {
        let stamped = start == 0 && found.len() >= STAMP_BYTES;
        let pass = if stamped { u32::from_le_bytes(array(&found[8..12])) } else { *passes.end() };
        let expected = self.cell(cell_offset, if passes.contains(&pass) { pass } else { *passes.end() });
        let expected = &expected[start..start + found.len()];
        let Some(at) = found.iter().zip(expected).position(|(a, b)| a != b) else { return Ok(()) };
        if stamped {
            let place = u64::from_le_bytes(array(&found[..8]));
            // Only a whole stamp of another place or pass is taken at its word; anything else is damage.
            if self.cell(place, pass)[..STAMP_BYTES] == found[..STAMP_BYTES] {
                if place != cell_offset {
                    return Err(Mismatch::Misplaced { offset: cell_offset, found: place });
                }
                if !passes.contains(&pass) {
                    return Err(Mismatch::Stale { offset: cell_offset, found: pass, expected: *passes.end() });
                }
            }
        }
        Err(Mismatch::Differs { offset: cell_offset + (start + at) as u64, found: found[at], expected: expected[at] })
    }

    fn last_byte(&self) -> u8 {
        match self.data {
            Data::Text { text, end } => end
                .as_bytes()
                .last()
                .or_else(|| text.as_bytes().get((self.block_bytes - 1) % text.len().max(1)))
                .copied()
                .unwrap_or(0),
            // Other data has no known last byte without stamps; `Workload::check` allows `last-byte` for texts and
            // zeros only.
            _ => 0,
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

fn random_bytes(len: usize, zero_percent: u8) -> usize {
    len - len * usize::from(zero_percent.min(100)) / 100
}

fn lay_text(block: &mut [u8], text: &[u8]) {
    for part in block.chunks_mut(text.len().max(1)) {
        let len = part.len().min(text.len());
        part[..len].copy_from_slice(&text[..len]);
    }
}

/// Calls `part` for each cell that the bytes touch: their range in the buffer, the cell's offset, their range in the cell.
fn for_each_cell(len: usize, offset: u64, mut part: impl FnMut(core::ops::Range<usize>, u64, core::ops::Range<usize>)) {
    let mut at = 0;
    while at < len {
        let position = offset + at as u64;
        let start = (position % CELL_BYTES as u64) as usize;
        let take = (CELL_BYTES - start).min(len - at);
        part(at..at + take, position - start as u64, start..start + take);
        at += take;
    }
}

/// FNV-1a, to tell names and kinds of data apart.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The next number after `value` in splitmix64 (Steele, Lea, Flood 2014): any two inputs give unlike outputs.
pub(crate) const fn hash(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn workload(data: Data, verify: Verify, block_bytes: u32) -> Workload {
        Workload { data, verify, block_bytes, ..Workload::named("w") }
    }

    #[test]
    fn a_text_fills_each_block_and_ends_it() {
        let data = Data::Text { text: "ABC".into(), end: "\r\n".into() };
        let w = workload(data, Verify::LastByte, 8);
        let pattern = Pattern::new(&w);
        let mut buf = [0; 16];
        pattern.prime(&mut buf);
        assert_eq!(&buf, b"ABCABC\r\nABCABC\r\n");
        assert_eq!(pattern.check(&buf[..8], 0, 0..=0), Ok(()));
        pattern.spoil(&mut buf[..8]);
        assert!(pattern.check(&buf[..8], 0, 0..=0).is_err());
    }

    #[test]
    fn random_blocks_are_never_alike() {
        let w = workload(Data::Random, Verify::None, 1024);
        let mut pattern = Pattern::new(&w);
        let mut buf = vec![0; 1024];
        pattern.prime(&mut buf);
        let mut cells = Vec::new();
        for n in 0..100 {
            pattern.fill(&mut buf, n * 1024, 1);
            cells.extend(buf.chunks(CELL_BYTES).map(<[u8]>::to_vec));
        }
        cells.sort_unstable();
        cells.dedup();
        assert_eq!(cells.len(), 200);
    }

    #[test]
    fn compressible_data_has_its_share_of_zeros() {
        let w = workload(Data::Compressible { percent: 75 }, Verify::None, 4096);
        let mut buf = vec![1; 4096];
        Pattern::new(&w).prime(&mut buf);
        let zeros = buf.iter().filter(|b| **b == 0).count();
        assert!((3072..3072 + 40).contains(&zeros), "{zeros}");
    }

    #[test]
    fn misplaced_stale_and_damaged_data_are_told_apart() {
        let w = workload(Data::Random, Verify::Full, 512);
        let mut pattern = Pattern::new(&w);
        let mut buf = [0; 512];
        pattern.fill(&mut buf, 1024, 3);
        assert_eq!(pattern.check(&buf, 1024, 3..=3), Ok(()));
        assert_eq!(pattern.check(&buf, 1024, 2..=5), Ok(()));
        assert_eq!(pattern.check(&buf, 512, 3..=3), Err(Mismatch::Misplaced { offset: 512, found: 1024 }));
        assert_eq!(pattern.check(&buf, 1024, 4..=4), Err(Mismatch::Stale { offset: 1024, found: 3, expected: 4 }));
        buf[100] ^= 1;
        assert!(matches!(pattern.check(&buf, 1024, 3..=3), Err(Mismatch::Differs { offset: 1124, .. })));
        assert!(pattern.check(&[0; 512], 1024, 3..=3).is_err());
    }

    fn any_data() -> impl Strategy<Value = Data> {
        prop_oneof![
            Just(Data::Zeros),
            Just(Data::Fixed),
            Just(Data::Random),
            "[a-z]{1,40}".prop_map(|text| Data::Text { text, end: "".into() }),
            (0_u8..=100).prop_map(|percent| Data::Compressible { percent }),
        ]
    }

    proptest! {
        /// Blocks of any size and place check out, however the file was cut into blocks when it was written.
        #[test]
        fn what_was_written_in_one_cut_reads_in_another(
            data in any_data(), cut in 1_usize..3000, start in 0_usize..4000, len in 1_usize..3000, pass: u32,
        ) {
            let w = workload(data, Verify::Full, 1);
            let mut pattern = Pattern::new(&w);
            let mut file = vec![0; 8000];
            let mut at = 0;
            for block in file.chunks_mut(cut) {
                pattern.fill(block, at, pass);
                at += block.len() as u64;
            }
            let part = &mut file[start..start + len];
            prop_assert_eq!(pattern.check(part, start as u64, pass..=pass), Ok(()));
            let middle = part.len() / 2;
            part[middle] ^= 0x10;
            prop_assert!(pattern.check(part, start as u64, pass..=pass).is_err());
        }

        #[test]
        fn priming_never_panics(data in any_data(), len in 0_usize..2000, block_bytes in 0_u32..600, end in "[a-z]{0,700}") {
            let data = if let Data::Text { text, .. } = data { Data::Text { text, end } } else { data };
            let w = workload(data, Verify::None, block_bytes);
            let mut buf = vec![0; len];
            Pattern::new(&w).prime(&mut buf);
            Pattern::new(&w).fill(&mut buf, 0, 0);
        }
    }
}
