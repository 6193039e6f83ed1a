//! Expressions in parentheses (fio HOWTO, "Job file parameters": anywhere a numeric value is required).
//!
//! The precedences are those of fio's `exp/expression-parser.y`, where a unit binds less than `*` and more than `+`: in
//! `(4*1k)` it stands for the product. fio has 31 bits for a number, and for a result without a unit; what does not fit is
//! refused here, and so is a fraction that fio would lose on the way.

use super::{Misfit, Part};

const DEEPEST: u32 = 64;

/// What units may stand in an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Units {
    Bytes,
    Time,
}

/// A value as fio carries it: an integer, and a real number beside it.
#[derive(Clone, Copy)]
struct Number {
    integer: i64,
    real: f64,
    has_real: bool,
}

struct Parser<'a> {
    part: Part<'a>,
    at: usize,
    units: Units,
    minus: bool,
    expected: &'a str,
    unit_seen: bool,
    real_seen: bool,
    depth: u32,
}

/// The value of an expression of sizes or counts. `minus` is whether fio lets a `-` through to it.
pub(super) fn bytes(part: Part<'_>, minus: bool, expected: &str) -> Result<i128, Misfit> {
    let (number, unit_seen) = evaluate(part, Units::Bytes, minus, expected)?;
    if !unit_seen {
        small(part, number, expected)?;
    }
    Ok(i128::from(number))
}

/// The value of an expression of times, in microseconds; without a unit, what it is in is `default_us`.
pub(super) fn time_us(part: Part<'_>, default_us: i64, expected: &str) -> Result<i64, Misfit> {
    let (number, unit_seen) = evaluate(part, Units::Time, true, expected)?;
    let number = if unit_seen {
        number
    } else {
        let number = number.checked_mul(default_us).ok_or_else(|| Misfit::new(part, expected))?;
        small(part, number, expected)?;
        number
    };
    if number % default_us != 0 {
        return Err(Misfit::new(part, expected).because(format!(
            "it is {number} microseconds, and fio would cut it to whole seconds; write it as `{number}us`"
        )));
    }
    Ok(number)
}

fn small(part: Part<'_>, number: i64, expected: &str) -> Result<(), Misfit> {
    if i32::try_from(number).is_ok() {
        return Ok(());
    }
    Err(Misfit::new(part, expected).because(format!(
        "it is {number}, and fio has 31 bits for an expression without a unit; give one of its numbers a unit"
    )))
}

