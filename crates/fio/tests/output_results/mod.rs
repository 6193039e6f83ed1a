//! Results to print: made up, or read from fio's JSON.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "what tests share fails as tests do")]

use flashmark_core::histogram::Histogram;
use flashmark_fio::options::{Engine, UnitBase};
use flashmark_fio::results::{
    DirectionReport, DiskUse, GroupDirection, GroupReport, JobReport, PassedOver, Results, Samples, Usage,
};
use flashmark_fio::value::triple::Triple;
use flashmark_fio::{Job, JobSet};
use serde_json::Value;

const MS: u64 = 1_000_000;

/// A report with nothing in it but what the job says.
fn empty(reported: &Reported<'_>) -> JobReport {
    let job = reported.first;
    JobReport {
        name: job.reported_name().to_owned(),
        description: job.options.run.description.clone(),
        group: job.group,
        error: 0,
        error_text: None,
        passed_over: None,
        pid: 4711,
        members: reported.members,
        started_at_unix_ms: 1_796_075_616_000,
        job_runtime_ns: 0,
        elapsed_ns: 0,
        directions: Triple::default(),
        syncs: Box::default(),
        usage: Usage::default(),
        depth_levels: [0; 7],
        submit_batches: [0; 7],
        complete_batches: [0; 7],
        options: job.options.clone(),
        settings: reported.last.settings.clone(),
    }
}

fn results(set: &JobSet, reports: Vec<JobReport>, disks: Vec<DiskUse>, ended_at_unix_ms: u64) -> Results {
    let count = reports.iter().map(|report| report.group + 1).max().unwrap_or(0);
    let groups = (0..count).map(|index| group(&reports, index)).collect();
    let global_settings = set.jobs.first().map(|job| job.global_settings.clone()).unwrap_or_default();
    Results { ended_at_unix_ms, global_settings, reports, groups, disks }
}

fn group(reports: &[JobReport], index: u32) -> GroupReport {
    let mut group = GroupReport::default();
    let members = || reports.iter().filter(|report| report.group == index);
    group.in_bits = members().any(|report| report.options.report.unit_base == UnitBase::Bits);
    let one = |of: fn(&JobReport) -> &DirectionReport| {
        let active = || members().map(of).filter(|direction| direction.runtime_ns > 0);
        let rate = |direction: &DirectionReport| direction.bytes * 1000 / (direction.runtime_ns / MS).max(1);
        let bytes = active().map(|direction| direction.bytes).sum();
        let max_runtime_ns = active().map(|direction| direction.runtime_ns).max().unwrap_or(0);
        GroupDirection {
            bytes,
            bytes_per_s: bytes * 1000 / (max_runtime_ns / MS).max(1),
            min_bytes_per_s: active().map(rate).min().unwrap_or(0),
            max_bytes_per_s: active().map(rate).max().unwrap_or(0),
            min_runtime_ns: active().map(|direction| direction.runtime_ns).min().unwrap_or(0),
            max_runtime_ns,
        }
    };
    group.directions = Triple {
        read: one(|report| &report.directions.read),
        write: one(|report| &report.directions.write),
        trim: one(|report| &report.directions.trim),
    };
    group
}

/// A report: its first job, the last one, whose options fio tells for all of them, and how many copies of jobs it is of.
struct Reported<'a> {
    first: &'a Job,
    last: &'a Job,
    members: u32,
}

/// Which reports there are, with `group_reporting` heeded.
fn reported(set: &JobSet) -> Vec<Reported<'_>> {
    let mut list: Vec<Reported<'_>> = Vec::new();
    for job in &set.jobs {
        let copies = job.options.run.numjobs;
        let together = job.options.report.group_reporting;
        match list.last_mut() {
            Some(report) if together && report.first.group == job.group => {
                report.last = job;
                report.members += copies;
            }
            _ if together => list.push(Reported { first: job, last: job, members: copies }),
            _ => list.extend((0..copies).map(|_| Reported { first: job, last: job, members: 1 })),
        }
    }
    list
}

