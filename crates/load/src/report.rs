//! From what threads counted to [`flashmark_fio::results`].

use flashmark_fio::Job;
use flashmark_fio::options::{ReportOptions, UnitBase};
use flashmark_fio::results::{DirectionReport, GroupDirection, GroupReport, JobReport, PassedOver, Usage};
use flashmark_fio::value::triple::Triple;
use flashmark_host::usage::ThreadUsage;

use crate::accesses::Direction;
use crate::tally::{DirectionTally, per_second};
use crate::worker::WorkerResult;

/// The report of one thread.
pub(crate) fn job_report(
    job: &Job,
    result: &mut WorkerResult,
    usage: ThreadUsage,
    started_at_unix_ms: u64,
) -> JobReport {
    let directions = Triple {
        read: direction_report(result.tally.direction(Direction::Read)),
        write: direction_report(result.tally.direction(Direction::Write)),
        trim: direction_report(result.tally.direction(Direction::Trim)),
    };
    let elapsed_ns = result.end_ns.saturating_sub(result.start_ns);
    let (error, error_text) = match &result.failure {
        Some((code, text)) => (*code, Some(text.clone())),
        None => (0, None),
    };
    let goes_on = job.options.run.continue_on_error != flashmark_fio::options::ContinueOn::None;
    JobReport {
        name: job.reported_name().to_owned(),
        description: job.options.run.description.clone(),
        group: job.group,
        error,
        error_text,
        passed_over: goes_on.then_some(PassedOver { count: result.passed_over, first: result.first_passed_over }),
        pid: std::process::id(),
        members: 1,
        started_at_unix_ms,
        job_runtime_ns: elapsed_ns,
        elapsed_ns,
        directions,
        syncs: result.tally.syncs.clone(),
        usage: Usage {
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            context_switches: usage.context_switches,
            major_faults: usage.major_faults,
            minor_faults: usage.minor_faults,
        },
        depth_levels: result.tally.depth_levels,
        submit_batches: one_by_one(result.tally.submit_batches, &result.tally.depth_levels),
        complete_batches: one_by_one(result.tally.complete_batches, &result.tally.depth_levels),
        options: job.options.clone(),
        settings: job.settings.clone(),
    }
}

/// Engines that complete what they are given count no batches: each access is one.
fn one_by_one(batches: [u64; 7], depth_levels: &[u64; 7]) -> [u64; 7] {
    if batches == [0; 7] { [0, depth_levels.iter().sum(), 0, 0, 0, 0, 0] } else { batches }
}

fn direction_report(tally: &DirectionTally) -> DirectionReport {
    let completion = tally.completion.clone();
    // Engines that complete what they submit have one latency.
    let total = if tally.submission.is_empty() { completion.clone() } else { tally.total.clone() };
    DirectionReport {
        bytes: tally.bytes,
        count: tally.count,
        short: tally.short,
        dropped: 0,
        runtime_ns: tally.runtime_ns,
        submission: tally.submission.clone(),
        completion,
        total,
        from_intended: tally.from_intended.clone(),
        bandwidth_samples: tally.bandwidth,
        iops_samples: tally.iops,
    }
}

/// What a job does not want to be measured is left out of what fio's forms show of it.
pub(crate) fn leave_out(report: &mut JobReport) {
    let ReportOptions { gtod_reduce, disable_lat, disable_clat, disable_slat, disable_bw, .. } = report.options.report;
    let directions = &mut report.directions;
    for direction in [&mut directions.read, &mut directions.write, &mut directions.trim] {
        if gtod_reduce || disable_lat {
            direction.total.clear();
        }
        if gtod_reduce || disable_clat {
            direction.completion.clear();
        }
        if gtod_reduce || disable_slat {
            direction.submission.clear();
        }
        if disable_bw {
            direction.bandwidth_samples = Default::default();
        }
    }
}

/// Adds a job that ran beside those of `whole`.
pub(crate) fn merge(whole: &mut JobReport, part: &JobReport) {
    if whole.error == 0 {
        whole.error = part.error;
        whole.error_text.clone_from(&part.error_text);
    }
    if let Some(more) = part.passed_over {
        let sum = whole.passed_over.get_or_insert(PassedOver { count: 0, first: 0 });
        sum.count += more.count;
        if sum.first == 0 {
            sum.first = more.first;
        }
    }
    whole.members += part.members;
    // As fio does: the options told are the last one's.
    whole.options.clone_from(&part.options);
    whole.settings.clone_from(&part.settings);
    whole.started_at_unix_ms = whole.started_at_unix_ms.min(part.started_at_unix_ms);
    whole.job_runtime_ns += part.job_runtime_ns;
    whole.elapsed_ns = whole.elapsed_ns.max(part.elapsed_ns);
    merge_direction(&mut whole.directions.read, &part.directions.read);
    merge_direction(&mut whole.directions.write, &part.directions.write);
    merge_direction(&mut whole.directions.trim, &part.directions.trim);
    whole.syncs.merge(&part.syncs);
    whole.usage.user_ns += part.usage.user_ns;
    whole.usage.system_ns += part.usage.system_ns;
    whole.usage.context_switches += part.usage.context_switches;
    whole.usage.major_faults += part.usage.major_faults;
    whole.usage.minor_faults += part.usage.minor_faults;
    let counts = [
        (&mut whole.depth_levels, &part.depth_levels),
        (&mut whole.submit_batches, &part.submit_batches),
        (&mut whole.complete_batches, &part.complete_batches),
    ];
    for (sum, more) in counts {
        for (sum, more) in sum.iter_mut().zip(more) {
            *sum += more;
        }
    }
}

fn merge_direction(whole: &mut DirectionReport, part: &DirectionReport) {
    whole.bytes += part.bytes;
    whole.count += part.count;
    whole.short += part.short;
    whole.dropped += part.dropped;
    whole.runtime_ns = whole.runtime_ns.max(part.runtime_ns);
    whole.submission.merge(&part.submission);
    whole.completion.merge(&part.completion);
    whole.total.merge(&part.total);
    whole.from_intended.merge(&part.from_intended);
    whole.bandwidth_samples.add_beside(&part.bandwidth_samples);
    whole.iops_samples.add_beside(&part.iops_samples);
}

/// What the jobs of a group did together.
pub(crate) fn group_report<'a>(jobs: impl IntoIterator<Item = &'a JobReport>) -> GroupReport {
    let mut group = GroupReport::default();
    for job in jobs {
        group.in_bits |= job.options.report.unit_base == UnitBase::Bits;
        add_to_group(&mut group.directions.read, &job.directions.read);
        add_to_group(&mut group.directions.write, &job.directions.write);
        add_to_group(&mut group.directions.trim, &job.directions.trim);
    }
    let directions = &mut group.directions;
    for direction in [&mut directions.read, &mut directions.write, &mut directions.trim] {
        direction.bytes_per_s = per_second(direction.bytes, direction.max_runtime_ns);
    }
    group
}

fn add_to_group(group: &mut GroupDirection, job: &DirectionReport) {
    if job.count == 0 || job.runtime_ns == 0 {
        return;
    }
    let rate = per_second(job.bytes, job.runtime_ns);
    let is_first = group.max_runtime_ns == 0;
    group.bytes += job.bytes;
    group.min_bytes_per_s = if is_first { rate } else { group.min_bytes_per_s.min(rate) };
    group.max_bytes_per_s = group.max_bytes_per_s.max(rate);
    group.min_runtime_ns = if is_first { job.runtime_ns } else { group.min_runtime_ns.min(job.runtime_ns) };
    group.max_runtime_ns = group.max_runtime_ns.max(job.runtime_ns);
}
