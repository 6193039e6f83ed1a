//! Text for people, and for the programs that read it all the same (`show_thread_status_normal` of `stat.c`).

mod direction;
mod job;

use std::fmt::Write as _;

use crate::results::{DiskUse, Results};

use super::RenderOptions;
use super::figures::{Members, busy_percent, whole_ms};
use super::groups::{self, Group};

/// The results as text.
pub(super) fn render(results: &Results, how: &RenderOptions) -> String {
    let mut text = String::from("\n");
    for report in &results.reports {
        job::write(&mut text, results, report, how);
    }
    for (index, group) in groups::all(results).enumerate() {
        write_group(&mut text, index, &group);
    }
    if !results.disks.is_empty() {
        text.push_str("\nDisk stats (read/write):\n");
        results.disks.iter().for_each(|disk| write_disk(&mut text, disk, &results.disks));
    }
    text
}

/// Adds formatted text; writing to a string does not fail.
macro_rules! put {
    ($text:expr, $($format:tt)*) => {
        let _ = write!($text, $($format)*);
    };
}
use put;

fn write_group(text: &mut String, index: usize, group: &Group) {
    put!(text, "\nRun status group {index} (all jobs):\n");
    for (name, direction) in &group.lines {
        let rates = [direction.bytes_per_s, direction.min_bytes_per_s, direction.max_bytes_per_s];
        let [[rate, rate_too], [min, min_too], [max, max_too]] = rates.map(|rate| group.style.rate(rate));
        let [bytes, bytes_too] = group.style.bytes(direction.bytes);
        put!(text, "{name}: bw={rate} ({rate_too}), {min}-{max} ({min_too}-{max_too}), io={bytes} ({bytes_too}), ");
        put!(text, "run={}-{}msec\n", whole_ms(direction.min_runtime_ns), whole_ms(direction.max_runtime_ns));
    }
}

fn write_disk(text: &mut String, disk: &DiskUse, disks: &[DiskUse]) {
    let DiskUse { name, ios, merges, ticks_ms, in_queue_ms, .. } = disk;
    let members = Members::of(disk, disks);
    // fio sets those that are made of others apart.
    text.push_str(if members.is_some() { "    " } else { "  " });
    put!(text, "{name}: ios={}/{}, merge={}/{}, ", ios[0], ios[1], merges[0], merges[1]);
    put!(text, "ticks={}/{}, in_queue={in_queue_ms}, ", ticks_ms[0], ticks_ms[1]);
    put!(text, "util={:.2}%", busy_percent(disk));
    if let Some(Members { mean: DiskUse { ios, merges, ticks_ms, in_queue_ms, .. }, busy_percent }) = members {
        put!(text, ", aggrios={}/{}, aggrmerge={}/{}, ", ios[0], ios[1], merges[0], merges[1]);
        put!(text, "aggrticks={}/{}, aggrin_queue={in_queue_ms}, ", ticks_ms[0], ticks_ms[1]);
        put!(text, "aggrutil={busy_percent:.2}%");
    }
    text.push('\n');
}
