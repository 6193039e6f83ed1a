//! From what jobs did to flashmark's records.

use flashmark_core::environment::Environment;
use flashmark_core::histogram::Histogram;
use flashmark_core::record::{
    FailedOp, Form, JobInfo, OpKind, OpStats, Outcome, Reached, Record, Repeat, RunInfo, SCHEMA, Status, TargetInfo,
    TargetKind, Warning, WarningCode,
};
use flashmark_core::target::{Fault, FaultKind};
use flashmark_core::workload::{Data, Direct, FileMode, Order, Reopen, SyncPolicy, Workload};
use flashmark_fio::options::{Options, SyncMode, VerifyKind};
use flashmark_fio::results::DirectionReport;
use flashmark_fio::value::distribution::Distribution;
use flashmark_fio::{Job, JobSet};
use flashmark_host::environment::{Collect, collect};
use flashmark_load::{FailedAccess, Finished, ThreadOutcome};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Now, as records have it.
pub fn now() -> String {
    let time = OffsetDateTime::now_utc();
    time.replace_nanosecond(0).unwrap_or(time).format(&Rfc3339).unwrap_or_default()
}

/// The environment of a thread's first file, and what is to be known about it.
fn environment_of(thread: &ThreadOutcome) -> (Environment, Vec<Warning>) {
    let serials = false;
    match thread.files.first().filter(|path| path.exists()) {
        Some(path) => collect(path, Collect { serials }),
        None => collect(std::path::Path::new("."), Collect { serials }),
    }
}

/// What casts doubt on the numbers, each once, for people.
pub fn warnings_of(set: &JobSet, finished: &Finished) -> Vec<String> {
    let mut warnings: Vec<String> = finished.doubts.clone();
    for thread in &finished.threads {
        let name = set.jobs.get(thread.job).map_or("", |job| job.name.as_str());
        for doubt in &thread.doubts {
            let text = format!("{name}: {}", doubt.message);
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        }
    }
    warnings
}

/// A record of each thread.
pub fn records(set: &JobSet, finished: &Finished, line: &[String], begun: &str) -> Vec<Record> {
    let id = format!("{:016x}", flashmark_host::test_file::random_id());
    let total = finished.threads.len() as u32;
    let plan = format!("{:016x}", flashmark_core::data::fingerprint(line.join("\0").as_bytes()));
    let threads = finished.threads.iter().zip(0..);
    let record = |(thread, index): (&ThreadOutcome, u32)| {
        let job = set.jobs.get(thread.job)?;
        let (environment, mut warnings) = environment_of(thread);
        warnings.extend(thread.doubts.iter().cloned());
        warnings.extend(finished.doubts.iter().map(|doubt| Warning::new(WarningCode::Environment, doubt.clone())));
        let files: Vec<String> = thread.files.iter().map(|path| path.display().to_string()).collect();
        let target = files.first().cloned().unwrap_or_default();
        Some(Record {
            schema: SCHEMA,
            flashmark: env!("CARGO_PKG_VERSION").into(),
            run: RunInfo {
                id: id.clone(),
                suite: "fio".into(),
                suite_source: "command line".into(),
                form: Form::Corrected,
                settings: Vec::new(),
                only: Vec::new(),
                targets: vec![target.clone()],
                index,
                total,
                plan: plan.clone(),
                original: None,
            },
            started_at: begun.to_owned(),
            target: TargetInfo {
                label: label(&environment, thread),
                name: target,
                kind: kind(thread),
                engine: thread.engine.to_owned(),
                direct: (thread.engine != "null").then_some(thread.direct),
            },
            workload: workload(job, thread),
            outcome: outcome(job, thread, &environment, warnings),
            environment,
            simulation: None,
            job: Some(JobInfo {
                settings: job.global_settings.iter().chain(&job.settings).map(ToString::to_string).collect(),
                copy: thread.copy,
                copies: job.options.run.numjobs,
                group: job.group,
                files,
            }),
        })
    };
    threads.filter_map(record).collect()
}

fn is_device(thread: &ThreadOutcome) -> bool {
    thread.files.first().is_some_and(|path| path.exists() && !path.is_file())
}

fn kind(thread: &ThreadOutcome) -> TargetKind {
    if is_device(thread) { TargetKind::Device } else { TargetKind::File }
}

fn label(environment: &Environment, thread: &ThreadOutcome) -> String {
    match &environment.file_system {
        Some(file_system) if !is_device(thread) => file_system.kind.to_uppercase(),
        _ => "RAW".into(),
    }
}

/// As much of a job as a workload can say.
fn workload(job: &Job, thread: &ThreadOutcome) -> Workload {
    let options = &job.options;
    let access = options.access.rw.access;
    let sizes = options.access.block_sizes();
    let first = if access.reads() {
        &sizes.read
    } else if access.writes() {
        &sizes.write
    } else {
        &sizes.trim
    };
    let mut workload = Workload::named(job.reported_name());
    workload.read_percent = match (access.reads(), access.writes()) {
        (true, true) => options.access.rwmixread,
        (true, false) => 100,
        _ => 0,
    };
    workload.order = order(options);
    workload.block_bytes = u32::try_from(first.most()).unwrap_or(u32::MAX).max(1);
    let moved = &thread.report.directions;
    let bytes = moved.read.bytes + moved.write.bytes + moved.trim.bytes;
    workload.size_bytes = (bytes >= u64::from(workload.block_bytes)).then_some(bytes);
    workload.time_ns = (options.run.runtime_us > 0).then(|| options.run.runtime_us.saturating_mul(1000));
    workload.file = FileMode::Existing;
    workload.reopen = Reopen::Once;
    workload.sync = match (options.engine.fsync.max(options.engine.fdatasync), options.files.end_fsync) {
        (ops @ 1.., _) if access.writes() => SyncPolicy::Every { ops },
        (_, true) if access.writes() => SyncPolicy::End,
        _ => SyncPolicy::Never,
    };
    workload.data = match options.buffers.buffer_compress_percentage {
        Some(percent) => Data::Compressible { percent },
        None if options.buffers.zero_buffers => Data::Zeros,
        None => Data::Random,
    };
    workload.queue_depth = options.engine.iodepth;
    workload.seed = options.access.randseed;
    workload.engine = thread.engine.to_owned();
    workload.direct = if options.engine.direct { Direct::Required } else { Direct::Buffered };
    workload
}

