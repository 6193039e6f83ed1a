//! What can stand behind an option, and reading it.
//!
//! Values mean what they mean to fio (fio HOWTO, "Parameter types"; `parse.c` and the callbacks of `options.c` of fio's
//! tree). Where fio takes a value for something that nobody can have meant (`runtime=10min` is ten microseconds,
//! `size=1.5g` is one byte, `bs= 4k` is four), reading fails and says so.

pub mod access;
mod arithmetic;
pub mod choice;
pub mod cpus;
pub mod decimal;
pub mod distribution;
pub mod error_set;
pub mod names;
pub mod pattern;
pub mod quantity;
pub mod split;
pub mod time;
pub mod triple;

use crate::nearest::nearest;

/// What `k` and `Ki` mean in a value (fio HOWTO, "Units").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KbBase {
    /// `kb_base=1024`: `4k` is 4096 and, for the sake of old scripts, `4KiB` is 4000.
    #[default]
    Binary,
    /// `kb_base=1000`: `4k` is 4000 and `4KiB` is 4096.
    Decimal,
}

/// What reading a value may need to know, and where it leaves remarks.
#[derive(Debug, Default)]
pub struct Scope {
    /// What `k` means.
    pub kb_base: KbBase,
    /// What is right but surprising about a value, for the user.
    pub remarks: Vec<String>,
}

/// A value or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The text.
    pub text: &'a str,
    /// How many bytes of the whole value stand before it.
    pub at: usize,
}

impl<'a> Part<'a> {
    /// A whole value.
    #[must_use]
    pub fn whole(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// What follows the first `bytes` bytes, which must end at a character.
    pub(crate) fn after(self, bytes: usize) -> Self {
        Self { text: self.text.get(bytes..).unwrap_or_default(), at: self.at + bytes }
    }

    /// The first `bytes` bytes, which must end at a character.
    pub(crate) fn before(self, bytes: usize) -> Self {
        Self { text: self.text.get(..bytes).unwrap_or_default(), at: self.at }
    }

    /// Without blanks at both ends.
    pub(crate) fn trimmed(self) -> Self {
        let start = self.text.len() - self.text.trim_start().len();
        Self { text: self.text.trim(), at: self.at + start }
    }

    /// The parts between separators; at least one.
    pub(crate) fn split(self, separator: char) -> Vec<Self> {
        let mut at = self.at;
        let mut parts = Vec::new();
        for text in self.text.split(separator) {
            parts.push(Self { text, at });
            at += text.len() + separator.len_utf8();
        }
        parts
    }

    /// What stands before and after the first separator.
    pub(crate) fn split_once(self, separator: char) -> Option<(Self, Self)> {
        let bytes = self.text.find(separator)?;
        Some((self.before(bytes), self.after(bytes + separator.len_utf8())))
    }
}

/// Why a value was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Where in the value, in bytes.
    pub at: usize,
    /// What was found there.
    pub found: String,
    /// What is expected instead.
    pub expected: String,
    /// What fio makes of it, or what else there is to know.
    pub why: Option<String>,
    /// What was probably meant.
    pub nearest: Option<String>,
    /// Whether fio knows this value and only this crate does not support it.
    pub unsupported: bool,
}

impl Misfit {
    /// `part` is not what is expected.
    pub(crate) fn new(part: Part<'_>, expected: impl Into<String>) -> Self {
        Self {
            at: part.at,
            found: part.text.to_owned(),
            expected: expected.into(),
            why: None,
            nearest: None,
            unsupported: false,
        }
    }

    pub(crate) fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    pub(crate) fn near<'a>(mut self, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        self.nearest = nearest(&self.found, candidates).map(str::to_owned);
        self
    }

    /// fio knows `part`, and the nearest way here is `way`.
    pub(crate) fn unsupported(part: Part<'_>, way: impl Into<String>) -> Self {
        Self { why: Some(way.into()), unsupported: true, ..Self::new(part, "") }
    }
}

/// A name between words of a message: `a, b or c`.
pub(crate) fn alternatives<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Text as it is; nothing is not enough.
///
/// # Errors
///
/// If it is empty.
pub fn text(part: Part<'_>, _: &mut Scope) -> Result<String, Misfit> {
    if part.text.trim().is_empty() {
        return Err(Misfit::new(part, "a text"));
    }
    Ok(part.text.trim().to_owned())
}

/// 0 or 1.
///
/// # Errors
///
/// If it is anything else.
pub fn boolean(part: Part<'_>, _: &mut Scope) -> Result<bool, Misfit> {
    match part.text.trim() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(Misfit::new(part, "0 or 1")),
    }
}

/// As `read`, for what is nothing unless it is given.
pub fn some<T>(
    read: impl Fn(Part<'_>, &mut Scope) -> Result<T, Misfit>,
) -> impl Fn(Part<'_>, &mut Scope) -> Result<Option<T>, Misfit> {
    move |part, scope| read(part, scope).map(Some)
}

/// A switch: on unless it is 0.
///
/// # Errors
///
/// If it is no whole number.
pub fn switch(part: Part<'_>, _: &mut Scope) -> Result<bool, Misfit> {
    let number: u32 = part.text.trim().parse().map_err(|_| Misfit::new(part, "0, 1, or nothing (which means 1)"))?;
    Ok(number != 0)
}

/// The name of something, or nothing: then it has the job's.
///
/// # Errors
///
/// None; the type is that of all readers.
pub fn name_or_job(part: Part<'_>, _: &mut Scope) -> Result<Option<String>, Misfit> {
    Ok(Some(part.text.trim().to_owned()))
}
