//! Records in groups: what ran in one run on one target, with the line that says what the target is.

use std::collections::HashMap;
use std::mem;

use flashmark_core::environment::{Device, Environment};
use flashmark_core::record::{Form, Record, RunInfo, TargetKind};

use crate::figures::{capacity, printable, time};

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
    // Places in `runs`, and in the groups of a run: a sweep has a hundred thousand targets.
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut group_places: HashMap<(usize, Identity<'_>), usize> = HashMap::new();
    for record in records {
        let nth = *places.entry(&record.run.id).or_insert_with(|| {
            runs.push(Run { info: &record.run, groups: Vec::new() });
            runs.len() - 1
        });
        let Some(run) = runs.get_mut(nth) else { continue };
        let group = *group_places.entry((nth, identity(record))).or_insert_with(|| {
            run.groups.push(Group { records: Vec::new() });
            run.groups.len() - 1
        });
        if let Some(group) = run.groups.get_mut(group) {
            group.records.push(record);
        }
    }
    runs
}

/// What records of one target have in common.
type Identity<'a> = (&'a str, mem::Discriminant<TargetKind>, &'a str);

fn identity(record: &Record) -> Identity<'_> {
    (&record.target.name, mem::discriminant(&record.target.kind), &record.target.label)
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
        parts.extend(self.records().next().map(|first| format!("flashmark {}", printable(&first.flashmark))));
        // A simulated board is no machine that ran anything: it stands with its target.
        if let Some(first) = self.records().find(|record| record.target.kind != TargetKind::Lab) {
            parts.extend(machine(&first.environment));
        }
        parts.join(" · ")
    }

    /// What to know of numbers that nobody measured, if there are any.
    pub(crate) fn predicted(&self) -> Option<&'static str> {
        self.records().any(|record| record.target.kind == TargetKind::Lab).then_some(
            "simulated boards run in virtual time: their numbers are predicted by models of chip, bus and driver, not \
             measured",
        )
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
    /// Whether the target is a simulated board.
    pub(crate) fn is_simulated(&self) -> bool {
        self.records.first().is_some_and(|record| record.target.kind == TargetKind::Lab)
    }

    /// The target's name.
    pub(crate) fn name(&self) -> String {
        self.records.first().map_or_else(String::new, |record| printable(&record.target.name))
    }

    /// What the target is: kind, file system, device, engine, direct or not; one line, without the name.
    pub(crate) fn describe(&self) -> String {
        let Some(first) = self.records.first() else { return String::new() };
        let mut parts = vec![kind(first.target.kind).to_owned()];
        if first.target.kind == TargetKind::Lab {
            parts.extend(simulated(&first.target.label, &first.environment));
            return parts.join(" · ");
        }
        parts.extend(storage(&first.target.label, &first.environment));
        parts.push(self.engines());
        parts.extend(self.direct());
        parts.join(" · ")
    }

    /// What it took to get a simulated board's storage ready, in a line.
    pub(crate) fn phases(&self) -> Option<String> {
        let phases = self.records.iter().find_map(|record| {
            record.simulation.as_ref().map(|simulation| &simulation.phases).filter(|phases| !phases.is_empty())
        })?;
        let shown: Vec<String> =
            phases.iter().map(|phase| format!("{} {}", printable(&phase.name), time(phase.elapsed_ns))).collect();
        Some(format!("getting ready: {}", shown.join(", ")))
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

/// System and processor.
fn machine(environment: &Environment) -> impl Iterator<Item = String> {
    let parts = [&environment.system, &environment.cpu_model];
    parts.into_iter().flatten().map(|part| printable(part))
}

/// System and processor of a simulated board; one of them where it says all that the other one says.
fn board(environment: &Environment) -> Vec<String> {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let says = |one: &str, other: &str| {
        let said = words(one);
        words(other).iter().all(|word| said.contains(word))
    };
    let mut parts: Vec<String> = machine(environment).collect();
    if let [system, processor] = parts.as_slice() {
        if says(system, processor) {
            parts.truncate(1);
        } else if says(processor, system) {
            parts.remove(0);
        }
    }
    parts
}

/// A simulated board: its processor, label and file system with their options, chip.
fn simulated(label: &str, environment: &Environment) -> Vec<String> {
    let mut parts = board(environment);
    if !label.is_empty() {
        parts.push(printable(label));
    }
    if let Some(fs) = &environment.file_system {
        let said = label.to_ascii_lowercase().contains(&fs.kind.to_ascii_lowercase());
        parts.extend((!said).then(|| printable(&fs.kind)));
        parts.extend(fs.options.as_ref().map(|options| printable(&options.replace(',', " "))));
    }
    parts.extend(environment.device.as_ref().map(device));
    parts
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

    #[test]
    fn a_simulated_board_is_described_by_its_parts() {
        let mut records = samples::simulated::on_fatfs();
        assert_eq!(
            described(&records),
            "simulated board · ESP32 at 160 MHz · SPI FATFS · cluster=4k sector=4096 fats=2 · W25Q32JV 4.19 MB"
        );
        // The board is not the machine of the run, and where there is one it is that one's.
        assert_eq!(runs(&records)[0].headline(), "suite quick, corrected form · flashmark 0.1.0");
        records.push(samples::full());
        let found = runs(&records);
        assert!(found[0].headline().ends_with("Linux 6.18.44 aarch64 · Cortex-A76"), "{}", found[0].headline());
        assert!(found[0].predicted().is_some());
        assert_eq!(
            found[0].groups[0].phases().as_deref(),
            Some("getting ready: mount wear levelling 812 ms, format 13.4 s")
        );
        assert_eq!(found[0].groups[1].phases(), None);
        assert!(runs(&[samples::full()])[0].predicted().is_none());
    }

    #[test]
    fn nothing_is_said_of_a_board_twice() {
        let mut record = samples::simulated::on_fatfs().remove(0);
        for (system, processor, shown) in [
            ("classic ESP32 at 160 MHz, SPI (a run)", "esp32 at 160 MHz", "classic ESP32 at 160 MHz, SPI (a run)"),
            ("esp32", "ESP32 at 160 MHz", "ESP32 at 160 MHz"),
            ("a board at 80 MHz", "esp32 at 160 MHz", "a board at 80 MHz · esp32 at 160 MHz"),
        ] {
            (record.environment.system, record.environment.cpu_model) = (Some(system.into()), Some(processor.into()));
            let found = described(std::slice::from_ref(&record));
            assert!(found.starts_with(&format!("simulated board · {shown} · SPI FATFS")), "{found}");
        }
    }

    /// A target's records stand together wherever they are, and the same name of another kind or label stands apart.
    #[test]
    fn records_are_grouped_in_the_order_of_their_first() {
        let one = samples::full();
        let mut records: Vec<Record> = (0..4_000)
            .map(|nth| {
                let mut record = one.clone();
                record.target.name = (nth % 2_000).to_string();
                record
            })
            .collect();
        records[2].target.name = "0".into();
        records[2].target.kind = TargetKind::Board;
        records[3].target.name = "0".into();
        records[3].target.label = "other".into();
        records[4].run.id = "another".into();
        let found = runs(&records);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].groups.len(), 2_000 + 2);
        let sizes: Vec<usize> = found[0].groups.iter().take(5).map(|group| group.records.len()).collect();
        assert_eq!(sizes, [2, 2, 1, 1, 2]);
        assert!(std::ptr::eq(found[0].groups[0].records[1], &raw const records[2_000]));
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
