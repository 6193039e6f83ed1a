//! Fields between semicolons, a line a job: versions 2 to 5 (fio HOWTO, "Terse output"; `show_thread_status_terse_all` of
//! `stat.c`).

use std::fmt::Write as _;

use flashmark_core::histogram::Histogram;

use crate::results::{DiskUse, JobReport, Results};

use super::RenderOptions;
use super::figures::{
    LEAST_DEPTH_PERCENT, Latency, LatencyClasses, Members, Part, Percentiles, busy_percent, parts, percent,
    percentiles, sane, shares, whole_ms,
};

/// How many fields there are for percentiles, whether they are used or not.
const PERCENTILE_FIELDS: usize = 20;

/// The results as terse lines.
pub(super) fn render(results: &Results, how: &RenderOptions) -> String {
    let version = if (2..=5).contains(&how.terse_version) { how.terse_version } else { 3 };
    results.reports.iter().map(|report| line(results, report, version, how)).collect()
}

/// Fields that follow one another.
struct Fields(String);

impl Fields {
    fn add(&mut self, field: impl std::fmt::Display) {
        // Writing to a string does not fail.
        let _ = write!(self.0, ";{field}");
    }

    fn float(&mut self, value: f64) {
        self.add(format_args!("{value:.6}"));
    }

    fn share(&mut self, value: f64, decimals: usize) {
        self.add(format_args!("{value:.decimals$}%"));
    }
}

fn line(results: &Results, report: &JobReport, version: u8, how: &RenderOptions) -> String {
    let mut fields = Fields(version.to_string());
    if version > 2 {
        fields.add(&how.version);
    }
    fields.add(&report.name);
    fields.add(report.group);
    fields.add(report.error);
    for part in parts(results, report) {
        // Version 3 knows no trims.
        if part.name != "trim" || version != 3 {
            direction(&mut fields, report, &part, version);
        }
    }
    fields.add(format_args!("{:.6}%", percent(report.usage.user_ns, report.job_runtime_ns)));
    fields.add(format_args!("{:.6}%", percent(report.usage.system_ns, report.job_runtime_ns)));
    fields.add(report.usage.context_switches);
    fields.add(report.usage.major_faults);
    fields.add(report.usage.minor_faults);
    for share in shares(&report.depth_levels, LEAST_DEPTH_PERCENT) {
        fields.share(share, 1);
    }
    let classes = LatencyClasses::of(report);
    let mut microseconds = classes.us;
    microseconds[0] += classes.below_us;
    for share in microseconds.into_iter().chain(classes.ms) {
        fields.share(share, 2);
    }
    if version > 2 {
        disks(&mut fields, results);
    }
    if let Some(errors) = report.passed_over {
        fields.add(errors.count);
        fields.add(errors.first);
    }
    if let Some(description) = report.description.as_deref().filter(|text| !text.is_empty()) {
        if version == 2 {
            fields.0.push('\n');
        }
        fields.add(description);
    }
    fields.0.push('\n');
    fields.0
}

fn disks(fields: &mut Fields, results: &Results) {
    for one in &results.disks {
        fields.add(&one.name);
        disk(fields, one, busy_percent(one));
        if let Some(Members { mean, busy_percent }) = Members::of(one, &results.disks) {
            fields.add("slaves");
            disk(fields, &mean, busy_percent);
        }
    }
}

fn disk(fields: &mut Fields, disk: &DiskUse, busy_percent: f64) {
    for pair in [disk.ios, disk.merges, disk.ticks_ms] {
        pair.into_iter().for_each(|number| fields.add(number));
    }
    fields.add(disk.in_queue_ms);
    fields.share(busy_percent, 2);
}

fn latency(fields: &mut Fields, histogram: &Histogram) {
    let latency = Latency::of(histogram);
    fields.add(latency.min_ns / 1000);
    fields.add(latency.max_ns / 1000);
    fields.float(latency.mean_ns / 1000.0);
    fields.float(latency.deviation_ns / 1000.0);
}

fn direction(fields: &mut Fields, report: &JobReport, part: &Part<'_>, version: u8) {
    fields.add(part.report.bytes >> 10);
    fields.add(part.bytes_per_s() / 1024);
    fields.add(part.iops() as u64);
    fields.add(whole_ms(part.report.runtime_ns));
    latency(fields, &part.report.submission);
    latency(fields, &part.report.completion);
    let told = Percentiles::of(report);
    let of = if told.total { &part.report.total } else { &part.report.completion };
    let list = if told.total || told.completion { percentiles(report, of) } else { Vec::new() };
    for (percentile, ns) in list.iter().take(PERCENTILE_FIELDS) {
        fields.add(format_args!("{:.6}%={}", percentile.0 as f64 / 1e9, ns / 1000));
    }
    (list.len()..PERCENTILE_FIELDS).for_each(|_| fields.add("0%=0"));
    latency(fields, &part.report.total);
    let bandwidth = sane(&part.report.bandwidth_samples);
    fields.add(bandwidth.min);
    fields.add(bandwidth.max);
    fields.add(format_args!("{:.6}%", if bandwidth.count == 0 { 0.0 } else { part.percent_of_group() }));
    fields.float(bandwidth.mean);
    fields.float(bandwidth.deviation());
    if version == 5 {
        let iops = sane(&part.report.iops_samples);
        fields.add(bandwidth.count);
        fields.add(iops.min);
        fields.add(iops.max);
        fields.float(iops.mean);
        fields.float(iops.deviation());
        fields.add(iops.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart_by_semicolons() {
        let mut fields = Fields("3".into());
        fields.add("a");
        fields.float(1.0);
        fields.share(12.34, 1);
        assert_eq!(fields.0, "3;a;1.000000;12.3%");
    }
}
