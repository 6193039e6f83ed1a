//! Numbers with a fraction, kept exactly: percentiles, exponents of distributions.

use std::fmt;

use super::{Misfit, Part, Scope};

/// A number in billionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Billionths(pub u64);

impl Billionths {
    /// One.
    pub const ONE: Self = Self(1_000_000_000);

    /// A whole number.
    #[must_use]
    pub const fn whole(number: u64) -> Self {
        Self(number * Self::ONE.0)
    }
}

impl fmt::Display for Billionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / Self::ONE.0, self.0 % Self::ONE.0);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:09}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// Reads digits with at most one point, at most nine of them behind it.
///
/// # Errors
///
/// If it is anything else, or too large.
pub fn decimal(part: Part<'_>, _: &mut Scope) -> Result<Billionths, Misfit> {
    let refuse = || Misfit::new(part, "a number (1.2) with at most nine digits behind the point");
    let text = part.text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) || fraction.len() > 9 {
        return Err(refuse());
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| refuse())? };
    let fraction: u64 = format!("{fraction:0<9}").parse().map_err(|_| refuse())?;
    let billionths = whole.checked_mul(Billionths::ONE.0).and_then(|number| number.checked_add(fraction));
    billionths.map(Billionths).ok_or_else(refuse)
}

/// The percentiles that fio reports if nothing else is asked for (fio HOWTO, "Measurements and reporting",
/// percentile_list).
pub const PERCENTILES: [Billionths; 17] = {
    let mut list = [Billionths(0); 17];
    let hundredths =
        [100, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 9500, 9900, 9950, 9990, 9995, 9999];
    let mut index = 0;
    while index < list.len() {
        list[index] = Billionths(hundredths[index] * 10_000_000);
        index += 1;
    }
    list
};

/// Reads `50:99:99.9`: at most 20 percentiles above 0 and up to 100. They come out in ascending order, as fio reports them.
///
/// # Errors
///
/// If one is none, or there are too many.
pub fn percentiles(part: Part<'_>, scope: &mut Scope) -> Result<Vec<Billionths>, Misfit> {
    let mut list = Vec::new();
    for piece in part.split(':') {
        let percentile = decimal(piece, scope)?;
        if percentile == Billionths(0) || percentile > Billionths::whole(100) {
            return Err(Misfit::new(piece, "a percentile above 0 and up to 100"));
        }
        if list.len() == 20 {
            return Err(Misfit::new(piece, "at most 20 percentiles"));
        }
        list.push(percentile);
    }
    list.sort_unstable();
    Ok(list)
}
