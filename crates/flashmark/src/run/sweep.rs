//! Sweeps: several values of a key, each combination of them a run of its own.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use flashmark_core::units::value_list;

/// The most targets that a run takes.
pub const TARGETS_MAX: usize = 100_000;

/// A key and the values it takes one after the other: `fatfs.cluster=4k,16k`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// A suite key, a parameter of the suite, or a key of simulated boards.
    pub key: String,
    /// At least one, no two alike.
    pub values: Vec<String>,
    /// The values as they were given, which may be ranges.
    list: String,
}

/// What is no sweep.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// No `=`, or nothing on one side of it.
    #[error("KEY=VALUE,VALUE is expected: fatfs.cluster=4k,16k")]
    NotASweep,
    /// Nothing between two commas.
    #[error("a value is missing: KEY=VALUE,VALUE has one on each side of a comma")]
    NoValue,
    /// Two dots between numbers that are no range.
    #[error(
        "{0} is no range: A..B counts from A up to B, or doubles A up to B where both have the same unit (1..50, 4k..64k), \
         a million values at most"
    )]
    NoRange(String),
    /// The same twice.
    #[error("{0} is there twice: give each value once")]
    Twice(String),
}

impl FromStr for Sweep {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let (key, list) = text.split_once('=').ok_or(SweepError::NotASweep)?;
        let (key, list) = (key.trim(), list.trim());
        if key.is_empty() || list.is_empty() {
            return Err(SweepError::NotASweep);
        }
        let mut values: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for value in value_list(list) {
            if value.is_empty() {
                return Err(SweepError::NoValue);
            }
            if value.contains("..") && value.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(SweepError::NoRange(value));
            }
            if !seen.insert(value.clone()) {
                return Err(SweepError::Twice(value));
            }
            values.push(value);
        }
        let list = list.split(',').map(str::trim).collect::<Vec<_>>().join(",");
        Ok(Self { key: key.to_owned(), values, list })
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.list)
    }
}

/// How many combinations of their values there are; 1 without sweeps.
pub fn combination_count(sweeps: &[Sweep]) -> u128 {
    sweeps.iter().fold(1, |count, sweep| count.saturating_mul(sweep.values.len() as u128))
}

/// Every combination of their values, the last sweep's changing fastest; one empty one without sweeps.
pub fn combinations<'a>(sweeps: &'a [Sweep]) -> Vec<Vec<(&'a str, &'a str)>> {
    sweeps.iter().fold(vec![Vec::new()], |before, sweep| {
        let with = |one: &[(&'a str, &'a str)], value: &'a str| [one, &[(sweep.key.as_str(), value)]].concat();
        before.iter().flat_map(|one| sweep.values.iter().map(|value| with(one, value)).collect::<Vec<_>>()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(text: &str) -> Sweep {
        text.parse().unwrap()
    }

    #[test]
    fn sweeps_multiply() {
        let sweeps = [sweep("fatfs.cluster=4k, 16k"), sweep("chip=a,b,c")];
        let shown: Vec<String> = combinations(&sweeps).iter().map(|one| format!("{}{}", one[0].1, one[1].1)).collect();
        assert_eq!(shown, ["4ka", "4kb", "4kc", "16ka", "16kb", "16kc"]);
        assert_eq!(combination_count(&sweeps), 6);
        assert_eq!(combinations(&[]), [vec![]]);
        assert_eq!(sweeps[0].to_string(), "fatfs.cluster=4k,16k");
        let range = sweep("board.seed=1..3");
        assert_eq!((range.values.len(), range.to_string().as_str()), (3, "board.seed=1..3"));
    }

    #[test]
    fn what_is_no_sweep_is_said() {
        for (text, why) in [
            ("chip", "KEY=VALUE,VALUE is expected"),
            ("=a", "KEY=VALUE,VALUE is expected"),
            ("chip=", "KEY=VALUE,VALUE is expected"),
            ("chip=a,,b", "a value is missing"),
            ("chip=a,", "a value is missing"),
            ("chip=a,b,a", "a is there twice"),
            ("fatfs.cluster=64k..4k", "64k..4k is no range"),
            ("partition.size=256k..2M", "no range"),
            ("board.seed=1..100000000", "no range"),
        ] {
            let error = text.parse::<Sweep>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
