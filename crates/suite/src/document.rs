//! A suite's TOML, with the place of everything in it.
//!
//! The structure is checked here: tables, keys, types of the suite's own keys, names. What a workload's keys hold is
//! kept as found and read when the suite is expanded, since it may depend on parameters.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Place, Problem, SuiteError};
use crate::expression::Scope;
use crate::keys::{self, KeyDoc};
use crate::params::{Param, ParamUnit};
use crate::suite::ORIGINALS;
use crate::values::{self, Misfit, Value};

/// A suite as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) original: Option<String>,
    pub(crate) params: Vec<Param>,
    pub(crate) defaults: Vec<Entry>,
    pub(crate) corrected: Vec<Row>,
    pub(crate) compat: Option<CompatForm>,
}

/// The compatibility form: its own defaults and workloads.
#[derive(Clone, Debug)]
pub(crate) struct CompatForm {
    pub(crate) defaults: Vec<Entry>,
    pub(crate) rows: Vec<Row>,
}

/// A workload as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Where its table starts.
    pub(crate) header: Place,
    pub(crate) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: &'static KeyDoc,
    pub(crate) value: Value,
    /// Where the key stands.
    pub(crate) place: Place,
    /// Where the value stands.
    pub(crate) value_place: Place,
}

const TOP: &[&str] = &["name", "about", "original", "params", "defaults", "workload", "compat"];
const COMPAT: &[&str] = &["defaults", "workload"];
const PARAM: &[&str] = &["default", "min", "about"];

type Table<'a> = DeTable<'a>;
type Item<'a> = (&'a Spanned<std::borrow::Cow<'a, str>>, &'a Spanned<DeValue<'a>>);

