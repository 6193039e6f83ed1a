//! Random bytes, fast.

use rand_core::{RngCore as _, SeedableRng as _};
use rand_xoshiro::{SplitMix64, Xoshiro256Plus};

/// How many generators run side by side, so that the processor works at several of them at a time.
const LANES: usize = 4;

/// Random bytes that no compressor makes smaller. Not for secrets.
#[derive(Clone, Debug)]
pub(super) struct Random {
    lanes: [Xoshiro256Plus; LANES],
}

impl Random {
    /// The bytes that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        let mut seeds = SplitMix64::seed_from_u64(seed);
        Self { lanes: std::array::from_fn(|_| Xoshiro256Plus::seed_from_u64(seeds.next_u64())) }
    }

    /// Fills `buffer` with the next bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        let [a, b, c, d] = &mut self.lanes;
        let (stripes, rest) = buffer.as_chunks_mut::<{ LANES * 8 }>();
        for stripe in stripes {
            let (words, _) = stripe.as_chunks_mut::<8>();
            words[0] = a.next_u64().to_le_bytes();
            words[1] = b.next_u64().to_le_bytes();
            words[2] = c.next_u64().to_le_bytes();
            words[3] = d.next_u64().to_le_bytes();
        }
        for word in rest.chunks_mut(8) {
            let next = a.next_u64().to_le_bytes();
            word.copy_from_slice(&next[..word.len()]);
        }
    }
}

/// Another number for each number, with no likeness to it (splitmix64).
pub(crate) fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}
