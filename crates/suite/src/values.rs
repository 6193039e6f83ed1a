//! What can stand behind a key, and reading it.

use flashmark_core::units::{parse_bytes, parse_ns};
use flashmark_core::workload::{Data, FILL_PERCENT_MAX, Order, REPEATS_MAX, SyncPolicy, Verify};

use crate::expression::{self, Scope};
use crate::nearest::nearest;

/// A value as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A TOML integer.
    Integer(i128),
    /// A TOML boolean.
    Boolean(bool),
    /// A TOML string.
    Text(String),
    /// A word of the command line, which may stand for any of those.
    Word(String),
    /// Anything else TOML has, by its name and as it may be shown.
    Other(&'static str, String),
}

impl Value {
    /// What was found, for messages.
    fn found(&self) -> String {
        match self {
            Self::Integer(number) => format!("the integer {number}"),
            Self::Boolean(value) => format!("the boolean {value}"),
            Self::Text(text) => format!("the string {text:?}"),
            Self::Word(word) => format!("`{word}`"),
            Self::Other(kind, _) => (*kind).to_owned(),
        }
    }

    /// As it stands in a file.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Boolean(value) => value.to_string(),
            Self::Text(text) => format!("{text:?}"),
            Self::Word(word) => word.clone(),
            Self::Other(_, shown) => shown.clone(),
        }
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Word(text) => Some(text),
            _ => None,
        }
    }
}

/// Why a value was not taken: what was found and what is expected, and what was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) why: String,
    pub(crate) nearest: Option<String>,
}

impl Misfit {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), nearest: None }
    }

    fn expected(what: &str, value: &Value) -> Self {
        Self::new(format!("{what} is expected, not {}", value.found()))
    }
}

const SIZE: &str = "a size (4096, \"4KiB\", \"10MB\", \"$param * 2\")";
const TIME: &str = "a time with its unit (\"500ms\", \"10s\", \"2min\")";

/// A size in bytes.
pub(crate) fn bytes(value: &Value, scope: &Scope) -> Result<u64, Misfit> {
    match value {
        Value::Integer(number) => u64::try_from(*number).map_err(|_| Misfit::expected(SIZE, value)),
        Value::Text(text) | Value::Word(text) if expression::is_expression(text) => expression::evaluate(text, scope),
        Value::Text(text) | Value::Word(text) => {
            parse_bytes(text).map_err(|error| Misfit::new(format!("{SIZE} is expected, but {error}")))
        }
        _ => Err(Misfit::expected(SIZE, value)),
    }
}

/// A size in bytes, or the word for no limit.
pub(crate) fn bytes_or_all(value: &Value, scope: &Scope) -> Result<Option<u64>, Misfit> {
    if value.as_text() == Some("all") {
        return Ok(None);
    }
    bytes(value, scope).map(Some).map_err(|misfit| {
        let nearest = misfit.nearest.or_else(|| nearest(value.as_text()?, ["all"]).map(str::to_owned));
        Misfit { why: misfit.why.replacen(SIZE, &format!("{SIZE} or \"all\""), 1), nearest }
    })
}

/// A number without a unit, at most `most`.
pub(crate) fn count(value: &Value, scope: &Scope, most: u64) -> Result<u64, Misfit> {
    let what = if most == u64::MAX {
        "a whole number of 0 to 2^64 - 1".to_owned()
    } else {
        format!("a whole number of 0 to {most}")
    };
    let expected = || Misfit::expected(&what, value);
    let number = match value {
        Value::Integer(number) => u64::try_from(*number).map_err(|_| expected())?,
        Value::Text(text) | Value::Word(text) if expression::is_expression(text) => expression::evaluate(text, scope)?,
        Value::Text(text) | Value::Word(text) => text.trim().replace('_', "").parse().map_err(|_| expected())?,
        _ => return Err(expected()),
    };
    if number > most {
        return Err(match value.as_text() {
            Some(text) if expression::is_expression(text) => {
                Misfit::new(format!("{what} is expected, but `{text}` is {number}"))
            }
            _ => expected(),
        });
    }
    Ok(number)
}

/// [`count`] for what has 32 bits.
pub(crate) fn count_u32(value: &Value, scope: &Scope) -> Result<u32, Misfit> {
    let number = count(value, scope, u64::from(u32::MAX))?;
    u32::try_from(number).map_err(|_| Misfit::expected("a smaller number", value))
}

/// [`count`] for repeats.
pub(crate) fn repeats(value: &Value, scope: &Scope) -> Result<u32, Misfit> {
    let number = count(value, scope, u64::from(REPEATS_MAX))?;
    u32::try_from(number).map_err(|_| Misfit::expected("a smaller number", value))
}

