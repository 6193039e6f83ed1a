//! What is printed before a run: the jobs, and how many threads there will be.

use crate::jobs::Job;

use super::RenderOptions;
use super::number::{Style, Unit, number};

/// The line that tells a job, and one with dots if there are more copies of it: `name: (g=0): rw=randread, bs=(R)
/// 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64`.
#[must_use]
pub fn job_header(job: &Job, copies: u32) -> String {
    let options = &job.options;
    let style = Style::of(&options.report);
    let size = |bytes: u64| number(bytes, style.characters, style.binary, Unit::Bytes);
    let sizes = options.access.block_sizes();
    let [read, write, trim] = sizes.each().map(|sizes| format!("{}-{}", size(sizes.least()), size(sizes.most())));
    let last = if options.access.bs_is_seq_rand { "bs_is_seq_rand".to_owned() } else { format!("(T) {trim}") };
    format!(
        "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, {last}, ioengine={}, iodepth={}\n{}",
        job.reported_name(),
        job.group,
        options.access.rw.access,
        options.engine.ioengine,
        options.engine.iodepth,
        if copies > 1 { "...\n" } else { "" },
    )
}

/// All that is printed before a run, if the form for people is asked for: a line for each job, the version, and how many
/// threads are started (`numjobs` of every job).
#[must_use]
pub fn before_run(jobs: &[Job], how: &RenderOptions) -> String {
    let mut text: String = jobs.iter().map(|job| job_header(job, job.options.run.numjobs)).collect();
    let threads: u64 = jobs.iter().map(|job| u64::from(job.options.run.numjobs)).sum();
    let plural = if threads == 1 { "" } else { "s" };
    text += &format!("{}\nStarting {threads} thread{plural}\n", how.version);
    text
}
