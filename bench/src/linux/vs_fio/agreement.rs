//! A device whose speed the kernel sets, 1000 reads a second: what both tools say of it must be the same.

use std::path::Path;

use super::Bench;
use super::figures::Figures;
use super::section::{Section, number};
use super::throttle::Throttle;
use super::tool::words;
use super::turns::Turns;
use crate::linux::failure::Failure;
use crate::linux::media::{self, LoopDevice};
use crate::linux::report::{Cell, Table};

const DEVICE_BYTES: u64 = 64 << 20;
const READS_A_SECOND: u32 = 1000;
const LIMITS: std::ops::RangeInclusive<f64> = 0.98..=1.02;

/// A figure, its name, and in what it is shown.
type Figure = (&'static str, fn(&Figures) -> f64, f64, usize);

const FIGURES: [Figure; 4] = [
    ("IOPS", |figures| figures.iops, 1.0, 1),
    ("bandwidth, KiB/s", |figures| figures.bytes_per_s, 1024.0, 1),
    ("mean latency, µs", |figures| figures.mean_ns, 1e3, 1),
    ("99 % latency, µs", |figures| figures.p99_ns, 1e3, 1),
];

/// Compares one read at a time, and eight.
///
/// # Errors
/// [`Failure`]; without the rights and the kernel's means it is left out.
pub fn measure(bench: &Bench<'_>) -> Result<Section, Failure> {
    const WHAT: &str = "agreement: a device of 1000 reads a second";
    if !rustix::process::geteuid().is_root() {
        return Ok(Section::skip(WHAT, "making a loop device and a control group needs root"));
    }
    let place = media::directory(Path::new(media::IN_MEMORY))?;
    let image = place.path().join("image");
    media::filled_file(&image, DEVICE_BYTES)?;
    let made = LoopDevice::on(&image)
        .and_then(|device| Throttle::reads_a_second(device.path(), READS_A_SECOND).map(|throttle| (device, throttle)));
    let (device, throttle) = match made {
        Ok(made) => made,
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        Err(failure) => {
            return Ok(Section::skip(WHAT, format!("it needs the hierarchy blkio of control groups: {failure}")));
        }
    };
    let mut section = Section::default();
    let mut rows = Vec::new();
    for (name, engine) in [
        ("queue depth 1, psync", ["--ioengine=psync", "--iodepth=1"]),
        ("queue depth 8, libaio", ["--ioengine=libaio", "--iodepth=8"]),
        ("queue depth 8, io_uring", ["--ioengine=io_uring", "--iodepth=8"]),
    ] {
        let mut job = words(["--rw=randread", "--bs=4k", "--direct=1", "--time_based", "--runtime=10"]);
        job.extend(words(engine));
        job.push(format!("--filename={}", device.path().display()));
        let turns = Turns::take(bench.rounds, &[(&bench.flashmark, &job), (&bench.fio, &job)], Some(throttle.group()))?;
        for (nth, (what, figure, unit, decimals)) in FIGURES.into_iter().enumerate() {
            let ratio = turns.ratio(0, 1, figure);
            rows.push(vec![
                if nth == 0 { name.into() } else { Cell::from("") },
                what.into(),
                number(turns.of(0, figure).median / unit, decimals),
                number(turns.of(1, figure).median / unit, decimals),
                number(ratio.median, 4),
                number(ratio.low, 4),
                number(ratio.high, 4),
            ]);
            let what = what.split(',').next().unwrap_or_default();
            section.promise(format!("agreement: {name}: {what} over fio's"), ratio, LIMITS, "times");
        }
    }
    section.tables.push(Table {
        title: format!(
            "agreement: direct 4 KiB random reads of a loop device held to {READS_A_SECOND} a second, {} rounds of 10 s; medians",
            bench.rounds
        ),
        columns: vec!["work", "figure", "flashmark", "fio", "flashmark / fio", "25 %", "75 %"],
        rows,
        note: "Held by blkio.throttle of version 1 of control groups. Mean latency from the beginning of an access, the \
               percentile from its submission, as fio's JSON has them.",
    });
    Ok(section)
}