/// Results of jobs that ran for a second, the same ones each time: every direction a job has was used a thousand times.
pub fn made_up(set: &JobSet) -> Results {
    let reports = reported(set).into_iter().map(|report| made_up_report(&report)).collect();
    let disk = DiskUse {
        name: "vda".into(),
        ios: [1000, 500],
        merges: [1, 2],
        sectors: [8000, 4000],
        ticks_ms: [300, 400],
        in_queue_ms: 710,
        busy_ms: 777,
        watched_ms: 1000,
        members: Vec::new(),
    };
    results(set, reports, vec![disk], 1_796_075_617_881)
}

fn made_up_report(reported: &Reported<'_>) -> JobReport {
    let Reported { first: job, members, .. } = *reported;
    let mut report = empty(reported);
    let options = &job.options;
    let access = options.access.rw.access;
    for (is_used, seed, direction) in [
        (access.reads(), 1, &mut report.directions.read),
        (access.writes(), 2, &mut report.directions.write),
        (access.trims(), 3, &mut report.directions.trim),
    ] {
        if is_used {
            fill(direction, seed, members.into(), job);
        }
    }
    if options.engine.fsync > 0 {
        (1..=100).for_each(|index| report.syncs.record(700_000 + index * index * 100));
    }
    if options.pace.rate_iops.read > 0 {
        (1..=100).for_each(|index| report.directions.read.from_intended.record(9_000 + index * 1000));
    }
    report.job_runtime_ns = 1000 * MS * u64::from(members);
    report.elapsed_ns = 1000 * MS;
    report.usage =
        Usage { user_ns: 44 * MS, system_ns: 246 * MS, context_switches: 1137, major_faults: 0, minor_faults: 27 };
    let level = options.engine.iodepth.max(1).ilog2().min(6) as usize;
    report.depth_levels[level] = 990;
    report.depth_levels[0] += 10;
    report.submit_batches[1] = 1000;
    report.complete_batches = [0, 998, 0, 1, 0, 1, 0];
    report.passed_over = (options.run.continue_on_error.name() != "none").then_some(PassedOver { count: 2, first: 28 });
    report
}

fn fill(direction: &mut DirectionReport, seed: u64, members: u64, job: &Job) {
    let block_bytes = job.options.access.bs.read;
    let engine = &job.options.engine;
    let is_queued = match engine.ioengine {
        Engine::Null => engine.iodepth > 1,
        kind => !kind.is_synchronous(),
    };
    let is_timed = !job.options.report.gtod_reduce;
    direction.count = 1000 * members;
    direction.bytes = direction.count * block_bytes;
    direction.short = seed - 1;
    direction.runtime_ns = 1000 * MS;
    for index in 0..direction.count {
        // Most take some 20 us, a few of them a millisecond and more.
        let completion = 15_000 * seed + index * 7919 % 10_007 + if index % 250 == 7 { 1_000_000 * seed } else { 0 };
        let submission = 700 + index * 31 % 400;
        if !is_timed {
            continue;
        }
        if is_queued {
            direction.submission.record(submission);
        }
        direction.completion.record(completion);
        direction.total.record(completion + submission);
    }
    for sample in [950, 1000, 1049] {
        direction.iops_samples.add(sample * members);
        direction.bandwidth_samples.add(sample * members * block_bytes / 1024);
    }
}

