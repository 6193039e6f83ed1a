//! What has to go together, and what follows from what; `fixup_options` of fio's `init.c`.

use super::verify_checks;
use super::{Job, Rules};
use crate::error::{FioError, Problem};
use crate::options::{BlockSizes, Engine, SubmitMode};
use crate::place::Place;
use crate::value::distribution::Distribution;
use crate::value::quantity::Amount;
use crate::value::triple::Triple;

/// Warnings in the making.
pub(super) type Warnings = Vec<(Place, String)>;

/// Where the first of these options that was given stands, or else the job.
pub(super) fn place_of(job: &Job, options: &[&str]) -> Place {
    options.iter().find_map(|option| job.given.get(option)).unwrap_or(&job.place).clone()
}

/// An error about options that do not go together.
pub(super) fn conflict(job: &Job, options: &[&str], why: impl Into<String>) -> FioError {
    FioError::new(place_of(job, options), Problem::Conflict { job: job.name.clone(), why: why.into() })
}

/// Checks a job's options against each other, and sets those that follow from others.
pub(super) fn finish(job: &mut Job, rules: Rules) -> Result<Warnings, FioError> {
    let mut warnings = Warnings::new();
    directions(job, rules, &mut warnings)?;
    sizes(job, &mut warnings)?;
    randomness(job, &mut warnings);
    depths(job, &mut warnings);
    rates(job)?;
    times(job, &mut warnings);
    files(job);
    buffers(job);
    measurements(job);
    verify_checks::finish(job, &mut warnings)?;
    Ok(warnings)
}

/// Checks a job against those of its group.
pub(super) fn same_group(jobs: &[Job], job: &Job) -> Result<(), FioError> {
    let report = &job.options.report;
    let Some(first) = jobs.iter().find(|other| other.group == job.group) else {
        return Ok(());
    };
    if report.group_reporting && report.stats && report.lat_percentiles != first.options.report.lat_percentiles {
        let why =
            format!("the group is reported as one, and lat_percentiles differs from that of its job `{}`", first.name);
        return Err(conflict(job, &["lat_percentiles"], why));
    }
    Ok(())
}

fn directions(job: &mut Job, rules: Rules, warnings: &mut Warnings) -> Result<(), FioError> {
    let access = job.options.access.rw.access;
    if rules.read_only && (access.writes() || access.trims()) {
        return Err(conflict(job, &["rw"], format!("rw={access} writes or trims, and --readonly allows neither")));
    }
    if !access.is_mixed() {
        no_effect(job, &["rwmixread", "rwmixwrite"], &format!("with rw={access}, which is no mix"), warnings);
    }
    let replay = &mut job.options.replay;
    if replay.write_iolog.is_some() && !replay.read_iolog.is_empty() {
        replay.write_iolog = None;
        no_effect(job, &["write_iolog"], "with `read_iolog`", warnings);
    }
    // What is read has to be there.
    job.options.files.overwrite |= access.reads();
    Ok(())
}

/// Warns about options of the job's own section (defaults may be meant for others) that do nothing.
fn no_effect(job: &Job, options: &[&str], why: &str, warnings: &mut Warnings) {
    for option in options {
        if let Some(setting) = job.settings.iter().find(|setting| setting.name == *option) {
            warnings.push((setting.place.clone(), format!("`{option}` has no effect {why}")));
        }
    }
}

fn sizes(job: &mut Job, warnings: &mut Warnings) -> Result<(), FioError> {
    let access = job.options.access.rw.access;
    let blocks = job.options.access.block_sizes();
    let used = [(access.reads(), &blocks.read), (access.writes(), &blocks.write), (access.trims(), &blocks.trim)];
    let least = used.iter().filter(|(used, _)| *used).map(|(_, sizes)| sizes.least()).min().unwrap_or(1);
    if let Some(Amount::Bytes(size @ 1..)) = job.options.access.size
        && size < least
    {
        let why = format!("size ({size} bytes) is smaller than the smallest block ({least} bytes)");
        return Err(conflict(job, &["size"], why));
    }
    let smallest = blocks.each().map(BlockSizes::least);
    let options = &mut job.options.access;
    if !access.is_random() {
        options.blockalign = Triple::all(None);
    }
    let aligns = options.blockalign.each().into_iter().zip(smallest);
    if aligns.into_iter().any(|(align, least)| align.is_some_and(|align| align != least)) && !options.norandommap {
        options.norandommap = true;
        let text = "`blockalign` is not the block size: there is no map, and blocks may come twice (norandommap)";
        warnings.push((place_of(job, &["ba"]), text.to_owned()));
    }
    if job.options.access.bs_unaligned && job.options.engine.direct {
        let text = "`bs_unaligned` may fail with `direct`, which takes whole sectors";
        warnings.push((place_of(job, &["bs_unaligned"]), text.to_owned()));
    }
    if job.options.access.fill_device && job.options.access.size.is_none() {
        job.options.access.size = Some(Amount::Percent(100));
    }
    Ok(())
}

fn randomness(job: &mut Job, warnings: &mut Warnings) {
    let access = &mut job.options.access;
    if access.random_distribution != Distribution::Random {
        access.norandommap = true;
    }
    if job.given.contains_key("randseed") {
        access.randrepeat = false;
    }
    if !access.rw.access.is_random() {
        let why = format!("with rw={}, which is sequential", access.rw.access);
        no_effect(job, &["random_distribution", "random_generator", "percentage_random"], &why, warnings);
    }
}

