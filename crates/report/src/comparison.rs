//! The targets of a run side by side: a line for each workload that several of them ran.

use std::collections::HashMap;

use flashmark_core::record::{OpKind, OpStats, Outcome, Record, Status, TargetKind};
use flashmark_core::workload::{OpMix, Workload};

use crate::figures::{RateUnit, printable, rate, time};
use crate::format::Style;
use crate::rows::is_main;
use crate::targets::{Group, Run};

/// What a target shows in each line.
pub(crate) const FIGURES: [&str; 3] = ["rate", "p99", "max"];

/// What is said where nothing can be compared.
pub(crate) const NOTHING: &str = "nothing to compare: no two targets of the run did the same work";

/// The targets of a run side by side.
pub(crate) struct Comparison {
    /// What the names of all targets begin with, and is left out in `targets`.
    prefix: String,
    /// The targets' names.
    pub(crate) targets: Vec<String>,
    pub(crate) lines: Vec<Line>,
    /// Of each target the levels that its file system was to be filled to and was not, in permille: wanted and reached.
    levels: Vec<Vec<(u64, u64)>>,
    /// Of each target the workloads that went on after failures, and how many there were.
    failures: Vec<Vec<(String, u64)>>,
    has_whole_repeats: bool,
}

/// An operation of a workload.
pub(crate) struct Line {
    pub(crate) name: String,
    /// One for each target.
    pub(crate) cells: Vec<Figures>,
}

/// What one target shows of it.
pub(crate) enum Figures {
    /// It did not run there.
    Nothing,
    /// It is not complete there.
    Incomplete(Status),
    /// It did.
    Known { bytes: u64, elapsed_ns: u64, p99_ns: u64, max_ns: u64 },
}

impl Figures {
    /// The texts for [`FIGURES`].
    pub(crate) fn shown(&self, unit: RateUnit) -> [String; FIGURES.len()] {
        match *self {
            Self::Nothing => ["-".into(), String::new(), String::new()],
            Self::Incomplete(status) => [status.name().into(), String::new(), String::new()],
            Self::Known { bytes, elapsed_ns, p99_ns, max_ns } => {
                [rate(bytes, elapsed_ns, unit), time(p99_ns), time(max_ns)]
            }
        }
    }

    fn of(record: Option<&Record>, line: &Key<'_>) -> Self {
        let Some(Record { outcome, .. }) = record else { return Self::Nothing };
        match line.stats_of(outcome) {
            _ if outcome.status != Status::Done => Self::Incomplete(outcome.status),
            None if outcome.fault_count > 0 => Self::Incomplete(Status::Failed),
            None => Self::Nothing,
            Some(stats) => {
                let (bytes, elapsed_ns) = match stats.op {
                    OpKind::Repeat => (outcome.bytes, stats.latency_ns.sum),
                    _ => (stats.bytes, outcome.elapsed_ns),
                };
                Self::Known { bytes, elapsed_ns, p99_ns: stats.latency_ns.p99, max_ns: stats.latency_ns.max }
            }
        }
    }
}

/// What a line is about.
struct Key<'a> {
    workload: &'a Workload,
    /// Whole repeats where these are timed, else reading or writing.
    op: OpKind,
}

impl Key<'_> {
    /// The lines of a workload.
    fn all_of(workload: &Workload) -> Vec<Key<'_>> {
        let ops: &[OpKind] = match workload.mix() {
            _ if workload.time_repeats => &[OpKind::Repeat],
            OpMix::Read => &[OpKind::Read],
            OpMix::Write => &[OpKind::Write],
            OpMix::Mixed => &[OpKind::Read, OpKind::Write],
        };
        ops.iter().map(|&op| Key { workload, op }).collect()
    }

    fn name(&self) -> String {
        let name = printable(&self.workload.name);
        let is_mixed = is_main(self.op) && self.workload.mix() == OpMix::Mixed;
        if is_mixed { format!("{name}: {}", self.op.name()) } else { name }
    }

    fn stats_of<'o>(&self, outcome: &'o Outcome) -> Option<&'o OpStats> {
        outcome.op(self.op).filter(|stats| stats.count > 0)
    }
}

/// The comparison below a run's targets, if one is wanted; the inner `None` is one that there is nothing for.
#[allow(clippy::option_option, reason = "not wanted, and wanted but empty, are two things")]
pub(crate) fn wanted(run: &Run<'_>, style: &Style) -> Option<Option<Comparison>> {
    if style.compare {
        return Some(of(run));
    }
    run.records().any(|record| record.workload.fill_percent.is_some()).then(|| of(run)).filter(Option::is_some)
}

