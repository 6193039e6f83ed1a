//! Numbers with a prefix: `55.6MiB/s` (fio's `lib/num2str.c`).

use crate::options::{ReportOptions, UnitBase};
use crate::value::KbBase;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing that is named.
    None,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Bits a second; the number itself is of bytes.
    BitsPerSecond,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::BitsPerSecond => "bit/s",
        }
    }
}

/// `number` in at most `characters` digits and point, with a decimal prefix or a binary one.
///
/// The number is divided by 1000 or 1024 until its whole part has room; what is left of the room holds a point and digits
/// of the last remainder alone, rounded. So 4 characters are up to `9999`, then `10.0k`.
pub(super) fn number(number: u64, characters: u32, binary: bool, unit: Unit) -> String {
    const DECIMAL: [&str; 8] = ["", "k", "M", "G", "T", "P", "E", "Z"];
    const BINARY: [&str; 8] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi"];
    let (thousand, prefixes) = if binary { (1024_u128, BINARY) } else { (1000, DECIMAL) };
    let room = characters as usize;
    let digits = |value: u128| value.to_string().len();
    let mut value = if unit == Unit::BitsPerSecond { u128::from(number) * 8 } else { u128::from(number) };
    let mut remainder = None;
    let mut prefix = 0;
    while digits(value) > room && prefix + 1 < prefixes.len() {
        remainder = Some(value % thousand);
        value /= thousand;
        prefix += 1;
    }
    let end = format!("{}{}", prefixes[prefix], unit.name());
    let Some(remainder) = remainder else { return format!("{value}{end}") };
    let decimals = room.saturating_sub(digits(value) + 1);
    if decimals == 0 {
        return format!("{}{end}", value + u128::from(remainder >= thousand / 2));
    }
    let fraction = format!("{:.decimals$}", remainder as f64 / thousand as f64);
    // A remainder that is rounded up to a whole one adds to the number, though it may then need a digit more.
    let value = value + u128::from(fraction.starts_with('1'));
    format!("{value}{}{end}", &fraction[1..])
}

/// How a job wants its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// `significant_figures`.
    pub(super) characters: u32,
    /// Whether `kb_base` is 1024.
    pub(super) binary: bool,
    /// Whether rates are in bits.
    pub(super) in_bits: bool,
}

impl Style {
    pub(super) fn of(options: &ReportOptions) -> Self {
        Self {
            characters: options.significant_figures,
            binary: options.kb_base == KbBase::Binary,
            in_bits: options.unit_base == UnitBase::Bits,
        }
    }

    /// A count.
    pub(super) fn count(self, count: u64) -> String {
        number(count, self.characters, false, Unit::None)
    }

    /// An amount of bytes with the prefixes that are asked for, and with the others.
    pub(super) fn bytes(self, bytes: u64) -> [String; 2] {
        [self.binary, !self.binary].map(|binary| number(bytes, self.characters, binary, Unit::Bytes))
    }

    /// A rate, likewise.
    pub(super) fn rate(self, bytes_per_s: u64) -> [String; 2] {
        let unit = if self.in_bits { Unit::BitsPerSecond } else { Unit::BytesPerSecond };
        [self.binary, !self.binary].map(|binary| number(bytes_per_s, self.characters, binary, unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_shortened_as_fio_does() {
        for (value, binary, unit, text) in [
            (0, false, Unit::None, "0"),
            (9999, false, Unit::None, "9999"),
            (10_000, false, Unit::None, "10.0k"),
            (14_231, false, Unit::None, "14.2k"),
            (56_927, false, Unit::None, "56.9k"),
            (999_950, false, Unit::None, "1000k"),
            (58_293_797, true, Unit::BytesPerSecond, "55.6MiB/s"),
            (58_293_797, false, Unit::BytesPerSecond, "58.3MB/s"),
            (838_860_800, true, Unit::BytesPerSecond, "800MiB/s"),
            (838_860_800, false, Unit::BytesPerSecond, "839MB/s"),
            (4_022_272, true, Unit::Bytes, "3928KiB"),
            (4_194_304, true, Unit::Bytes, "4096KiB"),
            (4_194_304, false, Unit::Bytes, "4194kB"),
            (65_536, true, Unit::Bytes, "64.0KiB"),
            (4096, true, Unit::Bytes, "4096B"),
            (17_609_365_913, true, Unit::Bytes, "16.4GiB"),
            (1_048_575, true, Unit::BitsPerSecond, "8192Kibit/s"),
            (u64::MAX, false, Unit::BitsPerSecond, "148Ebit/s"),
        ] {
            assert_eq!(number(value, 4, binary, unit), text, "{value}");
        }
        assert_eq!(number(1_459_385, 6, false, Unit::None), "1459.4k");
        assert_eq!(number(123_843, 6, false, Unit::None), "123843");
        assert_eq!(number(12_345_678, 6, false, Unit::None), "12346k");
        assert_eq!(number(1_500, 1, false, Unit::None), "2k");
        assert_eq!(number(1_234_567, 10, true, Unit::Bytes), "1234567B");
    }

    proptest! {
        #[test]
        fn a_number_is_never_far_off(value in any::<u64>(), characters in 4u32..=10, binary in any::<bool>()) {
            let text = number(value, characters, binary, Unit::None);
            let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
            let shown: f64 = text[..split].parse().unwrap();
            let index = ["", "k", "M", "G", "T", "P", "E", "Z"].iter()
                .position(|prefix| text[split..].trim_end_matches('i').eq_ignore_ascii_case(prefix)).unwrap();
            let scale = if binary { 1024f64 } else { 1000f64 }.powi(index as i32);
            let off = (shown * scale - value as f64).abs();
            prop_assert!(off <= value as f64 * 0.006 + 1.0, "{text} for {value}");
        }
    }
}
