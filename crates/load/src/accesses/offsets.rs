//! Where random accesses go, in one file.

use std::sync::Arc;

use flashmark_core::order::{Permutation, Ranking, below};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::deck::Deck;
use super::map::BlockMap;
use super::permutation::OnceEach;
use super::seeds::{Question, Seeds};

/// What offsets are multiples of, and what has to fit behind them, for each direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) aligns: [u64; 3],
    pub(super) leasts: [u64; 3],
}

impl Grid {
    /// How many offsets there are in `bytes`.
    pub(super) const fn blocks(&self, direction: usize, bytes: u64) -> u64 {
        let (align, least) = (self.aligns[direction], self.leasts[direction]);
        if bytes < least {
            return 0;
        }
        // An alignment that is smaller than the block: the last block ends at the end.
        (bytes - least.saturating_sub(align)) / align
    }
}

/// The random numbers and decks that all files share.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    pub(super) offsets: Xoshiro256PlusPlus,
    pub(super) zones: Xoshiro256PlusPlus,
    /// For each direction, which zone is next.
    pub(super) zone_decks: Vec<Deck>,
    /// How many accesses each direction has drawn from a fixed sequence.
    pub(super) taken: [u64; 3],
}

impl Draws {
    pub(super) fn new(seeds: Seeds, zone_decks: Vec<Deck>) -> Self {
        let numbers = |question| seeds.numbers(question, 0);
        Self { offsets: numbers(Question::Offset), zones: numbers(Question::Zone), zone_decks, taken: [0; 3] }
    }

    pub(super) fn restart(&mut self, seeds: Seeds) {
        self.offsets = seeds.numbers(Question::Offset, 0);
        self.zones = seeds.numbers(Question::Zone, 0);
        self.zone_decks.iter_mut().for_each(Deck::restart);
        self.taken = [0; 3];
    }
}

/// Random offsets in one file.
#[derive(Clone, Debug)]
pub(super) enum Random {
    /// None are asked for.
    None,
    /// All blocks alike, however often they come.
    Uniform { blocks: [u64; 3] },
    /// Each block once.
    Once { order: OnceEach, align: u64 },
    /// Each block once, in pieces of various sizes.
    Mapped(Box<Mapped>),
    /// Some blocks more often than others.
    Popular(Box<Popular>),
    /// In zones of which some are met more often than others.
    Zoned { zones: Arc<[Vec<Span>; 3]>, blocks: [u64; 3] },
    /// The same blocks over and over.
    Sequence { sequence: Arc<[u32]>, stride: bool, blocks: [u64; 3] },
}

/// A zone's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Random {
    pub(super) fn restart(&mut self, seeds: Seeds, order_number: u64) {
        match self {
            Self::Once { order, .. } => order.restart(seeds.seed(Question::Offset, order_number + 1)),
            Self::Mapped(mapped) => mapped.clear(),
            // What is popular stays popular.
            Self::None | Self::Uniform { .. } | Self::Popular(_) | Self::Zoned { .. } | Self::Sequence { .. } => {}
        }
    }

    /// The next offset, from the beginning of the part in use; nothing if there is none left.
    #[inline]
    pub(super) fn next_offset(&mut self, direction: usize, grid: &Grid, draws: &mut Draws) -> Option<u64> {
        let align = grid.aligns[direction];
        match self {
            Self::None => None,
            Self::Uniform { blocks } => match blocks[direction] {
                0 => None,
                blocks => Some(below(&mut draws.offsets, blocks) * align),
            },
            Self::Once { order, align } => Some(order.next_number()? * *align),
            Self::Mapped(mapped) => mapped.next_offset(direction, &mut draws.offsets),
            Self::Popular(popular) => popular.next_offset(align, &mut draws.offsets),
            Self::Zoned { zones, blocks } => {
                let all = blocks[direction];
                let (zones, deck) = (&zones[direction], draws.zone_decks.get_mut(direction));
                let span = match deck {
                    Some(deck) if !zones.is_empty() => zones.get(deck.draw(&mut draws.zones)).copied()?,
                    _ => Span { first: 0, count: all },
                };
                // A zone of less than a block is the block it is in.
                let block = span.first + below(&mut draws.offsets, span.count.max(1));
                (all > 0).then(|| block.min(all - 1) * align)
            }
            Self::Sequence { sequence, stride, blocks } => {
                let (length, taken) = (sequence.len() as u64, draws.taken[direction]);
                let block = u64::from(*sequence.get((taken % length.max(1)) as usize)?);
                let block = if *stride { taken / length * length + block } else { block };
                draws.taken[direction] += 1;
                (block < blocks[direction]).then(|| block * align)
            }
        }
    }

    #[inline]
    pub(super) const fn is_mapped(&self) -> bool {
        matches!(self, Self::Mapped(_))
    }

    /// How many bytes an access of `bytes` bytes at `offset`, the last one told, may have; they are then taken.
    #[inline]
    pub(super) fn take(&mut self, offset: u64, bytes: u32) -> u32 {
        match self {
            Self::Mapped(mapped) => mapped.take(offset, bytes),
            _ => bytes,
        }
    }
}

