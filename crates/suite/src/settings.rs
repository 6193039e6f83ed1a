//! What was set on the command line.

use std::fmt;

use crate::error::{Place, Problem, SuiteError};
use crate::keys;

/// One value set on the command line: of a suite key, for every workload, or of a parameter of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The suite key or the parameter's name, e.g. `block`, `target-size`.
    pub key: String,
    /// The value as it was typed.
    pub value: String,
}

impl fmt::Display for Setting {
    /// As it is typed: `--block 4k` for a key, `--set tries=10` for a parameter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value } = self;
        match keys::find(key) {
            Some(_) if value.is_empty() || value.contains(char::is_whitespace) => write!(f, "--{key} {value:?}"),
            Some(_) => write!(f, "--{key} {value}"),
            None => write!(f, "--set {key}={value}"),
        }
    }
}

/// All that was set on the command line, in order; the last value of a key counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(pub Vec<Setting>);

impl Settings {
    /// Nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value. Whether key and value mean something is found out by [`crate::Suite::expand`].
    pub fn push(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.push(Setting { key: key.into(), value: value.into() });
    }

    /// Adds what `--set` takes: `KEY=VALUE`.
    ///
    /// # Errors
    /// [`Problem::NotAPair`] if there is no `=` or nothing before it.
    pub fn push_pair(&mut self, pair: &str) -> Result<(), SuiteError> {
        match pair.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                // The value as it is: a text may begin or end with spaces.
                self.push(key.trim(), value);
                Ok(())
            }
            _ => Err(SuiteError::new(Place::CommandLine, Problem::NotAPair(pair.to_owned()))),
        }
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each one as `key=value`, the form in which a record keeps them.
    #[must_use]
    pub fn to_pairs(&self) -> Vec<String> {
        self.0.iter().map(|Setting { key, value }| format!("{key}={value}")).collect()
    }

    /// The value that counts for `key`.
    pub(crate) fn last(&self, key: &str) -> Option<&Setting> {
        self.0.iter().rev().find(|setting| setting.key == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_written() {
        let mut settings = Settings::new();
        settings.push_pair("target-size = 128k").unwrap();
        settings.push_pair("data=text:a=b").unwrap();
        settings.push("block", "4k");
        settings.push("block", "8k");
        assert_eq!(settings.to_pairs(), ["target-size= 128k", "data=text:a=b", "block=4k", "block=8k"]);
        assert_eq!(settings.last("block").map(|s| s.value.as_str()), Some("8k"));
        assert_eq!(settings.last("block").map(ToString::to_string).as_deref(), Some("--block 8k"));
        assert_eq!(settings.last("target-size").map(ToString::to_string).as_deref(), Some("--set target-size= 128k"));
        for bad in ["", "tries", "=4", " = 4"] {
            assert!(settings.push_pair(bad).is_err(), "{bad:?}");
        }
    }
}
