//! One option as it was written.

use std::fmt;

use crate::place::Place;

/// An option with its value, not looked at yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name as written, which may be an alias.
    pub name: String,
    /// What stands behind the `=`; `None` if there is none.
    pub value: Option<String>,
    /// Where the name stands.
    pub place: Place,
    /// Where the value stands, or would.
    pub value_place: Place,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
