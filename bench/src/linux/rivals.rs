//! The same work done by other tools: a rate that differs is wrong in one of them.
//!
//! Each tool has its file here and a line in [`measure`].

mod dd;
mod fio;
mod flashmark;
mod ioping;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::linux::failure::Failure;
use crate::linux::media::{self, MemoryDevice};
use crate::linux::program;
use crate::linux::report::{Cell, Promise, Report, Table};
use crate::linux::rounds::{Rounds, Variant};

/// One piece of work, on a file or device that is there and full. Always with direct I/O, one operation after the other.
struct Job {
    name: &'static str,
    path: PathBuf,
    write: bool,
    random: bool,
    block_bytes: u64,
    /// On a medium so fast that a tool's own work between its two looks at the clock shows.
    fast: bool,
    /// The size of the file or device.
    file_bytes: u64,
    /// To move; where it is more than all of it, from its start again.
    bytes: u64,
}

/// What a tool says it did.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    /// Bytes a second, its own work between the operations included; NaN where the tool does not tell it.
    rate: f64,
    /// The mean latency in nanoseconds; NaN where the tool does not tell it.
    latency_ns: f64,
}

/// A tool that does such work.
trait Rival {
    /// The program.
    fn program(&self) -> &'static str;

    /// The Debian package that it is in.
    fn package(&self) -> &'static str;

    /// Whether it can do the work.
    fn can(&self, job: &Job) -> bool;

    /// How it is told to.
    fn command(&self, job: &Job) -> Command;

    /// What it found; `None` if its output does not say.
    fn figures(&self, job: &Job, output: &Output) -> Option<Figures>;

    /// Whether nothing but the same work is in its figure, so that it must be flashmark's too.
    fn same_work(&self, job: &Job) -> bool;
}

/// "Within a few percent."
const LIMITS: std::ops::RangeInclusive<f64> = 0.95..=1.05;

const DEVICE_BYTES: u64 = 64 << 20;
const FILE_BYTES: u64 = 128 << 20;

/// Compares on a block device in memory, which is quiet, and on a file in `dir`, which is as quiet as the disk there.
///
/// # Errors
/// [`Failure::Missing`] if any of the tools is not installed.
pub fn measure(flashmark: &Path, dir: &Path, rounds: u32) -> Result<Report, Failure> {
    let rivals: [&dyn Rival; 3] = [&fio::Fio, &dd::Dd, &ioping::Ioping];
    for rival in rivals {
        program::require(rival.program(), rival.package())?;
    }
    let flashmark = flashmark::Flashmark { path: flashmark.to_owned() };
    let device = MemoryDevice::filled(DEVICE_BYTES)?;
    let place = media::directory(dir)?;
    let file = place.path().join("file");
    media::filled_file(&file, FILE_BYTES)?;

    let mut promises = Vec::new();
    let on_device = jobs(device.path(), true, DEVICE_BYTES, 16 * DEVICE_BYTES, DEVICE_BYTES);
    let quiet = compare(&flashmark, &rivals, "memory", &on_device, rounds, &mut promises)?;
    let on_file = jobs(&file, false, FILE_BYTES, 4 * FILE_BYTES, 32 << 20);
    let real = compare(&flashmark, &rivals, "disk", &on_file, rounds, &mut promises)?;
    Ok(Report { name: "rivals", machine: String::new(), tables: vec![quiet, real], promises, skipped: Vec::new() })
}

/// Reads come first: writing puts zeros there, which zram keeps in another way.
fn jobs(path: &Path, fast: bool, file_bytes: u64, sequential_bytes: u64, random_bytes: u64) -> [Job; 4] {
    let job = |name, write, random| Job {
        name,
        path: path.to_owned(),
        write,
        random,
        block_bytes: if random { 4 << 10 } else { 1 << 20 },
        fast,
        file_bytes,
        bytes: if random { random_bytes } else { sequential_bytes },
    };
    [
        job("sequential 1 MiB read", false, false),
        job("random 4 KiB read", false, true),
        job("sequential 1 MiB write", true, false),
        job("random 4 KiB write", true, true),
    ]
}

fn compare(
    flashmark: &dyn Rival,
    rivals: &[&dyn Rival],
    medium: &str,
    jobs: &[Job],
    rounds: u32,
    promises: &mut Vec<Promise>,
) -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for job in jobs {
        let able = rivals.iter().copied().filter(|rival| rival.can(job));
        let tools: Vec<&dyn Rival> = std::iter::once(flashmark).chain(able).collect();
        let (rates, latencies) = in_turn(&tools, job, rounds)?;
        for (nth, tool) in tools.iter().enumerate() {
            let (rate, latency) = (rates.of(nth).median, latencies.of(nth).median);
            // Latency is what a tool's own work between two operations does not touch; dd does not know it.
            let (of, headline) = if job.random { ("latency", &latencies) } else { ("rate", &rates) };
            let ratio = headline.pairs(0, nth, |ours, theirs| ours / theirs);
            let is_ours = nth == 0;
            let is_theirs = |cell| if is_ours { Cell::None } else { cell };
            rows.push(vec![
                if is_ours { job.name.into() } else { "".into() },
                tool.program().into(),
                number(rate / 1e6, 1),
                number(latency / 1e3, 2),
                is_theirs(of.into()),
                is_theirs(number(ratio.median, 3)),
                is_theirs(number(ratio.low, 3)),
                is_theirs(number(ratio.high, 3)),
            ]);
            if !is_ours && tool.same_work(job) {
                promises.push(Promise {
                    what: format!("{medium}: {} {of}, flashmark / {}", job.name, tool.program()),
                    found: ratio,
                    limits: LIMITS,
                    unit: "times",
                });
            }
        }
    }
    Ok(Table {
        title: format!("{medium}: direct I/O, {rounds} rounds; medians"),
        columns: vec!["work", "tool", "MB/s", "mean latency µs", "ratio of", "flashmark / tool", "25 %", "75 %"],
        rows,
        note: "Writes are of zeros, but for ioping's. MB/s holds a tool's work between two operations, latency does not.",
    })
}

/// Rates and latencies of all tools.
fn in_turn(tools: &[&dyn Rival], job: &Job, rounds: u32) -> Result<(Rounds, Rounds), Failure> {
    let latencies: Vec<_> = tools.iter().map(|_| RefCell::new(Vec::new())).collect();
    let mut variants: Vec<Variant<'_>> = Vec::new();
    for (tool, latencies) in tools.iter().zip(&latencies) {
        variants.push(Box::new(|| {
            let figures = one(*tool, job)?;
            latencies.borrow_mut().push(figures.latency_ns);
            Ok(figures.rate)
        }));
    }
    let rates = Rounds::run(rounds, &mut variants)?;
    drop(variants);
    // The first round is a warm-up.
    let latencies = latencies.into_iter().map(|values| values.into_inner().split_off(1)).collect();
    Ok((rates, Rounds::of_values(latencies)))
}

fn number(value: f64, decimals: usize) -> Cell {
    if value.is_finite() { Cell::Number(value, decimals) } else { Cell::None }
}

fn one(tool: &dyn Rival, job: &Job) -> Result<Figures, Failure> {
    let output = program::run(&mut tool.command(job))?;
    tool.figures(job, &output).ok_or_else(|| Failure::Output {
        program: tool.program(),
        wanted: "figures that are understood here",
        output: format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
    })
}
