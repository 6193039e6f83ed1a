//! Products over parameters: `$target-size * 1.2`, `$tries * 16KiB`.
//!
//! An expression is exact: numbers are fractions, and only the final result is cut down to an integer, as a C cast to
//! `size_t` does it. For the expressions of the originals (`65536 * 1.2`, `65536 / 1.2`) that gives what their double
//! arithmetic gives; a test compares the two.

use std::collections::BTreeMap;

use flashmark_core::units::parse_bytes;

use crate::nearest::nearest;
use crate::values::Misfit;

/// The parameters' values.
pub(crate) type Scope = BTreeMap<String, u64>;

/// Whether `text` is an expression rather than a plain number.
pub(crate) fn is_expression(text: &str) -> bool {
    text.contains(['$', '*', '/'])
}

/// Whether the expression `text` uses the parameter `name`.
pub(crate) fn uses(text: &str, name: &str) -> bool {
    text.split(['*', '/']).any(|term| term.trim().strip_prefix('$') == Some(name))
}

/// The value of `text`, cut down to an integer.
///
/// # Errors
/// [`Misfit`] for a term that is neither a number nor a known parameter, for a division by 0, and for a result (or an
/// intermediate one) that is too large.
pub(crate) fn evaluate(text: &str, scope: &Scope) -> Result<u64, Misfit> {
    let mut result = Fraction { over: 1, under: 1 };
    let mut rest = text;
    let mut divide = false;
    loop {
        let end = rest.find(['*', '/']).unwrap_or(rest.len());
        let (term, after) = rest.split_at(end);
        let term = Fraction::of_term(term.trim(), scope)?;
        let next = if divide { result.divided_by(term) } else { result.times(term) };
        result = next.ok_or_else(|| match term.over {
            0 => Misfit::new(format!("`{text}` divides by 0")),
            _ => Misfit::new(format!("`{text}` is too large")),
        })?;
        match after.chars().next() {
            None => break,
            Some(operator) => {
                divide = operator == '/';
                rest = after.get(operator.len_utf8()..).unwrap_or_default();
            }
        }
    }
    u64::try_from(result.over / result.under).map_err(|_| Misfit::new(format!("`{text}` is too large")))
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug)]
struct Fraction {
    over: u128,
    under: u128,
}

impl Fraction {
    fn new(over: u128, under: u128) -> Option<Self> {
        let divisor = greatest_common_divisor(over, under);
        Some(Self { over: over.checked_div(divisor)?, under: under.checked_div(divisor).filter(|under| *under > 0)? })
    }

    fn times(self, other: Self) -> Option<Self> {
        // Lowest terms across first, so that only a result too large is too large.
        let (a, b) = (Self::new(self.over, other.under)?, Self::new(other.over, self.under)?);
        Self::new(a.over.checked_mul(b.over)?, a.under.checked_mul(b.under)?)
    }

    fn divided_by(self, other: Self) -> Option<Self> {
        if other.over == 0 {
            return None;
        }
        self.times(Self { over: other.under, under: other.over })
    }

    fn of_term(term: &str, scope: &Scope) -> Result<Self, Misfit> {
        if let Some(name) = term.strip_prefix('$') {
            return match scope.get(name) {
                Some(value) => Ok(Self { over: u128::from(*value), under: 1 }),
                None => Err(unknown_param(name, scope)),
            };
        }
        if let Some(decimal) = decimal(term) {
            return Ok(decimal);
        }
        parse_bytes(term).map(|bytes| Self { over: u128::from(bytes), under: 1 }).map_err(|error| {
            let nearest = scope.contains_key(term).then(|| format!("${term}"));
            Misfit { why: format!("{error}; a term is a number, a size or a $parameter"), nearest }
        })
    }
}

/// `12`, `1.2`.
pub(crate) fn decimal_parts(text: &str) -> Option<(u128, u128)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || (part.is_empty() && text.contains('.')) {
        return None;
    }
    let under = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
    let part = if part.is_empty() { 0 } else { part.parse::<u128>().ok()? };
    let over = whole.parse::<u128>().ok()?.checked_mul(under)?.checked_add(part)?;
    Some((over, under))
}

fn decimal(text: &str) -> Option<Fraction> {
    decimal_parts(text).and_then(|(over, under)| Fraction::new(over, under))
}

fn unknown_param(name: &str, scope: &Scope) -> Misfit {
    let known = match scope.len() {
        0 => "there are no parameters here".to_owned(),
        _ => format!("there are {}", scope.keys().map(|name| format!("${name}")).collect::<Vec<_>>().join(", ")),
    };
    let nearest = nearest(name, scope.keys().map(String::as_str)).map(|name| format!("${name}"));
    Misfit { why: format!("there is no parameter `${name}`; {known}"), nearest }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scope(target_size: u64) -> Scope {
        [("target-size".to_owned(), target_size), ("tries".to_owned(), 10)].into()
    }

    fn value(text: &str) -> Result<u64, String> {
        evaluate(text, &scope(65_536)).map_err(|misfit| misfit.why)
    }

    #[test]
    fn the_originals_sizes_come_out() {
        assert_eq!(value("$target-size"), Ok(65_536));
        assert_eq!(value("$target-size * 1.2"), Ok(78_643));
        assert_eq!(value("$target-size / 1.2"), Ok(54_613));
        assert_eq!(value("$tries * $target-size"), Ok(655_360));
        assert_eq!(value("$tries*32KiB"), Ok(327_680));
        assert_eq!(value("7 / 2 * 2"), Ok(7), "only the result is cut down");
    }

    #[test]
    fn what_has_no_value_is_refused() {
        for (text, why) in [
            ("$tires", "there is no parameter `$tires`; there are $target-size, $tries"),
            ("$tries / 0", "`$tries / 0` divides by 0"),
            ("$tries * 99999999999999999999", "`$tries * 99999999999999999999` is too large"),
            ("340282366920938463463374607431768211455 * 340282366920938463463374607431768211455", "too large"),
            ("$tries *", "does not start with a number"),
            ("$tries * 1.2.3", "does not start with a number"),
            ("$tries - 1", "no parameter `$tries - 1`"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let misfit = evaluate("tries * 4k", &scope(1)).unwrap_err();
        assert_eq!(misfit.nearest.as_deref(), Some("$tries"));
    }

    proptest! {
        #[test]
        fn it_agrees_with_c_doubles(size in 307_u64..(1 << 40)) {
            let scope = scope(size);
            prop_assert_eq!(evaluate("$target-size * 1.2", &scope).ok(), Some((size as f64 * 1.2) as u64));
            prop_assert_eq!(evaluate("$target-size / 1.2", &scope).ok(), Some((size as f64 / 1.2) as u64));
        }

        #[test]
        fn no_text_panics(text in r"[$a-z0-9.*/ -]{0,40}|.{0,20}") {
            let _ = evaluate(&text, &scope(65_536));
        }
    }
}
