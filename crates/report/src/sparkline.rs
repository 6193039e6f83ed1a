//! A latency distribution in one line of text.
//!
//! All lines of one output share one logarithmic range, so that they can be compared by eye: a bar further right is
//! slower. Heights are relative to the row's own tallest bar; a step that holds anything at all shows, so that one
//! stall among a million operations is seen.

use flashmark_core::histogram::Histogram;

use crate::figures;

/// How many characters a line has.
pub(crate) const STEPS: usize = 12;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The common range, whole decades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    low_ns: u64,
    high_ns: u64,
}

impl Range {
    /// The decades that hold all values from the shortest to the longest of each pair, in nanoseconds; `None` without any.
    pub(crate) fn over(ends_ns: impl Iterator<Item = (u64, u64)>) -> Option<Self> {
        let (mut min_ns, mut max_ns) = (u64::MAX, 0);
        for (shortest_ns, longest_ns) in ends_ns {
            min_ns = min_ns.min(shortest_ns);
            max_ns = max_ns.max(longest_ns);
        }
        if min_ns > max_ns {
            return None;
        }
        let low_ns = 10_u64.pow(min_ns.max(1).ilog10());
        let mut high_ns = low_ns.saturating_mul(10);
        while high_ns < max_ns && high_ns < u64::MAX {
            high_ns = high_ns.saturating_mul(10);
        }
        Some(Self { low_ns, high_ns })
    }

    /// The range in words, e.g. `1 µs to 100 ms`.
    pub(crate) fn describe(self) -> String {
        format!("{} to {}", whole_decade(self.low_ns), whole_decade(self.high_ns))
    }

    /// One line of [`STEPS`] characters; all spaces for an empty histogram.
    pub(crate) fn line(self, histogram: &Histogram) -> String {
        let mut steps = [0_u64; STEPS];
        for bucket in histogram.filled() {
            // The bucket's middle, but no value that was never seen.
            let ns = (bucket.low_ns + bucket.width_ns / 2).clamp(histogram.min_ns(), histogram.max_ns());
            if let Some(step) = steps.get_mut(self.step(ns)) {
                *step += bucket.count;
            }
        }
        let tallest = steps.iter().copied().max().unwrap_or(0);
        steps.iter().map(|&count| bar(count, tallest)).collect()
    }

    fn step(self, ns: u64) -> usize {
        let (low, high) = ((self.low_ns as f64).log10(), (self.high_ns as f64).log10());
        let part = ((ns.max(1) as f64).log10() - low) / (high - low);
        // The cast saturates, so a value outside of the range lands in the outermost step.
        ((part * STEPS as f64) as usize).min(STEPS - 1)
    }
}

/// A power of ten in words; [`figures::time`] would write 1 ms as `1.00 ms`.
fn whole_decade(ns: u64) -> String {
    for (scale, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")] {
        if ns >= scale && ns.is_multiple_of(scale) {
            return format!("{} {unit}", ns / scale);
        }
    }
    figures::time(ns)
}

fn bar(count: u64, tallest: u64) -> char {
    if count == 0 {
        return ' ';
    }
    let height = (count as f64 / tallest as f64 * BARS.len() as f64).ceil() as usize;
    BARS[height.clamp(1, BARS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        for &(ns, count) in values {
            (0..count).for_each(|_| histogram.record(ns));
        }
        histogram
    }

    fn over(histograms: &[&Histogram]) -> Option<Range> {
        Range::over(histograms.iter().map(|histogram| (histogram.min_ns(), histogram.max_ns())))
    }

    #[test]
    fn bars_stand_where_the_values_are() {
        let fast = histogram(&[(1_500, 80), (2_500, 40), (9_000, 1)]);
        let slow = histogram(&[(90_000_000, 3)]);
        let range = over(&[&fast, &slow]).unwrap();
        assert_eq!(range.describe(), "1 µs to 100 ms");
        // 5 decades in 12 steps: 2.4 steps a decade.
        assert_eq!(range.line(&fast), "█ ▁         ");
        assert_eq!(range.line(&slow), "           █");
    }

    #[test]
    fn one_among_a_million_shows() {
        let rare = histogram(&[(1_000, 100_000), (1_000_000, 1)]);
        let range = over(&[&rare]).unwrap();
        assert_eq!(range.line(&rare), "█          ▁");
    }

    #[test]
    fn the_ends_of_the_clock_are_no_trouble() {
        let ends = histogram(&[(0, 1), (u64::MAX, 1)]);
        let range = over(&[&ends]).unwrap();
        assert!(range.line(&ends).starts_with('█'));
        assert_eq!(range.line(&ends).matches('█').count(), 2);
        assert_eq!(Range::over(std::iter::empty()), None);
        let same = histogram(&[(1_000, 5)]);
        let range = over(&[&same]).unwrap();
        assert_eq!(range.describe(), "1 µs to 10 µs");
        assert_eq!(range.line(&same), "█           ");
    }
}