/// A time in nanoseconds.
pub(crate) fn time_ns(value: &Value) -> Result<u64, Misfit> {
    match value {
        Value::Integer(0) => Ok(0),
        Value::Text(text) | Value::Word(text) if text.starts_with('$') => {
            Err(Misfit::new(format!("{TIME} is expected, not `{text}`: parameters are sizes and counts")))
        }
        Value::Text(text) | Value::Word(text) if parse_ns(text).is_err() && text.parse::<f64>().is_ok() => {
            Err(Misfit::new(format!("{TIME} is expected, but `{text}` has no unit")))
        }
        Value::Text(text) | Value::Word(text) => {
            parse_ns(text).map_err(|error| Misfit::new(format!("{TIME} is expected, but {error}")))
        }
        _ => Err(Misfit::expected(TIME, value)),
    }
}

/// A time in nanoseconds, or the word for no limit.
pub(crate) fn time_or_none_ns(value: &Value) -> Result<Option<u64>, Misfit> {
    if value.as_text() == Some("none") {
        return Ok(None);
    }
    time_ns(value).map(Some)
}

/// A level of use in percent, or the word for as it is.
pub(crate) fn fill_percent(value: &Value) -> Result<Option<u8>, Misfit> {
    let text = value.as_text().map(str::trim);
    if text == Some("none") {
        return Ok(None);
    }
    let digits = text.and_then(|text| text.strip_suffix('%')).map(str::trim_end);
    let percent = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match percent.and_then(|digits| digits.parse().ok()) {
        Some(percent @ 0..=FILL_PERCENT_MAX) => Ok(Some(percent)),
        _ => {
            let nearest = text.and_then(|text| nearest(text, ["none"])).map(str::to_owned);
            let what = format!("a level of \"0%\" to \"{FILL_PERCENT_MAX}%\", or \"none\",");
            Err(Misfit { nearest, ..Misfit::expected(&what, value) })
        }
    }
}

/// Yes or no.
pub(crate) fn boolean(value: &Value) -> Result<bool, Misfit> {
    match value {
        Value::Boolean(value) => Ok(*value),
        Value::Word(word) if word == "true" => Ok(true),
        Value::Word(word) if word == "false" => Ok(false),
        _ => Err(Misfit::expected("true or false", value)),
    }
}

/// A string that is one of a few words.
pub(crate) fn choice<T: Copy>(value: &Value, choices: &[(&str, T)]) -> Result<T, Misfit> {
    let found = value.as_text();
    if let Some((_, chosen)) = choices.iter().find(|(word, _)| Some(*word) == found) {
        return Ok(*chosen);
    }
    let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
    Err(one_of(value, &words, &words))
}

fn one_of(value: &Value, shown: &[&str], candidates: &[&str]) -> Misfit {
    let shown = shown.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>();
    let (last, others) = shown.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
    let what = if others.is_empty() { last.to_owned() } else { format!("{} or {last}", others.join(", ")) };
    let nearest = value.as_text().and_then(|text| nearest(text, candidates.iter().copied())).map(str::to_owned);
    Misfit { nearest, ..Misfit::expected(&what, value) }
}

/// One line of text that is not empty.
pub(crate) fn line(value: &Value, what: &str) -> Result<String, Misfit> {
    match value.as_text() {
        Some(text) if !text.trim().is_empty() && !text.chars().any(char::is_control) => Ok(text.to_owned()),
        Some(_) => Err(Misfit::new(format!("{what} is expected, which is one line and not empty"))),
        None => Err(Misfit::expected(what, value)),
    }
}

/// Any text.
pub(crate) fn text(value: &Value) -> Result<String, Misfit> {
    value.as_text().map(str::to_owned).ok_or_else(|| Misfit::expected("a string", value))
}

/// `sequential`, `random`, `random-once`, `zipf:THETA`.
pub(crate) fn order(value: &Value) -> Result<Order, Misfit> {
    match value.as_text() {
        Some("sequential") => Ok(Order::Sequential),
        Some("random") => Ok(Order::Random),
        Some("random-once") => Ok(Order::RandomOnce),
        Some("zipf") => Ok(Order::Zipf { theta_milli: 1200 }),
        Some(text) if text.starts_with("zipf:") => {
            let theta = text.trim_start_matches("zipf:");
            let milli = expression::decimal_parts(theta).and_then(|(over, under)| {
                let over = over.checked_mul(1000)?;
                (over % under == 0).then_some(over / under)
            });
            match milli.map(u16::try_from) {
                Some(Ok(theta_milli @ 1..=10_000)) => Ok(Order::Zipf { theta_milli }),
                _ => Err(Misfit::new(format!(
                    "zipf's theta is a number of 0.001 to 10 with at most three decimals (\"zipf:1.2\"), not `{theta}`"
                ))),
            }
        }
        _ => Err(one_of(
            value,
            &["sequential", "random", "random-once", "zipf:THETA"],
            &["sequential", "random", "random-once", "zipf"],
        )),
    }
}

