//! Values for reads, writes and trims: `read,write,trim`.

use std::fmt;

use super::{Misfit, Part, Scope};

/// A value for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triple<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T: Clone> Triple<T> {
    /// The same for all.
    pub fn all(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}

impl<T> Triple<T> {
    /// The three values.
    pub fn each(&self) -> [&T; 3] {
        [&self.read, &self.write, &self.trim]
    }
}

impl<T: fmt::Display> fmt::Display for Triple<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.read, self.write, self.trim)
    }
}

/// Reads `read,write,trim` over what was there (fio HOWTO, "Block size", bs; `handle_option` of `parse.c`): the last part
/// given stands for the ones that follow it, an empty one changes nothing, and a comma at the end keeps the last part from
/// standing for more than itself.
///
/// # Errors
///
/// If a part is not taken by `read`, if all of them are empty, or if there are more than three.
pub fn triple<T: Clone>(
    before: &Triple<T>,
    part: Part<'_>,
    scope: &mut Scope,
    read: impl Fn(Part<'_>, &mut Scope) -> Result<T, Misfit>,
) -> Result<Triple<T>, Misfit> {
    let parts = part.split(',');
    if let Some(fourth) = parts.get(3).filter(|fourth| parts.len() > 4 || !fourth.text.is_empty()) {
        return Err(Misfit::new(*fourth, "at most three parts (read,write,trim)"));
    }
    let mut value = before.clone();
    let mut given = false;
    for (index, piece) in parts.iter().take(3).enumerate() {
        if piece.text.trim().is_empty() && parts.len() > 1 {
            continue;
        }
        let one = read(*piece, scope)?;
        given = true;
        let last = index + 1 == parts.len();
        if index == 0 {
            value.read = one.clone();
        }
        if index == 1 || (last && index < 1) {
            value.write = one.clone();
        }
        if index == 2 || last {
            value.trim = one;
        }
    }
    if given { Ok(value) } else { Err(Misfit::new(part, "a value for reads, writes or trims")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::quantity::bytes;

    #[test]
    fn parts_fill_in_as_in_fio() {
        let before = Triple::all(7);
        for (text, read, write, trim) in [
            ("4k", 4096, 4096, 4096),
            ("4k,", 4096, 7, 7),
            ("4k,8k", 4096, 8192, 8192),
            (",8k", 7, 8192, 8192),
            (",8k,", 7, 8192, 7),
            ("4k,8k,16k", 4096, 8192, 16384),
            ("4k,,16k", 4096, 7, 16384),
            (",,16k", 7, 7, 16384),
        ] {
            let value = triple(&before, Part::whole(text), &mut Scope::default(), bytes).unwrap();
            assert_eq!(value, Triple { read, write, trim }, "{text}");
        }
        for text in ["", ",", ",,", "4k,x", "1,2,3,4"] {
            assert!(triple(&before, Part::whole(text), &mut Scope::default(), bytes).is_err(), "{text}");
        }
    }
}
