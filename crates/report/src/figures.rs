//! Numbers as people read them: three significant digits, the unit always with them.
//!
//! `MB` is 10^6 bytes and `MiB` is 2^20 bytes, here as everywhere but in the originals' own formats.

/// The unit in which rates are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    /// Megabytes a second, 10^6 bytes.
    #[default]
    MB,
    /// Mebibytes a second, 2^20 bytes.
    MiB,
}

impl RateUnit {
    /// How many bytes it stands for.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::MB => 1_000_000,
            Self::MiB => 1 << 20,
        }
    }

    /// As it is written: `MB/s` or `MiB/s`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MB => "MB/s",
            Self::MiB => "MiB/s",
        }
    }
}

/// A number with three significant digits; from 1000 on a whole number with all of its digits. Below 0.000 001 it is
/// `0`.
#[must_use]
pub fn digits(value: f64) -> String {
    // The limits lie half a last digit below the powers of ten, so that 9.996 is shown as 10.0 and not as 10.00.
    const LIMITS: [(f64, usize); 8] = [
        (99.95, 0),
        (9.995, 1),
        (0.9995, 2),
        (0.099_95, 3),
        (0.009_995, 4),
        (0.000_999_5, 5),
        (0.000_099_95, 6),
        (0.000_001, 7),
    ];
    LIMITS
        .iter()
        .find(|(limit, _)| value >= *limit)
        .map_or_else(|| "0".into(), |(_, decimals)| format!("{value:.decimals$}"))
}

/// Bytes a second over a time, in `unit`, without the unit's name; `None` where no time passed.
#[must_use]
pub fn rate_number(bytes: u64, elapsed_ns: u64, unit: RateUnit) -> Option<String> {
    (elapsed_ns > 0).then(|| digits(bytes as f64 * 1e9 / elapsed_ns as f64 / unit.bytes() as f64))
}

/// Bytes a second over a time with the unit, e.g. `112 MB/s`; `-` where no time passed.
#[must_use]
pub fn rate(bytes: u64, elapsed_ns: u64, unit: RateUnit) -> String {
    rate_number(bytes, elapsed_ns, unit).map_or_else(|| "-".into(), |number| format!("{number} {}", unit.name()))
}

/// Operations a second over a time; `-` where no time passed.
#[must_use]
pub fn per_second(count: u64, elapsed_ns: u64) -> String {
    if elapsed_ns == 0 { "-".into() } else { digits(count as f64 * 1e9 / elapsed_ns as f64) }
}

/// A time in the unit that fits, e.g. `853 ns`, `4.09 µs`, `81.2 ms`, `1.05 s`.
#[must_use]
pub fn time(ns: u64) -> String {
    if ns < 1_000 {
        return format!("{ns} ns");
    }
    for (scale, unit) in [(1e3, "µs"), (1e6, "ms")] {
        let value = ns as f64 / scale;
        if value < 999.5 {
            return format!("{} {unit}", digits(value));
        }
    }
    format!("{} s", digits(ns as f64 / 1e9))
}

/// A size: exact in powers of 1024 or 1000 where that takes no more than four digits, otherwise three significant
/// digits in powers of 1024. `4 KiB`, `5 MB`, `4.77 MiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    const BINARY: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    const DECIMAL: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    for (scale, unit) in BINARY.into_iter().chain(DECIMAL) {
        if bytes.is_multiple_of(scale) && bytes / scale < 10_000 {
            return format!("{} {unit}", bytes / scale);
        }
    }
    for (scale, unit) in BINARY {
        if bytes >= scale {
            return format!("{} {unit}", digits(bytes as f64 / scale as f64));
        }
    }
    format!("{bytes} B")
}

/// A capacity, in powers of 1000 as media are sold: three significant digits, rounded to the nearest. `15.9 GB`.
#[must_use]
pub fn capacity(bytes: u64) -> String {
    for (scale, unit) in [(1_000_000_000_000_u64, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")] {
        let value = bytes as f64 / scale as f64;
        // What would round up to 1000 of the unit below is 1.00 of this one.
        if value >= 0.9995 {
            return format!("{} {unit}", digits(value));
        }
    }
    format!("{bytes} B")
}

/// `1 stall`, `3 stalls`.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Text from a record as it may go to a terminal or into a line: control characters are shown escaped, so that neither
/// a path nor a device's name can move the cursor or break a row.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_bidi_control(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Characters that turn the direction of the text around them, and line separators that are no control characters.
const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_digits_and_no_more() {
        for (value, text) in [
            (0.0, "0"),
            (0.000_012_34, "0.0000123"),
            (0.0123, "0.0123"),
            (0.999_4, "0.999"),
            (0.999_6, "1.00"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.96, "100"),
            (112.4, "112"),
            (1234.4, "1234"),
            (5_230_000.0, "5230000"),
        ] {
            assert_eq!(digits(value), text, "{value}");
        }
    }

    #[test]
    fn the_two_megas_are_not_one() {
        assert_eq!(rate(104_857_600, 1_000_000_000, RateUnit::MB), "105 MB/s");
        assert_eq!(rate(104_857_600, 1_000_000_000, RateUnit::MiB), "100 MiB/s");
        assert_eq!(rate(1, 0, RateUnit::MB), "-");
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (4_088, "4.09 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (81_234_567, "81.2 ms"),
            (999_600_000, "1.00 s"),
            (3_600_000_000_000, "3600 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn sizes_are_exact_where_they_can_be() {
        for (bytes, text) in [
            (0, "0 B"),
            (255, "255 B"),
            (4096, "4 KiB"),
            (78_643, "76.8 KiB"),
            (5_000_000, "5 MB"),
            (4_997_120, "4880 KiB"),
            (1 << 30, "1 GiB"),
            ((1 << 30) + 1, "1.00 GiB"),
            (1001, "1001 B"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn capacities_are_rounded_to_the_nearest() {
        for (bytes, text) in [
            (999, "999 B"),
            (1_000, "1.00 kB"),
            (1_474_560, "1.47 MB"),
            (32 << 20, "33.6 MB"),
            (999_499_999, "999 MB"),
            (999_500_000, "1.00 GB"),
            (15_931_539_456, "15.9 GB"),
            (2_000_398_934_016, "2.00 TB"),
        ] {
            assert_eq!(capacity(bytes), text);
        }
    }

    #[test]
    fn a_name_cannot_write_to_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{202e}d é"), "a\\u{1b}[2Jb\\nc\\u{202e}d é");
    }

    proptest! {
        #[test]
        fn no_time_is_longer_than_its_column(ns: u64) {
            let shown = time(ns);
            let (number, unit) = shown.split_once(' ').ok_or_else(|| TestCaseError::fail(shown.clone()))?;
            let number: f64 = number.parse().map_err(|_| TestCaseError::fail(shown.clone()))?;
            if ns < 1_000_000_000_000 {
                prop_assert!(shown.chars().count() <= 7, "{shown}");
            }
            let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
            let scale = units.iter().find(|(name, _)| *name == unit).map_or(f64::NAN, |(_, scale)| *scale);
            prop_assert!((number * scale - ns as f64).abs() <= ns as f64 * 0.0051, "{shown} for {ns}");
        }
    }
}
