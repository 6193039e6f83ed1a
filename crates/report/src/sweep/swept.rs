//! Which of the swept values of suite keys each record ran with.
//!
//! A run's settings tell of a sweep as `--sweep KEY=V1,V2`, in all of its records; what a value changes in a workload is the
//! suite's matter and not told. Keys of simulated boards stand in the targets' names. For the others a run goes through
//! all combinations on each target, the last sweep's values changing fastest, so that the place of a record among those of
//! its target tells. Where records of the target are missing, another target of the run that had the same workload does.

use std::collections::{HashMap, HashSet};

use flashmark_core::record::Record;
use flashmark_core::units::value_list;

use super::columns::Named;

/// How settings tell of a sweep.
const SWEEP: &str = "--sweep ";

/// The values of each record.
pub(super) struct Swept<'a> {
    runs: HashMap<&'a str, Vec<Sweep<'a>>>,
    /// Of each record its run, and the number of its combination, if that is known.
    places: Vec<(&'a str, Option<usize>)>,
}

struct Sweep<'a> {
    key: &'a str,
    values: Vec<String>,
}

impl<'a> Swept<'a> {
    /// Of these records, in any order.
    pub(super) fn of(records: &[&'a Record]) -> Self {
        let runs = sweeps(records);
        let mut places: Vec<(&str, Option<usize>)> = records.iter().map(|r| (r.run.id.as_str(), None)).collect();
        let mut targets: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for (nth, record) in records.iter().enumerate().filter(|(_, record)| runs.contains_key(record.run.id.as_str()))
        {
            targets.entry((&record.run.id, &record.target.name)).or_default().push(nth);
        }
        for ((run, _), mut of_target) in targets {
            of_target.sort_by_key(|nth| records.get(*nth).map(|record| record.run.index));
            let count = runs.get(run).map_or(1, |sweeps| sweeps.iter().map(|sweep| sweep.values.len()).product());
            let those: Vec<&Record> = of_target.iter().filter_map(|nth| records.get(*nth).copied()).collect();
            if let Some(each) = records_each(&those, count) {
                for (place, nth) in of_target.iter().enumerate() {
                    if let Some((_, combination)) = places.get_mut(*nth) {
                        *combination = Some(place / each);
                    }
                }
            }
        }
        let mut swept = Self { runs, places };
        swept.by_workload(records);
        swept
    }

    /// Gives the combination of a workload to records that have the same one and none yet, unless two combinations have
    /// the same workload.
    fn by_workload(&mut self, records: &[&'a Record]) {
        let is_open = |(run, combination): &(&str, Option<usize>)| combination.is_none() && self.runs.contains_key(run);
        if !self.places.iter().any(is_open) {
            return;
        }
        let looks: Vec<String> =
            records.iter().map(|record| serde_json::to_string(&record.workload).unwrap_or_default()).collect();
        let mut known: HashMap<(&str, &str), Option<usize>> = HashMap::new();
        for ((run, combination), look) in self.places.iter().zip(&looks) {
            if combination.is_some() {
                let found = known.entry((run, look)).or_insert(*combination);
                if found != combination {
                    *found = None;
                }
            }
        }
        for ((run, combination), look) in self.places.iter_mut().zip(&looks) {
            *combination = combination.or_else(|| known.get(&(*run, look.as_str())).copied().flatten());
        }
    }

    /// All keys that were swept, those of the first record's run first.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        let mut keys: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        for (run, _) in self.places.iter().filter(|(run, _)| seen.insert(*run)) {
            for sweep in self.runs.get(run).into_iter().flatten() {
                if !keys.contains(&sweep.key) {
                    keys.push(sweep.key);
                }
            }
        }
        keys
    }

    /// The value of a key that the record in this place ran with.
    pub(super) fn value(&self, nth: usize, key: &str) -> Option<&str> {
        let (run, combination) = self.places.get(nth)?;
        let (sweeps, mut rest) = (self.runs.get(run)?, (*combination)?);
        for sweep in sweeps.iter().rev() {
            if sweep.key == key {
                return sweep.values.get(rest % sweep.values.len()).map(String::as_str);
            }
            rest /= sweep.values.len();
        }
        None
    }

    /// All values that the record in this place ran with.
    pub(super) fn values(&self, nth: usize) -> Vec<Option<&str>> {
        let sweeps = self.places.get(nth).and_then(|(run, _)| self.runs.get(run));
        sweeps.into_iter().flatten().map(|sweep| self.value(nth, sweep.key)).collect()
    }
}

