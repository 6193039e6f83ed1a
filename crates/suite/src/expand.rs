//! From what is written to what runs.
//!
//! For each workload the layers lie over each other, the later winning: `[defaults]`, `[compat.defaults]` (in the
//! compatibility form), the workload's own keys, the command line. Defaults and the command line speak to many workloads
//! at once, so a workload that one of their keys is not for ([`keys::Applies`]) passes it over; a workload's own key must fit.

use flashmark_core::workload::{Contradiction, Data, FileMode, Order, SyncPolicy, Workload};

use crate::document::{Entry, Row};
use crate::draft::{Draft, Op};
use crate::error::{Place, Problem, SuiteError};
use crate::expression::{self, Scope};
use crate::keys::{self, KeyDoc};
use crate::settings::{Setting, Settings};
use crate::values::{Misfit, Value};

/// What all rows of an expansion share.
pub(crate) struct Layers<'a> {
    /// The suite's and the form's defaults, the stronger ones last.
    pub(crate) defaults: Vec<&'a Entry>,
    pub(crate) settings: &'a Settings,
    pub(crate) scope: &'a Scope,
}

impl Layers<'_> {
    /// Expands the rows in order.
    pub(crate) fn expand(&self, rows: &[Row]) -> Result<Vec<Workload>, SuiteError> {
        if let Some(setting) = self.settings.last("name").filter(|_| rows.len() > 1) {
            return Err(SuiteError::new(Place::Setting(setting.clone()), Problem::OneNameForMany(rows.len())));
        }
        let mut used = Vec::new();
        let workloads = rows.iter().map(|row| self.row(row, &mut used)).collect::<Result<_, _>>()?;
        let unused = |key: &&KeyDoc| !used.contains(&key.name);
        for key in keys::keys().iter().filter(unused) {
            if let Some(setting) = self.settings.last(key.name) {
                let problem = Problem::UnusedSetting { key: key.name, condition: key.applies.condition() };
                return Err(SuiteError::new(Place::Setting(setting.clone()), problem));
            }
        }
        Ok(workloads)
    }

    /// Reads every default on its own, so that one that no workload takes is not wrong unnoticed.
    pub(crate) fn check_defaults(&self) -> Result<(), SuiteError> {
        self.defaults.iter().try_for_each(|entry| self.read(&mut Draft::new(), &Written::of_entry(entry)))
    }

    fn row(&self, row: &Row, used: &mut Vec<&'static str>) -> Result<Workload, SuiteError> {
        let mut draft = Draft::new();
        let mut all_written: Vec<Written> = Vec::new();
        for key in keys::keys() {
            let applies = key.applies.holds(&draft);
            let setting =
                self.settings.last(key.name).filter(|_| applies).map(|setting| Written::of_setting(key, setting));
            let own = row.entries.iter().find(|entry| entry.key.name == key.name).map(|entry| self.written(entry));
            let default = || self.defaults.iter().rev().find(|entry| entry.key.name == key.name && applies);
            if setting.is_some() {
                used.push(key.name);
                match key.name {
                    "op" => self.keeps_op(&draft, own.as_ref(), setting.as_ref())?,
                    "fill" => self.keeps_level(&draft, own.as_ref(), setting.as_ref())?,
                    _ => {}
                }
            } else if let Some(own) = own.as_ref().filter(|own| !applies && !own.is_checked_later()) {
                // A value is checked even where it is not used.
                self.read(&mut Draft::new(), own)?;
                if !all_written.iter().any(|written| written.from_outside && decides_meaning(written.key)) {
                    let workload = if draft.named { draft.workload.name } else { "command line".to_owned() };
                    let (key, condition) = (key.name, key.applies.condition());
                    return Err(SuiteError::new(own.place.clone(), Problem::OutOfPlace { workload, key, condition }));
                }
                continue;
            }
            if let Some(written) = setting.or(own).or_else(|| default().map(|entry| self.written(entry))) {
                self.read(&mut draft, &written)?;
                all_written.push(written);
            }
        }
        finish(draft, row, &all_written)
    }

    /// A suite's workloads are named for what they do; changing that from outside would make their names lie.
    fn keeps_op(&self, draft: &Draft, own: Option<&Written>, setting: Option<&Written>) -> Result<(), SuiteError> {
        let op = |written: Option<&Written>| -> Result<Option<Op>, SuiteError> {
            let mut scratch = Draft::new();
            written.map_or(Ok(()), |written| self.read(&mut scratch, written))?;
            Ok(scratch.op)
        };
        match (op(own)?, op(setting)?, setting) {
            (Some(own), Some(new), Some(setting)) if own != new => {
                let problem = Problem::OpOfSuite { workload: draft.workload.name.clone(), own: own.word() };
                Err(SuiteError::new(setting.place.clone(), problem))
            }
            _ => Ok(()),
        }
    }

    /// The same of a level of use.
    fn keeps_level(&self, draft: &Draft, own: Option<&Written>, setting: Option<&Written>) -> Result<(), SuiteError> {
        let level = |written: Option<&Written>| -> Result<Option<u8>, SuiteError> {
            let mut scratch = Draft::new();
            written.map_or(Ok(()), |written| self.read(&mut scratch, written))?;
            Ok(scratch.workload.fill_percent)
        };
        match (level(own)?, level(setting)?, setting) {
            (Some(own), new, Some(setting)) if Some(own) != new => {
                let problem = Problem::LevelOfSuite { workload: draft.workload.name.clone(), own };
                Err(SuiteError::new(setting.place.clone(), problem))
            }
            _ => Ok(()),
        }
    }

    /// An entry of the suite. What it says of a parameter that the command line sets, the command line says.
    fn written(&self, entry: &Entry) -> Written {
        let written = Written::of_entry(entry);
        let text = match &entry.value {
            Value::Text(text) => text.as_str(),
            _ => "",
        };
        let names = self.scope.keys().filter(|name| expression::uses(text, name));
        match names.filter_map(|name| self.settings.last(name)).next() {
            Some(setting) => {
                let place = Place::Setting(setting.clone());
                Written { value_place: place.clone(), place, from_outside: true, ..written }
            }
            None => written,
        }
    }

    fn read(&self, draft: &mut Draft, written: &Written) -> Result<(), SuiteError> {
        (written.key.read)(draft, &written.value, self.scope).map_err(|Misfit { why, nearest }| {
            // A word of the command line is shown by its place already.
            let is_word = matches!(written.value, Value::Word(_));
            let shown = (!is_word).then(|| format!("{} = {}", written.key.name, written.value.shown()));
            let problem = Problem::BadValue { written: shown, why, nearest };
            SuiteError::new(written.value_place.clone(), problem)
        })
    }
}

