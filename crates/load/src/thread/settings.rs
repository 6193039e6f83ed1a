//! What a job's options mean for its thread: where it runs, which engine it uses and how, and what limits it.

use flashmark_core::queue::RangeSync;
use flashmark_core::record::{Warning, WarningCode};
use flashmark_fio::options::{CpuPolicy, Engine, EngineOptions, Options, SubmitMode};
use flashmark_host::engine::{QueueOptions, SubmissionThread};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::error::LoadProblem;
use crate::worker::{Batches, Cadence, Limits};

/// How the engine is called here. fio's `sync` seeks before each call, which nobody wants to measure.
pub(crate) fn engine_name(options: &EngineOptions) -> &'static str {
    match options.ioengine {
        // Who submits is somebody else: a thread for each access.
        Engine::Sync | Engine::Psync if options.io_submit_mode == SubmitMode::Offload => "threads",
        Engine::Psync => Engine::Sync.name(),
        other => other.name(),
    }
}

/// Refuses settings that would mean something else than they say.
pub(crate) fn check(options: &EngineOptions) -> Result<(), LoadProblem> {
    let engine = options.ioengine;
    let offloads = options.io_submit_mode == SubmitMode::Offload;
    if offloads && engine.is_synchronous() && !matches!(engine, Engine::Sync | Engine::Psync) {
        return Err(LoadProblem::Option(format!(
            "io_submit_mode=offload gives each access a thread with plain calls: use it with ioengine=psync, not with \
             ioengine={engine}"
        )));
    }
    Ok(())
}

/// What a user should know about settings that are not quite what they seem.
pub(crate) fn doubts(options: &EngineOptions) -> Vec<Warning> {
    let engine = options.ioengine;
    let mut doubts = Vec::new();
    if options.io_submit_mode == SubmitMode::Offload && !engine.is_synchronous() {
        let text = format!(
            "io_submit_mode=offload: ioengine={engine} keeps several accesses under way itself, and latencies from the \
             intended start show when it was late"
        );
        doubts.push(Warning::new(WarningCode::Skipped, text));
    }
    if options.direct && engine == Engine::Mmap {
        let text = "direct=1: a mapping is of the page cache, so that nothing passes it by";
        doubts.push(Warning::new(WarningCode::NotDirect, text));
    }
    doubts
}

/// Runs only on the processors that the job says.
pub(crate) fn pin(options: &Options, copy: u32) -> Result<(), LoadProblem> {
    let allowed: Vec<u32> = options.run.cpus_allowed.0.iter().copied().collect();
    if allowed.is_empty() {
        return Ok(());
    }
    let chosen = match options.run.cpus_allowed_policy {
        CpuPolicy::Shared => allowed,
        CpuPolicy::Split => vec![allowed[copy as usize % allowed.len()]],
    };
    let mut set = CpuSet::new();
    for cpu in &chosen {
        if *cpu as usize >= CpuSet::MAX_CPU {
            return Err(LoadProblem::Option(format!("cpus_allowed: processor {cpu} is not there")));
        }
        set.set(*cpu as usize);
    }
    sched_setaffinity(None, &set).map_err(|error| {
        let names: Vec<String> = chosen.iter().map(ToString::to_string).collect();
        LoadProblem::Option(format!(
            "cpus_allowed={}: the system refuses ({error}); name processors that are there",
            names.join(",")
        ))
    })
}

pub(crate) fn queue_options(options: &EngineOptions) -> QueueOptions {
    QueueOptions {
        fixed_buffers: options.fixedbufs,
        registered_files: options.registerfiles,
        poll: options.hipri,
        submission_thread: options.sqthread_poll.then_some(SubmissionThread { cpu: options.sqthread_poll_cpu }),
        vectored: options.nonvectored == Some(false) || options.libaio_vectored,
        force_async: options.force_async,
        userspace_reap: options.userspace_reap,
    }
}

/// fio's meaning of its batch options (HOWTO, "I/O depth").
pub(crate) fn batches(options: &EngineOptions, depth: u32, limits_completions: bool) -> Batches {
    let submit = if options.iodepth_batch == 0 { depth } else { options.iodepth_batch.min(depth) };
    let complete_min = options.iodepth_batch_complete_min.min(depth);
    let complete_max = match options.iodepth_batch_complete_max {
        // What is there anyway costs nothing to take along.
        _ if !limits_completions => depth,
        0 => complete_min,
        most => most.max(complete_min).min(depth),
    };
    let low = if options.iodepth_low == 0 { depth } else { options.iodepth_low.min(depth) };
    Batches { depth, submit, complete_min, complete_max: complete_max.max(1), low }
}

pub(crate) fn cadence(options: &EngineOptions) -> Cadence {
    Cadence {
        fsync: options.fsync,
        fdatasync: options.fdatasync,
        range: options.sync_file_range.map(|range| {
            let steps = RangeSync { wait_before: range.wait_before, write: range.write, wait_after: range.wait_after };
            (range.every, steps)
        }),
    }
}

pub(crate) fn limits(options: &Options) -> Limits {
    let run = &options.run;
    let latencies = options.pace.max_latency_us.each().map(|us| us.saturating_mul(1000));
    Limits {
        runtime_ns: (run.runtime_us > 0).then(|| run.runtime_us.saturating_mul(1000)),
        time_based: run.time_based && run.runtime_us > 0,
        ramp_ns: run.ramp_time_us.saturating_mul(1000),
        max_latency_ns: latencies.iter().any(|limit| *limit > 0).then_some(latencies),
    }
}
