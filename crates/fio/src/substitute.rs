//! `${NAME}` and keywords in the values of job files (fio HOWTO, "Environment variables" and "Reserved keywords").

use std::borrow::Cow;

use crate::surroundings::Surroundings;

/// `value` with variables and keywords replaced, and calculated if it is nothing but arithmetic with keywords. A variable
/// that is not set is replaced by nothing.
///
/// # Errors
///
/// What was to be calculated and why it cannot be.
pub(crate) fn substitute<'a>(
    value: &'a str,
    surroundings: &dyn Surroundings,
) -> Result<Cow<'a, str>, (String, &'static str)> {
    if !value.contains('$') {
        return Ok(Cow::Borrowed(value));
    }
    let mut text = variables(value, surroundings);
    let mut keywords = false;
    for (word, number) in [
        ("$pagesize", surroundings.page_bytes()),
        ("$mb_memory", surroundings.memory_mib()),
        ("$ncpus", surroundings.processors()),
    ] {
        if text.contains(word) {
            text = text.replace(word, &number.to_string());
            keywords = true;
        }
    }
    let arithmetic = |character: char| character.is_ascii_digit() || "+-*/%^() \t".contains(character);
    if keywords && text.contains(['+', '-', '*', '/', '%', '^']) && text.chars().all(arithmetic) {
        let number = Calculator { text: text.as_bytes(), at: 0, depth: 0 }.whole();
        return number.map(|number| Cow::Owned(number.to_string())).map_err(|why| (text, why));
    }
    Ok(Cow::Owned(text))
}

/// The parts of a value: text, and the name of a variable behind it if there is one.
fn parts(value: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let value = rest.take()?;
        let Some((start, length)) = value.find("${").and_then(|at| Some((at, value[at..].find('}')?))) else {
            return Some((value, None));
        };
        rest = Some(&value[start + length + 1..]);
        Some((&value[..start], Some(&value[start + 2..start + length])))
    })
}

fn variables(value: &str, surroundings: &dyn Surroundings) -> String {
    parts(value).fold(String::new(), |text, (before, name)| {
        text + before + &name.and_then(|name| surroundings.variable(name)).unwrap_or_default()
    })
}

/// The variables in `value` that are not set, for who wonders where what stands there has gone.
pub(crate) fn unset<'a>(value: &'a str, surroundings: &dyn Surroundings) -> Vec<&'a str> {
    let mut names: Vec<&str> = parts(value).filter_map(|(_, name)| name).collect();
    names.retain(|name| surroundings.variable(name).is_none());
    names.dedup();
    names
}

/// Whole numbers as `bc` calculates them, which fio leaves keywords to.
struct Calculator<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

const LARGE: &str = "the result is too large";
const NO_ARITHMETIC: &str = "it is not arithmetic";

impl Calculator<'_> {
    fn whole(mut self) -> Result<i128, &'static str> {
        let number = self.expression(0)?;
        if self.peek().is_some() { Err(NO_ARITHMETIC) } else { Ok(number) }
    }

    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn expression(&mut self, least: u8) -> Result<i128, &'static str> {
        self.depth += 1;
        if self.depth > 64 {
            return Err("it is nested too deeply");
        }
        let mut left = self.operand()?;
        while let Some(symbol) = self.peek() {
            let (strength, right) = match symbol {
                b'+' | b'-' => (1, 2),
                b'*' | b'/' | b'%' => (3, 4),
                b'^' => (5, 5),
                _ => break,
            };
            if strength < least {
                break;
            }
            self.at += 1;
            let operand = self.expression(right)?;
            if operand == 0 && matches!(symbol, b'/' | b'%') {
                return Err("it divides by zero");
            }
            let result = match symbol {
                b'+' => left.checked_add(operand),
                b'-' => left.checked_sub(operand),
                b'*' => left.checked_mul(operand),
                b'/' => left.checked_div(operand),
                b'%' => left.checked_rem(operand),
                _ => u32::try_from(operand).ok().and_then(|power| left.checked_pow(power)),
            };
            left = result.ok_or(LARGE)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<i128, &'static str> {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                let inner = self.expression(0)?;
                if self.peek() != Some(b')') {
                    return Err(NO_ARITHMETIC);
                }
                self.at += 1;
                Ok(inner)
            }
            Some(b'-') => {
                self.at += 1;
                self.expression(6)?.checked_neg().ok_or(LARGE)
            }
            Some(b'0'..=b'9') => {
                let mut number: i128 = 0;
                while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
                    number = number
                        .checked_mul(10)
                        .and_then(|tens| tens.checked_add(i128::from(digit - b'0')))
                        .ok_or(LARGE)?;
                    self.at += 1;
                }
                Ok(number)
            }
            _ => Err(NO_ARITHMETIC),
        }
    }
}
