//! Which block comes next, and whether it is read or written: integers only once set up, no allocation, and the same
//! sequence again for the same seed, so that a verification can replay what a repeat wrote.

mod permutation;
mod ranking;

use rand_core::{RngCore as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::workload::Order;
pub use permutation::Permutation;
pub use ranking::Ranking;

/// The offsets of a repeat's operations, without end.
#[derive(Clone, Debug)]
pub struct Offsets {
    sequence: Sequence,
    rng: Xoshiro256PlusPlus,
    seed: u64,
    blocks: u64,
    block_bytes: u64,
    base: u64,
    next: u64,
    round: u64,
}

#[derive(Clone, Debug)]
enum Sequence {
    Sequential,
    Random,
    RandomOnce(Permutation),
    Zipf(Ranking, Permutation),
}

impl Offsets {
    /// Offsets in a region of `blocks` blocks (at least 1) of `block_bytes` each.
    #[must_use]
    pub fn new(order: Order, blocks: u64, block_bytes: u32, seed: u64) -> Self {
        let blocks = blocks.max(1);
        let sequence = match order {
            Order::Sequential => Sequence::Sequential,
            Order::Random => Sequence::Random,
            Order::RandomOnce => Sequence::RandomOnce(Permutation::new(blocks, seed)),
            Order::Zipf { theta_milli } => {
                Sequence::Zipf(Ranking::zipf(blocks, f64::from(theta_milli) / 1000.0), Permutation::new(blocks, seed))
            }
        };
        let mut offsets = Self {
            sequence,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            seed,
            blocks,
            block_bytes: u64::from(block_bytes),
            base: 0,
            next: 0,
            round: 0,
        };
        offsets.start_repeat(0, 0);
        offsets
    }

    /// Goes to the start of the sequence of a repeat; `base` is added to every offset (appending starts at the end of
    /// the file). The popular blocks of [`Order::Zipf`] are the same in every repeat.
    pub fn start_repeat(&mut self, repeat: u32, base: u64) {
        let seed = self.seed ^ (u64::from(repeat) << 32);
        self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.base = base;
        self.next = 0;
        self.round = u64::from(repeat) << 32;
        if let Sequence::RandomOnce(permutation) = &mut self.sequence {
            *permutation = Permutation::new(self.blocks, seed);
        }
    }

    /// The next offset in bytes.
    #[inline]
    pub fn next_offset(&mut self) -> u64 {
        let block = match &mut self.sequence {
            Sequence::Sequential => self.next,
            Sequence::Random => below(&mut self.rng, self.blocks),
            Sequence::RandomOnce(permutation) => permutation.apply(self.next),
            Sequence::Zipf(zipf, spread) => spread.apply(zipf.rank(&mut self.rng)),
        };
        self.next += 1;
        if self.next == self.blocks {
            self.wrap();
        }
        self.base + block * self.block_bytes
    }

    #[cold]
    fn wrap(&mut self) {
        self.next = 0;
        self.round += 1;
        if let Sequence::RandomOnce(permutation) = &mut self.sequence {
            *permutation = Permutation::new(self.blocks, self.seed ^ self.round);
        }
    }
}

/// Whether each operation reads: exactly the wanted share of every hundred operations, in random order within it.
#[derive(Clone, Debug)]
pub struct Mix {
    rng: Xoshiro256PlusPlus,
    seed: u64,
    read_percent: u8,
    reads_left: u8,
    left: u8,
}

impl Mix {
    /// A mix with `read_percent` reads in 100 operations; 0 and 100 cost nothing to ask.
    #[must_use]
    pub fn new(read_percent: u8, seed: u64) -> Self {
        let mut mix = Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            seed: seed ^ 0x6d69_7821, // apart from the seed of the offsets
            read_percent: read_percent.min(100),
            reads_left: 0,
            left: 0,
        };
        mix.start_repeat(0);
        mix
    }

    /// Goes to the start of the sequence of a repeat.
    pub fn start_repeat(&mut self, repeat: u32) {
        self.rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (u64::from(repeat) << 32));
        self.left = 0;
    }

    /// Whether the next operation reads.
    #[inline]
    pub fn next_is_read(&mut self) -> bool {
        match self.read_percent {
            0 => false,
            100 => true,
            _ => self.draw(),
        }
    }

    fn draw(&mut self) -> bool {
        if self.left == 0 {
            self.left = 100;
            self.reads_left = self.read_percent;
        }
        // Drawing without replacement from the hundred keeps the share exact.
        let reads = below(&mut self.rng, u64::from(self.left)) < u64::from(self.reads_left);
        self.left -= 1;
        if reads {
            self.reads_left -= 1;
        }
        reads
    }
}

