//! The results of one part.

use std::ops::RangeInclusive;

use crate::linux::report::{Cell, Promise, Skipped, Table};
use crate::linux::rounds::Spread;

/// The results of one part.
#[derive(Debug, Default)]
pub struct Section {
    pub tables: Vec<Table>,
    pub promises: Vec<Promise>,
    pub skipped: Vec<Skipped>,
}

impl Section {
    /// Of a part that cannot be measured at all.
    pub fn skip(what: &str, why: impl Into<String>) -> Self {
        let mut section = Self::default();
        section.leave_out(what, why);
        section
    }

    /// Appends another part's.
    pub fn add(&mut self, other: Self) {
        self.tables.extend(other.tables);
        self.promises.extend(other.promises);
        self.skipped.extend(other.skipped);
    }

    /// Notes what is not measured.
    pub fn leave_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.skipped.push(Skipped { what: what.into(), why: why.into() });
    }

    /// Promises that something is at least so many times something else.
    pub fn at_least(&mut self, what: impl Into<String>, found: Spread, limit: f64) {
        self.promise(what, found, limit..=f64::INFINITY, "times");
    }

    /// Promises that something is at most so much.
    pub fn at_most(&mut self, what: impl Into<String>, found: Spread, limit: f64, unit: &'static str) {
        self.promise(what, found, f64::NEG_INFINITY..=limit, unit);
    }

    /// Promises that something lies in a range.
    pub fn promise(&mut self, what: impl Into<String>, found: Spread, limits: RangeInclusive<f64>, unit: &'static str) {
        self.promises.push(Promise { what: what.into(), found, limits, unit });
    }
}

/// A cell of a figure that a tool may not tell.
pub fn number(value: f64, decimals: usize) -> Cell {
    if value.is_finite() { Cell::Number(value, decimals) } else { Cell::None }
}

/// Three cells: the median and the quartiles.
pub fn spread(found: Spread, decimals: usize) -> [Cell; 3] {
    [found.median, found.low, found.high].map(|value| number(value, decimals))
}
