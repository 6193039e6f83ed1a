//! Boards: profiles in TOML, with what is set over them.
//!
//! A profile names parts and gives them their parameters; it holds no logic. Every number in it is
//! `{ value = …, unit = "…", source = "…" }`. A profile may build on another one (`base = "esp32"`) and say only what
//! differs.

mod built_in;
mod error;
mod keys;
mod profile;
pub mod value;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use flashmark_chips::nor;
use flashmark_core::units::{parse_bytes, parse_ns};
use flashmark_core::workload::{Access, Medium};

pub use built_in::{BuiltInBoard, built_in_boards};
pub(crate) use error::nearest;
pub use error::{BoardError, Place};
pub use keys::{BoardKey, Key, all_keys};
use value::Value;

use crate::driver::{self, Driver};
use crate::storage;

/// A board: the parts and their parameters.
#[derive(Clone, Debug)]
pub struct Board {
    name: String,
    about: String,
    text: String,
    file: String,
    driver: String,
    suite: Option<String>,
    storages: Vec<String>,
    values: BTreeMap<String, Value>,
}

/// A setting as it holds for a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingView {
    /// The key.
    pub key: String,
    /// Number and unit, or a word.
    pub value: String,
    /// Where it comes from.
    pub source: String,
}

/// The version of the models: grows whenever the same board gives other results.
pub const MODELS: u32 = 1;

/// What a fitted parameter's source begins with; the rows it was fitted on follow, separated by semicolons.
pub const FIT: &str = "fit:";

impl Board {
    /// A built-in board by name, or one from a file by its path (ending in `.toml`).
    ///
    /// # Errors
    /// [`BoardError`] tells what is wrong, with file, line and column.
    pub fn load(name_or_path: &str) -> Result<Self, BoardError> {
        profile::load(name_or_path, &mut Vec::new())
    }

    /// A board from a profile's text; `file` is what errors call it.
    ///
    /// # Errors
    /// As [`Board::load`].
    pub fn parse(text: &str, file: &str) -> Result<Self, BoardError> {
        profile::parse(text, file, &mut Vec::new())
    }