/// The targets that ran what others ran too; `None` if there are no two.
pub(crate) fn of(run: &Run<'_>) -> Option<Comparison> {
    // What each target has of a workload; workloads of one name may still differ.
    let mut all: Vec<(&Workload, Vec<Option<&Record>>)> = Vec::new();
    let mut known: HashMap<&str, Vec<usize>> = HashMap::new();
    for (nth, group) in run.groups.iter().enumerate() {
        for &record in &group.records {
            let namesakes = known.entry(&record.workload.name).or_default();
            let same = |at: &&usize| all.get(**at).is_some_and(|(workload, _)| **workload == record.workload);
            let at = namesakes.iter().find(same).copied().unwrap_or_else(|| {
                namesakes.push(all.len());
                all.push((&record.workload, vec![None; run.groups.len()]));
                all.len() - 1
            });
            if let Some(place) = all.get_mut(at).and_then(|(_, records)| records.get_mut(nth)) {
                *place = Some(record);
            }
        }
    }
    all.retain(|(_, records)| records.iter().flatten().count() > 1);
    let has_any = |nth: usize| all.iter().any(|(_, records)| matches!(records.get(nth), Some(Some(_))));
    let chosen: Vec<(usize, &Group<'_>)> = run.groups.iter().enumerate().filter(|(nth, _)| has_any(*nth)).collect();
    if chosen.is_empty() {
        return None;
    }
    let groups: Vec<&Group<'_>> = chosen.iter().map(|(_, group)| *group).collect();
    let lines =
        all.iter().flat_map(|(workload, records)| Key::all_of(workload).into_iter().map(move |key| (key, records)));
    let lines = lines.map(|(key, records)| Line {
        name: key.name(),
        cells: chosen.iter().map(|(nth, _)| Figures::of(records.get(*nth).copied().flatten(), &key)).collect(),
    });
    let (prefix, targets) = names(&groups);
    Some(Comparison {
        prefix,
        targets,
        lines: lines.collect(),
        levels: groups.iter().map(|group| levels(group)).collect(),
        failures: groups.iter().map(|group| failures(group)).collect(),
        has_whole_repeats: all.iter().any(|(workload, _)| workload.time_repeats),
    })
}

/// The targets' names; storages of one simulated board without the board.
fn names(groups: &[&Group<'_>]) -> (String, Vec<String>) {
    let names: Vec<String> = groups.iter().map(|group| group.name()).collect();
    let is_lab = |group: &&Group<'_>| group.records.iter().all(|record| record.target.kind == TargetKind::Lab);
    // Settings, after a comma, may be paths.
    let place = |name: &str| name.split(',').next().and_then(|place| place.rfind('/'));
    let board = names.first().and_then(|name| name.get(..=place(name)?)).filter(|_| groups.iter().all(is_lab));
    match board.filter(|board| names.iter().all(|name| name.starts_with(*board))) {
        Some(board) => {
            let board = board.to_owned();
            let storages = names.iter().map(|name| name[board.len()..].to_owned()).collect();
            (board, storages)
        }
        None => (String::new(), names),
    }
}

/// The levels of use that are off by half a percent or more, each once, in permille: wanted and reached.
fn levels(group: &Group<'_>) -> Vec<(u64, u64)> {
    let mut levels: Vec<(u64, u64)> = Vec::new();
    for record in &group.records {
        let filled = record.simulation.as_ref().and_then(|simulation| simulation.filled);
        let (Some(percent), Some(filled)) = (record.workload.fill_percent, filled) else { continue };
        let wanted = u64::from(percent) * 10;
        let (used, total) = (u128::from(filled.used_bytes), u128::from(filled.total_bytes.max(1)));
        let reached = u64::try_from((used * 1000 + total / 2) / total).unwrap_or(u64::MAX);
        if reached.abs_diff(wanted) >= 5 && levels.iter().all(|(known, _)| *known != wanted) {
            levels.push((wanted, reached));
        }
    }
    levels
}

/// The workloads that are complete but for some operations, and how many of those failed.
fn failures(group: &Group<'_>) -> Vec<(String, u64)> {
    let went_on = |record: &&&Record| record.outcome.status == Status::Done && record.outcome.fault_count > 0;
    let records = group.records.iter().filter(went_on);
    records.map(|record| (printable(&record.workload.name), record.outcome.fault_count)).collect()
}

impl Comparison {
    /// What stands above it.
    pub(crate) fn title(&self) -> String {
        match self.prefix.trim_end_matches('/') {
            "" => "side by side".to_owned(),
            board => format!("{board}, side by side"),
        }
    }

    /// What has to be known of it.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.has_whole_repeats {
            remarks.push(
                "rate, p99 and max are of whole repeats where these are timed, failed ones included: opening, all \
                 operations, syncs, closing"
                    .to_owned(),
            );
        }
        let permille = |permille: &u64| format!("{}.{} %", permille / 10, permille % 10);
        for (target, levels) in self.targets.iter().zip(&self.levels).filter(|(_, levels)| !levels.is_empty()) {
            let levels = levels.iter().map(|(wanted, reached)| format!("{} % is {}", wanted / 10, permille(reached)));
            remarks.push(format!("filled as near as it gets, {target}: {}", levels.collect::<Vec<_>>().join(", ")));
        }
        for (target, failures) in self.targets.iter().zip(&self.failures).filter(|(_, failures)| !failures.is_empty()) {
            let failures = failures.iter().map(|(name, count)| format!("{name}: {count}"));
            let failures = failures.collect::<Vec<_>>().join(", ");
            remarks.push(format!("failed operations, whose bytes are in no figure, {target}: {failures}"));
        }
        remarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::targets::runs;

    fn compared(records: &[Record]) -> Option<Comparison> {
        of(&runs(records)[0])
    }

    #[test]
    fn a_line_is_what_several_targets_ran() {
        let comparison = compared(&samples::simulated::side_by_side()).unwrap();
        assert_eq!(comparison.targets, ["littlefs", "fatfs"]);
        assert_eq!(comparison.title(), "lab:esp32, side by side");
        let lines: Vec<(&str, Vec<[String; 3]>)> = comparison
            .lines
            .iter()
            .map(|line| (line.name.as_str(), line.cells.iter().map(|cell| cell.shown(RateUnit::MB)).collect()))
            .collect();
        // 8192 bytes in 49 and 70 ms; the other one's second repeat takes 70 ms more.
        let shown = |rate: &str, p99: &str, max: &str| [rate, p99, max].map(str::to_owned);
        assert_eq!(
            lines[0],
            (
                "10 % full: rewrite 4 KiB",
                vec![shown("0.0688 MB/s", "70.0 ms", "70.0 ms"), shown("0.0433 MB/s", "140 ms", "140 ms")]
            )
        );
        assert_eq!(lines[2].1[1], shown("failed", "", ""));
        assert_eq!(lines.len(), 4, "what one target alone ran is in no line");
        let remarks = comparison.remarks();
        assert_eq!(remarks.len(), 2, "{remarks:?}");
        assert!(remarks[1].ends_with("fatfs: 95 % is 93.5 %"), "{remarks:?}");
    }

    #[test]
    fn failures_are_told() {
        let mut records = samples::simulated::side_by_side();
        records[0].outcome.fault_count = 3;
        (records[1].outcome.fault_count, records[1].outcome.ops) = (9, Vec::new());
        let comparison = compared(&records).unwrap();
        assert_eq!(comparison.lines[1].cells[0].shown(RateUnit::MB)[0], "failed");
        assert!(
            comparison.remarks()[2].ends_with("littlefs: 10 % full: rewrite 4 KiB: 3, 10 % full: read 4 KiB: 9"),
            "{:?}",
            comparison.remarks()
        );
    }

    #[test]
    fn nothing_is_compared_with_itself_or_with_other_work() {
        let mut records = samples::simulated::side_by_side();
        records.iter_mut().for_each(|record| record.workload.seed = u64::from(record.target.name.ends_with("fatfs")));
        assert!(compared(&records).is_none());
        assert!(compared(&records[..4]).is_none());
        assert!(compared(&samples::mixed_bag()).is_none());
    }

    #[test]
    fn what_was_filled_is_compared_without_being_asked() {
        let mut records = samples::simulated::side_by_side();
        let is_shown = |records: &[Record], compare| {
            let style = Style { compare, ..Style::default() };
            wanted(&runs(records)[0], &style).map(|comparison| comparison.is_some())
        };
        assert_eq!(is_shown(&records, false), Some(true));
        assert_eq!(is_shown(&records[..4], false), None);
        assert_eq!(is_shown(&records[..4], true), Some(false));
        records.iter_mut().for_each(|record| record.workload.fill_percent = None);
        assert_eq!(is_shown(&records, false), None);
        assert_eq!(is_shown(&records, true), Some(true));
    }

    #[test]
    fn names_are_shortened_only_where_all_are_of_one_board() {
        let named = |names: [&str; 2]| {
            let mut records = samples::simulated::side_by_side();
            for record in &mut records {
                record.target.name = names[usize::from(record.target.name.ends_with("fatfs"))].into();
            }
            compared(&records).unwrap().targets
        };
        assert_eq!(named(["lab:a/fatfs,x=1", "lab:a/fatfs,x=2"]), ["fatfs,x=1", "fatfs,x=2"]);
        assert_eq!(named(["lab:a/fatfs", "lab:b/fatfs"]), ["lab:a/fatfs", "lab:b/fatfs"]);
        assert_eq!(named(["lab:a,chip=./x/y", "lab:a,chip=./x/z"]), ["lab:a,chip=./x/y", "lab:a,chip=./x/z"]);
    }
}
