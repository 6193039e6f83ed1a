//! Options of file systems, as text and as what they mean.

use flashmark_core::units::parse_bytes;

/// Why an option was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// Not `key=value`.
    #[error("`{0}` is not of the form key=value")]
    NoValue(String),
    /// Given more than once.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// There is no such option.
    #[error("{file_system} has no option `{key}`; it has {known}")]
    UnknownKey {
        /// The file system.
        file_system: &'static str,
        /// What was given.
        key: String,
        /// All keys.
        known: String,
    },
    /// There is no such file system.
    #[error("there is no file system `{name}`; there are {known}")]
    UnknownFileSystem {
        /// What was given.
        name: String,
        /// All names.
        known: String,
    },
    /// The value has no meaning, or does not fit the other options or the device.
    #[error("{key}={value}: {reason}")]
    BadValue {
        /// The option.
        key: &'static str,
        /// Its value; the default where none was given.
        value: String,
        /// What is wrong and what would be taken.
        reason: String,
    },
}

/// An option of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What is written before the `=`.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it can be.
    pub values: &'static str,
    /// What it is if it is not given.
    pub default: &'static str,
}

/// Options as they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pairs: Vec<(String, String)>,
}

impl Options {
    /// Reads `key=value` texts.
    ///
    /// # Errors
    /// [`OptionError::NoValue`], [`OptionError::Twice`].
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, OptionError> {
        let mut options = Self::default();
        for text in texts {
            let text = text.as_ref();
            let (key, value) = text.split_once('=').ok_or_else(|| OptionError::NoValue(text.into()))?;
            options.set(key.trim(), value.trim())?;
        }
        Ok(options)
    }

    /// Adds an option.
    ///
    /// # Errors
    /// [`OptionError::Twice`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        if self.pairs.iter().any(|(known, _)| known == key) {
            return Err(OptionError::Twice(key.into()));
        }
        self.pairs.push((key.into(), value.into()));
        Ok(())
    }

    /// The keys and values, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// Options by the keys of one file system, defaults included.
pub(crate) struct Reader<'a> {
    keys: &'static [Key],
    options: &'a Options,
}

impl<'a> Reader<'a> {
    /// Refuses options that are not among `keys`.
    pub fn new(file_system: &'static str, keys: &'static [Key], options: &'a Options) -> Result<Self, OptionError> {
        for (key, _) in options.iter() {
            if !keys.iter().any(|known| known.name == key) {
                let known = keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ");
                return Err(OptionError::UnknownKey { file_system, key: key.into(), known });
            }
        }
        Ok(Self { keys, options })
    }

    /// The text of an option.
    pub fn text(&self, name: &str) -> &str {
        let given = self.options.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
        let default = || self.keys.iter().find(|key| key.name == name).map_or("", |key| key.default);
        given.unwrap_or_else(default)
    }

    /// An error about an option.
    pub fn bad(&self, name: &'static str, reason: impl Into<String>) -> OptionError {
        OptionError::BadValue { key: name, value: self.text(name).into(), reason: reason.into() }
    }

    /// A size in bytes.
    pub fn bytes(&self, name: &'static str) -> Result<u32, OptionError> {
        let bytes = parse_bytes(self.text(name)).map_err(|error| self.bad(name, error.to_string()))?;
        u32::try_from(bytes).map_err(|_| self.bad(name, "it has to be less than 4 GiB"))
    }

    /// A size in bytes, or `word`.
    pub fn bytes_or(&self, name: &'static str, word: &str) -> Result<Option<u32>, OptionError> {
        if self.text(name) == word { Ok(None) } else { self.bytes(name).map(Some) }
    }

    /// A whole number.
    pub fn number(&self, name: &'static str) -> Result<i64, OptionError> {
        self.text(name).parse().map_err(|_| self.bad(name, "it has to be a whole number"))
    }

    /// A whole number from `low` to `high`.
    pub fn number_in(&self, name: &'static str, low: u32, high: u32) -> Result<u32, OptionError> {
        let number = self.number(name)?;
        let in_range = u32::try_from(number).ok().filter(|number| (low..=high).contains(number));
        in_range.ok_or_else(|| self.bad(name, format!("it has to be from {low} to {high}")))
    }

    /// `true` or `false`.
    pub fn flag(&self, name: &'static str) -> Result<bool, OptionError> {
        match self.text(name) {
            "true" | "on" | "yes" => Ok(true),
            "false" | "off" | "no" => Ok(false),
            _ => Err(self.bad(name, "it has to be true or false")),
        }
    }

    /// One of the words.
    pub fn choice<T: Copy>(&self, name: &'static str, words: &[(&str, T)]) -> Result<T, OptionError> {
        let text = self.text(name);
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let words = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            self.bad(name, format!("it has to be one of {words}"))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const KEYS: &[Key] = &[Key { name: "block", about: "a block", values: "bytes", default: "4k" }];

    #[test]
    fn what_is_not_given_is_the_default() {
        let options = Options::default();
        assert_eq!(Reader::new("x", KEYS, &options).unwrap().bytes("block"), Ok(4096));
        let options = Options::parse(["block = 16k"]).unwrap();
        assert_eq!(Reader::new("x", KEYS, &options).unwrap().bytes("block"), Ok(16384));
    }

    #[test]
    fn an_error_names_key_value_and_reason() {
        let options = Options::parse(["block=16q"]).unwrap();
        let error = Reader::new("x", KEYS, &options).unwrap().bytes("block").unwrap_err().to_string();
        assert!(error.starts_with("block=16q: ") && error.contains("KiB"), "{error}");
        let options = Options::parse(["blok=1"]).unwrap();
        let error = Reader::new("x", KEYS, &options).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "x has no option `blok`; it has block");
        assert_eq!(Options::parse(["block"]), Err(OptionError::NoValue("block".into())));
        assert_eq!(Options::parse(["a=1", "a=2"]), Err(OptionError::Twice("a".into())));
    }
}
