//! Which file is next.

use std::sync::Arc;

use flashmark_core::order::{Ranking, below};
use flashmark_fio::options::{FileService, ServiceKind};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::offsets::{Law, Normal};
use super::seeds::{Question, Seeds};

/// Each file stands for this many ranks of a distribution.
const RANKS_OF_A_FILE: u64 = 1 << 10;
/// What fio takes for the laws' parameters if none is given.
const THETA: f64 = 1.1;
const POWER: f64 = 0.2;

/// The order of files.
#[derive(Clone, Debug)]
pub(super) struct Service {
    order: Order,
    files: usize,
    /// How many accesses a file gets at a time.
    accesses: u32,
    current: Option<usize>,
    left: u32,
    numbers: Xoshiro256PlusPlus,
}

#[derive(Clone, Debug)]
enum Order {
    RoundRobin {
        next: usize,
    },
    Sequential {
        next: usize,
    },
    /// Of those that are left, in `left[..count]`.
    Random {
        left: Vec<u32>,
        count: usize,
    },
    Popular {
        law: Law,
        shift: u64,
    },
}

impl Service {
    pub(super) fn new(options: &FileService, files: usize, seeds: Seeds) -> Self {
        let ranks = files as u64 * RANKS_OF_A_FILE;
        let parameter = |default: f64| options.parameter.map_or(default, |given| given.0 as f64 / 1e9);
        let popular = |law| Order::Popular { law, shift: 0 };
        let order = match options.kind {
            _ if files == 1 => Order::RoundRobin { next: 0 },
            ServiceKind::RoundRobin => Order::RoundRobin { next: 0 },
            ServiceKind::Sequential => Order::Sequential { next: 0 },
            ServiceKind::Random => Order::Random { left: vec![0; files], count: 0 },
            ServiceKind::Zipf => popular(Law::Ranked(Arc::new(Ranking::zipf(ranks, parameter(THETA))))),
            ServiceKind::Pareto => popular(Law::Ranked(Arc::new(Ranking::pareto(ranks, parameter(POWER))))),
            ServiceKind::Normal => popular(Law::Normal(Normal::new(ranks, parameter(0.0)))),
        };
        let numbers = seeds.numbers(Question::File, 0);
        let mut service = Self { order, files, accesses: options.accesses.max(1), current: None, left: 0, numbers };
        if let Order::Popular { law: Law::Ranked(_), shift } = &mut service.order {
            // Which file is the most popular one is up to the seed, as in fio.
            *shift = below(&mut seeds.numbers(Question::Spread, 0), ranks);
        }
        service.restart(seeds);
        service
    }

    pub(super) fn restart(&mut self, seeds: Seeds) {
        self.numbers = seeds.numbers(Question::File, 0);
        (self.current, self.left) = (None, 0);
        match &mut self.order {
            Order::RoundRobin { next } | Order::Sequential { next } => *next = 0,
            Order::Random { left, count } => {
                for (file, place) in (0_u32..).zip(left.iter_mut()) {
                    *place = file;
                }
                *count = left.len();
            }
            Order::Popular { .. } => {}
        }
    }

    /// Whether a file that has been met whole begins anew instead of dropping out.
    pub(super) const fn reuses_files(&self) -> bool {
        matches!(self.order, Order::Popular { .. })
    }

    /// The file of the next access; `is_done` tells which have dropped out, and some have not.
    #[inline]
    pub(super) fn next_file(&mut self, is_done: impl Fn(usize) -> bool) -> usize {
        if let Some(current) = self.current
            && self.left > 0
            && !is_done(current)
        {
            self.left -= 1;
            return current;
        }
        let file = match &mut self.order {
            Order::RoundRobin { next } => loop {
                let file = *next;
                *next = if file + 1 < self.files { file + 1 } else { 0 };
                if !is_done(file) {
                    break file;
                }
            },
            Order::Sequential { next } => {
                while is_done(*next) && *next + 1 < self.files {
                    *next += 1;
                }
                return *next;
            }
            Order::Random { left, count } => loop {
                let place = below(&mut self.numbers, (*count).max(1) as u64) as usize;
                let file = left[place] as usize;
                if *count <= 1 || !is_done(file) {
                    break file;
                }
                *count -= 1;
                left.swap(place, *count);
            },
            Order::Popular { law, shift } => {
                let ranks = self.files as u64 * RANKS_OF_A_FILE;
                let mut file = ((law.rank(&mut self.numbers) + *shift) % ranks / RANKS_OF_A_FILE) as usize;
                // Only files without room for a single block drop out here.
                while is_done(file) {
                    file = if file + 1 < self.files { file + 1 } else { 0 };
                }
                file
            }
        };
        self.current = Some(file);
        self.left = self.accesses - 1;
        file
    }
}
