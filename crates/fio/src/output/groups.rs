//! Groups: what all jobs between two barriers did together.

use crate::options::{ReportOptions, UnifiedReporting};
use crate::results::{GroupDirection, GroupReport, JobReport, Results};
use crate::value::triple::Triple;

use super::figures;
use super::number::Style;

/// What is told of a group.
pub(super) struct Group {
    /// How its numbers look.
    pub(super) style: Style,
    /// fio's words for the directions in which anything was done, and the figures.
    pub(super) lines: Vec<(&'static str, GroupDirection)>,
}

/// Every group, in order.
pub(super) fn all(results: &Results) -> impl Iterator<Item = Group> + '_ {
    results.groups.iter().enumerate().map(|(index, group)| read(results, index, group))
}

/// What a group did; nothing if there is no such group.
pub(super) fn of(results: &Results, index: u32) -> Triple<GroupDirection> {
    results.groups.get(index as usize).map(|group| group.directions).unwrap_or_default()
}

/// All directions as one; the slowest and the fastest job are those of the directions.
pub(super) fn together(directions: &Triple<GroupDirection>) -> GroupDirection {
    let mut sum = GroupDirection { min_bytes_per_s: u64::MAX, min_runtime_ns: u64::MAX, ..GroupDirection::default() };
    for one in directions.each().into_iter().filter(|one| one.max_runtime_ns > 0) {
        sum.bytes += one.bytes;
        sum.min_bytes_per_s = sum.min_bytes_per_s.min(one.min_bytes_per_s);
        sum.max_bytes_per_s = sum.max_bytes_per_s.max(one.max_bytes_per_s);
        sum.min_runtime_ns = sum.min_runtime_ns.min(one.min_runtime_ns);
        sum.max_runtime_ns = sum.max_runtime_ns.max(one.max_runtime_ns);
    }
    if sum.max_runtime_ns == 0 {
        return GroupDirection::default();
    }
    sum.bytes_per_s = figures::per_second(sum.bytes, sum.max_runtime_ns);
    sum
}

fn read(results: &Results, index: usize, group: &GroupReport) -> Group {
    let members = || results.reports.iter().filter(|report| report.group as usize == index);
    let options = members().next_back().map(|report| report.options.report.clone()).unwrap_or_default();
    let style = Style { in_bits: group.in_bits, ..Style::of(&options) };
    let unified = unified(members().map(|report| &report.options.report));
    let mut lines = Vec::new();
    if unified != UnifiedReporting::Mixed {
        lines.extend(["   READ", "  WRITE", "   TRIM"].into_iter().zip(group.directions.each().map(|one| *one)));
    }
    if unified != UnifiedReporting::Split {
        let mut sum = together(&group.directions);
        if unified == UnifiedReporting::Mixed {
            // Such jobs are slow or fast with all directions together.
            let rates = || members().map(mixed_bytes_per_s).filter(|rate| *rate > 0);
            sum.min_bytes_per_s = rates().min().unwrap_or(sum.min_bytes_per_s);
            sum.max_bytes_per_s = rates().max().unwrap_or(sum.max_bytes_per_s);
        }
        lines.push(("  MIXED", sum));
    }
    lines.retain(|(_, direction)| direction.max_runtime_ns > 0);
    Group { style, lines }
}

fn mixed_bytes_per_s(report: &JobReport) -> u64 {
    let bytes = report.directions.each().iter().map(|one| one.bytes).sum();
    let runtime_ns = report.directions.each().iter().map(|one| one.runtime_ns).max().unwrap_or(0);
    figures::per_second(bytes, runtime_ns)
}

/// What the jobs of a group want together: both, if they do not agree.
fn unified<'a>(options: impl Iterator<Item = &'a ReportOptions>) -> UnifiedReporting {
    let all: Vec<UnifiedReporting> = options.map(|options| options.unified_rw_reporting).collect();
    match all.as_slice() {
        [] => UnifiedReporting::Split,
        [first, rest @ ..] if rest.iter().all(|other| other == first) => *first,
        _ => UnifiedReporting::Both,
    }
}