/// A value that counts for a workload, and where it is from.
struct Written {
    key: &'static KeyDoc,
    value: Value,
    place: Place,
    value_place: Place,
    /// Whether it is set from the command line over what the suite says.
    from_outside: bool,
}

impl Written {
    fn of_entry(entry: &Entry) -> Self {
        Self {
            key: entry.key,
            value: entry.value.clone(),
            place: entry.place.clone(),
            value_place: entry.value_place.clone(),
            from_outside: false,
        }
    }

    fn of_setting(key: &'static KeyDoc, setting: &Setting) -> Self {
        Self { from_outside: true, ..Self::of_entry(&entry_of_setting(key, setting)) }
    }

    /// Whether it does no harm where it is not for the workload, or [`Workload::check`] sees to it.
    fn is_checked_later(&self) -> bool {
        let off = match &self.value {
            Value::Boolean(value) => !value,
            Value::Word(word) => word == "false",
            _ => false,
        };
        off || matches!(self.key.name, "sync" | "file")
    }
}

/// A setting as an entry of its own.
pub(crate) fn entry_of_setting(key: &'static KeyDoc, setting: &Setting) -> Entry {
    let place = Place::Setting(setting.clone());
    Entry { key, value: Value::Word(setting.value.clone()), value_place: place.clone(), place }
}