/// The sweeps of suite keys of each run that has any.
fn sweeps<'a>(records: &[&'a Record]) -> HashMap<&'a str, Vec<Sweep<'a>>> {
    let mut runs: HashMap<&str, Vec<Sweep<'_>>> = HashMap::new();
    for record in records.iter().filter(|record| !record.run.settings.is_empty()) {
        runs.entry(&record.run.id).or_insert_with(|| {
            let told = record.run.settings.iter().filter_map(|setting| setting.strip_prefix(SWEEP)?.split_once('='));
            told.map(|(key, values)| Sweep { key, values: value_list(values) }).collect()
        });
    }
    for record in records {
        if let Some(sweeps) = runs.get_mut(record.run.id.as_str()).filter(|sweeps| !sweeps.is_empty()) {
            let named = Named::of(&record.target.name);
            sweeps.retain(|sweep| named.settings.iter().all(|(key, _)| *key != sweep.key));
        }
    }
    runs.retain(|_, sweeps| !sweeps.is_empty());
    runs
}

/// How many records each of `count` combinations has on a target whose records, in the order of the run, are these; `None`
/// if that cannot be told.
fn records_each(records: &[&Record], count: usize) -> Option<usize> {
    let (first, last) = (records.first()?.run.index, records.last()?.run.index);
    let each = records.len().checked_div(count).filter(|each| each * count == records.len() && *each > 0)?;
    // Every workload once for each combination, and nothing missing between them.
    let is_whole = u32::try_from(records.len()).is_ok_and(|len| last.checked_sub(first) == Some(len - 1));
    // Names are unique in a suite, so that nothing else is periodic in them; a single workload from the command line is
    // named by what is set for it.
    let is_single = each == 1 && records.iter().all(|record| record.run.suite_source == "command line");
    let is_periodic =
        records.iter().zip(records.iter().skip(each)).all(|(one, next)| one.workload.name == next.workload.name);
    (is_whole && (is_single || is_periodic)).then_some(each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    /// Two targets of a sweep over `tries` and `block`, and over a key of the board, with two workloads each; `tries`
    /// changes both workloads and `block` the first one alone.
    fn run() -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        for seed in [1, 2] {
            for (tries, block) in [(1, 4096), (1, 65_536), (2, 4096), (2, 65_536)] {
                for mut record in samples::simulated::on_fatfs() {
                    record.target.name = format!("lab:esp32/fatfs,board.seed={seed}");
                    record.workload.repeats = tries;
                    if record.workload.name.starts_with("write") {
                        record.workload.block_bytes = block;
                    }
                    let sweeps = ["a=b", "--sweep tries=1,2", "--sweep board.seed=1,2", "--sweep block=4k,64k"];
                    record.run.settings = sweeps.map(str::to_owned).to_vec();
                    record.run.index = records.len() as u32;
                    records.push(record);
                }
            }
        }
        records
    }

    fn shown(records: &[Record]) -> Vec<String> {
        let swept = Swept::of(&records.iter().collect::<Vec<_>>());
        assert!(swept.keys() == ["tries", "block"], "{:?}", swept.keys());
        let values =
            |nth| swept.values(nth).into_iter().map(|value| value.unwrap_or("?")).collect::<Vec<_>>().join(" ");
        (0..records.len()).map(values).collect()
    }

    const ALL: [&str; 8] = ["1 4k", "1 4k", "1 64k", "1 64k", "2 4k", "2 4k", "2 64k", "2 64k"];

    #[test]
    fn the_place_in_the_run_tells_the_values() {
        let mut records = run();
        assert_eq!(shown(&records), [ALL, ALL].concat());
        records.reverse();
        let mut expected = [ALL, ALL].concat();
        expected.reverse();
        assert_eq!(shown(&records), expected);
        // As a run keeps them for a table: the settings stand in the first record alone.
        records.iter_mut().take(15).for_each(|record| record.run.settings.clear());
        assert_eq!(shown(&records), expected);
    }

    #[test]
    fn another_target_tells_where_records_are_missing() {
        let mut records = run();
        records.truncate(11);
        // What reads has the same workload with each block.
        assert_eq!(shown(&records)[8..], ["1 4k", "? ?", "1 64k"]);
        for len in [7, 4, 2] {
            records.truncate(len);
            assert_eq!(shown(&records), vec!["? ?"; len]);
        }
    }

    /// The name of a workload from the command line follows from its settings.
    #[test]
    fn a_single_workload_may_change_its_name() {
        let mut records = run();
        records.truncate(4);
        for (record, name) in records.iter_mut().zip(["a", "b", "c", "d"]) {
            record.workload.name = name.into();
        }
        assert_eq!(shown(&records), ["? ?"; 4]);
        records.iter_mut().for_each(|record| record.run.suite_source = "command line".into());
        assert_eq!(shown(&records), ["1 4k", "1 64k", "2 4k", "2 64k"]);
    }

    #[test]
    fn a_run_without_sweeps_has_no_values() {
        let records = samples::mixed_bag();
        let swept = Swept::of(&records.iter().collect::<Vec<_>>());
        assert!(swept.keys().is_empty() && swept.values(0).is_empty() && swept.value(0, "block").is_none());
    }
}
