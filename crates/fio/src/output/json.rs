//! JSON, with and without bins (fio HOWTO, "JSON output" and "JSON+ output"; `show_thread_status_json` of `stat.c`).
//!
//! All keys of fio 3.33 in their order, and those that later versions added. At the end stands `flashmark`, with what is
//! not fio's.

mod job;
mod text;

use crate::options::{Found, find};
use crate::results::{DiskUse, Results};
use crate::setting::Setting;

use super::figures::{Members, busy_percent};
use super::{RenderOptions, clock};
use text::{Object, Value};

/// The results as JSON.
pub(super) fn render(results: &Results, how: &RenderOptions) -> String {
    text::text(&document(results, how, false))
}

/// The results as JSON with whole distributions.
pub(super) fn render_with_bins(results: &Results, how: &RenderOptions) -> String {
    text::text(&document(results, how, true))
}

fn document(results: &Results, how: &RenderOptions, bins: bool) -> Object {
    let mut document = Object::default()
        .with("fio version", how.version.as_str())
        .with("timestamp", results.ended_at_unix_ms / 1000)
        .with("timestamp_ms", results.ended_at_unix_ms)
        .with("time", clock::in_words(results.ended_at_unix_ms, how.ahead_of_utc_s).as_str());
    let global = settings(&results.global_settings);
    if !global.is_empty() {
        document.set("global options", global);
    }
    let jobs: Vec<Value> = results.reports.iter().map(|report| job::job(results, report, bins).into()).collect();
    document.set("jobs", jobs);
    if !results.disks.is_empty() {
        let disks: Vec<Value> = results.disks.iter().map(|one| disk(one, &results.disks).into()).collect();
        document.set("disk_util", disks);
    }
    document.with("flashmark", own(results, how, bins))
}

/// Options as written, by fio's names for them; an empty value is one that was left out.
fn settings(settings: &[Setting]) -> Object {
    let mut object = Object::default();
    for setting in settings {
        let name = match find(&setting.name) {
            Some(Found::Supported(entry)) => entry.name,
            Some(Found::WithoutEffect { name, .. }) => name,
            _ => setting.name.as_str(),
        };
        object.set(name, setting.value.as_deref().unwrap_or_default());
    }
    object
}

fn disk(disk: &DiskUse, disks: &[DiskUse]) -> Object {
    let object = Object::default()
        .with("name", disk.name.as_str())
        .with("read_ios", disk.ios[0])
        .with("write_ios", disk.ios[1])
        .with("read_sectors", disk.sectors[0])
        .with("write_sectors", disk.sectors[1])
        .with("read_merges", disk.merges[0])
        .with("write_merges", disk.merges[1])
        .with("read_ticks", disk.ticks_ms[0])
        .with("write_ticks", disk.ticks_ms[1])
        .with("in_queue", disk.in_queue_ms)
        .with("util", busy_percent(disk));
    let Some(Members { mean, busy_percent }) = Members::of(disk, disks) else { return object };
    object
        .with("aggr_read_ios", mean.ios[0])
        .with("aggr_write_ios", mean.ios[1])
        .with("aggr_read_sectors", mean.sectors[0])
        .with("aggr_write_sectors", mean.sectors[1])
        .with("aggr_read_merges", mean.merges[0])
        // fio's own name.
        .with("aggr_write_merge", mean.merges[1])
        .with("aggr_read_ticks", mean.ticks_ms[0])
        .with("aggr_write_ticks", mean.ticks_ms[1])
        .with("aggr_in_queue", mean.in_queue_ms)
        .with("aggr_util", busy_percent)
}

/// What fio does not tell: the version, warnings, and latencies from intended starts.
fn own(results: &Results, how: &RenderOptions, bins: bool) -> Object {
    let warnings: Vec<Value> = how.warnings.iter().map(|warning| warning.as_str().into()).collect();
    let mut own = Object::default().with("version", env!("CARGO_PKG_VERSION")).with("warnings", warnings);
    let paced: Vec<Value> =
        results.reports.iter().filter_map(|report| job::from_intended(report, bins)).map(Value::from).collect();
    if !paced.is_empty() {
        own.set("lat_ns_from_intended_start", paced);
    }
    own
}
