//! Sizes and times as people write them, with one exact meaning each.
//!
//! | written | meaning |
//! |---|---|
//! | `4096`, `512B` | bytes |
//! | `4k` `4K` `4KiB`, `m`/`MiB`, `g`/`GiB`, `t`/`TiB` | powers of 1024 |
//! | `4kB` `4KB`, `MB`, `GB`, `TB` | powers of 1000 |
//! | `10ns` `10us` `10ms` `10s` `10min` `10m` `2h` | time; a number without a unit is refused |
//!
//! A fraction is taken only where it comes to whole bytes or nanoseconds (`1.5KiB` is 1536; `1.0001k` is refused).

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Why a size or a time was refused; the text says what would be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Nothing, or no digits at the start.
    #[error("`{0}` does not start with a number")]
    NoNumber(String),
    /// An unknown suffix.
    #[error("`{text}` has the unit `{unit}`; known are {known}")]
    UnknownUnit {
        /// What was given.
        text: String,
        /// Its suffix.
        unit: String,
        /// The suffixes that are taken.
        known: &'static str,
    },
    /// A time without a unit.
    #[error("`{text}` has no unit; known are {known}")]
    NoUnit {
        /// What was given.
        text: String,
        /// The suffixes that are taken.
        known: &'static str,
    },
    /// A fraction that is not a whole number of the smallest unit.
    #[error("`{0}` is not a whole number of {1}")]
    NotWhole(String, &'static str),
    /// More than 64 bits hold.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

const SIZE_UNITS: &str = "B, k/KiB, m/MiB, g/GiB, t/TiB (powers of 1024), kB/KB, MB, GB, TB (powers of 1000)";
const TIME_UNITS: &str = "ns, us, ms, s, m/min, h";

/// Reads a size in bytes.
///
/// # Errors
/// [`UnitError`] for anything but a decimal number with one of the units above.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text)?;
    let scale: u64 = match unit {
        "" | "B" | "b" => 1,
        "k" | "K" | "KiB" | "kiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        "t" | "T" | "TiB" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        other => {
            return Err(UnitError::UnknownUnit { text: text.into(), unit: other.into(), known: SIZE_UNITS });
        }
    };
    scaled(text, number, scale, "bytes")
}

/// Reads a duration in nanoseconds.
///
/// # Errors
/// [`UnitError`] for anything but a decimal number with a unit of time; a bare number other than 0 is refused, since
/// nobody can tell what it means.
pub fn parse_ns(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = split(text)?;
    let scale: u64 = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" if number.trim_matches('0').is_empty() => 1,
        "" => return Err(UnitError::NoUnit { text: text.into(), known: TIME_UNITS }),
        other => {
            return Err(UnitError::UnknownUnit { text: text.into(), unit: other.into(), known: TIME_UNITS });
        }
    };
    scaled(text, number, scale, "nanoseconds")
}

fn split(text: &str) -> Result<(&str, &str), UnitError> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(UnitError::NoNumber(text.into()));
    }
    Ok((number, unit.trim_start()))
}

fn scaled(text: &str, number: &str, scale: u64, what: &'static str) -> Result<u64, UnitError> {
    let too_large = || UnitError::TooLarge(text.into());
    let mut digits: u128 = 0;
    let mut divisor: u128 = 1;
    let mut after_point = false;
    for c in number.chars() {
        match c {
            '_' => {}
            '.' if after_point => return Err(UnitError::NoNumber(text.into())),
            '.' => after_point = true,
            c => {
                let digit = u128::from(c.to_digit(10).unwrap_or(0));
                digits = digits.checked_mul(10).and_then(|d| d.checked_add(digit)).ok_or_else(too_large)?;
                if after_point {
                    divisor = divisor.checked_mul(10).ok_or_else(too_large)?;
                }
            }
        }
    }
    let total = digits.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
    if total % divisor != 0 {
        return Err(UnitError::NotWhole(text.into(), what));
    }
    u64::try_from(total / divisor).map_err(|_| too_large())
}

