//! Sizes and counts: a whole number with an optional unit (fio HOWTO, "Parameter types", int).

use std::fmt;

use super::{KbBase, Misfit, Part, Scope, arithmetic};

const SIZE: &str = "a size (4096, 4k, 1g)";
const COUNT: &str = "a whole number";

/// A size, or a part of the file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Percent, at most 100.
    Percent(u8),
}

impl Default for Amount {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

impl Amount {
    /// In bytes, of something that has `whole_bytes`.
    #[must_use]
    pub fn of(self, whole_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (u128::from(whole_bytes) * u128::from(percent) / 100) as u64,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// What a number and its unit come to.
enum Quantity {
    Number(i128),
    Percent(u64),
}

/// Reads a number with its unit, which may be signed.
fn quantity(part: Part<'_>, scope: &mut Scope, expected: &str, minus: bool) -> Result<Quantity, Misfit> {
    let trimmed = part.trimmed();
    let text = trimmed.text;
    let refuse = || Misfit::new(part, expected);
    if text.is_empty() {
        return Err(refuse());
    }
    if text.starts_with('(') {
        return arithmetic::bytes(trimmed, minus, expected).map(Quantity::Number);
    }
    let (negative, unsigned) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let sign = if negative { -1 } else { 1 };
    let hexadecimal = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    if let Some(digits) = hexadecimal {
        let number = i64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with(['+', '-']));
        let number = number.ok_or_else(|| refuse().because("hexadecimal numbers have no unit"))?;
        return Ok(Quantity::Number(sign * i128::from(number)));
    }
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = unsigned[..digits].parse().map_err(|_| refuse())?;
    let unit = &unsigned[digits..];
    if unit.is_empty() {
        return Ok(Quantity::Number(sign * i128::from(number)));
    }
    if unit.starts_with('.') {
        return Err(refuse().because(format!("fio has no fractions in sizes and would take it for {number}")));
    }
    if trimmed.at != part.at {
        return Err(refuse().because(format!(
            "fio overlooks the unit behind a blank and would take it for {number}; remove the blank"
        )));
    }
    if unit == "%" && !negative {
        return number.try_into().map(Quantity::Percent).map_err(|_| refuse());
    }
    let Some(factor) = unit_factor(unit, scope.kb_base) else {
        if unit == "z" {
            return Err(Misfit::unsupported(part, "zoned block devices are not supported; give the size in bytes"));
        }
        return Err(
            refuse().because(format!("`{unit}` is no unit, and fio would take this for {number} or leave it out"))
        );
    };
    let total = sign * i128::from(number) * i128::from(factor);
    if let Some(remark) = remark(text, unit, total, scope.kb_base) {
        scope.remarks.push(remark);
    }
    Ok(Quantity::Number(total))
}

/// How many bytes a unit is; `__get_mult_bytes` of fio's `parse.c`.
fn unit_factor(unit: &str, kb_base: KbBase) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    if unit == "b" {
        return Some(1);
    }
    let power = match unit.as_bytes().first()? {
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        b'p' => 5,
        _ => return None,
    };
    let (plain, other): (u64, u64) = match kb_base {
        KbBase::Binary => (1024, 1000),
        KbBase::Decimal => (1000, 1024),
    };
    match &unit[1..] {
        "" | "b" | "i" => Some(plain.pow(power)),
        "ib" => Some(other.pow(power)),
        _ => None,
    }
}

/// What deserves a remark about a unit that means something else elsewhere.
fn remark(text: &str, unit: &str, total: i128, kb_base: KbBase) -> Option<String> {
    let lower = unit.to_ascii_lowercase();
    let says = match (lower.get(1..)?, kb_base) {
        ("ib", KbBase::Binary) => format!("is a power of 1000 with kb_base=1024, the default; write `{}`", &lower[..1]),
        ("i", KbBase::Decimal) => "is a power of 1000 in fio, whatever its manual says; write the `b` too".to_owned(),
        _ => return None,
    };
    Some(format!("`{text}` is {total} bytes: `{unit}` {says}"))
}

fn unsigned(part: Part<'_>, scope: &mut Scope, expected: &str, minus: bool) -> Result<u64, Misfit> {
    match quantity(part, scope, expected, minus)? {
        Quantity::Number(number) => not_negative(part, number, expected),
        Quantity::Percent(_) => Err(Misfit::new(part, expected).because("percents are not taken here")),
    }
}

fn not_negative(part: Part<'_>, number: i128, expected: &str) -> Result<u64, Misfit> {
    u64::try_from(number).map_err(|_| match number {
        ..0 => Misfit::new(part, expected).because("it must not be negative"),
        _ => Misfit::new(part, expected),
    })
}

/// A size in bytes.
///
/// # Errors
///
/// If it is none.
pub fn bytes(part: Part<'_>, scope: &mut Scope) -> Result<u64, Misfit> {
    unsigned(part, scope, SIZE, false)
}

/// A size in bytes that is not nothing.
///
/// # Errors
///
/// If it is none, or zero.
pub fn some_bytes(part: Part<'_>, scope: &mut Scope) -> Result<u64, Misfit> {
    match bytes(part, scope)? {
        0 => Err(Misfit::new(part, "a size of at least one byte")),
        size => Ok(size),
    }
}

/// A difference of bytes, which may be negative.
pub(crate) fn signed_bytes(part: Part<'_>, scope: &mut Scope) -> Result<i64, Misfit> {
    match quantity(part, scope, SIZE, false)? {
        Quantity::Number(number) => i64::try_from(number).map_err(|_| Misfit::new(part, SIZE)),
        Quantity::Percent(_) => Err(Misfit::new(part, SIZE).because("percents are not taken here")),
    }
}

/// A size in bytes, or percent.
///
/// # Errors
///
/// If it is neither, or more than 100 percent.
pub fn amount(part: Part<'_>, scope: &mut Scope) -> Result<Amount, Misfit> {
    const AMOUNT: &str = "a size (4096, 4k, 1g) or a part (20%)";
    match quantity(part, scope, AMOUNT, false)? {
        Quantity::Number(number) => not_negative(part, number, AMOUNT).map(Amount::Bytes),
        Quantity::Percent(percent @ 0..=100) => Ok(Amount::Percent(percent as u8)),
        Quantity::Percent(_) => Err(Misfit::new(part, "at most 100%")),
    }
}

/// A whole number of at least `least` and at most `most`. It may have a unit (`1k` is 1024), as in fio.
pub fn count(least: u64, most: u64) -> impl Fn(Part<'_>, &mut Scope) -> Result<u64, Misfit> {
    move |part, scope| {
        let number = match quantity(part, scope, COUNT, true)? {
            Quantity::Number(number) => u64::try_from(number).ok(),
            Quantity::Percent(_) => {
                return Err(Misfit::new(part, COUNT).because("percents are not taken here"));
            }
        };
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            let expected = match (least, most) {
                (_, u64::MAX) => format!("a whole number of at least {least}"),
                _ => format!("a whole number of {least} to {most}"),
            };
            Misfit::new(part, expected)
        })
    }
}