/// The results that fio's JSON with bins tells, as far as it tells them.
pub fn read_from(json: &Value, set: &JobSet) -> Results {
    let jobs = json["jobs"].as_array().unwrap();
    let reported = reported(set);
    assert_eq!(jobs.len(), reported.len());
    let reports = jobs.iter().zip(reported).map(|(told, report)| report_read_from(told, &report)).collect();
    let disks = json["disk_util"].as_array().into_iter().flatten().map(|disk| {
        let pair = |what: &str| ["read", "write"].map(|way| number(&disk[format!("{way}_{what}")]));
        DiskUse {
            name: disk["name"].as_str().unwrap().to_owned(),
            ios: pair("ios"),
            merges: pair("merges"),
            sectors: [0; 2],
            ticks_ms: pair("ticks"),
            in_queue_ms: number(&disk["in_queue"]),
            busy_ms: (float(&disk["util"]) * 1000.0) as u64,
            watched_ms: 100_000,
            members: Vec::new(),
        }
    });
    results(set, reports, disks.collect(), number(&json["timestamp_ms"]))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn report_read_from(told: &Value, reported: &Reported<'_>) -> JobReport {
    let mut report = empty(reported);
    report.error = i32::try_from(told["error"].as_i64().unwrap()).unwrap();
    report.job_runtime_ns = number(&told["job_runtime"]) * MS;
    report.elapsed_ns = number(&told["elapsed"]) * 1000 * MS;
    let share = |key: &str| (float(&told[key]) * report.job_runtime_ns as f64 / 100.0) as u64;
    report.usage = Usage {
        user_ns: share("usr_cpu"),
        system_ns: share("sys_cpu"),
        context_switches: number(&told["ctx"]),
        major_faults: number(&told["majf"]),
        minor_faults: number(&told["minf"]),
    };
    let levels = |key: &str, names: [&str; 7]| names.map(|name| (float(&told[key][name]) * 1000.0) as u64);
    report.depth_levels = levels("iodepth_level", ["1", "2", "4", "8", "16", "32", ">=64"]);
    report.submit_batches = levels("iodepth_submit", ["0", "4", "8", "16", "32", "64", ">=64"]);
    report.complete_batches = levels("iodepth_complete", ["0", "4", "8", "16", "32", "64", ">=64"]);
    if let Some(errors) = told.get("total_err") {
        report.passed_over = Some(PassedOver { count: number(errors), first: 0 });
    }
    if told.get("read").is_none() {
        // What is mixed has no parts; it may as well have been reads.
        report.directions.read = direction_read_from(&told["mixed"]);
        return report;
    }
    report.directions = Triple {
        read: direction_read_from(&told["read"]),
        write: direction_read_from(&told["write"]),
        trim: direction_read_from(&told["trim"]),
    };
    report.syncs = histogram(&told["sync"]["lat_ns"]);
    report
}

fn direction_read_from(told: &Value) -> DirectionReport {
    DirectionReport {
        bytes: number(&told["io_bytes"]),
        count: number(&told["total_ios"]),
        short: number(&told["short_ios"]),
        dropped: number(&told["drop_ios"]),
        runtime_ns: number(&told["runtime"]) * MS,
        submission: histogram(&told["slat_ns"]),
        completion: histogram(&told["clat_ns"]),
        total: histogram(&told["lat_ns"]),
        from_intended: Box::default(),
        bandwidth_samples: samples(told, ["bw_min", "bw_max", "bw_mean", "bw_dev", "bw_samples"]),
        iops_samples: samples(told, ["iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples"]),
    }
}

fn samples(told: &Value, [min, max, mean, deviation, count]: [&str; 5]) -> Samples {
    let (deviation, count) = (float(&told[deviation]), number(&told[count]));
    let squares = deviation * deviation * count.saturating_sub(1) as f64;
    Samples { count, min: number(&told[min]), max: number(&told[max]), mean: float(&told[mean]), squares }
}

/// The bins, with the smallest and the largest value in place of one each.
fn histogram(told: &Value) -> Box<Histogram> {
    let mut histogram = Box::new(Histogram::new());
    let mut bins: Vec<(u64, u64)> = Vec::new();
    for (middle, count) in told.get("bins").and_then(Value::as_object).into_iter().flatten() {
        bins.push((middle.parse().unwrap(), number(count)));
    }
    bins.sort_unstable();
    let values: Vec<u64> = bins.iter().flat_map(|&(middle, count)| (0..count).map(move |_| middle)).collect();
    for (index, &value) in values.iter().enumerate() {
        histogram.record(match index {
            0 => number(&told["min"]),
            _ if index + 1 == values.len() => number(&told["max"]),
            _ => value,
        });
    }
    assert_eq!(histogram.count(), number(&told["N"]), "bins are missing");
    histogram
}
