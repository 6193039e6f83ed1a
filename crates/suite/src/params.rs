//! A suite's parameters: named sizes and counts that the command line can set.

use crate::error::{Place, Problem, SuiteError};
use crate::expression::Scope;
use crate::settings::Settings;
use crate::values::{self, Misfit, Value};

/// A parameter of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name, without the `$` of its uses.
    pub name: String,
    /// What it is, on one line; may be empty.
    pub about: String,
    /// What it counts.
    pub unit: ParamUnit,
    /// Its default as it is written: a number, a size, or an expression over parameters before it.
    pub default: String,
    /// The least it may be, in its unit.
    pub min: u64,
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// What a parameter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamUnit {
    /// Bytes; its default is written as a string.
    Bytes,
    /// Things; its default is written as a number.
    Count,
}

impl ParamUnit {
    pub(crate) fn read(self, value: &Value, scope: &Scope) -> Result<u64, Misfit> {
        match self {
            Self::Bytes => values::bytes(value, scope),
            Self::Count => values::count(value, scope, u64::MAX),
        }
    }
}

/// The values of all parameters: what the command line sets, or else their defaults, in the order of the file.
pub(crate) fn evaluate(params: &[Param], settings: &Settings) -> Result<Scope, SuiteError> {
    let mut scope = Scope::new();
    for param in params {
        let Param { name, min, unit, .. } = param;
        let (value, place, written) = match settings.last(name) {
            Some(setting) => {
                (unit.read(&Value::Word(setting.value.clone()), &scope), Place::Setting(setting.clone()), None)
            }
            None => {
                (unit.read(&param.value, &scope), param.place.clone(), Some(format!("default = {}", param.default)))
            }
        };
        let least = |value: u64| {
            if value >= *min { Ok(value) } else { Err(Misfit::new(format!("the least is {min}, not {value}"))) }
        };
        let value = value.and_then(least).map_err(|Misfit { why, nearest }| {
            let written = written.map(|default| format!("parameter {name}: {default}"));
            SuiteError::new(place, Problem::BadValue { written, why, nearest })
        })?;
        scope.insert(name.clone(), value);
    }
    Ok(scope)
}