/// [`count`] for what has 32 bits.
pub fn count32(least: u32, most: u32) -> impl Fn(Part<'_>, &mut Scope) -> Result<u32, Misfit> {
    let read = count(u64::from(least), u64::from(most));
    move |part, scope| Ok(read(part, scope)?.try_into().unwrap_or(most))
}

/// Percent without its sign, as fio's percentage options have it.
///
/// # Errors
///
/// If it is no number of 0 to 100.
pub fn percent(part: Part<'_>, scope: &mut Scope) -> Result<u8, Misfit> {
    let number = count(0, 100)(part, scope)?;
    Ok(number.try_into().unwrap_or(100))
}

/// A range of sizes, `LOW-HIGH` or `LOW:HIGH`; swapped if they are the other way round.
///
/// # Errors
///
/// If it is none.
pub fn range(part: Part<'_>, scope: &mut Scope) -> Result<(u64, u64), Misfit> {
    let split = part.split_once('-').or_else(|| part.split_once(':'));
    let (low, high) = split.ok_or_else(|| Misfit::new(part, "a range of sizes (1k-4k)"))?;
    let (low, high) = (some_bytes(low, scope)?, some_bytes(high, scope)?);
    Ok((low.min(high), low.max(high)))
}

/// A size, or a range of sizes.
///
/// # Errors
///
/// If it is neither.
pub fn size_or_range(part: Part<'_>, scope: &mut Scope) -> Result<(u64, u64), Misfit> {
    if !part.text.starts_with('(') && part.text.contains(['-', ':']) {
        return range(part, scope);
    }
    let size = some_bytes(part, scope)?;
    Ok((size, size))
}
