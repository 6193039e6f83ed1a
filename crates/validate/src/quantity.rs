//! Published values: decimal numbers with a unit, read exactly.

use std::fmt;

/// A decimal number that is not negative, exactly as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    decimals: u32,
}

/// The most digits that a number may have.
const DIGITS_MAX: usize = 24;

impl Decimal {
    /// Reads digits with at most one point among them, e.g. `96.610`.
    ///
    /// # Errors
    /// What is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) {
            return Err(format!("{text:?} is no number: digits are expected, with a point before decimals (96.610)"));
        }
        let digits = format!("{whole}{fraction}");
        match digits.parse() {
            Ok(number) if digits.len() <= DIGITS_MAX => Ok(Self { digits: number, decimals: fraction.len() as u32 }),
            _ => Err(format!("{text} has more than {DIGITS_MAX} digits")),
        }
    }

    /// The number times `scale`, if that is whole and fits.
    fn scaled(self, scale: u64) -> Option<u64> {
        let divisor = 10_u128.checked_pow(self.decimals)?;
        let product = self.digits.checked_mul(u128::from(scale))?;
        if product % divisor != 0 {
            return None;
        }
        u64::try_from(product / divisor).ok()
    }
}

/// A unit of time or of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of so many nanoseconds.
    Time(u64),
    /// Of so many bytes a second.
    Rate(u64),
}

/// How units are written in the column `unit`, the first of each being the one that is printed.
const UNITS: &[(&str, Unit)] = &[
    ("ns", Unit::Time(1)),
    ("us", Unit::Time(1_000)),
    ("ms", Unit::Time(1_000_000)),
    ("s", Unit::Time(1_000_000_000)),
    ("B/s", Unit::Rate(1)),
    ("kB/s", Unit::Rate(1_000)),
    ("MB/s", Unit::Rate(1_000_000)),
    ("KiB/s", Unit::Rate(1 << 10)),
    ("MiB/s", Unit::Rate(1 << 20)),
    ("µs", Unit::Time(1_000)),
    ("KB/s", Unit::Rate(1_000)),
];

