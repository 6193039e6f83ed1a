//! The values of a board's settings: quantities with a unit and a source.

use flashmark_core::units::{parse_bytes, parse_ns};

use super::error::Place;

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word or a path.
    Text,
    /// One of these.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number without a unit.
    Count,
    /// A size in bytes.
    Bytes,
    /// A time.
    Time,
    /// A frequency in whole hertz.
    Frequency,
    /// Work of the processor: in cycles, which scale with its clock, or in time, which does not.
    Work,
}

impl Kind {
    /// The values, for people.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a name or a path".into(),
            Self::Choice(words) => words.join(", "),
            Self::Flag => "true, false".into(),
            Self::Count => "a whole number".into(),
            Self::Bytes => "a size (4096, 4KiB, 2MiB)".into(),
            Self::Time => "a time (20us, 45ms)".into(),
            Self::Frequency => "a frequency (80MHz)".into(),
            Self::Work => "work of the processor (760 cycles, or a time: 5us)".into(),
        }
    }
}

/// A setting's value as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Number and unit, or a word.
    pub text: String,
    /// Where the value comes from: a data sheet, a source file, `fit: …`, or the command line.
    pub source: String,
    /// Where it stands.
    pub place: Place,
}

/// Work of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Thousandths of a cycle.
    MilliCycles(u64),
    /// Picoseconds.
    Ps(u64),
}

impl Work {
    /// Its time in picoseconds on a processor of this clock.
    #[must_use]
    pub fn ps(self, clock_hz: u64) -> u64 {
        match self {
            Self::Ps(ps) => ps,
            Self::MilliCycles(cycles) => {
                let ps = u128::from(cycles) * 1_000_000_000 / u128::from(clock_hz.max(1));
                u64::try_from(ps).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Reads a frequency in hertz.
pub fn parse_hz(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit.to_ascii_lowercase().as_str() {
        "hz" => 1,
        "khz" => 1_000,
        "mhz" => 1_000_000,
        "" => return Err("a frequency needs its unit: Hz, kHz or MHz".into()),
        other => return Err(format!("{other} is no unit of frequency: Hz, kHz, MHz")),
    };
    match scaled(number.trim(), scale) {
        Some(hz) if hz > 0 => Ok(hz),
        _ => Err("a frequency above 0 in whole hertz is expected, such as 80MHz".into()),
    }
}

/// Reads work of the processor.
pub fn parse_work(text: &str) -> Result<Work, String> {
    let number = text.trim().strip_suffix("cycles").or_else(|| text.trim().strip_suffix("cycle"));
    match number {
        Some(number) => match scaled(number.trim(), 1000) {
            Some(cycles) => Ok(Work::MilliCycles(cycles)),
            None => Err("a number of cycles is expected, such as 760 cycles".into()),
        },
        None => {
            let ns = parse_ns(text).map_err(|error| format!("{error}; or cycles: 760cycles"))?;
            Ok(Work::Ps(ns.saturating_mul(1000)))
        }
    }
}

/// A decimal number times `scale`, if that is whole.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 12 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let denominator = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let numerator = whole.parse::<u128>().ok()? * denominator + fraction.parse::<u128>().unwrap_or(0);
    let product = numerator.checked_mul(u128::from(scale))?;
    (product % denominator == 0).then(|| u64::try_from(product / denominator).ok())?
}

/// The most that a time or a piece of work may be: an hour, so that no sum of them runs over.
const TIME_MAX_NS: u64 = 3_600_000_000_000;
/// The most work for one thing: a second, or as many cycles.
const WORK_MAX_PS: u64 = 1_000_000_000_000;
/// The most of anything that is counted.
const COUNT_MAX: u64 = u32::MAX as u64;

fn at_most<T: PartialOrd>(value: T, most: T, text: &str) -> Result<(), String> {
    if value > most { Err(format!("at most {text} is expected")) } else { Ok(()) }
}

/// Whether a value is of its kind; the reason if not.
pub fn check(kind: Kind, text: &str) -> Result<(), String> {
    match kind {
        Kind::Text if text.is_empty() => Err("it is empty".into()),
        Kind::Text => Ok(()),
        Kind::Choice(words) if words.contains(&text) => Ok(()),
        Kind::Choice(words) => Err(format!("one of {} is expected", words.join(", "))),
        Kind::Flag => parse_flag(text).map(|_| ()),
        Kind::Count => at_most(parse_count(text)?, COUNT_MAX, "4294967295"),
        Kind::Bytes => parse_bytes(text).map(|_| ()).map_err(|error| error.to_string()),
        Kind::Time => at_most(parse_ns(text).map_err(|error| error.to_string())?, TIME_MAX_NS, "1 h"),
        Kind::Frequency => at_most(parse_hz(text)?, 1_000_000_000_000, "1 THz"),
        // The slowest clock there can be makes as many seconds of cycles as it has hertz less.
        Kind::Work => match parse_work(text)? {
            Work::Ps(ps) => at_most(ps, WORK_MAX_PS, "1 s"),
            Work::MilliCycles(cycles) => at_most(cycles, 1_000_000_000_000, "1000000000 cycles"),
        },
    }
}

/// Reads a flag.
pub fn parse_flag(text: &str) -> Result<bool, String> {
    match text {
        "true" | "on" | "yes" => Ok(true),
        "false" | "off" | "no" => Ok(false),
        _ => Err("true or false is expected".into()),
    }
}

/// Reads a whole number; `0x` makes it hexadecimal.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "a whole number is expected".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_without_bounds() {
        for (kind, text) in [
            (Kind::Work, "2s"),
            (Kind::Work, "2000000000 cycles"),
            (Kind::Time, "2h"),
            (Kind::Count, "4294967296"),
            (Kind::Frequency, "99999999999MHz"),
        ] {
            assert!(check(kind, text).unwrap_err().contains("at most"), "{text}");
        }
        assert!(check(Kind::Work, "1s").is_ok() && check(Kind::Time, "1h").is_ok());
    }

    #[test]
    fn quantities_are_exact() {
        assert_eq!(parse_hz("80 MHz"), Ok(80_000_000));
        assert_eq!(parse_hz("26.667MHz"), Ok(26_667_000));
        assert!(parse_hz("80").is_err() && parse_hz("0Hz").is_err() && parse_hz("1 GHz").is_err());
        assert_eq!(parse_work("760 cycles"), Ok(Work::MilliCycles(760_000)));
        assert_eq!(parse_work("0.25cycles"), Ok(Work::MilliCycles(250)));
        assert_eq!(parse_work("5us").map(|work| work.ps(1)), Ok(5_000_000));
        assert_eq!(Work::MilliCycles(1_000).ps(160_000_000), 6_250);
        assert!(parse_work("5").is_err() && parse_work("x cycles").is_err());
        assert_eq!(parse_count("0x10000"), Ok(65_536));
    }
}
