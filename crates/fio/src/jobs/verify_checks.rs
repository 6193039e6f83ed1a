//! What verification asks of the other options.

use super::Job;
use super::checks::{Warnings, conflict, place_of};
use crate::error::FioError;
use crate::options::{HEADER_BYTES, VerifyKind};
use crate::value::distribution::Distribution;
use crate::value::quantity::Amount;

pub(super) fn finish(job: &mut Job, warnings: &mut Warnings) -> Result<(), FioError> {
    if job.options.verify.verify_pattern.is_some() && !job.is_given("verify") {
        job.options.verify.verify = VerifyKind::PatternHeader;
    }
    let kind = job.options.verify.verify;
    if kind == VerifyKind::None {
        if job.options.verify.verify_only {
            return Err(conflict(job, &["verify_only"], "`verify_only` needs `verify`, which says how"));
        }
        return Ok(());
    }
    if matches!(kind, VerifyKind::Pattern | VerifyKind::PatternHeader) && job.options.verify.verify_pattern.is_none() {
        let why = format!("verify={kind} needs `verify_pattern`, which says what is written");
        return Err(conflict(job, &["verify"], why));
    }
    several_writers(job, warnings);
    never_reached(job, warnings);
    intervals(job)?;
    if !job.is_given("refill_buffers") {
        job.options.buffers.refill_buffers = true;
    }
    headers(job, warnings);
    Ok(())
}

fn several_writers(job: &Job, warnings: &mut Warnings) {
    let format = job.options.files.filename_format.to_lowercase();
    let own_files = job.options.files.filename.is_empty()
        && ["$jobname", "$jobnum", "$filenum"].iter().all(|word| format.contains(word));
    if job.options.access.rw.access.writes()
        && job.options.verify.do_verify
        && job.options.run.numjobs > 1
        && !own_files
    {
        let text = "the copies of the job write to the same files; what one wrote, another may find wrong";
        warnings.push((place_of(job, &["numjobs"]), text.to_owned()));
    }
}

fn never_reached(job: &Job, warnings: &mut Warnings) {
    let access = job.options.access.rw.access;
    let (run, verify) = (&job.options.run, &job.options.verify);
    if access.writes() && !access.reads() && verify.do_verify && run.time_based && verify.verify_backlog == 0 {
        let text = "writing takes the whole `runtime`, and verification is never reached; give `verify_backlog`";
        warnings.push((place_of(job, &["verify"]), text.to_owned()));
    }
}

fn intervals(job: &mut Job) -> Result<(), FioError> {
    let blocks = job.options.access.block_sizes();
    let (least, most) = (blocks.write.least(), blocks.write.most());
    let reads = job.options.access.rw.access.reads();
    let verify = &mut job.options.verify;
    let mut interval = u64::from(verify.verify_interval);
    if least != most && interval == 0 {
        interval = least;
    }
    if interval > least {
        interval = least;
    } else if reads && interval > blocks.read.least() {
        interval = blocks.read.least();
    }
    if interval == 0 || !least.is_multiple_of(interval) || !most.is_multiple_of(interval) {
        interval = greatest_common_divisor(least, most);
    }
    verify.verify_interval = interval.try_into().unwrap_or(u32::MAX);
    let offset = verify.verify_offset;
    if u64::from(offset) + u64::from(HEADER_BYTES) > interval {
        let why = format!(
            "verification writes a header of {HEADER_BYTES} bytes at byte {offset} of every {interval}, where it does not fit; \
             give larger blocks or a larger `verify_interval`"
        );
        return Err(conflict(job, &["verify_offset", "verify_interval", "bssplit", "bsrange", "bs", "verify"], why));
    }
    Ok(())
}

fn headers(job: &mut Job, warnings: &mut Warnings) {
    let access = &job.options.access;
    let blocks = access.block_sizes();
    let sizes = blocks.each();
    let fixed = sizes.iter().all(|sizes| sizes.least() == sizes.most() && sizes.least() == blocks.read.least());
    if access.norandommap && access.random_distribution == Distribution::Random && !fixed {
        let text = "with `norandommap` and several block sizes, blocks that overlap are not verified";
        warnings.push((place_of(job, &["norandommap"]), text.to_owned()));
    }
    let more_than_size = matches!(
        (access.io_size, access.size),
        (Some(Amount::Bytes(transferred)), Some(Amount::Bytes(size))) if transferred > size
    );
    let may_overlap = access.norandommap
        || access.softrandommap
        || access.rw.skip_bytes != 0
        || access.rw.run_length > 1
        || more_than_size;
    let asynchronous = !job.options.engine.ioengine.is_synchronous();
    let out_of_order = access.norandommap && asynchronous && job.options.engine.iodepth > 1;
    let verify = &job.options.verify;
    let sequence = !(verify.verify_only || out_of_order);
    let seed = !(verify.verify_only || !access.rw.access.writes() || verify.verify_backlog > 0 || may_overlap);
    let (sequence_given, seed_given) = (job.is_given("verify_write_sequence"), job.is_given("verify_header_seed"));
    let verify = &mut job.options.verify;
    verify.verify_write_sequence &= sequence || sequence_given;
    verify.verify_header_seed &= seed || seed_given;
}

fn greatest_common_divisor(mut first: u64, mut second: u64) -> u64 {
    while second != 0 {
        (first, second) = (second, first % second);
    }
    first
}
