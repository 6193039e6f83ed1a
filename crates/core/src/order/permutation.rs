//! A pseudo-random permutation of 0..n without a table: a Feistel network over the next even power of two, walked until
//! it lands inside (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). At most four steps on average.

use crate::data::hash;

const ROUNDS: usize = 4;

/// An order of the numbers below some n in which each is met once.
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// An order of the numbers below `n` (at least 1), another one for each seed.
    #[must_use]
    pub fn new(n: u64, seed: u64) -> Self {
        let n = n.max(1);
        let bits = 64 - (n - 1).leading_zeros();
        let mut state = seed;
        let keys = core::array::from_fn(|_| {
            state = hash(state);
            state
        });
        Self { n, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// Where `index` (below n) goes; below n.
    #[inline]
    #[must_use]
    pub fn apply(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.encrypt(value);
            if value < self.n {
                return value;
            }
        }
    }

    #[inline]
    fn encrypt(&self, value: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            // Two multiplications, of which the high bits are the well-mixed ones; with one the gaps between blocks are
            // visibly uneven.
            let once = (right ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let twice = (once ^ (once >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (left, right) = (right, left ^ (twice >> (64 - self.half_bits)));
        }
        left << self.half_bits | right
    }
}