impl Unit {
    /// The unit of a name, as in the column `unit`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        UNITS.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
    }

    /// The names that are known.
    pub(crate) fn names() -> String {
        UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// A number of this unit.
    ///
    /// # Errors
    /// Why it is none: 0, too large, or finer than a nanosecond or a thousandth of a byte a second.
    pub fn of(self, number: Decimal) -> Result<Quantity, String> {
        let (quantity, finest) = match self {
            Self::Time(ns) => (number.scaled(ns).map(Quantity::Ns), "a nanosecond"),
            Self::Rate(bytes) => {
                (number.scaled(bytes * 1000).map(Quantity::MilliBytesPerS), "a thousandth of a byte a second")
            }
        };
        match quantity {
            Some(quantity) if quantity.number() > 0 => Ok(quantity),
            Some(_) => Err("it is 0, which nothing can be compared with".to_owned()),
            None => Err(format!("it is too large, or finer than {finest}")),
        }
    }

    /// A quantity in this unit with three decimals, without the unit's name; in its own smallest unit if it is of the
    /// other kind.
    #[must_use]
    pub fn show(self, quantity: Quantity) -> String {
        let (scale, number) = match (self, quantity) {
            (Self::Time(scale), Quantity::Ns(number)) => (u128::from(scale), number),
            (Self::Rate(scale), Quantity::MilliBytesPerS(number)) => (u128::from(scale) * 1000, number),
            (_, Quantity::Ns(number)) => (1, number),
            (_, Quantity::MilliBytesPerS(number)) => (1000, number),
        };
        let milli = (u128::from(number) * 1000 + scale / 2) / scale;
        format!("{}.{:03}", milli / 1000, milli % 1000)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = UNITS.iter().find(|(_, unit)| unit == self).map(|(name, _)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

/// What is published and predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time in nanoseconds.
    Ns(u64),
    /// A rate in thousandths of bytes a second.
    MilliBytesPerS(u64),
}

impl Quantity {
    /// In the smallest unit of its kind.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Ns(number) | Self::MilliBytesPerS(number) => number,
        }
    }

    /// The rate of so many bytes in a time, to the nearest thousandth; `None` for no time.
    #[must_use]
    pub fn rate(bytes: u64, ns: u64) -> Option<Self> {
        let milli = (u128::from(bytes) * 1_000_000_000_000 + u128::from(ns) / 2).checked_div(u128::from(ns))?;
        u64::try_from(milli).ok().map(Self::MilliBytesPerS)
    }

    /// How far a prediction is from this published quantity, in millionths of it, to the nearest; positive if more is
    /// predicted. `None` if the two are of different kinds or the published one is 0.
    #[must_use]
    pub fn error_ppm(self, predicted: Self) -> Option<i64> {
        if std::mem::discriminant(&self) != std::mem::discriminant(&predicted) || self.number() == 0 {
            return None;
        }
        let published = i128::from(self.number());
        let scaled = (i128::from(predicted.number()) - published) * 1_000_000;
        let half = if scaled < 0 { -published } else { published } / 2;
        Some(i64::try_from((scaled + half) / published).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(text: &str) -> Result<Quantity, String> {
        Unit::Time(1_000_000).of(Decimal::parse(text)?)
    }

    #[test]
    fn numbers_are_exact() {
        assert_eq!(ms("96.610"), Ok(Quantity::Ns(96_610_000)));
        assert_eq!(ms("0.000001"), Ok(Quantity::Ns(1)));
        assert_eq!(ms("498610"), Ok(Quantity::Ns(498_610_000_000)));
        let rate = |text: &str, unit: &str| Unit::named(unit).unwrap().of(Decimal::parse(text).unwrap());
        assert_eq!(rate("220.8", "KiB/s"), Ok(Quantity::MilliBytesPerS(226_099_200)));
        assert_eq!(rate("957.67", "kB/s"), Ok(Quantity::MilliBytesPerS(957_670_000)));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-1", "1e3", "1.2.3", "1,5", ".5", "5.", "0x10", "12 ", "9999999999999999999999999"] {
            assert!(Decimal::parse(text).is_err(), "{text}");
        }
        for text in ["0", "0.000", "0.0000001", "99999999999999999999"] {
            assert!(ms(text).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_are_signed_and_rounded_to_the_nearest_millionth() {
        let error = |published, predicted| Quantity::Ns(published).error_ppm(Quantity::Ns(predicted));
        assert_eq!(error(1000, 1100), Some(100_000));
        assert_eq!(error(1000, 900), Some(-100_000));
        assert_eq!(error(3, 4), Some(333_333));
        assert_eq!(error(3, 5), Some(666_667));
        assert_eq!(error(3, 1), Some(-666_667));
        assert_eq!(error(0, 1), None);
        assert_eq!(Quantity::Ns(1).error_ppm(Quantity::MilliBytesPerS(1)), None);
        assert_eq!(error(1, u64::MAX), Some(i64::MAX));
    }

    #[test]
    fn a_rate_is_bytes_over_time() {
        assert_eq!(Quantity::rate(1024, 1_000_000_000), Some(Quantity::MilliBytesPerS(1_024_000)));
        assert_eq!(Quantity::rate(1, 3_000_000_000), Some(Quantity::MilliBytesPerS(333)));
        assert_eq!(Quantity::rate(1, 0), None);
    }

    #[test]
    fn quantities_are_shown_in_a_unit() {
        assert_eq!(Unit::Time(1_000_000).show(Quantity::Ns(96_610_400)), "96.610");
        assert_eq!(Unit::Time(1_000_000).show(Quantity::Ns(96_610_500)), "96.611");
        assert_eq!(Unit::Rate(1024).show(Quantity::MilliBytesPerS(226_099_200)), "220.800");
    }

    proptest! {
        #[test]
        fn whole_nanoseconds_survive(ns in 1_u64..) {
            let text = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
            prop_assert_eq!(ms(&text), Ok(Quantity::Ns(ns)));
        }

        #[test]
        fn no_text_panics(text in ".{0,30}") {
            let _ = ms(&text);
        }
    }
}
