//! Times: a whole number with an optional unit, kept in microseconds as fio does (fio HOWTO, "Parameter types", time).

use super::{Misfit, Part, Scope, arithmetic};

const NEGATIVE: &str = "a time must not be negative";

fn time(part: Part<'_>, default_us: i64, expected: &str) -> Result<u64, Misfit> {
    let trimmed = part.trimmed();
    let text = trimmed.text;
    let refuse = || Misfit::new(part, expected);
    if text.starts_with('(') {
        let time_us = arithmetic::time_us(trimmed, default_us, expected)?;
        return time_us.try_into().map_err(|_| refuse().because(NEGATIVE));
    }
    if text.starts_with('-') {
        return Err(refuse().because(NEGATIVE));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| refuse())?;
    let unit = text[digits..].to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" => default_us.unsigned_abs(),
        _ if trimmed.at != part.at => {
            return Err(refuse().because("fio overlooks the unit behind a blank; remove the blank"));
        }
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ if unit.starts_with(|first: char| first.is_ascii_alphabetic()) => {
            return Err(
                refuse().because(format!("fio does not know the unit `{unit}` and would take this for {number} us"))
            );
        }
        _ => return Err(refuse().because("fio has no fractions in times and would leave the rest out")),
    };
    number.checked_mul(factor).ok_or_else(|| refuse().because("it does not fit into 64 bits of microseconds"))
}

/// A time in microseconds, given in seconds if it has no unit.
///
/// # Errors
///
/// If it is none.
pub fn seconds(part: Part<'_>, _: &mut Scope) -> Result<u64, Misfit> {
    time(part, 1_000_000, "a time (10, 500ms, 2m; seconds without a unit)")
}

/// A time in microseconds, given in microseconds if it has no unit.
///
/// # Errors
///
/// If it is none.
pub fn microseconds(part: Part<'_>, _: &mut Scope) -> Result<u64, Misfit> {
    time(part, 1, "a time (10, 500ms, 2m; microseconds without a unit)")
}

/// A time or a range of times in microseconds, given in seconds if it has no unit.
///
/// # Errors
///
/// If it is neither, or the range is the wrong way round.
pub fn seconds_range(part: Part<'_>, scope: &mut Scope) -> Result<(u64, u64), Misfit> {
    // What begins with a minus is one negative time.
    let split = if part.text.trim_start().starts_with(['(', '-']) {
        None
    } else {
        part.split_once('-').or_else(|| part.split_once(':'))
    };
    let Some((low, high)) = split else {
        let time = seconds(part, scope)?;
        return Ok((time, time));
    };
    let (low, high) = (seconds(low, scope)?, seconds(high, scope)?);
    if low > high {
        return Err(Misfit::new(part, "a range of times, the shorter one first"));
    }
    Ok((low, high))
}
