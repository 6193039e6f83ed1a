//! What buffers hold that are written (fio HOWTO, "Buffers and memory").
//!
//! A buffer is filled once, before the run. Before each write it is left as it is, scrambled (a few bytes in each 512, so
//! that no two sectors are alike), or filled anew. Where a job verifies, [`crate::verify::Verifier::stamp`] writes the whole
//! block, and nothing is done here.
//!
//! The rules are fio's, with these differences: `scramble_buffers` touches one cache line of a sector, not two, and tells
//! its writes apart by a counter, not by the time; the share of `dedupe_percentage` is exact in every hundred writes, not
//! drawn; a job with a pattern or zeros never writes what it read into the same buffer before.

mod random;
pub(crate) mod repeat;

use flashmark_fio::options::{BufferOptions, VerifyKind, VerifyOptions};

use random::Random;
pub(crate) use random::mix;

/// In what pieces buffers are scrambled.
const SECTOR_BYTES: usize = 512;
const CACHE_LINE_BYTES: usize = 64;
/// How far apart the numbers of scrambled sectors are. Odd, so that all numbers come before one comes again.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Fills the buffers of one thread.
#[derive(Clone, Debug)]
pub struct Contents {
    fill: Fill,
    refresh: Refresh,
    /// What zeros and patterns are made of; empty for zeros.
    pattern: Vec<u8>,
    random: Random,
    repeats: Option<Repeats>,
    /// Counts the sectors that were scrambled.
    serial: u64,
}

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    /// The pattern, or zeros.
    Known,
    /// Random bytes.
    Random,
    /// Random bytes, and the pattern or zeros as the last `percent` of each `chunk_bytes`.
    Mixed { percent: u8, chunk_bytes: usize },
}

/// What is done before each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refresh {
    Nothing,
    Scramble,
    Refill,
}

/// Which writes repeat the one before.
#[derive(Clone, Copy, Debug)]
struct Repeats {
    percent: u8,
    /// Hundredths of a repeat that are due.
    due: u8,
    /// What the last block that was no repeat was made from.
    seed: u64,
}

impl Contents {
    /// The contents that a job's options ask for. Threads with different seeds write different data.
    ///
    /// `options` and `verify` are those of a finished [`flashmark_fio::Job`].
    #[must_use]
    pub fn new(options: &BufferOptions, verify: &VerifyOptions, seed: u64) -> Self {
        let percent = options.buffer_compress_percentage.unwrap_or(0).min(100);
        let repeated = options.dedupe_percentage.min(100);
        let pattern = options.buffer_pattern.as_ref().map(|pattern| pattern.bytes.clone()).unwrap_or_default();
        let fill = if (1..100).contains(&percent) {
            let chunk_bytes = options.buffer_compress_chunk as usize;
            Fill::Mixed { percent, chunk_bytes: if chunk_bytes == 0 { usize::MAX } else { chunk_bytes } }
        } else if !pattern.is_empty() || percent == 100 || (options.zero_buffers && repeated == 0) {
            Fill::Known
        } else {
            Fill::Random
        };
        let verifies = verify.verify != VerifyKind::None;
        let refresh = if verifies && verify.verify != VerifyKind::Null {
            Refresh::Nothing
        } else if fill == Fill::Known {
            // However often it is filled, it is the same.
            Refresh::Nothing
        } else if options.refill_buffers || matches!(fill, Fill::Mixed { .. }) || repeated > 0 {
            Refresh::Refill
        } else if options.scramble_buffers && !verifies && options.buffer_compress_percentage.is_none() {
            Refresh::Scramble
        } else {
            Refresh::Nothing
        };
        let repeats =
            (repeated > 0 && fill != Fill::Known).then_some(Repeats { percent: repeated, due: 0, seed: mix(seed) });
        Self { fill, refresh, pattern, random: Random::new(seed), repeats, serial: mix(!seed) }
    }

    /// Fills a buffer before the run.
    pub fn prime(&mut self, buffer: &mut [u8]) {
        self.lay(buffer);
    }

    /// Makes a primed buffer ready to be written at `offset`. `overwritten` is whether something was read into it since it
    /// was last filled.
    #[inline]
    pub fn refresh(&mut self, buffer: &mut [u8], offset: u64, overwritten: bool) {
        match self.refresh {
            Refresh::Nothing if overwritten && self.fill == Fill::Known => self.lay(buffer),
            Refresh::Nothing => {}
            Refresh::Scramble => self.scramble(buffer, offset),
            Refresh::Refill => self.refill(buffer),
        }
    }

    /// Whether [`Contents::refresh`] writes every byte, so that its time is no part of the I/O.
    #[must_use]
    pub const fn is_costly(&self) -> bool {
        matches!(self.refresh, Refresh::Refill)
    }

    /// Sixteen bytes of each sector: the number of the scrambled sector and its offset, both mixed. Where in the sector
    /// changes with the writes.
    fn scramble(&mut self, buffer: &mut [u8], offset: u64) {
        let line = (self.serial >> 61) as usize * CACHE_LINE_BYTES;
        let mut place = offset;
        for sector in buffer.chunks_exact_mut(SECTOR_BYTES) {
            self.serial = self.serial.wrapping_add(STEP);
            let placed = (place ^ self.serial.rotate_left(32)).wrapping_mul(STEP);
            if let Some(bytes) = sector[line..].first_chunk_mut::<16>() {
                *bytes = (u128::from(self.serial) | u128::from(placed) << 64).to_le_bytes();
            }
            place = place.wrapping_add(SECTOR_BYTES as u64);
        }
    }

    fn refill(&mut self, buffer: &mut [u8]) {
        let Some(repeats) = &mut self.repeats else { return self.lay(buffer) };
        // The first one has nothing to repeat; with 100 % all are like it.
        repeats.due += repeats.percent;
        if repeats.due >= 100 {
            repeats.due -= 100;
        } else {
            repeats.seed = mix(repeats.seed);
        }
        self.random = Random::new(repeats.seed);
        self.lay(buffer);
    }

    fn lay(&mut self, buffer: &mut [u8]) {
        match self.fill {
            Fill::Known => repeat::lay(&self.pattern, buffer),
            Fill::Random => self.random.fill(buffer),
            Fill::Mixed { percent, chunk_bytes } => {
                for chunk in buffer.chunks_mut(chunk_bytes) {
                    let (random, known) = chunk.split_at_mut(random_bytes(chunk.len(), percent));
                    self.random.fill(random);
                    repeat::lay(&self.pattern, known);
                }
            }
        }
    }
}

/// How many of `bytes` are random if `percent` of them can be compressed away.
pub(crate) const fn random_bytes(bytes: usize, percent: u8) -> usize {
    (bytes as u128 * (100 - percent as u128) / 100) as usize
}
