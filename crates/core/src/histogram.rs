//! The latency histogram: log-linear buckets, fixed memory, no allocation.
//!
//! Values below 128 have a bucket each. From there every power of two is divided into 64 equal buckets, and a bucket is
//! represented by its middle, so that no reported value is off by more than 1/128 of the true one. The range is 0 to
//! 2^44 - 1 ns (4.9 hours); a longer latency counts in the last bucket, and `min`, `max`, `sum` and `count` are exact
//! whatever the value. The scheme is that of HdrHistogram and of fio's latency bins, with a finer step than fio's.
//!
//! The bucket of a value `v` >= 64 is `(s << 6) + (v >> s)`, where `s` is the bit length of `v` less 7.

mod statistics;
mod wire;

pub use wire::DecodeError;

const SUB_BITS: u32 = 6;
const SUB: usize = 1 << SUB_BITS;
/// One more than the exponent of the largest value that has a bucket of its own.
const RANGE_BITS: u32 = 44;

/// How many buckets there are.
pub const BUCKETS: usize = (RANGE_BITS - SUB_BITS + 1) as usize * SUB;

/// The largest value that has a bucket of its own, in nanoseconds: 4.9 hours.
pub const LARGEST_NS: u64 = (1 << RANGE_BITS) - 1;

/// A distribution of latencies in nanoseconds; 20 KiB, however many values it holds.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl core::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("sum_ns", &self.sum_ns)
            .field("min_ns", &self.min_ns())
            .field("max_ns", &self.max_ns())
            .finish_non_exhaustive()
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: [0; BUCKETS], count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        // Field by field: a fresh value would pass over the stack, which a microcontroller may not have.
        self.counts.fill(0);
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.record_many(ns, 1);
    }

    /// Counts so many latencies that are equal; of none, nothing.
    #[inline]
    pub fn record_many(&mut self, ns: u64, times: u64) {
        if times == 0 {
            return;
        }
        // The bound is part of `bucket`'s promise; `get_mut` keeps a panic out of the hot path at no cost.
        if let Some(count) = self.counts.get_mut(bucket(ns)) {
            *count += times;
        }
        self.count += times;
        self.sum_ns += u128::from(ns) * u128::from(times);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds all that `other` holds, as if its values had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many values were recorded, exactly.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The sum of all values, exactly.
    #[must_use]
    pub const fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The smallest value, exactly; 0 when empty.
    #[must_use]
    pub const fn min_ns(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min_ns }
    }

    /// The largest value, exactly; 0 when empty.
    #[must_use]
    pub const fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The mean, rounded to the nearest nanosecond; 0 when empty.
    #[must_use]
    pub fn mean_ns(&self) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let count = u128::from(self.count);
        u64::try_from((self.sum_ns + count / 2) / count).unwrap_or(u64::MAX)
    }

    /// The smallest recorded value (to 1/128) that at least `ppm` millionths of all values do not exceed: 500 000 is the
    /// median, 990 000 the 99th percentile, 1 000 000 the maximum. 0 when empty.
    #[must_use]
    pub fn quantile_ns(&self, ppm: u32) -> u64 {
        self.quantile_of_ns(u64::from(ppm), 1_000_000)
    }

    /// The median; see [`Histogram::quantile_ns`].
    #[must_use]
    pub fn median_ns(&self) -> u64 {
        self.quantile_ns(500_000)
    }

    /// How many values are larger than `ns`, to the resolution of a bucket: values in the bucket of `ns` itself do not
    /// count.
    #[must_use]
    pub fn count_above(&self, ns: u64) -> u64 {
        self.counts.iter().skip(bucket(ns) + 1).sum()
    }

    /// The buckets that hold anything, in order: the lowest value, the width in nanoseconds and the count.
    pub fn filled(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count != 0).map(|(index, &count)| Bucket {
            low_ns: low_ns(index),
            width_ns: width_ns(index),
            count,
        })
    }
}

/// One bucket that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest value of the bucket.
    pub low_ns: u64,
    /// How many values share the bucket.
    pub width_ns: u64,
    /// How many were recorded in it.
    pub count: u64,
}

/// The bucket of a value; below [`BUCKETS`] for every value.
#[inline]
const fn bucket(ns: u64) -> usize {
    let ns = if ns > LARGEST_NS { LARGEST_NS } else { ns };
    // `| SUB` makes the shift 0 for values that have a bucket of their own.
    let shift = 63 - (ns | SUB as u64).leading_zeros() - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (ns >> shift) as usize
}

