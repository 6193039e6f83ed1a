//! Several jobs in turn, and ratios of what they did.

use std::path::Path;

use super::figures::Figures;
use super::tool::{Tool, Words};
use crate::linux::failure::Failure;
use crate::linux::rounds::{Rounds, Spread, Variant, in_turn};

/// What all of them did, round by round.
pub struct Turns {
    /// One list a job, all of the same length.
    figures: Vec<Vec<Figures>>,
}

impl Turns {
    /// Runs each tool with its words, in turn.
    ///
    /// # Errors
    /// As [`Tool::run`].
    pub fn take(rounds: u32, jobs: &[(&Tool, &Words)], group: Option<&Path>) -> Result<Self, Failure> {
        let mut variants: Vec<Variant<'_, Figures>> = Vec::new();
        for (tool, words) in jobs {
            variants.push(Box::new(move || tool.run(words, group)));
        }
        Ok(Self { figures: in_turn(rounds, &mut variants)? })
    }

    /// One figure of one job.
    pub fn of(&self, job: usize, figure: impl Fn(&Figures) -> f64) -> Spread {
        Spread::of(self.figures[job].iter().map(figure).collect())
    }

    /// A figure of job `a` over that of job `b` of the same round.
    pub fn ratio(&self, a: usize, b: usize, figure: impl Fn(&Figures) -> f64) -> Spread {
        self.values(figure).pairs(a, b, |a, b| a / b)
    }

    /// One figure of all jobs.
    pub fn values(&self, figure: impl Fn(&Figures) -> f64) -> Rounds {
        Rounds::of_values(self.figures.iter().map(|values| values.iter().map(&figure).collect()).collect())
    }
}