/// Reads a suite's text; `file` is what errors call it.
pub(crate) fn read(text: &str, file: &str) -> Result<Document, SuiteError> {
    let reader = Reader { file, text };
    let root = DeTable::parse(text).map_err(|error| {
        let place = error.span().map_or_else(|| Place::Suite(file.to_owned()), |span| reader.place(&span));
        // toml puts what was expected on a line of its own.
        SuiteError::new(place, Problem::Syntax(error.message().trim().replace('\n', "; ")))
    })?;
    reader.suite(root.get_ref())
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn suite(&self, root: &Table<'_>) -> Result<Document, SuiteError> {
        self.only(root, "a suite", TOP)?;
        let whole = || Place::Suite(self.file.to_owned());
        let name = match root.get("name") {
            Some(value) => self.line(value, "name", "the suite's name")?,
            None => return Err(missing(whole(), "the suite", "name", "add name = \"…\" at the top")),
        };
        let about = self.optional_line(root, "about", "one line on what the suite measures")?;
        let original = root.get("original").map(|value| self.original(value)).transpose()?;
        let params = match root.get("params") {
            Some(value) => self.params(self.table(value, "params", "a table for each parameter ([params.NAME])")?)?,
            None => Vec::new(),
        };
        let defaults = self.defaults(root, "[defaults]")?;
        let corrected = self.rows(root, "workload", whole())?;
        let compat = match in_order(root).into_iter().find(|(key, _)| key.get_ref() == "compat") {
            Some((key, value)) => {
                let table = self.table(value, "compat", "a table")?;
                self.only(table, "[compat]", COMPAT)?;
                Some(CompatForm {
                    defaults: self.defaults(table, "[compat.defaults]")?,
                    rows: self.rows(table, "compat.workload", self.place(&key.span()))?,
                })
            }
            None => None,
        };
        Ok(Document { name, about: about.unwrap_or_default(), original, params, defaults, corrected, compat })
    }

    fn original(&self, value: &Spanned<DeValue<'_>>) -> Result<String, SuiteError> {
        let choices: Vec<(&str, &str)> = ORIGINALS.iter().map(|name| (*name, *name)).collect();
        self.read(value, "original", |found| values::choice(found, &choices)).map(str::to_owned)
    }

    fn params(&self, table: &Table<'_>) -> Result<Vec<Param>, SuiteError> {
        in_order(table).into_iter().map(|item| self.param(item)).collect()
    }

    fn param(&self, (key, value): Item<'_>) -> Result<Param, SuiteError> {
        let name = key.get_ref().to_string();
        let place = self.place(&key.span());
        let fault = |problem| Err(SuiteError::new(place.clone(), problem));
        if keys::find(&name).is_some() {
            return fault(Problem::ParamIsKey(name));
        }
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            let why = format!("a parameter's name is made of a-z, 0-9 and -, not `{name}`");
            return fault(Problem::BadValue { written: None, why, nearest: None });
        }
        let table = self.table(value, &name, "a table ([params.NAME])")?;
        self.only(table, &format!("[params.{name}]"), PARAM)?;
        let Some(default) = table.get("default") else {
            let place = self.place(&value.span());
            return Err(missing(
                place,
                &format!("[params.{name}]"),
                "default",
                "add its value, e.g. default = \"64KiB\"",
            ));
        };
        let value = self.value(default);
        let unit = match value {
            Value::Integer(_) => ParamUnit::Count,
            _ => ParamUnit::Bytes,
        };
        let min = match table.get("min") {
            Some(min) => self.read(min, "min", |found| unit.read(found, &Scope::new()))?,
            None => 0,
        };
        Ok(Param {
            about: self.optional_line(table, "about", "one line on what the parameter is")?.unwrap_or_default(),
            unit,
            default: value.shown(),
            min,
            place: self.place(&default.span()),
            value,
            name,
        })
    }

    fn defaults(&self, parent: &Table<'_>, shown: &str) -> Result<Vec<Entry>, SuiteError> {
        let Some(value) = parent.get("defaults") else {
            return Ok(Vec::new());
        };
        let table = self.table(value, "defaults", "a table of workload keys")?;
        self.entries(table, shown, |key| key.name != "name")
    }

    fn rows(&self, parent: &Table<'_>, shown: &'static str, place: Place) -> Result<Vec<Row>, SuiteError> {
        let Some(value) = parent.get("workload") else {
            return Err(SuiteError::new(place, Problem::Empty(shown)));
        };
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.misfit(value, "workload", Misfit::new(format!("each workload is a [[{shown}]] table"))));
        };
        if array.is_empty() {
            return Err(SuiteError::new(self.place(&value.span()), Problem::Empty(shown)));
        }
        let mut lines = BTreeMap::new();
        let mut rows = Vec::with_capacity(array.len());
        for item in array.iter() {
            let table = self.table(item, "workload", "a table")?;
            let header = self.place(&item.span());
            let entries = self.entries(table, &format!("[[{shown}]]"), |_| true)?;
            let Some(name) = table.get("name") else {
                return Err(missing(header, &format!("[[{shown}]]"), "name", "add name = \"…\", the row's name"));
            };
            let place = self.place(&name.span());
            let name = self.line(name, "name", "a name")?;
            if let Some(first_line) = lines.insert(name.clone(), line_of(&place)) {
                return Err(SuiteError::new(place, Problem::DuplicateName { name, first_line }));
            }
            rows.push(Row { header, entries });
        }
        Ok(rows)
    }

    fn entries(
        &self,
        table: &Table<'_>,
        shown: &str,
        allowed: impl Fn(&KeyDoc) -> bool,
    ) -> Result<Vec<Entry>, SuiteError> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in in_order(table) {
            let found = key.get_ref();
            let place = self.place(&key.span());
            let Some(doc) = keys::find(found).filter(|doc| allowed(doc)) else {
                let known = keys::keys().iter().filter(|doc| allowed(doc)).map(|doc| doc.name).collect();
                let nearest = keys::nearest_key(found).filter(|name| name != found).map(str::to_owned);
                return Err(unknown(place, found, shown, nearest, known));
            };
            entries.push(Entry { key: doc, value: self.value(value), place, value_place: self.place(&value.span()) });
        }
        Ok(entries)
    }

    /// Whether the table has these keys only.
    fn only(&self, table: &Table<'_>, shown: &str, known: &[&'static str]) -> Result<(), SuiteError> {
        for (key, _) in in_order(table) {
            let found = key.get_ref();
            if !known.contains(&found.as_ref()) {
                // A workload's key outside of any workload is meant for all of them.
                let misplaced = keys::find(found).filter(|_| known.contains(&"defaults"));
                let nearest = misplaced.map(|key| format!("defaults.{}", key.name));
                let nearest =
                    nearest.or_else(|| crate::nearest::nearest(found, known.iter().copied()).map(str::to_owned));
                return Err(unknown(self.place(&key.span()), found, shown, nearest, known.to_vec()));
            }
        }
        Ok(())
    }

    fn table<'t>(
        &self,
        value: &'t Spanned<DeValue<'t>>,
        key: &str,
        expected: &str,
    ) -> Result<&'t Table<'t>, SuiteError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            other => {
                let why = format!("{expected} is expected, not {}", article(other.type_str()));
                Err(self.misfit(value, key, Misfit::new(why)))
            }
        }
    }

    fn optional_line(&self, table: &Table<'_>, key: &str, what: &str) -> Result<Option<String>, SuiteError> {
        table.get(key).map(|value| self.line(value, key, what)).transpose()
    }

    fn line(&self, value: &Spanned<DeValue<'_>>, key: &str, what: &str) -> Result<String, SuiteError> {
        self.read(value, key, |found| values::line(found, what))
    }

    fn read<T>(
        &self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        read: impl FnOnce(&Value) -> Result<T, Misfit>,
    ) -> Result<T, SuiteError> {
        read(&self.value(value)).map_err(|misfit| self.misfit(value, key, misfit))
    }

    fn misfit(&self, value: &Spanned<DeValue<'_>>, key: &str, Misfit { why, nearest }: Misfit) -> SuiteError {
        let written = match value.get_ref() {
            DeValue::Table(_) => key.to_owned(),
            _ => format!("{key} = {}", self.value(value).shown()),
        };
        SuiteError::new(self.place(&value.span()), Problem::BadValue { written: Some(written), why, nearest })
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Other("an integer of more than 128 bits", number.as_str().to_owned()),
            },
            DeValue::Float(number) => Value::Other("a number with a fraction", number.as_str().to_owned()),
            DeValue::Datetime(date) => Value::Other("a date or time of day", date.to_string()),
            DeValue::Array(_) => Value::Other("an array", "[…]".to_owned()),
            DeValue::Table(_) => Value::Other("a table", "{…}".to_owned()),
        }
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let (line, column) = position(self.text, span.start);
        Place::Text { file: self.file.to_owned(), line, column }
    }
}

/// Line and column, both from 1, the column in characters.
pub(crate) fn position(text: &str, offset: usize) -> (u32, u32) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    let from_1 = |number: usize| u32::try_from(number).map_or(u32::MAX, |number| number.saturating_add(1));
    (from_1(line), from_1(column))
}

fn line_of(place: &Place) -> u32 {
    match place {
        Place::Text { line, .. } => *line,
        _ => 0,
    }
}

/// The entries of a table in the order of the text.
fn in_order<'a>(table: &'a Table<'a>) -> Vec<Item<'a>> {
    let mut items: Vec<Item<'a>> = table.iter().collect();
    items.sort_by_key(|(key, _)| key.span().start);
    items
}

fn missing(place: Place, table: &str, key: &'static str, remedy: &'static str) -> SuiteError {
    SuiteError::new(place, Problem::MissingKey { table: table.to_owned(), key, remedy })
}

fn unknown(place: Place, found: &str, table: &str, nearest: Option<String>, known: Vec<&'static str>) -> SuiteError {
    SuiteError::new(place, Problem::UnknownKey { found: found.to_owned(), table: table.to_owned(), nearest, known })
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}
