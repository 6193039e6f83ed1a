//! The lines of a job file.

use std::sync::Arc;

use crate::error::{FioError, Problem};
use crate::place::{Place, ordinal};
use crate::setting::Setting;

/// A line that says something.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// `[name]`.
    Section { name: String, place: Place },
    /// `name` or `name=value`.
    Setting(Setting),
    /// `include path`.
    Include { path: String, place: Place },
}

/// What some editors put before UTF-8 text (RFC 3629, section 6); it is no part of the first line.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The lines of `text` that say something.
pub(super) fn lines<'a>(file: &'a Arc<str>, text: &'a str) -> impl Iterator<Item = Result<Line, FioError>> + 'a {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split('\n').enumerate().filter_map(|(index, line)| read(file, ordinal(index), line).transpose())
}

fn read(file: &Arc<str>, number: u32, line: &str) -> Result<Option<Line>, FioError> {
    let blank = |character: char| character.is_ascii_whitespace() || character.is_ascii_control();
    let content = line.split([';', '#']).next().unwrap_or_default();
    let start = content.len() - content.trim_start_matches(blank).len();
    let content = content.trim_matches(blank);
    let place = |bytes: usize| Place::file(file, number, ordinal(line[..start + bytes].chars().count()));
    if content.is_empty() {
        return Ok(None);
    }
    if let Some(rest) = content.strip_prefix('[') {
        let Some((name, after)) = rest.split_once(']') else {
            return Err(FioError::new(place(0), Problem::SectionNotClosed(content.to_owned())));
        };
        let after_at = content.len() - after.trim_start_matches(blank).len();
        if !after.is_empty() {
            return Err(FioError::new(place(after_at), Problem::AfterSection(content[after_at..].to_owned())));
        }
        if name.is_empty() {
            return Err(FioError::new(place(0), Problem::SectionUnnamed));
        }
        return Ok(Some(Line::Section { name: name.to_owned(), place: place(1) }));
    }
    let is_include = content.strip_prefix("include").filter(|rest| rest.is_empty() || rest.starts_with(blank));
    if let Some(rest) = is_include {
        let path = rest.trim_start_matches(blank);
        if path.is_empty() {
            return Err(FioError::new(place(0), Problem::IncludeWhat));
        }
        return Ok(Some(Line::Include { path: path.to_owned(), place: place(content.len() - path.len()) }));
    }
    let (name, value) = content.split_once('=').map_or((content, None), |(name, value)| (name, Some(value)));
    let value_at = value.map_or(content.len(), |value| content.len() - value.len());
    let name = name.trim_end_matches(blank);
    if name.is_empty() {
        return Err(FioError::new(place(0), Problem::Unnamed(content.to_owned())));
    }
    Ok(Some(Line::Setting(Setting {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        place: place(0),
        value_place: place(value_at),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Result<Line, FioError>> {
        lines(&"f".into(), text).collect()
    }

    fn setting(name: &str, value: Option<&str>, line: u32, column: u32, value_column: u32) -> Line {
        Line::Setting(Setting {
            name: name.into(),
            value: value.map(str::to_owned),
            place: Place::file(&"f".into(), line, column),
            value_place: Place::file(&"f".into(), line, value_column),
        })
    }

    #[test]
    fn a_line_is_a_section_an_option_or_an_include() {
        let lines = all("; c\n\n\t# c\n[a b] ; c\r\n  rw = read # c\r\n direct\n include x y.fio ;\nincluded=1\nw==;");
        let lines: Vec<Line> = lines.into_iter().map(Result::unwrap).collect();
        assert_eq!(
            lines,
            [
                Line::Section { name: "a b".into(), place: Place::file(&"f".into(), 4, 2) },
                setting("rw", Some(" read"), 5, 3, 7),
                setting("direct", None, 6, 2, 8),
                Line::Include { path: "x y.fio".into(), place: Place::file(&"f".into(), 7, 10) },
                setting("included", Some("1"), 8, 1, 10),
                setting("w", Some("="), 9, 1, 3),
            ]
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        for (text, column) in [("\u{feff}[a]", 2), ("\u{feff}  [a]", 4)] {
            let Ok(Line::Section { name, place }) = &all(text)[0] else { panic!("{text}") };
            assert_eq!((name.as_str(), place.column), ("a", column));
        }
        // Anywhere else it is a character like any other.
        assert_eq!(all("\n\u{feff}=4k")[0].as_ref().unwrap(), &setting("\u{feff}", Some("4k"), 2, 1, 3));
    }

    #[test]
    fn what_is_none_of_them_is_refused_where_it_stands() {
        for (text, column) in [("  [a", 3), ("[a] x", 5), ("[]", 1), (" include", 2), ("\t=4k", 2)] {
            assert_eq!(all(text)[0].as_ref().unwrap_err().place.column, column, "{text}");
        }
    }
}
