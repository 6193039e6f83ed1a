//! Lists of files between colons (fio HOWTO, "Target file/device", filename).

use super::{Misfit, Part, Scope};

/// Splits at colons; `\:` is a colon of a name, and colons at the front belong to the first name.
///
/// # Errors
///
/// If there is no name.
pub fn names(part: Part<'_>, _: &mut Scope) -> Result<Vec<String>, Misfit> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut characters = part.text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&':') => name.extend(characters.next()),
            ':' if !name.is_empty() => names.push(std::mem::take(&mut name)),
            ':' => {}
            _ => name.push(character),
        }
    }
    if !name.is_empty() {
        names.push(name);
    }
    if names.is_empty() {
        return Err(Misfit::new(part, "a file or several between colons (`\\:` is a colon of a name)"));
    }
    Ok(names)
}

/// As [`names`] wants them.
#[must_use]
pub fn escaped(names: &[String]) -> String {
    names.iter().map(|name| name.replace(':', "\\:")).collect::<Vec<_>>().join(":")
}