fn order(options: &Options) -> Order {
    if !options.access.rw.access.is_random() {
        return Order::Sequential;
    }
    match &options.access.random_distribution {
        Distribution::Random if !options.access.norandommap => Order::RandomOnce,
        Distribution::Zipf { theta, .. } => {
            let theta_milli = u16::try_from(theta.0 / 1_000_000).unwrap_or(10_000).clamp(1, 10_000);
            Order::Zipf { theta_milli }
        }
        _ => Order::Random,
    }
}

fn outcome(job: &Job, thread: &ThreadOutcome, environment: &Environment, warnings: Vec<Warning>) -> Outcome {
    let report = &thread.report;
    let moved = &report.directions;
    let directions = [(OpKind::Read, &moved.read), (OpKind::Write, &moved.write), (OpKind::Trim, &moved.trim)];
    let mut ops: Vec<OpStats> = directions
        .into_iter()
        .filter(|(_, direction)| direction.count > 0)
        .map(|(op, direction)| OpStats::from_histogram(op, direction.bytes, &direction.total))
        .collect();
    if !report.syncs.is_empty() {
        ops.push(OpStats::from_histogram(OpKind::Sync, 0, &report.syncs));
    }
    let elapsed_ns = directions.iter().map(|(_, direction)| direction.runtime_ns).max().unwrap_or(0);
    let bytes = directions.iter().map(|(_, direction)| direction.bytes).sum();
    let checks = job.options.verify.verify != VerifyKind::None && thread.engine != "null";
    Outcome {
        status: match (report.error, thread.stopped) {
            (0, false) => Status::Done,
            (0, true) => Status::Interrupted,
            _ => Status::Failed,
        },
        elapsed_ns,
        bytes,
        reached: (moved.write.count > 0).then(|| reached(&job.options, thread, environment)),
        ops,
        repeats: if bytes > 0 { vec![repeat(elapsed_ns, bytes, &directions)] } else { Vec::new() },
        verified_bytes: if checks && thread.failed_count == 0 { moved.read.bytes } else { 0 },
        fault_count: thread.failed_count.max(u64::from(report.error != 0)),
        faults: faults(thread),
        warnings,
    }
}

fn repeat(elapsed_ns: u64, bytes: u64, directions: &[(OpKind, &DirectionReport); 3]) -> Repeat {
    let mut all = Histogram::new();
    for (_, direction) in directions {
        all.merge(&direction.total);
    }
    Repeat {
        elapsed_ns,
        bytes,
        count: all.count(),
        min_ns: all.min_ns(),
        max_ns: all.max_ns(),
        sum_ns: u64::try_from(all.sum_ns()).unwrap_or(u64::MAX),
    }
}

/// How far writes had come when the clock stopped.
fn reached(options: &Options, thread: &ThreadOutcome, environment: &Environment) -> Reached {
    let in_memory = environment.file_system.as_ref().is_some_and(|fs| matches!(fs.kind.as_str(), "tmpfs" | "ramfs"));
    let synced = options.files.end_fsync || options.engine.sync != SyncMode::None || options.engine.fsync == 1;
    match () {
        () if in_memory || thread.engine == "null" => Reached::Cache,
        () if synced => Reached::Medium,
        () if thread.direct => Reached::Device,
        () => Reached::Cache,
    }
}

fn faults(thread: &ThreadOutcome) -> Vec<FailedOp> {
    let failed = thread.failed.iter().map(|failed| FailedOp {
        op: match failed.action {
            "read" => OpKind::Read,
            "write" => OpKind::Write,
            "trim" => OpKind::Trim,
            "sync" => OpKind::Sync,
            _ => OpKind::Verify,
        },
        offset: failed.offset,
        fault: fault(failed, thread),
    });
    let mut failed: Vec<FailedOp> = failed.collect();
    if let (true, Some(text)) = (failed.is_empty(), &thread.report.error_text) {
        let fault = Fault { kind: FaultKind::Io, code: Some(thread.report.error), message: text.clone() };
        failed.push(FailedOp { op: OpKind::Drain, offset: 0, fault });
    }
    failed
}

fn fault(failed: &FailedAccess, thread: &ThreadOutcome) -> Fault {
    use std::io::ErrorKind;
    let kind = match std::io::Error::from_raw_os_error(failed.code).kind() {
        _ if failed.action == "verify" => FaultKind::Corrupt,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => FaultKind::NoSpace,
        ErrorKind::ReadOnlyFilesystem => FaultKind::ReadOnly,
        ErrorKind::PermissionDenied => FaultKind::Denied,
        ErrorKind::InvalidInput | ErrorKind::Unsupported => FaultKind::Unsupported,
        ErrorKind::NotFound => FaultKind::Gone,
        _ => FaultKind::Io,
    };
    // The file matters only where there are several.
    let place = match thread.files.get(failed.file as usize) {
        Some(path) if thread.files.len() > 1 => format!("{}: ", path.display()),
        _ => String::new(),
    };
    Fault { kind, code: Some(failed.code), message: format!("{place}{}", failed.text) }
}
