//! The object of one job.

use flashmark_core::histogram::Histogram;

use crate::options::UnifiedReporting;
use crate::place::Source;
use crate::results::{JobReport, Results};

use super::super::figures::{
    CLASS_ENDS, LEAST_DEPTH_PERCENT, Latency, LatencyClasses, Part, Percentiles, parts, percent, percentiles, sane,
    shares, whole_ms,
};
use super::text::{Object, Value};

/// A job's report.
pub(super) fn job(results: &Results, report: &JobReport, bins: bool) -> Object {
    let mut job = Object::default()
        .with("jobname", report.name.as_str())
        .with("groupid", u64::from(report.group))
        .with("job_start", report.started_at_unix_ms)
        .with("error", report.error)
        .with("eta", 0_u64)
        .with("elapsed", report.elapsed_ns.div_ceil(1_000_000_000));
    let options = options(results, report);
    if !options.is_empty() {
        job.set("job options", options);
    }
    // fio's order: the directions, syncs, and then what is mixed. With `mixed` alone it does not tell syncs.
    let unified = report.options.report.unified_rw_reporting;
    for part in parts(results, report) {
        if part.name == "mixed" && unified == UnifiedReporting::Both {
            job.set("sync", syncs(report, bins));
        }
        job.set(part.name, direction(report, &part, bins));
    }
    if unified == UnifiedReporting::Split {
        job.set("sync", syncs(report, bins));
    }
    add_use(&mut job, report);
    add_distributions(&mut job, report);
    if let Some(errors) = report.passed_over {
        job.set("total_err", errors.count);
        job.set("first_error", errors.first);
    }
    // The search for the depth that keeps a latency, which is not there: fio tells it in any case.
    job.set("latency_depth", u64::from(report.options.engine.iodepth));
    job.set("latency_target", 0_u64);
    job.set("latency_target_ns", 0_u64);
    job.set("latency_percentile", 100.0);
    job.set("latency_window", 0_u64);
    job.set("latency_window_us", 0_u64);
    if let Some(description) = report.description.as_deref().filter(|text| !text.is_empty()) {
        job.set("desc", description);
    }
    job
}

/// The job's own options; on a command line, its name is one of them.
fn options(results: &Results, report: &JobReport) -> Object {
    let mut options = Object::default();
    let any = report.settings.first().or(results.global_settings.first());
    if any.is_some_and(|setting| setting.place.source == Source::CommandLine) {
        options.set("name", report.name.as_str());
    }
    options.extend(super::settings(&report.settings));
    options
}

/// Latencies of a distribution; percentiles and bins if they are asked for and there are any.
fn latency(report: &JobReport, histogram: &Histogram, with_percentiles: bool, bins: bool) -> Object {
    let latency = Latency::of(histogram);
    let mut object = Object::default()
        .with("min", latency.min_ns)
        .with("max", latency.max_ns)
        .with("mean", latency.mean_ns)
        .with("stddev", latency.deviation_ns)
        .with("N", latency.count);
    if with_percentiles && !histogram.is_empty() {
        let mut list = Object::default();
        for (percentile, ns) in percentiles(report, histogram) {
            list.set(format!("{:.6}", percentile.0 as f64 / 1e9), ns);
        }
        object.set("percentile", list);
        if bins {
            object.set("bins", all_bins(histogram));
        }
    }
    object
}

/// Every bucket that holds anything, by its middle.
fn all_bins(histogram: &Histogram) -> Object {
    histogram.filled().map(|bucket| (bucket.middle_ns().to_string(), Value::from(bucket.count))).collect()
}

fn direction(report: &JobReport, part: &Part<'_>, bins: bool) -> Object {
    let told = Percentiles::of(report);
    let bytes_per_s = part.bytes_per_s();
    let bandwidth = sane(&part.report.bandwidth_samples);
    let iops = sane(&part.report.iops_samples);
    Object::default()
        .with("io_bytes", part.report.bytes)
        .with("io_kbytes", part.report.bytes >> 10)
        .with("bw_bytes", bytes_per_s)
        .with("bw", bytes_per_s / 1024)
        .with("iops", part.iops())
        .with("runtime", whole_ms(part.report.runtime_ns))
        .with("total_ios", part.report.count)
        .with("short_ios", part.report.short)
        .with("drop_ios", part.report.dropped)
        .with("slat_ns", latency(report, &part.report.submission, told.submission, bins))
        .with("clat_ns", latency(report, &part.report.completion, told.completion, bins))
        .with("lat_ns", latency(report, &part.report.total, told.total, bins))
        .with("bw_min", bandwidth.min)
        .with("bw_max", bandwidth.max)
        .with("bw_agg", if bandwidth.count == 0 { 0.0 } else { part.percent_of_group() })
        .with("bw_mean", bandwidth.mean)
        .with("bw_dev", bandwidth.deviation())
        .with("bw_samples", bandwidth.count)
        .with("iops_min", iops.min)
        .with("iops_max", iops.max)
        .with("iops_mean", iops.mean)
        .with("iops_stddev", iops.deviation())
        .with("iops_samples", iops.count)
}

fn syncs(report: &JobReport, bins: bool) -> Object {
    let told = Percentiles::of(report);
    Object::default()
        .with("total_ios", report.syncs.count())
        .with("lat_ns", latency(report, &report.syncs, told.completion || told.total, bins))
}

fn add_use(job: &mut Object, report: &JobReport) {
    job.set("job_runtime", whole_ms(report.job_runtime_ns));
    job.set("usr_cpu", percent(report.usage.user_ns, report.job_runtime_ns));
    job.set("sys_cpu", percent(report.usage.system_ns, report.job_runtime_ns));
    job.set("ctx", report.usage.context_switches);
    job.set("majf", report.usage.major_faults);
    job.set("minf", report.usage.minor_faults);
}

fn add_distributions(job: &mut Object, report: &JobReport) {
    const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    for (key, names, counts) in [
        ("iodepth_level", LEVELS, &report.depth_levels),
        ("iodepth_submit", BATCHES, &report.submit_batches),
        ("iodepth_complete", BATCHES, &report.complete_batches),
    ] {
        let shares = shares(counts, LEAST_DEPTH_PERCENT).map(Value::from);
        job.set(key, names.map(str::to_owned).into_iter().zip(shares).collect::<Object>());
    }
    let classes = LatencyClasses::of(report);
    let ends = || CLASS_ENDS.iter().map(u64::to_string);
    let longer = || ends().chain(["2000".to_owned(), ">=2000".to_owned()]);
    job.set("latency_ns", ends().zip(classes.ns.map(Value::from)).collect::<Object>());
    job.set("latency_us", ends().zip(classes.us.map(Value::from)).collect::<Object>());
    job.set("latency_ms", longer().zip(classes.ms.map(Value::from)).collect::<Object>());
}

/// Latencies from the intended start, of a job that has a rate.
pub(super) fn from_intended(report: &JobReport, bins: bool) -> Option<Object> {
    let mut object = Object::default();
    for (name, direction) in ["read", "write", "trim"].into_iter().zip(report.directions.each()) {
        if !direction.from_intended.is_empty() {
            object.set(name, latency(report, &direction.from_intended, true, bins));
        }
    }
    if object.is_empty() {
        return None;
    }
    let mut named = Object::default().with("jobname", report.name.as_str()).with("groupid", u64::from(report.group));
    named.extend(object);
    Some(named)
}