/// Writes a size so that [`parse_bytes`] reads the same number back: the largest unit that divides it, 1024 before 1000.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    const BINARY: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    for (shift, unit) in BINARY {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    for (scale, unit) in [(1_000_000_000, "GB"), (1_000_000, "MB")] {
        if bytes != 0 && bytes.is_multiple_of(scale) {
            return format!("{}{unit}", bytes / scale);
        }
    }
    format!("{bytes}B")
}

/// Writes a time so that [`parse_ns`] reads the same number back: the largest unit up to seconds that divides it.
#[must_use]
pub fn format_ns(ns: u64) -> String {
    for (scale, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if ns != 0 && ns.is_multiple_of(scale) {
            return format!("{}{unit}", ns / scale);
        }
    }
    format!("{ns}ns")
}

/// The most values that a range stands for.
pub const RANGE_MAX: u64 = 1_000_000;

/// The values of a list such as `4k,16k`, `1..5` or `dio,qio`: parted at commas, with ranges written out.
///
/// `A..B` is every whole number from A to B (`1..4`), or, where both have the same unit, A and its doubles up to B
/// (`4k..64k`). What is no range stands for itself. A range of more than [`RANGE_MAX`] values, or none, does, too.
#[must_use]
pub fn value_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).flat_map(|value| range(value).unwrap_or_else(|| vec![value.into()])).collect()
}

fn range(value: &str) -> Option<Vec<String>> {
    let (first, last) = value.split_once("..")?;
    let at = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (first, first_unit) = first.split_at(at(first));
    let (last, last_unit) = last.split_at(at(last));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    if first_unit != last_unit || first > last {
        return None;
    }
    if first_unit.is_empty() {
        let count = (last - first).checked_add(1).filter(|count| *count <= RANGE_MAX)?;
        return Some((0..count).map(|nth| format!("{}", first + nth)).collect());
    }
    let is_unit = first_unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    if first == 0 || !is_unit {
        return None;
    }
    let doubles = core::iter::successors(Some(first), |value| value.checked_mul(2)).take_while(|value| *value <= last);
    Some(doubles.map(|value| format!("{value}{first_unit}")).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_out() {
        let list = |text| value_list(text).join(" ");
        assert_eq!(list("4k, 16k"), "4k 16k");
        assert_eq!(list("1..4,9"), "1 2 3 4 9");
        assert_eq!(list("4k..64k"), "4k 8k 16k 32k 64k");
        assert_eq!(list("3MHz..20MHz"), "3MHz 6MHz 12MHz");
        // What is no range is a value.
        for text in ["4..1", "1..", "..", "4k..64m", "0k..4k", "./a..b", "1..99999999"] {
            assert_eq!(list(text), text);
        }
    }
    use proptest::prelude::*;

    #[test]
    fn each_unit_has_its_exact_meaning() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("64KiB", 65536),
            ("64 KiB", 65536),
            ("10kB", 10_000),
            ("10KB", 10_000),
            ("10MB", 10_000_000),
            ("10m", 10 << 20),
            ("1.5KiB", 1536),
            ("0.5GB", 500_000_000),
            ("2g", 2 << 30),
            ("1t", 1 << 40),
            ("1_000", 1000),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for (text, ns) in [
            ("10s", 10_000_000_000),
            ("1.5s", 1_500_000_000),
            ("2min", 120_000_000_000),
            ("2m", 120_000_000_000),
            ("7us", 7000),
            ("0", 0),
        ] {
            assert_eq!(parse_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_has_no_exact_meaning_is_refused() {
        for text in ["", "k", "-1", "4q", "4Kib", "1.0001k", "1.2.3k", "99999999999999999999", "20000000t", ".5k"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        for text in ["", "10", "10S", "0.5ns", "10 parsecs"] {
            assert!(parse_ns(text).is_err(), "{text}");
        }
        assert!(parse_bytes("4q").unwrap_err().to_string_contains("KiB"));
    }

    impl UnitError {
        fn to_string_contains(&self, needle: &str) -> bool {
            format!("{self}").contains(needle)
        }
    }

    proptest! {
        #[test]
        fn sizes_round_trip(bytes: u64) {
            prop_assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
        }

        #[test]
        fn times_round_trip(ns: u64) {
            prop_assert_eq!(parse_ns(&format_ns(ns)), Ok(ns));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = parse_bytes(&text);
            let _ = parse_ns(&text);
        }
    }
}
