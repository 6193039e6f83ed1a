//! JSON as fio writes it: `"key" : value`, floats always with six digits behind the point.
//!
//! serde_json does the writing and the escaping; only its [`Formatter`] is ours. So keys keep their order and floats look
//! like fio's without serde_json's features `preserve_order` and `arbitrary_precision`, which would change every other
//! crate that is built together with this one.

use std::io;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::ser::{Formatter, PrettyFormatter};

/// A value of fio's JSON, which has no truth values and no nulls.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i64),
    Float(f64),
    Text(String),
    Object(Object),
    Array(Vec<Value>),
}

/// Keys with values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object(Vec<(String, Value)>);

impl Object {
    /// Adds an entry at the end; one with the same key is taken out, since some readers refuse what comes twice.
    pub(super) fn set(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        let key = key.into();
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, value.into()));
    }

    /// With a further entry.
    pub(super) fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set(key, value);
        self
    }

    /// Whether it has no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<(String, Value)> for Object {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| self.set(key, value));
    }
}

impl FromIterator<(String, Value)> for Object {
    /// The entries, whose keys differ.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<u64> for Value {
    /// The number, or the largest that readers with signed 64 bits take.
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<f64> for Value {
    /// The number; 0 for what is none, since JSON has no words for it.
    fn from(number: f64) -> Self {
        Self::Float(if number.is_finite() { number } else { 0.0 })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Self::Array(values)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Object(object) => object.serialize(serializer),
            Self::Array(values) => values.serialize(serializer),
        }
    }
}

/// serde_json's pretty printing, but for floats and the colon.
struct FioFormatter(PrettyFormatter<'static>);

impl Formatter for FioFormatter {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value:.6}")
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b" : ")
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// The text, with a line break at its end.
pub(super) fn text(object: &Object) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, FioFormatter(PrettyFormatter::new()));
    // Neither writing to memory nor these values can fail.
    let _ = object.serialize(&mut serializer);
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_like_fios() {
        let object = Object::default()
            .with("fio version", "a\"b\\c\n\u{7}")
            .with("z", 1_u64)
            .with("a", 1.0)
            .with("none", f64::NAN)
            .with("list", vec![Value::from(Object::default().with("error", -5)), Value::from(u64::MAX)])
            .with("z", 2_u64);
        let expected = "{\n  \"fio version\" : \"a\\\"b\\\\c\\n\\u0007\",\n  \"a\" : 1.000000,\n  \"none\" : 0.000000,\n  \
             \"list\" : [\n    {\n      \"error\" : -5\n    },\n    9223372036854775807\n  ],\n  \"z\" : 2\n}\n";
        assert_eq!(text(&object), expected);
    }
}
