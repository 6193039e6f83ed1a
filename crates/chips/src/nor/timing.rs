//! How long programs and erases take. Integers only.

use super::profile::{Profile, ProgramTiming};
use crate::random::draw;

impl ProgramTiming {
    /// The data sheet's time for `bytes` of ordinary data, those of which half of the bits change: the first byte and what
    /// each further one adds, and never more than a page's typical time.
    #[must_use]
    pub fn typical_ns(&self, bytes: u32) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let by_bytes = self.first_byte_ns.saturating_add(u64::from(bytes - 1).saturating_mul(self.next_byte_ns));
        by_bytes.min(self.page_typical_ns)
    }

    /// The time to program `bytes` of which `changed_bits` go from 1 to 0.
    #[must_use]
    pub fn busy_ns(&self, bytes: u32, changed_bits: u32) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let typical = self.typical_ns(bytes);
        let unchanged = u64::from(self.unchanged_permille);
        let fixed = typical * unchanged / 1000;
        // Ordinary data change four bits of each byte.
        let by_bits = typical * (1000 - unchanged) * u64::from(changed_bits) / (4000 * u64::from(bytes));
        (fixed + by_bits).min(self.page_max_ns)
    }
}

/// Which erase, for its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct EraseRun {
    pub typical_ns: u64,
    pub max_ns: u64,
    /// Nothing in it was 0, and it is not the whole chip.
    pub blank: bool,
    /// How often what it erases was erased before.
    pub worn: u32,
    /// The chip's seed and the number of this erase.
    pub seed: u64,
    pub number: u64,
}

/// How long an erase takes: around its typical time, evenly likely above and below, most often near it (a triangle of
/// [`Profile::erase_spread_permille`] to both sides), longer with wear where the profile says so, never over its maximum.
pub(super) fn erase_ns(profile: &Profile, run: EraseRun) -> u64 {
    if run.blank
        && let Some(ns) = profile.blank_erase_ns
    {
        return ns.min(run.max_ns);
    }
    let typical = i128::from(run.typical_ns);
    let bits = draw(run.seed, run.number);
    // The sum of two even draws, less its middle: from -(2^32 - 1) to 2^32 - 1.
    let lean = i128::from(bits >> 32) + i128::from(bits & 0xffff_ffff) - 0xffff_ffff;
    let spread = typical * i128::from(profile.erase_spread_permille) * lean / (1000 << 32);
    let worn = i128::from(run.worn.min(profile.endurance_cycles));
    let wear =
        typical * i128::from(profile.erase_wear_permille) * worn / (1000 * i128::from(profile.endurance_cycles.max(1)));
    u64::try_from(typical + spread + wear).unwrap_or(0).clamp(1, run.max_ns)
}