fn depths(job: &mut Job, warnings: &mut Warnings) {
    let access = job.options.access.rw.access;
    let place = place_of(job, &["iodepth"]);
    let places = ["iodepth_low", "iodepth_batch"].map(|option| place_of(job, &[option]));
    let engine = &mut job.options.engine;
    let depth = engine.iodepth;
    // `vsync` gathers as many as the depth allows.
    let has_no_queue = engine.ioengine.is_synchronous() && engine.ioengine != Engine::Vsync;
    if has_no_queue && engine.io_submit_mode == SubmitMode::Inline && depth > 1 {
        let text =
            format!("`iodepth={depth}` has no effect with ioengine={}: one request is in flight", engine.ioengine);
        warnings.push((place, text));
    }
    let [low, batch] = places;
    for (option, value, place) in
        [("iodepth_low", &mut engine.iodepth_low, low), ("iodepth_batch", &mut engine.iodepth_batch, batch)]
    {
        if *value > depth {
            warnings.push((place, format!("`{option}={value}` is more than iodepth ({depth}), which is used instead")));
        }
        if *value > depth || *value == 0 {
            *value = depth;
        }
    }
    engine.iodepth_batch_complete_max = engine.iodepth_batch_complete_max.max(engine.iodepth_batch_complete_min);
    let cannot_overlap = !(access.writes() || access.trims()) || depth == 1;
    if cannot_overlap && engine.io_submit_mode == SubmitMode::Inline && job.options.replay.read_iolog.is_empty() {
        engine.serialize_overlap = false;
    }
}

fn rates(job: &Job) -> Result<(), FioError> {
    let pace = &job.options.pace;
    let wide = |rates: &Triple<u32>| rates.each().map(|rate| u64::from(*rate));
    let bytes = [&pace.rate, &pace.rate_min].map(|rates| rates.each().map(|rate| *rate));
    let iops = [wide(&pace.rate_iops), wide(&pace.rate_iops_min)];
    let names = [["rate", "rate_min"], ["rate_iops", "rate_iops_min"]];
    for kind in 0..2 {
        if [bytes[kind], iops[kind]].iter().all(|rates| rates.iter().any(|rate| *rate > 0)) {
            let why = format!("`{}` and `{}` exclude each other; give one of them", names[0][kind], names[1][kind]);
            return Err(conflict(job, &[names[1][kind]], why));
        }
    }
    for ([rates, least], [rate_name, least_name]) in [bytes, iops].into_iter().zip(names) {
        for (direction, (rate, least)) in ["reads", "writes", "trims"].into_iter().zip(rates.into_iter().zip(least)) {
            if rate > 0 && rate < least {
                let why = format!("{least_name} ({least}) is more than {rate_name} ({rate}) for {direction}");
                return Err(conflict(job, &[least_name, rate_name], why));
            }
        }
    }
    Ok(())
}

fn times(job: &mut Job, warnings: &mut Warnings) {
    let run = &mut job.options.run;
    run.loops = run.loops.max(1);
    if run.time_based && run.runtime_us == 0 {
        run.time_based = false;
        let text = "`time_based` has no effect without `runtime`";
        warnings.push((place_of(job, &["time_based"]), text.to_owned()));
    }
    let pace = &mut job.options.pace;
    pace.thinktime_spin_us = pace.thinktime_spin_us.min(pace.thinktime_us);
}

fn files(job: &mut Job) {
    let files = &mut job.options.files;
    if !files.filename.is_empty() {
        files.nrfiles = files.filename.len().try_into().unwrap_or(u32::MAX);
    }
    if files.openfiles > files.nrfiles || files.openfiles == 0 {
        files.openfiles = files.nrfiles;
    }
    files.invalidate &= !files.pre_read;
}

fn buffers(job: &mut Job) {
    let refill_given = job.given.contains_key("refill_buffers");
    let reads = job.options.access.rw.access.reads();
    let buffers = &mut job.options.buffers;
    let compressed = buffers.buffer_compress_percentage.is_some_and(|percent| percent > 0);
    if buffers.buffer_pattern.is_some() {
        buffers.scramble_buffers = false;
        buffers.zero_buffers = false;
        if !refill_given {
            buffers.refill_buffers = compressed || reads;
        }
    }
    if buffers.buffer_compress_percentage == Some(100) {
        buffers.zero_buffers = true;
    } else if compressed && !refill_given {
        buffers.refill_buffers = true;
    }
    buffers.refill_buffers |= buffers.dedupe_percentage > 0;
}

fn measurements(job: &mut Job) {
    let reduce = job.options.report.gtod_reduce;
    let report = &mut job.options.report;
    for (option, disabled) in [
        ("disable_lat", &mut report.disable_lat),
        ("disable_clat", &mut report.disable_clat),
        ("disable_slat", &mut report.disable_slat),
        ("disable_bw_measurement", &mut report.disable_bw),
    ] {
        *disabled |= reduce && !job.given.contains_key(option);
    }
    report.lat_percentiles &= !report.disable_lat;
    report.clat_percentiles &= !report.disable_clat;
    report.slat_percentiles &= !report.disable_slat;
}