fn evaluate(part: Part<'_>, units: Units, minus: bool, expected: &str) -> Result<(i64, bool), Misfit> {
    let mut parser = Parser { part, at: 0, units, minus, expected, unit_seen: false, real_seen: false, depth: 0 };
    let number = parser.expression(0)?;
    if parser.peek().is_some() {
        return Err(parser.refuse("an operator or the end of the expression"));
    }
    if parser.real_seen && number.integer as f64 != number.real.trunc() {
        return Err(Misfit::new(part, expected)
            .because(format!("fio loses a fraction on the way and would take it for {}", number.integer)));
    }
    Ok((number.integer, parser.unit_seen))
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.part.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        while matches!(self.rest().as_bytes().first(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.rest().as_bytes().first().copied()
    }

    fn refuse(&self, expected: &str) -> Misfit {
        Misfit::new(self.part.after(self.at), expected)
    }

    fn overflow(&self) -> Misfit {
        Misfit::new(self.part, self.expected).because("it does not fit into 64 bits")
    }

    /// An expression whose operators bind at least as strongly as `least`.
    fn expression(&mut self, least: u8) -> Result<Number, Misfit> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.refuse("a simpler expression"));
        }
        let mut left = self.operand()?;
        while let Some(symbol) = self.peek() {
            let (strength, right) = match symbol {
                b'+' | b'-' => (1, 2),
                b'*' | b'/' => (3, 4),
                b'^' => (4, 4),
                b'%' => (5, 6),
                b')' => break,
                _ => (2, 0),
            };
            if strength < least {
                break;
            }
            left = if right == 0 {
                self.unit(left)?
            } else {
                if symbol == b'-' && !self.minus {
                    return Err(self
                        .refuse("another operator")
                        .because("fio cuts this value in two at a `-` before it calculates"));
                }
                self.at += 1;
                let operand = self.expression(right)?;
                self.calculate(symbol, left, operand)?
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Number, Misfit> {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                let inner = self.expression(0)?;
                if self.peek() != Some(b')') {
                    return Err(self.refuse("`)`"));
                }
                self.at += 1;
                Ok(inner)
            }
            Some(b'-') if self.minus => {
                self.at += 1;
                let inner = self.expression(6)?;
                Ok(Number {
                    integer: inner.integer.checked_neg().ok_or_else(|| self.overflow())?,
                    real: -inner.real,
                    ..inner
                })
            }
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Number, Misfit> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let whole = |number: Option<i32>| {
            number.map(|number| Number { integer: number.into(), real: number.into(), has_real: false })
        };
        let small = "a number of at most 2147483647";
        let (number, length) = if let Some(hexadecimal) = rest.strip_prefix("0x").filter(|_| digits == 1) {
            let length = hexadecimal.bytes().take_while(u8::is_ascii_hexdigit).count();
            (whole(i32::from_str_radix(&hexadecimal[..length], 16).ok()), length + 2)
        } else if rest[digits..].starts_with('.') {
            let fraction = rest[digits + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let length = digits + 1 + fraction;
            let real = rest[..length].parse().ok().filter(|_| fraction > 0);
            self.real_seen = true;
            (real.map(|real: f64| Number { integer: real as i64, real, has_real: true }), length)
        } else if digits == 0 {
            return Err(self.refuse("a number or `(`"));
        } else {
            (whole(rest[..digits].parse().ok()), digits)
        };
        let number = number.ok_or_else(|| self.refuse(small))?;
        self.at += length;
        Ok(number)
    }

    fn unit(&mut self, left: Number) -> Result<Number, Misfit> {
        let length = self.rest().bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = self.rest()[..length].to_ascii_lowercase();
        let (factor, real): (i64, bool) = match (unit.as_str(), self.units) {
            ("k" | "kb", Units::Bytes) => (1 << 10, false),
            ("m" | "mb", Units::Bytes) => (1 << 20, false),
            ("g" | "gb", Units::Bytes) => (1 << 30, false),
            ("t" | "tb", Units::Bytes) => (1 << 40, false),
            ("p" | "pb", Units::Bytes) => (1 << 50, false),
            ("kib", Units::Bytes) => (1_000, false),
            ("mib", Units::Bytes) => (1_000_000, false),
            ("gib", Units::Bytes) => (1_000_000_000, false),
            ("us", Units::Time) => (1, true),
            ("ms", Units::Time) => (1_000, true),
            ("s", Units::Time) => (1_000_000, false),
            ("m", Units::Time) => (60_000_000, false),
            ("h", Units::Time) => (3_600_000_000, false),
            ("d", Units::Time) => (86_400_000_000, false),
            (_, Units::Bytes) => return Err(self.refuse("an operator or a unit (k, m, g, t, p)")),
            (_, Units::Time) => return Err(self.refuse("an operator or a unit (us, ms, s, m, h, d)")),
        };
        self.at += length;
        self.unit_seen = true;
        let product = |integer: i64| integer.checked_mul(factor).ok_or_else(|| self.overflow());
        if left.has_real || real {
            let integer = product(left.real as i64)?;
            return Ok(Number { integer, real: left.real * factor as f64, has_real: left.has_real });
        }
        let integer = product(left.integer)?;
        Ok(Number { integer, real: integer as f64, has_real: false })
    }

    fn calculate(&self, symbol: u8, left: Number, right: Number) -> Result<Number, Misfit> {
        let reals = left.has_real || right.has_real;
        let real = match symbol {
            b'+' => left.real + right.real,
            b'-' => left.real - right.real,
            b'*' => left.real * right.real,
            b'/' => left.real / right.real,
            b'^' => left.real.powf(right.real),
            _ => 0.0,
        };
        let zero = || Misfit::new(self.part, self.expected).because("it divides by zero");
        let integer = match symbol {
            b'/' | b'%' if right.integer == 0 => return Err(zero()),
            b'%' if reals => return Err(Misfit::new(self.part, self.expected).because("`%` takes whole numbers")),
            b'%' => left.integer.checked_rem(right.integer),
            _ if reals => (real.abs() < 9e18).then_some(real as i64),
            b'+' => left.integer.checked_add(right.integer),
            b'-' => left.integer.checked_sub(right.integer),
            b'*' => left.integer.checked_mul(right.integer),
            b'/' => left.integer.checked_div(right.integer),
            _ => u32::try_from(right.integer).ok().and_then(|power| left.integer.checked_pow(power)),
        };
        let integer = integer.ok_or_else(|| self.overflow())?;
        let real = if symbol == b'%' { integer as f64 } else { real };
        Ok(Number { integer, real, has_real: left.has_real })
    }
}
