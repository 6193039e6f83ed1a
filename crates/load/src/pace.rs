//! How fast: when an access is meant to start, and when a job pauses to think (fio HOWTO, "I/O rate").

use flashmark_fio::options::{PaceOptions, RateProcess};
use rand_core::{RngCore as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::accesses::Direction;

/// The intended starts of a job's accesses. They follow from the rate alone, not from how long accesses took: an access that
/// comes late because those before it were slow is issued at once, and its latency from the intended start shows the wait.
#[derive(Debug)]
pub(crate) struct Pace {
    directions: [Option<Rate>; 3],
    /// Without a meaning for evenly spaced starts.
    random: Xoshiro256PlusPlus,
    poisson: bool,
}

#[derive(Clone, Copy, Debug)]
struct Rate {
    limit: Limit,
    /// What was issued since `start_ns`.
    issued: u64,
    start_ns: u64,
    /// When the next one is meant to start, for arrivals at random.
    next_ns: u64,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    BytesPerSecond(u64),
    PerSecond(u64),
}

impl Limit {
    fn ns(self, issued: u64) -> u64 {
        let (Self::BytesPerSecond(rate) | Self::PerSecond(rate)) = self;
        let ns = u128::from(issued) * 1_000_000_000 / u128::from(rate.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    fn cost(self, bytes: u32) -> u64 {
        match self {
            Self::BytesPerSecond(_) => u64::from(bytes),
            Self::PerSecond(_) => 1,
        }
    }
}

impl Pace {
    /// Nothing if no direction has a rate.
    pub(crate) fn new(options: &PaceOptions, seed: u64) -> Option<Self> {
        let limit = |bytes: u64, iops: u32| match (bytes, iops) {
            (0, 0) => None,
            // A rate in accesses goes before one in bytes, as in fio.
            (bytes, 0) => Some(Limit::BytesPerSecond(bytes)),
            (_, iops) => Some(Limit::PerSecond(u64::from(iops))),
        };
        let (bytes, iops) = (&options.rate, &options.rate_iops);
        let limits = [limit(bytes.read, iops.read), limit(bytes.write, iops.write), limit(bytes.trim, iops.trim)];
        if limits.iter().all(Option::is_none) {
            return None;
        }
        let rate = |limit| Rate { limit, issued: 0, start_ns: 0, next_ns: 0 };
        Some(Self {
            directions: limits.map(|limit| limit.map(rate)),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            poisson: options.rate_process == RateProcess::Poisson,
        })
    }

    /// Rates count from here.
    pub(crate) fn start(&mut self, now_ns: u64) {
        for rate in self.directions.iter_mut().flatten() {
            *rate = Rate { issued: 0, start_ns: now_ns, next_ns: now_ns, ..*rate };
        }
    }

    /// Time passed in which nothing was to be issued: a pause to think.
    pub(crate) fn pause(&mut self, ns: u64) {
        for rate in self.directions.iter_mut().flatten() {
            rate.start_ns = rate.start_ns.saturating_add(ns);
            rate.next_ns = rate.next_ns.saturating_add(ns);
        }
    }

    /// When the next access of a direction is meant to start; nothing if it has no rate.
    #[inline]
    pub(crate) fn intended_ns(&self, direction: Direction) -> Option<u64> {
        let rate = self.directions[direction as usize].as_ref()?;
        Some(if self.poisson { rate.next_ns } else { rate.start_ns.saturating_add(rate.limit.ns(rate.issued)) })
    }

    /// An access was issued.
    #[inline]
    pub(crate) fn issued(&mut self, direction: Direction, bytes: u32) {
        let Some(rate) = &mut self.directions[direction as usize] else { return };
        let cost = rate.limit.cost(bytes);
        rate.issued = rate.issued.saturating_add(cost);
        if self.poisson {
            // The gaps of a Poisson process: exponential, with the mean that the rate gives.
            let uniform = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            let gap = -(1.0 - uniform).ln() * rate.limit.ns(cost) as f64;
            rate.next_ns = rate.next_ns.saturating_add(gap as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashmark_fio::value::triple::Triple;

    fn options(rate: u64, iops: u32) -> PaceOptions {
        PaceOptions { rate: Triple::all(rate), rate_iops: Triple::all(iops), ..PaceOptions::default() }
    }

    #[test]
    fn starts_are_even_and_do_not_wait_for_slow_accesses() {
        let mut pace = Pace::new(&options(0, 1000), 1).unwrap();
        pace.start(5_000);
        for index in 0..10_u64 {
            assert_eq!(pace.intended_ns(Direction::Write), Some(5_000 + index * 1_000_000));
            pace.issued(Direction::Write, 4096);
        }
        pace.pause(7);
        assert_eq!(pace.intended_ns(Direction::Write), Some(10_005_007));
        assert_eq!(pace.intended_ns(Direction::Read), Some(5_007));
    }

    #[test]
    fn bytes_count_where_the_rate_is_in_bytes() {
        let mut pace = Pace::new(&options(1_000_000, 0), 1).unwrap();
        pace.issued(Direction::Read, 500_000);
        assert_eq!(pace.intended_ns(Direction::Read), Some(500_000_000));
        assert!(Pace::new(&options(0, 0), 1).is_none());
    }

    #[test]
    fn random_arrivals_have_the_rates_mean() {
        let poisson = PaceOptions { rate_process: RateProcess::Poisson, ..options(0, 1000) };
        let mut pace = Pace::new(&poisson, 7).unwrap();
        let mut gaps = Vec::new();
        let mut last = 0;
        for _ in 0..100_000 {
            pace.issued(Direction::Read, 1);
            let next = pace.intended_ns(Direction::Read).unwrap();
            gaps.push(next - last);
            last = next;
        }
        let mean = last / 100_000;
        assert!((990_000..1_010_000).contains(&mean), "{mean}");
        // Of exponential gaps, 1 - 1/e are shorter than the mean.
        let shorter = gaps.iter().filter(|gap| **gap < mean).count();
        assert!((62_700..63_700).contains(&shorter), "{shorter}");
    }
}
