//! The one source of chance in a chip: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").

/// A sequence of numbers that its seed determines.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `limit`, which is over 0. Off from even by less than `limit` / 2^64.
    pub(crate) const fn below(&mut self, limit: u64) -> u64 {
        ((self.next() as u128 * limit as u128) >> 64) as u64
    }
}

/// One number for a seed and a count, without a state to keep.
pub(crate) const fn draw(seed: u64, count: u64) -> u64 {
    mix(seed ^ mix(count.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
