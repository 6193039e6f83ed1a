//! One part of a run, for spreading it over machines.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Part K of N, counted from 1: `2/8`. The parts are contiguous, in order, together the whole, and of one size but for
/// one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    part: u32,
    parts: u32,
}

impl Shard {
    /// Which of `count` targets are its own.
    pub fn of(self, count: usize) -> Range<usize> {
        let limit = |parts: u32| (count as u128 * u128::from(parts) / u128::from(self.parts)) as usize;
        limit(self.part - 1)..limit(self.part)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

/// What is no part.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// Not two numbers.
    #[error("K/N is expected, part K of N: 2/8")]
    NotAPart,
    /// No parts at all.
    #[error("a run has at least one part: 1/1")]
    NoParts,
    /// Part 0, or one behind the last.
    #[error("of {parts} {noun}, the first is 1/{parts} and the last {parts}/{parts}", noun = if *.parts == 1 { "part" } else { "parts" })]
    Outside {
        /// How many there are.
        parts: u32,
    },
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| ShardError::NotAPart);
        let (part, parts) = text.split_once('/').ok_or(ShardError::NotAPart)?;
        match (number(part)?, number(parts)?) {
            (_, 0) => Err(ShardError::NoParts),
            (part, parts) if part == 0 || part > parts => Err(ShardError::Outside { parts }),
            (part, parts) => Ok(Self { part, parts }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole() {
        for count in [0, 1, 2, 7, 8, 9, 100, 100_000] {
            for parts in [1, 2, 3, 8, 13, 1000] {
                let mut end = 0;
                for part in 1..=parts {
                    let own = Shard { part, parts }.of(count);
                    assert_eq!(own.start, end);
                    assert!(own.len().abs_diff(count / parts as usize) <= 1, "{part}/{parts} of {count}: {own:?}");
                    end = own.end;
                }
                assert_eq!(end, count);
            }
        }
    }

    #[test]
    fn what_is_no_part_is_said() {
        assert_eq!("2/8".parse(), Ok(Shard { part: 2, parts: 8 }));
        for (text, why) in [
            ("0/8", "the first is 1/8"),
            ("9/8", "the last 8/8"),
            ("8", "K/N is expected"),
            ("a/b", "K/N is expected"),
            ("-1/8", "K/N is expected"),
            ("1/0", "at least one part"),
        ] {
            let error = text.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