/// `never`, `end`, `every:N`, N.
pub(crate) fn sync(value: &Value, scope: &Scope) -> Result<SyncPolicy, Misfit> {
    let ops = match value {
        Value::Text(text) | Value::Word(text) => match text.as_str() {
            "never" => return Ok(SyncPolicy::Never),
            "end" => return Ok(SyncPolicy::End),
            text => match text.strip_prefix("every:") {
                Some(number) => number.trim().parse().ok(),
                None => text.parse().ok(),
            },
        },
        Value::Integer(_) => Some(count_u32(value, scope)?),
        _ => None,
    };
    ops.map(|ops| SyncPolicy::Every { ops })
        .ok_or_else(|| one_of(value, &["never", "end", "every:N"], &["never", "end", "every:1"]))
}

/// `zeros`, `random`, `fixed`, `text:TEXT`, `compressible:PERCENT`.
pub(crate) fn data(value: &Value) -> Result<Data, Misfit> {
    let Some(found) = value.as_text() else {
        return Err(data_misfit(value));
    };
    match found.split_once(':') {
        None if found == "zeros" => Ok(Data::Zeros),
        None if found == "random" => Ok(Data::Random),
        None if found == "fixed" => Ok(Data::Fixed),
        Some(("text", text)) => Ok(Data::Text { text: text.to_owned(), end: String::new() }),
        Some(("compressible", percent)) => {
            let percent = percent.trim_end_matches('%').parse().ok().filter(|percent| *percent <= 100);
            percent.map(|percent| Data::Compressible { percent }).ok_or_else(|| {
                Misfit::new(format!(
                    "the zeros' share is a whole number of 0 to 100 (\"compressible:50\"), not `{found}`"
                ))
            })
        }
        _ => Err(data_misfit(value)),
    }
}

fn data_misfit(value: &Value) -> Misfit {
    one_of(
        value,
        &["zeros", "random", "fixed", "text:TEXT", "compressible:PERCENT"],
        &["zeros", "random", "fixed", "text:ABC", "compressible:50"],
    )
}

/// `none`, `last-byte`, `full`, true, false.
pub(crate) fn verify(value: &Value) -> Result<Verify, Misfit> {
    match value {
        Value::Boolean(true) => Ok(Verify::Full),
        Value::Boolean(false) => Ok(Verify::None),
        Value::Word(word) if word == "true" => Ok(Verify::Full),
        Value::Word(word) if word == "false" => Ok(Verify::None),
        _ => choice(value, &[("none", Verify::None), ("last-byte", Verify::LastByte), ("full", Verify::Full)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Value {
        Value::Word(text.to_owned())
    }

    #[test]
    fn words_with_a_number_are_read() {
        assert_eq!(order(&word("zipf:0.95")), Ok(Order::Zipf { theta_milli: 950 }));
        assert_eq!(order(&word("zipf")), Ok(Order::Zipf { theta_milli: 1200 }));
        assert_eq!(sync(&word("every:8"), &Scope::new()), Ok(SyncPolicy::Every { ops: 8 }));
        assert_eq!(sync(&Value::Integer(1), &Scope::new()), Ok(SyncPolicy::Every { ops: 1 }));
        assert_eq!(sync(&word("4"), &Scope::new()), Ok(SyncPolicy::Every { ops: 4 }));
        assert_eq!(data(&word("text:A:B")), Ok(Data::Text { text: "A:B".into(), end: String::new() }));
        assert_eq!(data(&word("fixed")), Ok(Data::Fixed));
        assert_eq!(data(&word("compressible:50%")), Ok(Data::Compressible { percent: 50 }));
        assert_eq!(verify(&Value::Boolean(true)), Ok(Verify::Full));
        assert_eq!(count_u32(&word("1_000"), &Scope::new()), Ok(1000));
        assert_eq!(bytes_or_all(&word("all"), &Scope::new()), Ok(None));
        assert_eq!(time_or_none_ns(&word("1.5s")), Ok(Some(1_500_000_000)));
        assert_eq!(fill_percent(&word("60%")), Ok(Some(60)));
        assert_eq!(fill_percent(&word("0 %")), Ok(Some(0)));
        assert_eq!(fill_percent(&word("none")), Ok(None));
        for bad in ["60", "100%", "-5%", "+5%", "%", "abc", "5.5%", "300%"] {
            assert!(fill_percent(&word(bad)).is_err(), "{bad}");
        }
        for bad in ["zipf:0", "zipf:", "zipf:1.2345", "zipf:10.001", "zipf:-1"] {
            assert!(order(&word(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_misfit_names_what_was_meant() {
        for (misfit, nearest) in [
            (order(&word("seq")).err(), "sequential"),
            (order(&word("zipff")).err(), "zipf"),
            (sync(&word("evry:1"), &Scope::new()).err(), "every:1"),
            (data(&word("zero")).err(), "zeros"),
            (data(&word("text")).err(), "text:ABC"),
            (verify(&word("last_byte")).err(), "last-byte"),
            (bytes_or_all(&word("al"), &Scope::new()).err(), "all"),
        ] {
            assert_eq!(misfit.and_then(|misfit| misfit.nearest).as_deref(), Some(nearest));
        }
    }
}