/// Keys that other keys' meaning depends on; set on the command line, they make a workload's own key void, not wrong.
fn decides_meaning(key: &KeyDoc) -> bool {
    matches!(key.name, "op" | "read-percent" | "file" | "data")
}

fn finish(draft: Draft, row: &Row, all_written: &[Written]) -> Result<Workload, SuiteError> {
    let named = draft.named;
    let mut workload = draft.finish();
    if !named {
        workload.name = made_up_name(&workload);
    }
    let is_written = |key: &str| all_written.iter().any(|written| written.key.name == key);
    // The command line's value is what was changed last, so it is what to point at.
    let place_of = |keys: &[&str]| {
        let written = |key: &&str| all_written.iter().find(|written| written.key.name == *key);
        let found: Vec<&Written> = keys.iter().filter_map(written).collect();
        let from_outside = found.iter().find(|written| written.from_outside);
        from_outside.or(found.first()).map_or_else(|| row.header.clone(), |written| written.place.clone())
    };
    if let Err(contradiction) = workload.check() {
        let place = place_of(&keys_of(&contradiction));
        return Err(SuiteError::new(place, Problem::Contradiction { workload: workload.name, contradiction }));
    }
    let grows = matches!(workload.file, FileMode::New | FileMode::Append);
    if grows && workload.size_bytes.is_none() && workload.time_ns.is_none() && !is_written("file-size") {
        return Err(SuiteError::new(place_of(&["file", "op"]), Problem::NoSize(workload.name)));
    }
    if let Data::Text { end, .. } = &workload.data {
        let (end, block) = (end.len(), workload.block_bytes);
        if u32::try_from(end).is_ok_and(|end| end <= block) {
            return Ok(workload);
        }
        let place = place_of(&["data-end", "block"]);
        return Err(SuiteError::new(place, Problem::EndLongerThanBlock { workload: workload.name, end, block }));
    }
    Ok(workload)
}

/// The keys that a contradiction is between, the one to point at first.
fn keys_of(contradiction: &Contradiction) -> Vec<&'static str> {
    let others: &[&'static str] = match contradiction {
        Contradiction::BlockLargerThan { key, .. } => &[key, "size"],
        Contradiction::ReadsNewFile | Contradiction::SyncWithoutWrites => &["op", "read-percent"],
        Contradiction::AppendInOrder => &["file"],
        Contradiction::LastByteUnknown => &["data"],
        Contradiction::MixedVerifyUnaligned => &["block", "op", "read-percent"],
        _ => &[],
    };
    [&[contradiction.key()], others].concat()
}

/// A name for a workload that has none: what it does, e.g. `random write 4KiB + sync`.
fn made_up_name(workload: &Workload) -> String {
    let order = match workload.order {
        Order::Sequential => "sequential".to_owned(),
        Order::Random => "random".to_owned(),
        Order::RandomOnce => "random-once".to_owned(),
        Order::Zipf { theta_milli } => format!("zipf {}", f64::from(theta_milli) / 1000.0),
    };
    let op = match workload.read_percent {
        100 => "read".to_owned(),
        0 => "write".to_owned(),
        percent => format!("mixed {percent}% read"),
    };
    let sync = match workload.sync {
        SyncPolicy::Never => "",
        SyncPolicy::End | SyncPolicy::Every { .. } => " + sync",
    };
    let fill = workload.fill_percent.map_or_else(String::new, |percent| format!(", {percent} % full"));
    format!("{order} {op} {}{sync}{fill}", flashmark_core::units::format_bytes(u64::from(workload.block_bytes)))
}
