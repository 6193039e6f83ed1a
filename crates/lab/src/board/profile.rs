//! Reading a board's TOML.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::built_in;
use super::error::{BoardError, Place, nearest};
use super::value::{Kind, Value};
use super::{Board, keys};
use crate::{driver, storage};

/// No profile is longer.
const PROFILE_BYTES_MAX: u64 = 1 << 20;

/// How deep profiles may build on each other.
const DEPTH_MAX: usize = 8;

/// Keys of a profile that are no settings.
const HEAD: [&str; 6] = ["name", "about", "base", "driver", "storages", "suite"];

/// Loads a board by name or path; `seen` are the profiles that build on it.
pub(super) fn load(name_or_path: &str, seen: &mut Vec<String>) -> Result<Board, BoardError> {
    if let Some(board) = built_in::find(name_or_path) {
        return parse(board.text, board.name, seen);
    }
    let path = Path::new(name_or_path);
    if path.extension().is_none_or(|extension| extension != "toml") {
        let names = built_in::built_in_boards().iter().map(|board| board.name);
        return Err(BoardError::Unknown { name: name_or_path.to_owned(), nearest: nearest(name_or_path, names) });
    }
    let unreadable = |reason: String| BoardError::Unreadable { path: path.to_owned(), reason };
    let mut text = String::new();
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(unreadable("it is no regular file".to_owned()));
    }
    let file = fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let bytes =
        file.take(PROFILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| unreadable(error.to_string()))?;
    if bytes as u64 > PROFILE_BYTES_MAX {
        return Err(unreadable(format!("it has more than {PROFILE_BYTES_MAX} bytes, so that it is no profile")));
    }
    parse(&text, name_or_path, seen)
}