const fn shift_of(index: usize) -> u32 {
    if index < 2 * SUB { 0 } else { (index >> SUB_BITS) as u32 - 1 }
}

const fn low_ns(index: usize) -> u64 {
    let shift = shift_of(index);
    ((index - ((shift as usize) << SUB_BITS)) as u64) << shift
}

const fn width_ns(index: usize) -> u64 {
    1 << shift_of(index)
}

const fn middle_ns(index: usize) -> u64 {
    low_ns(index) + width_ns(index) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn buckets_are_adjacent_and_cover_the_range() {
        let mut next = 0;
        for index in 0..BUCKETS {
            assert_eq!(low_ns(index), next);
            assert_eq!(bucket(low_ns(index)), index);
            assert_eq!(bucket(low_ns(index) + width_ns(index) - 1), index);
            next = low_ns(index) + width_ns(index);
        }
        assert_eq!(next, LARGEST_NS + 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn an_hour_does_not_saturate() {
        let hour_ns = 3_600_000_000_000;
        let mut histogram = Histogram::new();
        histogram.record(hour_ns);
        histogram.record(hour_ns + hour_ns / 50);
        let median = histogram.median_ns();
        assert!(median.abs_diff(hour_ns) <= hour_ns / 128);
    }

    #[test]
    fn an_empty_histogram_is_all_zero() {
        let empty = Histogram::new();
        assert_eq!(
            (empty.count(), empty.min_ns(), empty.max_ns(), empty.mean_ns(), empty.median_ns(), empty.count_above(0)),
            (0, 0, 0, 0, 0, 0)
        );
    }

    /// Latencies of every magnitude, not just huge ones.
    fn latency() -> impl Strategy<Value = u64> {
        (0u32..64, any::<u64>()).prop_map(|(shift, value)| value >> shift)
    }

    fn exact_quantile(sorted: &[u64], ppm: u32) -> u64 {
        let rank = (sorted.len() as u128 * u128::from(ppm)).div_ceil(1_000_000).max(1) as usize;
        sorted[rank - 1]
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_128th(mut values in proptest::collection::vec(latency(), 1..300), ppm in 0u32..=1_000_000) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|&v| histogram.record(v));
            values.sort_unstable();
            let exact = exact_quantile(&values, ppm);
            let got = histogram.quantile_ns(ppm);
            if exact <= LARGEST_NS {
                prop_assert!(got.abs_diff(exact) <= exact / 128, "{got} for {exact}");
            }
        }

        #[test]
        fn min_max_sum_and_count_are_exact(values in proptest::collection::vec(any::<u64>(), 1..200)) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|&v| histogram.record(v));
            prop_assert_eq!(histogram.count(), values.len() as u64);
            prop_assert_eq!(histogram.min_ns(), *values.iter().min().unwrap_or(&0));
            prop_assert_eq!(histogram.max_ns(), *values.iter().max().unwrap_or(&0));
            prop_assert_eq!(histogram.sum_ns(), values.iter().map(|&v| u128::from(v)).sum::<u128>());
        }

        #[test]
        fn recording_many_is_recording_each(values in proptest::collection::vec((latency(), 0_u64..5), 0..50)) {
            let (mut together, mut each) = (Histogram::new(), Histogram::new());
            for (ns, times) in values {
                together.record_many(ns, times);
                (0..times).for_each(|_| each.record(ns));
            }
            prop_assert!(together == each);
        }

        #[test]
        fn merging_is_recording_all(a in proptest::collection::vec(latency(), 0..100), b in proptest::collection::vec(latency(), 0..100)) {
            let (mut left, mut right, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
            a.iter().for_each(|&v| left.record(v));
            b.iter().for_each(|&v| right.record(v));
            a.iter().chain(&b).for_each(|&v| both.record(v));
            left.merge(&right);
            prop_assert!(left == both);
        }

        #[test]
        fn the_filled_buckets_hold_every_value(values in proptest::collection::vec(latency(), 0..100)) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|&v| histogram.record(v));
            let filled: Vec<_> = histogram.filled().collect();
            prop_assert_eq!(filled.iter().map(|b| b.count).sum::<u64>(), values.len() as u64);
            for v in values {
                let v = v.min(LARGEST_NS);
                prop_assert!(filled.iter().any(|b| b.low_ns <= v && v - b.low_ns < b.width_ns));
            }
        }
    }
}
