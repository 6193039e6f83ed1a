//! The lines of one job.

use std::fmt::Write as _;
use std::io;

use crate::options::UnifiedReporting;
use crate::results::{JobReport, Results};

use super::super::figures::{CLASS_ENDS, LEAST_DEPTH_PERCENT, LatencyClasses, parts, percent, shares, together};
use super::super::{RenderOptions, clock};
use super::{direction, put};

/// Adds the lines of a job; one that did nothing has none, but for its error.
pub(super) fn write(text: &mut String, results: &Results, report: &JobReport, how: &RenderOptions) {
    let did_nothing = report.directions.each().iter().all(|direction| direction.bytes == 0 && direction.count == 0);
    if did_nothing && report.error == 0 {
        return;
    }
    put!(text, "{}: (groupid={}, jobs={}): ", report.name, report.group, report.members);
    put!(text, "err={:2}", report.error);
    if report.error != 0 {
        put!(text, " ({})", report.error_text.clone().unwrap_or_else(|| system_text(report.error)));
    }
    put!(text, ": pid={}: {}\n", report.pid, clock::in_words(results.ended_at_unix_ms, how.ahead_of_utc_s));
    if let Some(description) = report.description.as_deref().filter(|text| !text.is_empty()) {
        put!(text, "  Description  : [{description}]\n");
    }
    for part in parts(results, report) {
        direction::write(text, report, &part);
    }
    write_classes(text, &LatencyClasses::of(report));
    direction::write_syncs(text, report);
    write_use(text, report);
    write_depths(text, report);
    write_issued(text, report);
    if let Some(errors) = report.passed_over {
        put!(text, "     errors    : total={}, first_error={}/<", errors.count, errors.first);
        put!(text, "{}>\n", system_text(errors.first));
    }
    // The search for the depth that keeps a latency, which is not there: fio tells it in any case.
    let depth = report.options.engine.iodepth;
    put!(text, "     latency   : target=0, window=0, percentile=100.00%, depth={depth}\n");
}

/// What the system calls an error, as `strerror(3)` does.
fn system_text(number: i32) -> String {
    let text = io::Error::from_raw_os_error(number).to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn write_classes(text: &mut String, classes: &LatencyClasses) {
    let ends = || CLASS_ENDS.iter().map(|end| format!("{end}="));
    let longer = || ends().chain(["2000=".to_owned(), ">=2000=".to_owned()]);
    write_class_lines(text, "nsec", ends().zip(classes.ns));
    write_class_lines(text, "usec", ends().zip(classes.us));
    write_class_lines(text, "msec", longer().zip(classes.ms));
}

/// Five classes a line, those that have any.
fn write_class_lines(text: &mut String, unit: &str, classes: impl Iterator<Item = (String, f64)>) {
    let filled: Vec<String> =
        classes.filter(|(_, share)| *share > 0.0).map(|(end, share)| format!("{end}{share:.2}%")).collect();
    for line in filled.chunks(5) {
        put!(text, "  lat ({unit})   : {}\n", line.join(", "));
    }
}

fn write_use(text: &mut String, report: &JobReport) {
    let usage = &report.usage;
    let [user, system] = [usage.user_ns, usage.system_ns].map(|ns| percent(ns, report.job_runtime_ns));
    put!(text, "  cpu          : usr={user:.2}%, sys={system:.2}%, ctx={}, ", usage.context_switches);
    put!(text, "majf={}, minf={}\n", usage.major_faults, usage.minor_faults);
}

fn write_depths(text: &mut String, report: &JobReport) {
    const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    for (title, names, counts) in [
        ("  IO depths    : ", LEVELS, &report.depth_levels),
        ("     submit    : ", BATCHES, &report.submit_batches),
        ("     complete  : ", BATCHES, &report.complete_batches),
    ] {
        let shares = shares(counts, LEAST_DEPTH_PERCENT);
        let list: Vec<String> = names.iter().zip(shares).map(|(name, share)| format!("{name}={share:.1}%")).collect();
        put!(text, "{title}{}\n", list.join(", "));
    }
}

fn write_issued(text: &mut String, report: &JobReport) {
    let mixed;
    let mut directions = report.directions.each().map(|one| [one.count, one.short, one.dropped]);
    if report.options.report.unified_rw_reporting == UnifiedReporting::Mixed {
        mixed = together(&report.directions);
        directions = [[mixed.count, mixed.short, mixed.dropped], [0; 3], [0; 3]];
    }
    let [read, write, trim] = directions;
    put!(text, "     issued rwts: total={},{},{},{}", read[0], write[0], trim[0], report.syncs.count());
    put!(text, " short={},{},{},0 dropped={},{},{},0\n", read[1], write[1], trim[1], read[2], write[2], trim[2]);
}