/// Blocks that are met once, where accesses have various sizes.
#[derive(Clone, Debug)]
pub(super) struct Mapped {
    unit: u64,
    units: BlockMap,
    /// For each direction, where its accesses may begin; nothing if that is at any unit.
    starts: [Option<Starts>; 3],
}

#[derive(Clone, Debug)]
struct Starts {
    /// In units.
    step: u64,
    map: BlockMap,
}

impl Mapped {
    /// The map of a part of `bytes` bytes in units of `unit`, and for each of the directions `used` of where it may begin.
    pub(super) fn new(grid: &Grid, used: [bool; 3], unit: u64, bytes: u64) -> Self {
        let starts = |direction: usize| {
            let step = grid.aligns[direction] / unit;
            let map = || BlockMap::new(grid.blocks(direction, bytes));
            (used[direction] && step > 1).then(|| Starts { step, map: map() })
        };
        Self { unit, units: BlockMap::new(bytes / unit), starts: std::array::from_fn(starts) }
    }

    fn clear(&mut self) {
        self.units.clear();
        self.starts.iter_mut().flatten().for_each(|starts| starts.map.clear());
    }

    fn next_offset(&self, direction: usize, numbers: &mut Xoshiro256PlusPlus) -> Option<u64> {
        let (step, map) = match &self.starts[direction] {
            Some(starts) => (starts.step, &starts.map),
            None => (1, &self.units),
        };
        let start = map.next_free(below(numbers, map.blocks())).map(|start| start * step);
        // What is left where this direction does not begin is met in pieces.
        Some(start.or_else(|| self.units.next_free(0))? * self.unit)
    }

    fn take(&mut self, offset: u64, bytes: u32) -> u32 {
        let start = offset / self.unit;
        let free = self.units.free_run(start, u64::from(bytes).div_ceil(self.unit));
        self.units.set(start, free);
        for Starts { step, map } in self.starts.iter_mut().flatten() {
            let first = start.div_ceil(*step);
            map.set(first, (start + free).div_ceil(*step).saturating_sub(first));
        }
        (free * self.unit).min(u64::from(bytes)) as u32
    }
}

/// A law of popularity, and which blocks are popular.
#[derive(Clone, Debug)]
pub(super) struct Popular {
    law: Law,
    blocks: u64,
    unit: u64,
    spread: Permutation,
    shift: u64,
    /// The greatest offset.
    last: u64,
}

/// Which rank is drawn.
#[derive(Clone, Debug)]
pub(super) enum Law {
    /// From a table.
    Ranked(Arc<Ranking>),
    /// Gauss's, as fio has it.
    Normal(Normal),
}

impl Law {
    #[inline]
    pub(super) fn rank(&self, numbers: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Ranked(ranking) => ranking.rank(numbers),
            Self::Normal(normal) => normal.rank(numbers),
        }
    }

    /// The rank that is drawn most often.
    const fn peak(&self) -> u64 {
        match self {
            Self::Ranked(_) => 0,
            Self::Normal(normal) => normal.n / 2,
        }
    }
}

impl Popular {
    /// `blocks` (at least 1) of `unit` bytes. The most popular one is at `center` of a part of one, if given; all others are
    /// spread over the file, as they are in fio.
    pub(super) fn new(law: Law, blocks: u64, unit: u64, center: Option<f64>, seed: u64) -> Self {
        let spread = Permutation::new(blocks, seed);
        let shift = center.map_or(0, |center| {
            let wanted = ((blocks as f64 * center) as u64).min(blocks - 1);
            let peak = spread.apply(law.peak().min(blocks - 1));
            (wanted + blocks - peak) % blocks
        });
        Self { law, blocks, unit, spread, shift, last: (blocks - 1) * unit }
    }

    #[inline]
    fn next_offset(&self, align: u64, numbers: &mut Xoshiro256PlusPlus) -> Option<u64> {
        let mut block = self.spread.apply(self.law.rank(numbers)) + self.shift;
        if block >= self.blocks {
            block -= self.blocks;
        }
        let offset = block * self.unit;
        debug_assert!(offset <= self.last);
        Some(if align == self.unit { offset } else { offset / align * align })
    }
}

/// The mean of twelve even draws, and a deviation on top that is drawn evenly too: what fio calls normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normal {
    n: u64,
    deviation: u64,
}

const DRAWS: u64 = 12;

impl Normal {
    /// Over the numbers below `n` (at least 1), with a deviation in percent of them.
    pub(super) fn new(n: u64, percent: f64) -> Self {
        Self { n, deviation: ((n as f64 * percent / 100.0).ceil() as u64).min(n / 2) }
    }

    fn rank(self, numbers: &mut Xoshiro256PlusPlus) -> u64 {
        let sum: u64 = (0..DRAWS).map(|_| below(numbers, (self.n + 1).min(u64::MAX / DRAWS))).sum();
        let mean = sum.div_ceil(DRAWS).min(self.n - 1) as i64;
        if self.deviation == 0 {
            return mean as u64;
        }
        let mut deviation = below(numbers, self.deviation) as i64 - (self.deviation / 2) as i64;
        // Half as much until it stays inside.
        while !(0..self.n as i64).contains(&(mean + deviation)) {
            deviation /= 2;
        }
        (mean + deviation) as u64
    }
}
