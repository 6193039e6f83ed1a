//! Zipf's law with integers: ranks are grouped in buckets that grow with the rank (16 to each power of two), the bucket
//! is drawn by its exact share, the rank inside it evenly. Ranks up to 32 have a bucket each; beyond, the shares inside a
//! bucket differ from the law by at most theta/16, and bucket sums not at all. Set-up uses floats, drawing does not.

use alloc::vec::Vec;

use rand_core::RngCore as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::below;

const SUB_BITS: u32 = 4;
const SUB: u64 = 1 << SUB_BITS;

#[derive(Clone, Debug)]
pub(super) struct Zipf {
    n: u64,
    /// For each bucket the probability, in 2^-64, that a rank is in it or in one before it.
    cumulative: Vec<u64>,
}

impl Zipf {
    pub(super) fn new(n: u64, theta_milli: u16) -> Self {
        let theta = f64::from(theta_milli) / 1000.0;
        let mut sums = Vec::new();
        let mut sum = 0.0;
        for bucket in 0.. {
            let (low, high) = (low(bucket), low(bucket + 1).min(n + 1));
            if low > n {
                break;
            }
            sum += share(low, high, theta);
            sums.push(sum);
        }
        // A cast from f64 saturates, so that the last entry is u64::MAX.
        let mut cumulative: Vec<u64> = sums.iter().map(|s| (s / sum * 18_446_744_073_709_551_616.0) as u64).collect();
        if let Some(last) = cumulative.last_mut() {
            *last = u64::MAX;
        }
        Self { n, cumulative }
    }

    /// A rank from 0 (the most popular) to n - 1.
    #[inline]
    pub(super) fn rank(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let drawn = rng.next_u64();
        let bucket = self.cumulative.partition_point(|c| *c < drawn) as u64;
        let (low, high) = (low(bucket), low(bucket + 1).min(self.n + 1));
        low + below(rng, high - low) - 1
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
fn share(low: u64, high: u64, theta: f64) -> f64 {
    if high - low == 1 {
        return libm::pow(low as f64, -theta);
    }
    let (a, b) = (low as f64 - 0.5, high as f64 - 0.5);
    let slope = 1.0 - theta;
    // Near theta = 1 the closed form divides 0 by 0; its limit is the logarithm.
    if libm::fabs(slope) < 1e-9 { libm::log(b / a) } else { (libm::pow(b, slope) - libm::pow(a, slope)) / slope }
}