/// A number below `bound`, uniform but for a bias of at most `bound`/2^64 (Lemire's multiplication without rejection).
#[inline]
#[must_use]
pub fn below(rng: &mut Xoshiro256PlusPlus, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, BTreeSet};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn take(offsets: &mut Offsets, n: usize) -> Vec<u64> {
        (0..n).map(|_| offsets.next_offset()).collect()
    }

    #[test]
    fn sequential_goes_round() {
        let mut offsets = Offsets::new(Order::Sequential, 3, 512, 0);
        assert_eq!(take(&mut offsets, 5), [0, 512, 1024, 0, 512]);
        offsets.start_repeat(1, 10_000);
        assert_eq!(take(&mut offsets, 2), [10_000, 10_512]);
    }

    #[test]
    fn random_is_uniform() {
        let mut offsets = Offsets::new(Order::Random, 16, 1, 7);
        let mut counts = [0_u32; 16];
        for _ in 0..16_000 {
            counts[offsets.next_offset() as usize] += 1;
        }
        // Chi-squared with 15 degrees of freedom: 37.7 is passed once in a thousand seeds; this seed is fixed.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 37.7, "{chi}");
    }

    #[test]
    fn zipf_follows_its_law() {
        let (blocks, draws) = (1000_u64, 400_000);
        for theta_milli in [500, 1000, 1200, 2500] {
            let mut offsets = Offsets::new(Order::Zipf { theta_milli }, blocks, 1, 3);
            let mut counts = BTreeMap::<u64, u32>::new();
            for _ in 0..draws {
                *counts.entry(offsets.next_offset()).or_default() += 1;
            }
            let mut by_rank: Vec<u32> = counts.into_values().collect();
            by_rank.sort_unstable_by(|a, b| b.cmp(a));
            let theta = f64::from(theta_milli) / 1000.0;
            let weight = |k: u64| libm::pow(k as f64, -theta);
            let total: f64 = (1..=blocks).map(weight).sum();
            // The ten most popular, then the first hundred together.
            for k in 1..=10 {
                let expected = f64::from(draws) * weight(k) / total;
                let got = f64::from(by_rank[k as usize - 1]);
                assert!(
                    (got - expected).abs() < 6.0 * expected.sqrt() + 30.0,
                    "theta {theta} rank {k}: {got} for {expected}"
                );
            }
            let expected: f64 = f64::from(draws) * (1..=100).map(weight).sum::<f64>() / total;
            let got: f64 = by_rank.iter().take(100).map(|&c| f64::from(c)).sum();
            assert!((got - expected).abs() < 0.03 * expected, "theta {theta}: {got} for {expected}");
        }
    }

    #[test]
    fn pareto_is_self_similar() {
        let (ranks, draws) = (100_000_u64, 400_000_u32);
        for power in [0.1, 0.2, 0.5, 0.7, 0.9] {
            let ranking = Ranking::pareto(ranks, power);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
            let first = (power * ranks as f64) as u64;
            let (mut inside, mut far_inside) = (0_u32, 0_u32);
            for _ in 0..draws {
                let rank = ranking.rank(&mut rng);
                assert!(rank < ranks);
                inside += u32::from(rank < first);
                far_inside += u32::from((rank as f64) < power * power * ranks as f64);
            }
            for (got, share) in [(inside, 1.0 - power), (far_inside, (1.0 - power) * (1.0 - power))] {
                let expected = f64::from(draws) * share;
                assert!(
                    (f64::from(got) - expected).abs() < 5.0 * expected.sqrt() + 10.0,
                    "{power}: {got} for {expected}"
                );
            }
        }
    }

    #[test]
    fn repeats_differ_and_each_can_be_replayed() {
        for order in [Order::Random, Order::RandomOnce, Order::Zipf { theta_milli: 900 }] {
            let mut offsets = Offsets::new(order, 1000, 1, 5);
            let first = take(&mut offsets, 50);
            offsets.start_repeat(1, 0);
            let second = take(&mut offsets, 50);
            assert_ne!(first, second, "{order:?}");
            offsets.start_repeat(0, 0);
            assert_eq!(take(&mut offsets, 50), first, "{order:?}");
        }
    }

    proptest! {
        #[test]
        fn random_once_covers_each_block_once(blocks in 1_u64..3000, seed: u64) {
            let mut offsets = Offsets::new(Order::RandomOnce, blocks, 4096, seed);
            for _ in 0..2 {
                let round: BTreeSet<u64> = (0..blocks).map(|_| offsets.next_offset()).collect();
                prop_assert_eq!(round.len() as u64, blocks);
                prop_assert!(round.iter().all(|o| o % 4096 == 0 && *o < blocks * 4096));
            }
        }

        #[test]
        fn offsets_stay_inside(blocks in 1_u64..1_000_000_000_000, seed: u64, theta_milli in 1_u16..=10_000) {
            for order in [Order::Random, Order::RandomOnce, Order::Sequential, Order::Zipf { theta_milli }] {
                let mut offsets = Offsets::new(order, blocks, 1, seed);
                for _ in 0..20 {
                    prop_assert!(offsets.next_offset() < blocks);
                }
            }
        }

        #[test]
        fn the_mix_is_exact(read_percent in 0_u8..=100, seed: u64) {
            let mut mix = Mix::new(read_percent, seed);
            for _ in 0..3 {
                let reads = (0..100).filter(|_| mix.next_is_read()).count();
                prop_assert_eq!(reads, usize::from(read_percent));
            }
        }
    }
}
