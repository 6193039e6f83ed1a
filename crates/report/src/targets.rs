//! Records in groups: what ran in one run on one target, with the line that says what the target is.

use flashmark_core::environment::{Device, Environment};
use flashmark_core::record::{Form, Record, RunInfo, TargetKind};

use crate::figures::{capacity, printable};

/// The records of one target in one run, in their order.
pub(crate) struct Group<'a> {
    pub(crate) records: Vec<&'a Record>,
}

/// The groups of one run, in the order of their first records.
pub(crate) struct Run<'a> {
    pub(crate) info: &'a RunInfo,
    pub(crate) groups: Vec<Group<'a>>,
}

/// Sorts records by run and target, both in the order of their first records.
pub(crate) fn runs(records: &[Record]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for record in records {
        let found = runs.iter().position(|run| run.info.id == record.run.id).unwrap_or_else(|| {
            runs.push(Run { info: &record.run, groups: Vec::new() });
            runs.len() - 1
        });
        let Some(run) = runs.get_mut(found) else { continue };
        match run.groups.iter_mut().find(|group| group.holds(record)) {
            Some(group) => group.records.push(record),
            None => run.groups.push(Group { records: vec![record] }),
        }
    }
    runs
}

impl<'a> Run<'a> {
    /// What ran, with what, on which machine: one line.
    pub(crate) fn headline(&self) -> String {
        let form = match self.info.form {
            Form::Corrected => "corrected form",
            Form::Compat => "compatibility form",
        };
        let mut parts = vec![format!("suite {}, {form}", printable(&self.info.suite))];
        if self.info.suite_source != "built-in" {
            parts.push(format!("from {}", printable(&self.info.suite_source)));
        }
        if !self.info.settings.is_empty() {
            parts.push(format!("with {}", printable(&self.info.settings.join(" "))));
        }
        if !self.info.only.is_empty() {
            parts.push(format!("only {}", printable(&self.info.only.join(", "))));
        }
        if let Some(first) = self.records().next() {
            parts.push(format!("flashmark {}", printable(&first.flashmark)));
            let machine = [&first.environment.system, &first.environment.cpu_model];
            parts.extend(machine.into_iter().flatten().map(|part| printable(part)));
        }
        parts.join(" · ")
    }

    /// All records of the run.
    pub(crate) fn records(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.groups.iter().flat_map(|group| group.records.iter().copied())
    }

    /// What is missing of the run, if anything is.
    pub(crate) fn missing(&self) -> Option<String> {
        let (have, total) = (self.records().count() as u64, u64::from(self.info.total));
        (have < total).then(|| {
            format!(
                "{have} of {total} workloads are here: the run is not complete; kept with -o FILE.jsonl, it goes on with --resume FILE.jsonl"
            )
        })
    }
}

impl Group<'_> {
    fn holds(&self, record: &Record) -> bool {
        self.records.first().is_some_and(|first| {
            first.target.name == record.target.name
                && first.target.kind == record.target.kind
                && first.target.label == record.target.label
        })
    }

    /// The target's name.
    pub(crate) fn name(&self) -> String {
        self.records.first().map_or_else(String::new, |record| printable(&record.target.name))
    }

    /// What the target is: kind, file system, device, engine, direct or not; one line, without the name.
    pub(crate) fn describe(&self) -> String {
        let Some(first) = self.records.first() else { return String::new() };
        let mut parts = vec![kind(first.target.kind).to_owned()];
        parts.extend(storage(&first.target.label, &first.environment));
        parts.push(self.engines());
        parts.extend(self.direct());
        parts.join(" · ")
    }

    /// The records of workloads that did any input or output.
    fn that_ran(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().copied().filter(|record| !record.outcome.ops.is_empty())
    }

    /// The engines at work; those asked for, if nothing ran.
    fn engines(&self) -> String {
        let mut engines: Vec<String> = Vec::new();
        let ran = self.that_ran().next().is_some();
        for record in self.records.iter().filter(|record| !ran || !record.outcome.ops.is_empty()) {
            let engine = printable(&record.target.engine);
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        format!("engine {}", engines.join(", "))
    }

    /// Whether the cache was passed by in what ran; where that differs, which rows are which.
    fn direct(&self) -> Option<String> {
        let names = |wanted| {
            let rows = self.that_ran().filter(move |r| r.target.direct == Some(wanted));
            rows.map(|r| printable(&r.workload.name)).collect::<Vec<_>>()
        };
        let (direct, buffered) = (names(true), names(false));
        match (direct.is_empty(), buffered.is_empty()) {
            (true, true) => None,
            (false, true) => Some("direct".into()),
            (true, false) => Some("buffered".into()),
            (false, false) => Some(format!("direct, but buffered in {}", buffered.join(", "))),
        }
    }
}

const fn kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Directory => "directory",
        TargetKind::File => "file",
        TargetKind::Device => "block device",
        TargetKind::Lab => "simulated board",
        TargetKind::Board => "board",
    }
}

/// Label, file system and device, without saying anything twice.
fn storage(label: &str, environment: &Environment) -> Vec<String> {
    let mut parts = Vec::new();
    let file_system = environment.file_system.as_ref().filter(|fs| !fs.kind.is_empty());
    if !label.is_empty() && !file_system.is_some_and(|fs| fs.kind.eq_ignore_ascii_case(label)) {
        parts.push(printable(label));
    }
    if let Some(fs) = file_system {
        let source = fs.source.as_ref().map(|source| format!(" on {}", printable(source)));
        let mount = fs.mount_point.as_ref().map(|mount| format!(" at {}", printable(mount)));
        parts.push(format!("{}{}{}", printable(&fs.kind), source.unwrap_or_default(), mount.unwrap_or_default()));
    }
    parts.extend(environment.device.as_ref().map(device));
    parts
}

fn device(device: &Device) -> String {
    let card = device.card.as_ref();
    let card_name = card.and_then(|card| match (&card.kind, &card.name) {
        (Some(kind), Some(name)) => Some(format!("{kind} {name}")),
        (Some(only), None) | (None, Some(only)) => Some(only.clone()),
        (None, None) => None,
    });
    let name = device.model.clone().or(card_name).unwrap_or_else(|| device.name.clone());
    let size = device.size_bytes.map(|bytes| format!(" {}", capacity(bytes))).unwrap_or_default();
    let backing = device.loop_backing.as_ref().map(|backing| format!(" backed by {}", printable(&backing.file)));
    format!("{}{size}{}", printable(&name), backing.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use flashmark_core::record::{Outcome, Status};

    use super::*;
    use crate::samples;

    fn described(records: &[Record]) -> String {
        runs(records)[0].groups[0].describe()
    }

    /// What did not run was neither direct nor buffered, whatever its record says, and no engine was at work.
    #[test]
    fn only_what_ran_says_how_it_ran() {
        let ran = samples::full();
        let mut not = ran.clone();
        not.workload.name = "not".into();
        not.target.engine = "tokio".into();
        not.target.direct = Some(false);
        for status in [Status::Skipped, Status::Failed] {
            not.outcome = Outcome::not_run(status);
            assert!(described(&[ran.clone(), not.clone()]).ends_with(" · engine sync · direct"), "{status:?}");
            assert!(described(&[not.clone(), ran.clone()]).ends_with(" · engine sync · direct"), "{status:?}");
            assert!(described(std::slice::from_ref(&not)).ends_with(" · engine tokio"), "{status:?}");
        }
        not.outcome = ran.outcome.clone();
        let both = described(&[ran, not]);
        assert!(both.ends_with(" · engine sync, tokio · direct, but buffered in not"), "{both}");
    }
}
