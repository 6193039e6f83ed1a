//! 512 B random reads of a file that is in the page cache, on one CPU: a tool's own work is a large part of the time.

use std::path::Path;

use super::Bench;
use super::bare::{Bare, VARIABLE};
use super::figures::Figures;
use super::section::{Section, number};
use super::tool::{Words, words};
use crate::linux::failure::Failure;
use crate::linux::media;
use crate::linux::report::{Cell, Table};
use crate::linux::rounds::{Rounds, Spread, Variant, in_turn};

/// A file that is read, and whether its figures are judged.
struct File {
    name: &'static str,
    bytes: u64,
    is_judged: bool,
    /// Whether access times are kept, for a tool that does not ask for the contrary.
    has_access_times: bool,
}

const FILES: [File; 3] = [
    // It fits the second-level cache of most CPUs, so that the time of a read is the kernel's work and the tool's.
    File { name: "512 KiB", bytes: 512 << 10, is_judged: true, has_access_times: true },
    // What is left when nobody keeps access times.
    File { name: "512 KiB, chattr +A", bytes: 512 << 10, is_judged: false, has_access_times: false },
    // Twice the third-level cache of many: most of the time goes into waiting for memory, which no tool can do faster.
    File { name: "64 MiB", bytes: 64 << 20, is_judged: false, has_access_times: true },
];
const SECONDS: u32 = 2;

/// IOPS over those of `t/io_uring`, which keeps no books at all.
const LIMIT_BARE: f64 = 0.9;

struct Case {
    name: &'static str,
    words: &'static [&'static str],
    limit: f64,
    /// Whether `t/io_uring` does the same.
    bare: bool,
}

const CASES: [Case; 3] = [
    Case { name: "psync", words: &["--ioengine=psync"], limit: 1.3, bare: false },
    Case { name: "io_uring, queue depth 1", words: &["--ioengine=io_uring"], limit: 1.3, bare: false },
    Case {
        name: "io_uring, queue depth 32, batches",
        words: &[
            "--ioengine=io_uring",
            "--iodepth=32",
            "--iodepth_batch=16",
            "--iodepth_batch_complete_min=16",
            "--fixedbufs=1",
            "--registerfiles=1",
        ],
        limit: 1.5,
        bare: true,
    },
];

const ORDERS: [(&str, &[&str]); 2] = [("random", &["--norandommap"]), ("random, each block once", &[])];

/// The words of 512 B random reads of a file that stays in memory.
pub fn reads(file: &Path) -> Words {
    let mut all = words(["--rw=randread", "--bs=512", "--invalidate=0", "--pre_read=1", "--time_based"]);
    all.push(format!("--runtime={SECONDS}"));
    all.push(format!("--filename={}", file.display()));
    all
}

/// Compares engines and orders.
///
/// # Errors
/// [`Failure`].
pub fn measure(bench: &Bench<'_>) -> Result<Section, Failure> {
    let place = media::directory(bench.dir)?;
    let bare = Bare::find();
    let mut section = Section::default();
    if bare.is_none() {
        section.leave_out(
            "cached: io_uring over fio's bare loop",
            format!("{VARIABLE} names no t/io_uring (fio's sources: ./configure && make t/io_uring)"),
        );
    }
    let mut rows = Vec::new();
    for (nth, File { name: size, bytes, is_judged, has_access_times }) in FILES.iter().enumerate() {
        let file = place.path().join(format!("file.{nth}"));
        media::filled_file(&file, *bytes)?;
        if !has_access_times && !media::without_access_times(&file)? {
            section.leave_out(
                "cached: the same access times for all",
                "the file system cannot do without access times for one file (chattr +A)".to_owned(),
            );
            continue;
        }
        for case in &CASES {
            for (order, order_words) in ORDERS {
                let mut job = reads(&file);
                job.push(bench.on_one_cpu());
                job.extend(case.words.iter().chain(order_words).map(|word| (*word).to_owned()));
                // The bare loop keeps no map of what was read.
                let bare = bare.as_ref().filter(|_| case.bare && !order_words.is_empty());
                let found = compare(bench, &job, bare, &file)?;
                rows.push(row(size, case.name, order, &found));
                if !is_judged {
                    continue;
                }
                let name = format!("cached: {}, {order}", case.name);
                section.at_least(format!("{name}: IOPS over fio's"), found.over_fio, case.limit);
                if let Some(over_bare) = found.over_bare {
                    section.at_least(format!("{name}: IOPS over t/io_uring's"), over_bare, LIMIT_BARE);
                }
            }
        }
    }
    section.tables.push(Table {
        title: format!("cached: 512 B reads of a file in the page cache, one CPU, {} rounds; medians", bench.rounds),
        columns: vec![
            "file",
            "engine",
            "order",
            "flashmark ns",
            "fio ns",
            "t/io_uring ns",
            "IOPS over fio's",
            "25 %",
            "75 %",
            "over t/io_uring's",
            "flashmark CPU ns",
            "fio CPU ns",
        ],
        rows,
        note: "ns: a second over reads a second. CPU ns: of the job's thread, for each read. Batches: of 16 both \
               ways, with fixed buffers and registered files. The same options to both, and \
               the file is left in the cache (invalidate=0, pre_read=1). flashmark and t/io_uring open files with \
               O_NOATIME, and fio does not, which is a tenth of a read; with chattr +A nobody keeps access \
               times. The largest file is more than the CPU's caches hold. Both are shown, and not judged.",
    });
    Ok(section)
}

struct Found {
    iops: Rounds,
    cpu_ns: Rounds,
    over_fio: Spread,
    over_bare: Option<Spread>,
}

fn compare(bench: &Bench<'_>, job: &Words, bare: Option<&Bare>, file: &Path) -> Result<Found, Failure> {
    let both = |figures: Figures| (figures.iops, figures.job_cpu_ns_each());
    let mut variants: Vec<Variant<'_, (f64, f64)>> =
        vec![Box::new(|| bench.flashmark.run(job, None).map(both)), Box::new(|| bench.fio.run(job, None).map(both))];
    if let Some(bare) = bare {
        variants.push(Box::new(|| Ok((bare.iops(file, SECONDS)?, f64::NAN))));
    }
    let values = in_turn(bench.rounds, &mut variants)?;
    let pick = |which: fn(&(f64, f64)) -> f64| {
        Rounds::of_values(values.iter().map(|values| values.iter().map(which).collect()).collect())
    };
    let iops = pick(|(iops, _)| *iops);
    let over = |other| iops.pairs(0, other, |ours, theirs| ours / theirs);
    let (over_fio, over_bare) = (over(1), bare.map(|_| over(2)));
    Ok(Found { over_fio, over_bare, cpu_ns: pick(|(_, cpu_ns)| *cpu_ns), iops })
}

fn row(file: &str, name: &str, order: &str, found: &Found) -> Vec<Cell> {
    let ns = |of| number(1e9 / found.iops.of(of).median, 0);
    vec![
        file.into(),
        name.into(),
        order.into(),
        ns(0),
        ns(1),
        if found.over_bare.is_some() { ns(2) } else { Cell::None },
        number(found.over_fio.median, 2),
        number(found.over_fio.low, 2),
        number(found.over_fio.high, 2),
        found.over_bare.map_or(Cell::None, |over| number(over.median, 2)),
        number(found.cpu_ns.of(0).median, 0),
        number(found.cpu_ns.of(1).median, 0),
    ]
}
