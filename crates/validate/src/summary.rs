//! What the rows of a report come to.

use crate::metric::Kind;
use crate::quantity::Quantity;
use crate::report::{RowReport, Verdict};

/// How far predictions may be off. Errors are in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The mean absolute error of rows that no parameter was fitted on.
    pub mean_ppm: u64,
    /// The largest error of such a row.
    pub worst_ppm: u64,
    /// The error of each phase that no parameter was fitted on.
    pub phase_ppm: u64,
    /// Rows with shorter times are small: in them the clock's resolution and single calls are seen.
    pub small_below_ns: u64,
    /// A small row that is off by no more than this counts in no percentage.
    pub small_miss_ns: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            mean_ppm: 80_000,
            worst_ppm: 250_000,
            phase_ppm: 100_000,
            small_below_ns: 2_000_000,
            small_miss_ns: 300_000,
        }
    }
}

impl Limits {
    pub(crate) fn is_small(&self, published: Quantity, predicted: Quantity) -> bool {
        let (Quantity::Ns(published), Quantity::Ns(predicted)) = (published, predicted) else { return false };
        published < self.small_below_ns && published.abs_diff(predicted) <= self.small_miss_ns
    }
}

/// A mean of absolute errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mean {
    sum_ppm: u128,
    count: u64,
}

impl Mean {
    fn of(errors: impl Iterator<Item = u64>) -> Self {
        errors
            .fold(Self::default(), |mean, ppm| Self { sum_ppm: mean.sum_ppm + u128::from(ppm), count: mean.count + 1 })
    }

    /// How many errors it is of.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// In millionths, to the nearest; `None` of no errors.
    #[must_use]
    pub fn ppm(&self) -> Option<u64> {
        let count = u128::from(self.count);
        (self.sum_ppm + count / 2).checked_div(count).and_then(|ppm| u64::try_from(ppm).ok())
    }

    fn is_within(&self, limit_ppm: u64) -> Option<bool> {
        (self.count > 0).then(|| self.sum_ppm <= u128::from(limit_ppm) * u128::from(self.count))
    }
}

/// A limit, and whether it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Of what.
    pub name: &'static str,
    /// At most so many millionths.
    pub limit_ppm: u64,
    /// What it is, if there is anything that it is of.
    pub value_ppm: Option<u64>,
    /// Whether it is kept; `None` if there is nothing that it is of.
    pub kept: Option<bool>,
}

/// How many rows, or phases, came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All.
    pub all: usize,
    /// Compared.
    pub compared: usize,
    /// Of those, the ones that parameters were fitted on.
    pub fitted: usize,
}

/// What the rows of a report come to.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Measurements.
    pub rows: Counts,
    /// Phases.
    pub phases: Counts,
    /// Small rows that count in no percentage.
    pub small: usize,
    /// Whether anything that should have run failed.
    pub failed: bool,
    /// Of rows that no parameter was fitted on.
    pub mean_unfitted: Mean,
    /// Of all rows that were compared.
    pub mean_all: Mean,
    /// The place of the row with the largest error among those that no parameter was fitted on.
    pub worst_unfitted: Option<usize>,
    /// The place of the row with the largest error of all.
    pub worst: Option<usize>,
    /// The place of the phase with the largest error of all.
    pub worst_phase: Option<usize>,
    /// The limits.
    pub limits: Vec<Limit>,
    /// What they were taken from.
    pub used: Limits,
}

impl Summary {
    pub(crate) fn of(rows: &[RowReport], used: Limits) -> Self {
        let counts = |kind: Kind| {
            let own = rows.iter().filter(|row| row.row.kind() == kind);
            let compared = own.clone().filter(|row| row.verdict == Verdict::Compared);
            Counts {
                all: own.count(),
                compared: compared.clone().count(),
                fitted: compared.filter(|row| row.fitted).count(),
            }
        };
        let errors = |kind, with_fitted: bool| {
            let counting = move |row: &RowReport| if with_fitted || !row.fitted { row.counts(kind) } else { None };
            rows.iter().enumerate().filter_map(move |(at, row)| Some((at, counting(row)?)))
        };
        let worst = |kind, with_fitted| largest(errors(kind, with_fitted));
        let mean_unfitted = Mean::of(errors(Kind::Row, false).map(|(_, ppm)| ppm));
        let worst_unfitted = worst(Kind::Row, false);
        let phase_unfitted = worst(Kind::Phase, false);
        let at_most = |worst: Option<(usize, u64)>, limit_ppm| worst.map(|(_, ppm)| ppm <= limit_ppm);
        let limits = vec![
            Limit {
                name: "mean absolute error of rows never used in a fit",
                limit_ppm: used.mean_ppm,
                value_ppm: mean_unfitted.ppm(),
                kept: mean_unfitted.is_within(used.mean_ppm),
            },
            Limit {
                name: "worst row never used in a fit",
                limit_ppm: used.worst_ppm,
                value_ppm: worst_unfitted.map(|(_, ppm)| ppm),
                kept: at_most(worst_unfitted, used.worst_ppm),
            },
            Limit {
                name: "worst phase never used in a fit",
                limit_ppm: used.phase_ppm,
                value_ppm: phase_unfitted.map(|(_, ppm)| ppm),
                kept: at_most(phase_unfitted, used.phase_ppm),
            },
        ];
        Self {
            rows: counts(Kind::Row),
            phases: counts(Kind::Phase),
            small: rows.iter().filter(|row| row.small).count(),
            failed: rows.iter().any(|row| row.verdict == Verdict::Failed),
            mean_unfitted,
            mean_all: Mean::of(errors(Kind::Row, true).map(|(_, ppm)| ppm)),
            worst_unfitted: worst_unfitted.map(|(at, _)| at),
            worst: worst(Kind::Row, true).map(|(at, _)| at),
            worst_phase: worst(Kind::Phase, true).map(|(at, _)| at),
            limits,
            used,
        }
    }

    /// Whether no limit is broken, and there was anything to hold against them.
    #[must_use]
    pub fn keeps_limits(&self) -> bool {
        self.limits.iter().all(|limit| limit.kept != Some(false))
            && self.limits.iter().any(|limit| limit.kept.is_some())
    }
}

/// The largest error, the first of several that are equally large.
fn largest(errors: impl Iterator<Item = (usize, u64)>) -> Option<(usize, u64)> {
    errors.fold(None, |worst, next| match worst {
        Some((_, ppm)) if ppm >= next.1 => worst,
        _ => Some(next),
    })
}
