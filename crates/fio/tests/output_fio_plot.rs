//! PyPI's `fio-plot` draws what is printed here: bars from JSON, and lines from logs.
//!
//! The Python that has it is told by `FLASHMARK_PYTHON`, or is `python3`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod fio_plot;
mod output_results;
mod support;

use std::fmt::Write as _;
use std::path::Path;

use fio_plot::{draw, python};
use flashmark_fio::OutputFormat;
use flashmark_fio::output::{Direction, LogKind, LogLine, RenderOptions, log_files, render};
use support::jobs;

const DEPTHS: [u32; 2] = [1, 4];
const COPIES: [u32; 2] = [1, 2];

/// Results and logs of every depth and number of copies, as fio-plot wants them: options in the results, names of logs.
fn measure(dir: &Path) {
    for depth in DEPTHS {
        for copies in COPIES {
            let name = format!("randread-iodepth-{depth}-numjobs-{copies}");
            let set = jobs(&format!(
                "[global]\nrw=randread\nbs=4k\nioengine=libaio\n[job]\niodepth={depth}\nnumjobs={copies}\n\
                 group_reporting\nwrite_bw_log={name}\nwrite_iops_log={name}\nwrite_lat_log={name}\nlog_avg_msec=500\n"
            ));
            let set = set.unwrap();
            let results = output_results::made_up(&set);
            let json = render(&results, OutputFormat::Json, &RenderOptions::default());
            std::fs::write(dir.join(format!("{name}.json")), json).unwrap();
            for number in 1..=copies {
                for file in log_files(&set.jobs[0], number) {
                    std::fs::write(dir.join(file.name), log(file.kind, depth)).unwrap();
                }
            }
        }
    }
}

fn log(kind: LogKind, depth: u32) -> String {
    let unit = match kind {
        LogKind::Bandwidth => 4000,
        LogKind::Iops => 1000,
        LogKind::Total | LogKind::Submission | LogKind::Completion => 24_000,
    };
    let mut text = String::new();
    for index in 1..=10 {
        let value = unit * u64::from(depth) + index;
        let line = LogLine {
            time_ms: 500 * index,
            value,
            maximum: None,
            direction: Direction::Read,
            block_bytes: 0,
            offset_bytes: None,
        };
        writeln!(text, "{line}").unwrap();
    }
    text
}

#[test]
fn every_graph_is_drawn() {
    let Some(python) = python() else { return };
    let (dir, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    measure(dir.path());
    for (index, graph) in [
        "-l -d 1 4 -n 1",
        "-N -d 4 -n 1 2",
        "-L -d 1 4 -n 1 2 -t iops",
        "-H -d 4 -n 2",
        "-l -d 1 4 -n 1 --show-cpu --group-bars",
        "-g -d 1 4 -n 1 2 -t bw iops lat",
        "-g -d 4 -n 1 -t slat clat",
    ]
    .into_iter()
    .enumerate()
    {
        draw(&python, dir.path(), cache.path(), graph, index);
    }
}
