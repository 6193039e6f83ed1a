//! Times in SFDP are a count of 1 to 2^n and a unit out of two or four.

use super::bits;

/// A kind of time: how many bits the count has, and the units in nanoseconds. The unit's bits are above the count's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub count_bits: u32,
    pub units_ns: &'static [u64],
}

/// Sector and block erases.
pub(super) const ERASE: Times = Times { count_bits: 5, units_ns: &[1_000_000, 16_000_000, 128_000_000, 1_000_000_000] };
/// Chip erase.
pub(super) const CHIP_ERASE: Times =
    Times { count_bits: 5, units_ns: &[16_000_000, 256_000_000, 4_000_000_000, 64_000_000_000] };
/// Page program.
pub(super) const PAGE: Times = Times { count_bits: 5, units_ns: &[8_000, 64_000] };
/// Programs of the first and of further bytes.
pub(super) const BYTE: Times = Times { count_bits: 4, units_ns: &[1_000, 8_000] };
/// Suspend and power-down latencies.
pub(super) const LATENCY: Times = Times { count_bits: 5, units_ns: &[128, 1_000, 8_000, 64_000] };

impl Times {
    const fn unit_bits(self) -> u32 {
        self.units_ns.len().ilog2()
    }

    /// Bits of count and unit together.
    pub const fn width(self) -> u32 {
        self.count_bits + self.unit_bits()
    }

    /// The time in a word, whose count starts at bit `low`.
    pub fn get(self, word: u32, low: u32) -> u64 {
        let count = u64::from(bits(word, low, self.count_bits)) + 1;
        count * self.units_ns[bits(word, low + self.count_bits, self.unit_bits()) as usize]
    }

    /// The shortest time the format has that is not under `ns`, or its longest, in place at bit `low`.
    pub fn put(self, ns: u64, low: u32) -> u32 {
        let counts = 1 << self.count_bits;
        for (unit, unit_ns) in self.units_ns.iter().enumerate() {
            let count = ns.div_ceil(*unit_ns).max(1);
            if count <= counts {
                return ((count - 1) as u32 | (unit as u32) << self.count_bits) << low;
            }
        }
        ((1 << self.width()) - 1) << low
    }
}

/// The maximum of a typical time: multiplier bits m stand for 2 (m + 1).
pub(super) const fn max_ns(typical_ns: u64, multiplier: u32) -> u64 {
    typical_ns * 2 * (multiplier as u64 + 1)
}

/// The least multiplier, of 0 to 15, with which none of the maxima is under what it should be.
pub(super) fn multiplier(times: impl Iterator<Item = (u64, u64)>) -> u32 {
    times.map(|(typical_ns, max_ns)| max_ns.div_ceil(2 * typical_ns.max(1)).clamp(1, 16) as u32 - 1).max().unwrap_or(0)
}
