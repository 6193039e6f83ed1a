//! What tells the records of a sweep apart: a column for the workload, the target and each setting, where they differ.

use std::collections::HashMap;

use flashmark_core::record::Record;
use flashmark_core::workload::Workload;

use super::fields::FIELDS;
use super::swept::Swept;
use crate::figures::printable;

/// What is set in the name of a simulated target, `lab:BOARD/STORAGE,key=value…`; other names are a place alone.
pub(super) struct Named<'a> {
    place: &'a str,
    pub(super) settings: Vec<(&'a str, &'a str)>,
}

impl<'a> Named<'a> {
    pub(super) fn of(name: &'a str) -> Self {
        let mut parts = if name.starts_with("lab:") { name.split(',') } else { name.split('\0') };
        let place = parts.next().unwrap_or_default();
        let settings = parts.filter_map(|part| part.split_once('=')).map(|(key, value)| (key.trim(), value.trim()));
        Self { place, settings: settings.collect() }
    }

    /// The value that counts for a key: the last one.
    fn value(&self, key: &str) -> Option<&'a str> {
        self.settings.iter().rev().find(|(found, _)| *found == key).map(|(_, value)| *value)
    }
}

/// What differs among records.
pub(super) struct Columns<'a> {
    workload: bool,
    place: bool,
    /// Keys of simulated boards.
    keys: Vec<&'a str>,
    swept: Swept<'a>,
    /// Keys of suites that were swept.
    swept_keys: Vec<&'a str>,
    /// Places in [`FIELDS`] of what else differs in workloads.
    fields: Vec<usize>,
}

impl<'a> Columns<'a> {
    /// Of these records; [`Columns::cells`] takes the same ones by their place.
    pub(super) fn of(records: &[&'a Record]) -> Self {
        let named: Vec<Named<'a>> = records.iter().map(|record| Named::of(&record.target.name)).collect();
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in named.iter().flat_map(|name| &name.settings) {
            if !keys.contains(key) {
                keys.push(key);
            }
        }
        keys.retain(|key| differs(named.iter().map(|name| name.value(key))));
        let swept = Swept::of(records);
        let mut swept_keys = swept.keys();
        swept_keys.retain(|key| differs((0..records.len()).map(|nth| swept.value(nth, key))));
        Self {
            workload: differs(records.iter().map(|record| &record.workload.name)),
            place: differs(named.iter().map(|name| name.place)),
            keys,
            fields: fields(records, &swept),
            swept,
            swept_keys,
        }
    }

    /// What the records have in common.
    pub(super) fn common(&self, records: &[&Record]) -> Vec<String> {
        let Some(first) = records.first() else { return Vec::new() };
        let named = Named::of(&first.target.name);
        let mut parts: Vec<String> = Vec::new();
        parts.extend((!self.workload).then(|| printable(&first.workload.name)));
        parts.extend((!self.place).then(|| printable(named.place)));
        let common = named.settings.iter().filter(|(key, _)| !self.keys.contains(key));
        parts.extend(common.map(|(key, value)| printable(&format!("{key}={value}"))));
        parts
    }

    /// One text each; at least one.
    pub(super) fn headers(&self) -> Vec<String> {
        let mut headers: Vec<String> = Vec::new();
        headers.extend(self.workload.then(|| "workload".to_owned()));
        headers.extend(self.place.then(|| "target".to_owned()));
        headers.extend(self.keys.iter().chain(&self.swept_keys).map(|key| printable(key)));
        headers.extend(self.fields.iter().filter_map(|nth| FIELDS.get(*nth)).map(|(key, _)| (*key).to_owned()));
        if headers.is_empty() {
            headers.push("record".to_owned());
        }
        headers
    }

    /// What stands below the headers for the record in this place.
    pub(super) fn cells(&self, nth: usize, record: &Record) -> Vec<String> {
        let named = Named::of(&record.target.name);
        let mut cells: Vec<String> = Vec::new();
        cells.extend(self.workload.then(|| printable(&record.workload.name)));
        cells.extend(self.place.then(|| printable(named.place)));
        cells.extend(self.keys.iter().map(|key| named.value(key).map_or_else(|| "(profile)".into(), printable)));
        let swept = self.swept_keys.iter().map(|key| self.swept.value(nth, key));
        cells.extend(swept.map(|value| value.map_or_else(|| "-".into(), printable)));
        let fields = self.fields.iter().filter_map(|nth| FIELDS.get(*nth));
        cells.extend(fields.map(|(_, shown)| printable(&shown(&record.workload))));
        if cells.is_empty() {
            cells.push(record.run.index.to_string());
        }
        cells
    }
}

/// What workloads differ in whose records would look alike without it.
fn fields(records: &[&Record], swept: &Swept<'_>) -> Vec<usize> {
    let mut alike: HashMap<(&str, &str, Vec<Option<&str>>), &Workload> = HashMap::new();
    let mut found = [false; FIELDS.len()];
    for (nth, record) in records.iter().enumerate() {
        let look = (record.workload.name.as_str(), record.target.name.as_str(), swept.values(nth));
        let first = *alike.entry(look).or_insert(&record.workload);
        if *first != record.workload {
            for (differs, (_, shown)) in found.iter_mut().zip(&FIELDS) {
                *differs |= shown(first) != shown(&record.workload);
            }
        }
    }
    found.iter().enumerate().filter(|(_, differs)| **differs).map(|(nth, _)| nth).collect()
}

fn differs<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    values.next().is_some_and(|first| values.any(|value| value != first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_lab_have_settings() {
        let named = Named::of("lab:my,board");
        assert_eq!((named.place, named.settings.len()), ("lab:my", 0));
        let named = Named::of("lab:esp32,chip=a,chip=b");
        assert_eq!((named.place, named.value("chip")), ("lab:esp32", Some("b")));
        let named = Named::of("/mnt/a,b=c");
        assert_eq!((named.place, named.settings.len()), ("/mnt/a,b=c", 0));
    }
}