    /// Sets a key over the profile's value, e.g. `fatfs.cluster` to `16k`.
    ///
    /// # Errors
    /// [`BoardError::UnknownKey`] and [`BoardError::Value`]; how values fit each other is left to [`Board::check`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), BoardError> {
        let value = Value { text: value.to_owned(), source: "setting".into(), place: Place::Setting };
        self.insert(key, value, &Place::Setting)
    }

    /// Sets a key that stands at `place`.
    fn insert(&mut self, key: &str, value: Value, place: &Place) -> Result<(), BoardError> {
        let Some(known) = keys::find(key) else {
            let nearest = nearest(key, all_keys().iter().map(|known| known.name.as_str()));
            return Err(BoardError::UnknownKey { place: place.clone(), key: key.to_owned(), nearest });
        };
        value::check(known.kind, &value.text).map_err(|reason| BoardError::Value {
            place: value.place.clone(),
            key: key.to_owned(),
            value: value.text.clone(),
            reason,
        })?;
        self.values.insert(key.to_owned(), value);
        Ok(())
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line on what it is.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The profile's TOML.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The suite that is run on it where none is named.
    #[must_use]
    pub fn suite(&self) -> Option<&str> {
        self.suite.as_deref()
    }

    /// What a storage shows of itself, without putting it together.
    #[must_use]
    pub fn shows(&self, storage: &str) -> (Access, Medium) {
        (if storage == storage::RAW { Access::Raw } else { Access::Files }, Medium::Nor)
    }

    /// How often a workload is repeated on a storage at most (its `tries`); `None` is as often as the suite says.
    ///
    /// This is a habit of the original that the board's published run was made with. So it holds in the suite that the
    /// profile names, and in others of the same original: `suite` is the run's by the name or path that it is asked for by.
    /// What other suites repeat is theirs to say.
    ///
    /// # Errors
    /// [`BoardError::Value`], of a value that its key does not take.
    pub fn tries(&self, storage: &str, suite: &str, original: Option<&str>) -> Result<Option<NonZeroU32>, BoardError> {
        let key = format!("{storage}.tries");
        let is_own = self.suite().is_some_and(|own| own == suite || original == Some(own));
        if !is_own || !self.values.contains_key(&key) {
            return Ok(None);
        }
        let tries = u32::try_from(self.count(&key)?).map_err(|_| self.misfit(&key, "it is too large".to_owned()))?;
        Ok(NonZeroU32::new(tries))
    }

    /// Everything that decides the results but the workloads: all settings with the values that hold, the chip's numbers,
    /// and the version of the models. Two boards of the same identity give the same results.
    ///
    /// # Errors
    /// [`BoardError`] where the chip cannot be read.
    pub fn identity(&self) -> Result<String, BoardError> {
        let chip = self.chip()?;
        let settings: Vec<String> = self.values.iter().map(|(key, value)| format!("{key}={}", value.text)).collect();
        Ok(format!("models {MODELS}; driver {}; {}; {chip:?}", self.driver, settings.join("; ")))
    }

    /// What can be measured on it, in the order in which it is run.
    #[must_use]
    pub fn storages(&self) -> &[String] {
        &self.storages
    }

    /// The storage of this name, or the error that lists what there is.
    ///
    /// # Errors
    /// [`BoardError::NoStorage`].
    pub fn storage(&self, name: &str) -> Result<&str, BoardError> {
        self.storages.iter().find(|storage| *storage == name).map(String::as_str).ok_or_else(|| BoardError::NoStorage {
            board: self.name.clone(),
            storage: name.to_owned(),
            nearest: nearest(name, self.storages.iter().map(String::as_str)),
            has: self.storages.clone(),
        })
    }

    /// Everything that is set, in alphabetical order.
    #[must_use]
    pub fn settings(&self) -> Vec<SettingView> {
        let view = |(key, value): (&String, &Value)| SettingView {
            key: key.clone(),
            value: value.text.clone(),
            source: value.source.clone(),
        };
        self.values.iter().map(view).collect()
    }

    /// All keys that can be set.
    #[must_use]
    pub fn keys(&self) -> &'static [BoardKey] {
        all_keys()
    }

    /// The parameters of this board and its chip that were fitted on published rows, each with the rows as its source
    /// names them.
    #[must_use]
    pub fn fitted_parameters(&self) -> Vec<(String, Vec<String>)> {
        let chip = self.text_of("chip").ok().and_then(|chip| nor::profiles::load_with_facts(chip).ok());
        let facts = chip.map(|file| file.facts).unwrap_or_default();
        let values = self.values.iter().map(|(key, value)| (key.clone(), value.source.clone()));
        let facts = facts.into_iter().map(|fact| (format!("chip {}", fact.key), fact.source));
        let rows_of = |source: &str| -> Option<Vec<String>> {
            Some(source.strip_prefix(FIT)?.split(';').map(|row| row.trim().to_owned()).collect())
        };
        values.chain(facts).filter_map(|(key, source)| Some((key, rows_of(&source)?))).collect()
    }

    /// The published rows that parameters of this board or its chip were fitted on, each once.
    #[must_use]
    pub fn fitted_rows(&self) -> Vec<String> {
        let mut rows: Vec<String> = self.fitted_parameters().into_iter().flat_map(|(_, rows)| rows).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Whether all parts fit each other, before anything runs.
    ///
    /// # Errors
    /// [`BoardError`] names the setting that does not fit.
    pub fn check(&self) -> Result<(), BoardError> {
        self.checked_chip().map(|_| ())
    }

    /// As [`Board::check`]; gives the chip's profile, which takes a file to be read.
    pub(crate) fn checked_chip(&self) -> Result<nor::Profile, BoardError> {
        let chip = self.chip()?;
        let capacity = chip.capacity_bytes;
        let (offset, size) = (self.bytes("partition.offset")?, self.bytes("partition.size")?);
        let sector = u64::from(storage::SECTOR_BYTES);
        for key in ["partition.offset", "partition.size"] {
            if !self.bytes(key)?.is_multiple_of(sector) {
                return Err(self.misfit(key, format!("it is not a multiple of the flash's sector of {sector} bytes")));
            }
        }
        if size == 0 {
            return Err(self.misfit("partition.size", "a partition needs at least one sector".to_owned()));
        }
        if offset >= capacity {
            let reason = format!("the chip {} has only {capacity} bytes", chip.name);
            return Err(self.misfit("partition.offset", reason));
        }
        if offset.checked_add(size).is_none_or(|end| end > capacity) {
            let end = u128::from(offset) + u128::from(size);
            return Err(self.misfit(
                "partition.size",
                format!("the partition would end at {end} bytes, but the chip {} has {capacity} bytes", chip.name),
            ));
        }
        self.driver_entry()?.check(self, &chip)?;
        Ok(chip)
    }

    /// The chip's profile.
    fn chip(&self) -> Result<nor::Profile, BoardError> {
        let name = self.text_of("chip")?;
        nor::profiles::load(name).map_err(|error| self.misfit("chip", error.to_string()))
    }

    /// The driver's entry in the registry.
    pub(crate) fn driver_entry(&self) -> Result<&'static Driver, BoardError> {
        driver::find(&self.driver).ok_or_else(|| BoardError::Form {
            place: Place::File(self.file.clone()),
            reason: format!("driver = {:?}: known are {}", self.driver, driver::names().join(", ")),
        })
    }

    fn value(&self, key: &str) -> Result<&Value, BoardError> {
        self.values.get(key).ok_or_else(|| BoardError::Missing {
            file: self.file.clone(),
            key: key.to_owned(),
            about: keys::find(key).map(|known| known.about.clone()).unwrap_or_default(),
        })
    }

    /// A value of a key does not fit the rest.
    pub(crate) fn misfit(&self, key: &str, reason: String) -> BoardError {
        let value = self.values.get(key);
        BoardError::Value {
            place: value.map_or_else(|| Place::File(self.file.clone()), |value| value.place.clone()),
            key: key.to_owned(),
            value: value.map_or_else(|| "(not set)".to_owned(), |value| value.text.clone()),
            reason,
        }
    }

    /// A word.
    pub(crate) fn text_of(&self, key: &str) -> Result<&str, BoardError> {
        Ok(self.value(key)?.text.as_str())
    }

    /// A word, or `default` where it is not set.
    pub(crate) fn text_or<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.values.get(key).map_or(default, |value| value.text.as_str())
    }

    /// A flag.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, BoardError> {
        value::parse_flag(self.text_of(key)?).map_err(|reason| self.misfit(key, reason))
    }

    /// A whole number.
    pub(crate) fn count(&self, key: &str) -> Result<u64, BoardError> {
        value::parse_count(self.text_of(key)?).map_err(|reason| self.misfit(key, reason))
    }

    /// A size in bytes.
    pub(crate) fn bytes(&self, key: &str) -> Result<u64, BoardError> {
        parse_bytes(self.text_of(key)?).map_err(|error| self.misfit(key, error.to_string()))
    }

    /// A size of at least `least` bytes that fits 32 bits.
    pub(crate) fn bytes_u32(&self, key: &str, least: u32) -> Result<u32, BoardError> {
        match u32::try_from(self.bytes(key)?) {
            Ok(bytes) if bytes >= least => Ok(bytes),
            _ => Err(self.misfit(key, format!("{least} bytes to 4 GiB are expected"))),
        }
    }

    /// A time in nanoseconds.
    pub(crate) fn ns(&self, key: &str) -> Result<u64, BoardError> {
        parse_ns(self.text_of(key)?).map_err(|error| self.misfit(key, error.to_string()))
    }

    /// A frequency in hertz.
    pub(crate) fn hz(&self, key: &str) -> Result<u64, BoardError> {
        value::parse_hz(self.text_of(key)?).map_err(|reason| self.misfit(key, reason))
    }

    /// Work of the processor in picoseconds at its clock; 0 where an optional one is not set.
    pub(crate) fn work_ps(&self, key: &str) -> Result<u64, BoardError> {
        let work = value::parse_work(self.text_of(key)?).map_err(|reason| self.misfit(key, reason))?;
        Ok(work.ps(self.hz("cpu.clock")?))
    }

    /// As [`Board::work_ps`], 0 where it is not set.
    pub(crate) fn optional_work_ps(&self, key: &str) -> Result<u64, BoardError> {
        if self.values.contains_key(key) { self.work_ps(key) } else { Ok(0) }
    }

    /// The settings of one section that its own parser reads, without the section's name.
    pub(crate) fn section(&self, section: &str) -> Vec<(String, String)> {
        let prefix = format!("{section}.");
        let own = |(key, value): (&String, &Value)| {
            let key = key.strip_prefix(&prefix)?;
            (!keys::is_lab_key(key)).then(|| (key.to_owned(), value.text.clone()))
        };
        self.values.iter().filter_map(own).collect()
    }
}
