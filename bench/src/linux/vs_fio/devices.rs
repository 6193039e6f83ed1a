//! 4 KiB random direct reads of block devices in memory: at least fio's rate, with less CPU time.

use std::path::{Path, PathBuf};

use super::Bench;
use super::figures::Figures;
use super::section::{Section, number, spread};
use super::tool::words;
use super::turns::Turns;
use crate::linux::failure::Failure;
use crate::linux::media::{self, LoopDevice, MemoryDevice};
use crate::linux::report::{Cell, Table};

const DEVICE_BYTES: u64 = 64 << 20;

const CASES: [(&str, &[&str]); 3] = [
    ("psync", &["--ioengine=psync"]),
    ("libaio, queue depth 32", &["--ioengine=libaio", "--iodepth=32"]),
    ("io_uring, queue depth 32", &["--ioengine=io_uring", "--iodepth=32"]),
];

/// Compares on a loop device over a file in memory, and on zram.
///
/// # Errors
/// [`Failure`]; a device that cannot be made is left out.
pub fn measure(bench: &Bench<'_>) -> Result<Section, Failure> {
    if !rustix::process::geteuid().is_root() {
        return Ok(Section::skip("devices: direct reads of loop and zram devices", "making devices needs root"));
    }
    let mut section = Section::default();
    let mut rows = Vec::new();
    let place = media::directory(Path::new(media::IN_MEMORY))?;
    let image = place.path().join("image");
    media::filled_file(&image, DEVICE_BYTES)?;
    match LoopDevice::on(&image) {
        Ok(device) => compare(bench, "loop over tmpfs", device.path().to_owned(), &mut section, &mut rows)?,
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        Err(failure) => section.leave_out("devices: a loop device over tmpfs", failure.to_string()),
    }
    match MemoryDevice::filled(DEVICE_BYTES) {
        Ok(device) => compare(bench, "zram", device.path().to_owned(), &mut section, &mut rows)?,
        Err(failure) => section.leave_out("devices: zram", failure.to_string()),
    }
    section.tables.push(Table {
        title: format!("devices: direct 4 KiB random reads, job on one CPU, {} rounds; medians", bench.rounds),
        columns: vec![
            "device", "engine", "tool", "IOPS", "job: CPU ns", "program: CPU ns", "IOPS over fio's", "25 %", "75 %",
            "job's CPU over fio's", "25 %.", "75 %.",
        ],
        rows,
        note: "CPU ns: for each read, of the job's thread as the tool tells it, and of the whole program as the kernel does. \
               The loop device's own work is done by the kernel's threads, and in neither.",
    });
    Ok(section)
}

fn compare(
    bench: &Bench<'_>,
    device: &str,
    path: PathBuf,
    section: &mut Section,
    rows: &mut Vec<Vec<Cell>>,
) -> Result<(), Failure> {
    for (engine, engine_words) in CASES {
        let mut job = words(["--rw=randread", "--bs=4k", "--direct=1", "--norandommap", "--time_based", "--runtime=2"]);
        job.extend(engine_words.iter().map(|word| (*word).to_owned()));
        job.push(format!("--filename={}", path.display()));
        job.push(bench.on_one_cpu());
        let turns = Turns::take(bench.rounds, &[(&bench.flashmark, &job), (&bench.fio, &job)], None)?;
        let iops = turns.ratio(0, 1, |figures| figures.iops);
        let cpu = turns.ratio(0, 1, Figures::job_cpu_ns_each);
        for (nth, tool) in ["flashmark", "fio"].into_iter().enumerate() {
            let is_ours = nth == 0;
            let first = |text: &str| if is_ours { text.into() } else { Cell::from("") };
            let mut row = vec![
                first(device),
                first(engine),
                tool.into(),
                number(turns.of(nth, |figures| figures.iops).median, 0),
                number(turns.of(nth, Figures::job_cpu_ns_each).median, 0),
                number(turns.of(nth, Figures::program_cpu_ns_each).median, 0),
            ];
            let ratios = [spread(iops, 3), spread(cpu, 3)].concat();
            row.extend(if is_ours { ratios } else { vec![Cell::None; ratios.len()] });
            rows.push(row);
        }
        section.at_least(format!("devices: {device}, {engine}: IOPS over fio's"), iops, 1.0);
        section.at_most(format!("devices: {device}, {engine}: CPU time of a read over fio's"), cpu, 1.0, "times");
    }
    Ok(())
}
