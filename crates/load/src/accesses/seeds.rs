//! Independent random numbers for each question, so that an option that asks one more does not change the others' answers.

use rand_core::{RngCore as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    /// Which direction.
    Direction = 1,
    /// Where.
    Offset,
    /// How large.
    Size,
    /// Which file.
    File,
    /// Random or sequential.
    IsRandom,
    /// Which zone.
    Zone,
    /// Where popular blocks are.
    Spread,
}

/// A seed that follows from another one and a number.
pub(super) fn derive(seed: u64, number: u64) -> u64 {
    Xoshiro256PlusPlus::seed_from_u64(seed.rotate_left(17) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64()
}

/// The seeds of one pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeds {
    seed: u64,
}

impl Seeds {
    /// Those of sequence `sequence` of a job's `seed`.
    pub(super) fn new(seed: u64, sequence: u64) -> Self {
        Self { seed: derive(seed, sequence) }
    }

    /// The seed for a question, apart for each `index` (a direction, a file).
    pub(super) fn seed(self, question: Question, index: u64) -> u64 {
        derive(derive(self.seed, question as u64), index)
    }

    /// The random numbers for a question.
    pub(super) fn numbers(self, question: Question, index: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed(question, index))
    }
}
