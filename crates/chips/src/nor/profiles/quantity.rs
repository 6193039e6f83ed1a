//! Numbers with units and sources.

use std::format;
use std::string::{String, ToString};

use serde::Deserialize;
use toml::Spanned;

use super::read::Fault;

/// A number as TOML has it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Whole(i64),
    Decimal(f64),
}

impl core::fmt::Display for Number {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Whole(number) => write!(f, "{number}"),
            Self::Decimal(number) => write!(f, "{number}"),
        }
    }
}

/// `{ value = 45, unit = "ms", source = "..." }`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quantity {
    pub value: Spanned<Number>,
    pub unit: Spanned<String>,
    pub source: Spanned<String>,
}

/// `{ typical = 45, max = 400, unit = "ms", source = "..." }`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Span {
    pub typical: Spanned<Number>,
    pub max: Spanned<Number>,
    pub unit: Spanned<String>,
    pub source: Spanned<String>,
}

/// `{ value = "sr2-bit1", source = "..." }`: a word or a truth.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice<T> {
    pub value: Spanned<T>,
    pub source: Spanned<String>,
}

/// What a number measures: its units, each with its size in the smallest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimension {
    what: &'static str,
    units: &'static [(&'static str, u64)],
}

/// Times, in nanoseconds.
pub(super) const TIME: Dimension =
    Dimension { what: "time", units: &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)] };
/// Sizes, in bytes.
pub(super) const SIZE: Dimension = Dimension { what: "size", units: &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)] };
/// Clocks, in hertz.
pub(super) const CLOCK: Dimension =
    Dimension { what: "clock", units: &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000)] };
/// Shares, of 1000.
pub(super) const SHARE: Dimension = Dimension { what: "share", units: &[("permille", 1), ("%", 10)] };
/// Counts.
pub(super) const COUNT: Dimension = Dimension { what: "count", units: &[("cycles", 1), ("registers", 1)] };

impl Dimension {
    /// The number in the smallest unit, rounded to it.
    pub fn value(self, number: &Spanned<Number>, unit: &Spanned<String>) -> Result<u64, Fault> {
        let Some((_, size)) = self.units.iter().find(|(name, _)| name == unit.get_ref()) else {
            let known: std::vec::Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
            let reason = format!("'{}' is no unit of {}: use {}", unit.get_ref(), self.what, known.join(", "));
            return Err(Fault::at(unit.span(), reason));
        };
        let value = match *number.get_ref() {
            Number::Whole(whole) => u64::try_from(whole).ok().and_then(|whole| whole.checked_mul(*size)),
            Number::Decimal(decimal) => {
                let scaled = (decimal * *size as f64).round();
                (0.0..9.0e18).contains(&scaled).then_some(scaled as u64)
            }
        };
        value.ok_or_else(|| Fault::at(number.span(), format!("a {} cannot be {}", self.what, number.get_ref())))
    }

    /// As [`Self::value`], for a number of few bits.
    pub fn small<T: TryFrom<u64>>(self, number: &Spanned<Number>, unit: &Spanned<String>) -> Result<T, Fault> {
        let value = self.value(number, unit)?;
        let reason = || format!("{} {} is too much", number.get_ref(), unit.get_ref());
        T::try_from(value).map_err(|_| Fault::at(number.span(), reason()))
    }
}

/// A source has to be named.
pub(super) fn source(text: &Spanned<String>) -> Result<String, Fault> {
    match text.get_ref().trim() {
        "" => Err(Fault::at(text.span(), "the source is empty: say where the number comes from".to_string())),
        text => Ok(text.to_string()),
    }
}