/// Reads a profile's text.
pub(super) fn parse(text: &str, file: &str, seen: &mut Vec<String>) -> Result<Board, BoardError> {
    let reader = Reader { file, text };
    if seen.iter().any(|other| other == file) || seen.len() >= DEPTH_MAX {
        let reason =
            format!("base: the profiles {} build on each other in a circle, or one too many of them", seen.join(", "));
        return Err(BoardError::Form { place: Place::File(file.to_owned()), reason });
    }
    seen.push(file.to_owned());
    let root = DeTable::parse(text).map_err(|error| BoardError::Form {
        place: error.span().map_or_else(|| Place::File(file.to_owned()), |span| reader.place(&span)),
        reason: error.message().trim().replace('\n', "; "),
    })?;
    reader.board(root.get_ref(), seen)
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn place(&self, span: &Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place::Line {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }

    fn form<T>(&self, span: &Range<usize>, reason: impl Into<String>) -> Result<T, BoardError> {
        Err(BoardError::Form { place: self.place(span), reason: reason.into() })
    }

    fn board(&self, root: &DeTable<'_>, seen: &mut Vec<String>) -> Result<Board, BoardError> {
        let mut board = match root.get("base") {
            Some(base) => {
                let name = self.word(base, "base")?;
                let directory = Path::new(self.file).parent().unwrap_or(Path::new(""));
                // A path is relative to the profile that names it.
                let name = if name.ends_with(".toml") { directory.join(&name).display().to_string() } else { name };
                load(&name, seen)?
            }
            None => Board {
                name: String::new(),
                about: String::new(),
                text: String::new(),
                file: String::new(),
                driver: String::new(),
                suite: None,
                storages: Vec::new(),
                values: BTreeMap::new(),
            },
        };
        self.text.clone_into(&mut board.text);
        self.file.clone_into(&mut board.file);
        board.name = match root.get("name") {
            Some(name) => self.word(name, "name")?,
            None => return self.form(&(0..0), "name = \"…\" is missing: what the board is called"),
        };
        if let Some(about) = root.get("about") {
            board.about = self.word(about, "about")?;
        }
        if let Some(suite) = root.get("suite") {
            board.suite = Some(self.word(suite, "suite")?);
        }
        if let Some(driver) = root.get("driver") {
            board.driver = self.word(driver, "driver")?;
            if driver::find(&board.driver).is_none() {
                let names = driver::names().join(", ");
                return self.form(&driver.span(), format!("there is no driver {}: known are {names}", board.driver));
            }
        }
        if let Some(storages) = root.get("storages") {
            board.storages = self.storages(storages)?;
        }
        for (key, value) in in_order(root) {
            if !HEAD.contains(&key.get_ref().as_ref()) {
                self.setting(&mut board, key.get_ref(), &key.span(), value)?;
            }
        }
        for (what, missing) in [("driver", board.driver.is_empty()), ("storages", board.storages.is_empty())] {
            if missing {
                return self.form(&(0..0), format!("{what} = … is missing"));
            }
        }
        Ok(board)
    }

    fn storages(&self, list: &Spanned<DeValue<'_>>) -> Result<Vec<String>, BoardError> {
        let expected = "storages = [\"raw\", \"fatfs\", …] is expected";
        let DeValue::Array(items) = list.get_ref() else { return self.form(&list.span(), expected) };
        let mut storages = Vec::new();
        for item in items {
            let name = self.word(item, "storages")?;
            if !storage::names().contains(&name.as_str()) {
                let known = storage::names().join(", ");
                return self.form(&item.span(), format!("there is no storage {name}: known are {known}"));
            }
            if storages.contains(&name) {
                return self.form(&item.span(), format!("{name} is there twice"));
            }
            storages.push(name);
        }
        if storages.is_empty() { self.form(&list.span(), expected) } else { Ok(storages) }
    }

    /// A setting, or a section of them.
    fn setting(
        &self,
        board: &mut Board,
        key: &str,
        span: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), BoardError> {
        match value.get_ref() {
            DeValue::Table(table) if !table.contains_key("value") => {
                for (inner, value) in in_order(table) {
                    self.setting(board, &format!("{key}.{}", inner.get_ref()), &inner.span(), value)?;
                }
                Ok(())
            }
            DeValue::Table(table) => {
                for (inner, _) in in_order(table) {
                    if !["value", "unit", "source"].contains(&inner.get_ref().as_ref()) {
                        let found = inner.get_ref();
                        return self.form(&inner.span(), format!("{found} in {key}: value, unit and source are known"));
                    }
                }
                let part = |name: &str| table.get(name).map(|part| self.word(part, name)).transpose();
                let (Some(number), unit, source) = (part("value")?, part("unit")?, part("source")?) else {
                    return self.form(&value.span(), format!("{key} has no value"));
                };
                let Some(source) = source.filter(|source| !source.trim().is_empty()) else {
                    return self.form(
                        &value.span(),
                        format!("{key} has no source: say where the value comes from (source = \"…\")"),
                    );
                };
                let unit = unit.unwrap_or_default();
                self.insert(board, key, span, &value.span(), format!("{number}{unit}"), source)
            }
            _ => {
                let text = self.word(value, key)?;
                // A number always says where it comes from; a name speaks for itself.
                if keys::find(key).is_some_and(|key| !matches!(key.kind, Kind::Text | Kind::Choice(_) | Kind::Flag)) {
                    return self
                        .form(&value.span(), format!("{key} is a number: write {key} = {}", spelled_out(&text)));
                }
                self.insert(board, key, span, &value.span(), text, format!("profile of {}", board.name))
            }
        }
    }

    fn insert(
        &self,
        board: &mut Board,
        key: &str,
        key_span: &Range<usize>,
        value_span: &Range<usize>,
        text: String,
        source: String,
    ) -> Result<(), BoardError> {
        let text = if key == "chip" { self.beside(text) } else { text };
        let value = Value { text, source, place: self.place(value_span) };
        board.insert(key, value, &self.place(key_span))
    }

    /// A path as it is from the working directory, where it leads to a file beside the profile.
    fn beside(&self, path: String) -> String {
        let folder = Path::new(self.file).parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = folder.map(|folder| folder.join(&path)).filter(|beside| beside.is_file());
        beside.map_or(path, |beside| beside.display().to_string())
    }

    /// A string, number or flag as it is written.
    fn word(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Result<String, BoardError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Ok(number.to_string()),
                Err(_) => self.form(&value.span(), format!("{key}: the number is too large")),
            },
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(flag) => Ok(flag.to_string()),
            _ => self.form(&value.span(), format!("{key}: a string or a number is expected")),
        }
    }
}

/// A number as it has to stand in a profile.
fn spelled_out(text: &str) -> String {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = if unit.is_empty() { "…" } else { unit };
    format!("{{ value = {}, unit = \"{unit}\", source = \"…\" }}", number.trim())
}

type Item<'a> = (&'a Spanned<std::borrow::Cow<'a, str>>, &'a Spanned<DeValue<'a>>);

/// The table's entries in the order of the text, so that the first mistake is the one that is reported.
fn in_order<'a>(table: &'a DeTable<'a>) -> Vec<Item<'a>> {
    let mut items: Vec<Item<'a>> = table.iter().collect();
    items.sort_by_key(|(key, _)| key.span().start);
    items
}
