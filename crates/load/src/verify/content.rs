//! The data between headers: made from a seed, or a pattern.

use flashmark_fio::options::BufferOptions;
use flashmark_fio::value::pattern::Pattern;

use crate::contents::{random_bytes, repeat};

/// The factor of Weyl's and Knuth's hashing, as fio's `hash.h` has it.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;
/// What the seeds of the columns are multiples by: as many columns as Debian's fio has (`CONFIG_SEED_BUCKETS`).
const COLUMNS: [u64; 4] = [1, 2, 3, 5];

/// How the data of blocks is made.
///
/// With `buffer_compress_percentage=100` it is all filler, where fio writes random data.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// `verify_pattern`, with the offset of the block last asked for.
    pattern: Option<Pattern>,
    /// How much is not made from the seed.
    percent: u8,
    /// What that is; empty for zeros.
    filler: Vec<u8>,
}

impl Content {
    pub fn new(pattern: Option<Pattern>, buffers: &BufferOptions) -> Self {
        Self {
            pattern,
            percent: buffers.buffer_compress_percentage.unwrap_or(0).min(100),
            filler: buffers.buffer_pattern.as_ref().map(|pattern| pattern.bytes.clone()).unwrap_or_default(),
        }
    }

    /// The pattern, if there is one, for the block of the last [`Content::set_offset`].
    pub fn pattern(&self) -> Option<&[u8]> {
        self.pattern.as_ref().map(|pattern| &*pattern.bytes)
    }

    /// Puts the offset of a block into the pattern.
    pub fn set_offset(&mut self, offset: u64) {
        if let Some(Pattern { bytes, offsets }) = &mut self.pattern {
            for at in offsets.iter() {
                if let Some(place) = bytes.get_mut(*at..).and_then(<[u8]>::first_chunk_mut::<8>) {
                    *place = offset.to_le_bytes();
                }
            }
        }
    }

    /// Fills a block that goes to `offset`.
    pub fn lay(&mut self, block: &mut [u8], seed: u64, offset: u64) {
        self.set_offset(offset);
        if let Some(pattern) = &self.pattern {
            return repeat::lay(&pattern.bytes, block);
        }
        let (made, known) = block.split_at_mut(random_bytes(block.len(), self.percent));
        lay_seeded(made, seed);
        repeat::lay(&self.filler, known);
    }
}

/// Fills `block` with what fio makes from `seed` (`lib/rand.c`, `__fill_random_buf`): four columns of words, each the one
/// above times a constant.
fn lay_seeded(block: &mut [u8], seed: u64) {
    let mut words = COLUMNS.map(|factor| seed.wrapping_mul(factor));
    let (rows, rest) = block.as_chunks_mut::<{ 8 * COLUMNS.len() }>();
    for row in rows {
        let (places, _) = row.as_chunks_mut::<8>();
        for (place, word) in places.iter_mut().zip(&mut words) {
            *place = word.to_le_bytes();
            *word = word.wrapping_mul(GOLDEN);
        }
    }
    // What does not fill a row goes on with the first column.
    let mut word = words[0];
    for place in rest.chunks_mut(8) {
        place.copy_from_slice(&word.to_le_bytes()[..place.len()]);
        word = word.wrapping_mul(GOLDEN);
    }
}
