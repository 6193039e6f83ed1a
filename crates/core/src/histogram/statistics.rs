//! Figures that other formats than flashmark's own ask for: finer quantiles, and a mean and a deviation with a fraction.

use super::{Bucket, Histogram, middle_ns};

impl Bucket {
    /// The value that stands for all values of the bucket: its middle.
    #[must_use]
    pub const fn middle_ns(&self) -> u64 {
        self.low_ns + self.width_ns / 2
    }
}

impl Histogram {
    /// The smallest recorded value (to 1/128) that at least `part` of `whole` of all values do not exceed, as
    /// [`Histogram::quantile_ns`] with a denominator of one's own; `part` is at most `whole`, or counts as such. 0 when
    /// empty or if `whole` is 0.
    #[must_use]
    pub fn quantile_of_ns(&self, part: u64, whole: u64) -> u64 {
        if self.count == 0 || whole == 0 {
            return 0;
        }
        let wanted = (u128::from(self.count) * u128::from(part.min(whole))).div_ceil(u128::from(whole));
        let rank = u64::try_from(wanted).unwrap_or(u64::MAX).max(1);
        if rank == self.count {
            return self.max_ns;
        }
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return middle_ns(index).clamp(self.min_ns, self.max_ns);
            }
        }
        self.max_ns
    }

    /// The mean with its fraction; 0 when empty. Exact but for the rounding of floats.
    #[must_use]
    pub fn mean_with_fraction_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }

    /// Values that stand for those recorded, each with how many it stands for, in ascending order: the middles of the
    /// buckets, within minimum and maximum. None is off by more than 1/128, up to [`super::LARGEST_NS`].
    pub fn values_ns(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.filled().map(|bucket| (bucket.middle_ns().clamp(self.min_ns, self.max_ns), bucket.count))
    }

    /// The standard deviation (of a sample: over the count less one); 0 for fewer than two values.
    ///
    /// The mean is exact and the values are those of their buckets, so that it is off by at most 1/128 of the root of the
    /// mean square of all values, and 0 where all values are the same.
    #[must_use]
    pub fn std_dev_ns(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let mean = self.mean_with_fraction_ns();
        let square = |value: u64| (value as f64 - mean) * (value as f64 - mean);
        let squares: f64 = self.values_ns().map(|(value, count)| square(value) * count as f64).sum();
        libm::sqrt(squares / (self.count - 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    #[test]
    fn nothing_and_one_value_deviate_by_nothing() {
        assert_eq!((Histogram::new().std_dev_ns(), Histogram::new().mean_with_fraction_ns()), (0.0, 0.0));
        assert_eq!((of(&[12_345]).std_dev_ns(), of(&[12_345]).mean_with_fraction_ns()), (0.0, 12_345.0));
        assert_eq!(Histogram::new().quantile_of_ns(1, 2), 0);
        assert_eq!(of(&[7]).quantile_of_ns(1, 0), 0);
    }

    #[test]
    fn the_same_value_a_thousand_times_deviates_by_nothing() {
        // 1 000 001 is not the middle of its bucket.
        let histogram = of(&[1_000_001; 1000]);
        assert_eq!(histogram.std_dev_ns(), 0.0);
        assert_eq!(histogram.values_ns().collect::<Vec<_>>(), [(1_000_001, 1000)]);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        // The squares of the distances from 5 add up to 32.
        let deviation = of(&[2, 4, 4, 4, 5, 5, 7, 9]).std_dev_ns();
        assert!((deviation - libm::sqrt(32.0 / 7.0)).abs() < 1e-12, "{deviation}");
    }

    #[test]
    fn quantiles_can_be_finer_than_a_millionth() {
        let mut histogram = of(&[100]);
        for _ in 0..9_999_999 {
            histogram.record(1);
        }
        assert_eq!(histogram.quantile_of_ns(99_999_990, 100_000_000), 1);
        assert_eq!(histogram.quantile_of_ns(99_999_991, 100_000_000), 100);
    }

    proptest! {
        #[test]
        fn the_deviation_is_within_its_bound(values in proptest::collection::vec((0u32..40, any::<u64>()), 2..200)) {
            let values: Vec<u64> = values.into_iter().map(|(shift, value)| (value >> 24) >> shift).collect();
            let histogram = of(&values);
            let (n, squares) = (values.len() as f64, |value: f64| value * value);
            let mean = values.iter().map(|&value| value as f64).sum::<f64>() / n;
            let exact = libm::sqrt(values.iter().map(|&value| squares(value as f64 - mean)).sum::<f64>() / (n - 1.0));
            let root_mean_square = libm::sqrt(values.iter().map(|&value| squares(value as f64)).sum::<f64>() / (n - 1.0));
            let bound = root_mean_square / 128.0 + 1e-6 * exact;
            prop_assert!((histogram.mean_with_fraction_ns() - mean).abs() <= mean * 1e-9);
            prop_assert!((histogram.std_dev_ns() - exact).abs() <= bound, "{} for {exact}", histogram.std_dev_ns());
        }

        #[test]
        fn the_quantile_in_millionths_is_the_same(values in proptest::collection::vec(any::<u32>(), 0..100), ppm in 0u32..1_000_000) {
            let values: Vec<u64> = values.into_iter().map(u64::from).collect();
            let histogram = of(&values);
            prop_assert_eq!(histogram.quantile_ns(ppm), histogram.quantile_of_ns(u64::from(ppm) * 1000, 1_000_000_000));
        }
    }
}
