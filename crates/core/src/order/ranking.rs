//! Laws of popularity with integers: ranks are grouped in buckets that grow with the rank (16 to each power of two), the
//! bucket is drawn by its exact share, the rank inside it evenly. Ranks up to 32 have a bucket each; beyond, the shares
//! inside a bucket differ from Zipf's law by at most theta/16, and bucket sums not at all. Set-up uses floats, drawing
//! does not.
//!
//! Buckets are drawn by Walker's alias method in Vose's form (1991): one random number, one table look-up, one comparison,
//! whatever their number.

use alloc::vec::Vec;

use rand_core::RngCore as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::below;

const SUB_BITS: u32 = 4;
const SUB: u64 = 1 << SUB_BITS;

/// Ranks, of which some are drawn more often than others: about 20 KiB at most, whatever the number of ranks.
#[derive(Clone, Debug)]
pub struct Ranking {
    slots: Vec<Slot>,
    /// The number of ranks, if they are counted from the other end.
    reversed: Option<u64>,
}

/// One of equally likely slots: the first `threshold` 2^-64ths of it stand for one bucket, the rest for another.
#[derive(Clone, Copy, Debug)]
struct Slot {
    threshold: u64,
    own: Ranks,
    other: Ranks,
}

/// A bucket: `count` ranks from `first` (0 is the most popular).
#[derive(Clone, Copy, Debug)]
struct Ranks {
    first: u64,
    count: u64,
}

impl Ranking {
    /// Zipf's law over `n` ranks (at least 1): rank k, from 1, is drawn in proportion to k to the power of -`theta`.
    #[must_use]
    pub fn zipf(n: u64, theta: f64) -> Self {
        Self::with_shares(n.max(1), |low, high| zipf_share(low, high, theta))
    }

    /// Pareto's law over `n` ranks (at least 1), self-similar: a part `power` of the ranks (above 0 and below 1) is drawn
    /// as often as all others are with `1 - power` ("Quickly Generating Billion-Record Synthetic Databases", Gray and others,
    /// 1994). With 0.2 the first fifth gets four fifths of the draws.
    #[must_use]
    pub fn pareto(n: u64, power: f64) -> Self {
        let n = n.max(1);
        // The share of the first x-th part of all ranks is x to this power.
        let exponent = libm::log(1.0 - power) / libm::log(power);
        let up_to = |rank: u64| libm::pow(rank as f64 / n as f64, exponent);
        if exponent <= 1.0 {
            return Self::with_shares(n, |low, high| up_to(high - 1) - up_to(low - 1));
        }
        // The last ranks are the popular ones: narrow buckets belong there.
        let mirrored = Self::with_shares(n, |low, high| up_to(n + 1 - low) - up_to(n + 1 - high));
        Self { reversed: Some(n), ..mirrored }
    }

    /// `share` tells the weight of the ranks from `low` (from 1) to before `high`.
    fn with_shares(n: u64, share: impl Fn(u64, u64) -> f64) -> Self {
        let mut slots = Vec::new();
        let mut left = Vec::new();
        for bucket in 0.. {
            let (low, high) = (low(bucket), low(bucket + 1).min(n + 1));
            if low > n {
                break;
            }
            let ranks = Ranks { first: low - 1, count: high - low };
            slots.push(Slot { threshold: u64::MAX, own: ranks, other: ranks });
            left.push(share(low, high));
        }
        let (sum, count) = (left.iter().sum::<f64>(), slots.len() as f64);
        // Scaled so that a slot holds 1: what is missing in small buckets' slots is filled up from large ones.
        left.iter_mut().for_each(|share| *share *= count / sum);
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..slots.len()).partition(|at| left[*at] < 1.0);
        while let (Some(needs), Some(&gives)) = (small.pop(), large.last()) {
            let other = slots[gives].own;
            // A cast from f64 saturates.
            slots[needs] =
                Slot { threshold: (left[needs] * 18_446_744_073_709_551_616.0) as u64, other, ..slots[needs] };
            left[gives] -= 1.0 - left[needs];
            if left[gives] < 1.0 {
                large.pop();
                small.push(gives);
            }
        }
        Self { slots, reversed: None }
    }

    /// A rank from 0 (with Zipf's law the most popular) to n - 1.
    #[inline]
    pub fn rank(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        // The high half of the product is the slot, the low half the place in it.
        let product = u128::from(rng.next_u64()) * self.slots.len() as u128;
        let Some(slot) = self.slots.get((product >> 64) as usize) else { return 0 };
        let ranks = if (product as u64) < slot.threshold { slot.own } else { slot.other };
        let rank = ranks.first + below(rng, ranks.count);
        self.reversed.map_or(rank, |n| n - 1 - rank)
    }
}

/// The first rank (from 1) of a bucket.
const fn low(bucket: u64) -> u64 {
    let index = bucket + 1;
    if index < 2 * SUB {
        return index;
    }
    let shift = (index >> SUB_BITS) - 1;
    (index - (shift << SUB_BITS)) << shift
}

/// The sum of k^-theta for `low <= k < high`: exact for single ranks, else the integral from half a rank before to half
/// a rank after.
fn zipf_share(low: u64, high: u64, theta: f64) -> f64 {
    if high - low == 1 {
        return libm::pow(low as f64, -theta);
    }
    let (a, b) = (low as f64 - 0.5, high as f64 - 0.5);
    let slope = 1.0 - theta;
    // Near theta = 1 the closed form divides 0 by 0; its limit is the logarithm.
    if libm::fabs(slope) < 1e-9 { libm::log(b / a) } else { (libm::pow(b, slope) - libm::pow(a, slope)) / slope }
}
