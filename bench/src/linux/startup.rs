//! The time until the first I/O.
//!
//! Two figures: the time from `execve` to the workload's first `pread64` or `pwrite64` of the target, as strace sees it
//! (which stops the process at these calls alone, but at each of them), and the time of a whole run of one 4 KiB read,
//! which no tracer disturbs and which the first I/O must come before. Both are upper bounds; the smaller one counts.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::linux::failure::Failure;
use crate::linux::media::{self, LoopDevice};
use crate::linux::program;
use crate::linux::report::{Cell, Promise, Report, Table};
use crate::linux::rounds::{Rounds, Variant};

const LIMIT_MS: f64 = 20.0;

/// Measures on a directory and a file in `dir`, and a loop device.
///
/// # Errors
/// [`Failure`].
pub fn measure(flashmark: &Path, dir: &Path, rounds: u32) -> Result<Report, Failure> {
    program::require("strace", "strace")?;
    let place = media::directory(dir)?;
    let file = place.path().join("file");
    media::filled_file(&file, 1 << 20)?;
    let in_memory = media::directory(Path::new(media::IN_MEMORY))?;
    let backing = in_memory.path().join("disk");
    media::filled_file(&backing, 16 << 20)?;
    let device = LoopDevice::on(&backing)?;
    let trace = in_memory.path().join("trace");

    let targets = [("directory", place.path()), ("file", &file), ("loop device", device.path())];
    let mut variants: Vec<Variant<'_>> = Vec::new();
    for (_, target) in targets {
        variants.push(Box::new(|| whole_run_ms(flashmark, target)));
        variants.push(Box::new(|| first_io_ms(flashmark, target, &trace)));
    }
    variants.push(Box::new(|| time_ms(&mut Command::new("true"))));
    let measured = Rounds::run(rounds, &mut variants)?;

    let mut rows = Vec::new();
    let mut promises = Vec::new();
    for (nth, (name, _)) in targets.into_iter().enumerate() {
        let (whole, first) = (measured.of(2 * nth), measured.of(2 * nth + 1));
        rows.push(vec![
            name.into(),
            Cell::Number(first.median, 2),
            Cell::Number(first.high, 2),
            Cell::Number(whole.median, 2),
            Cell::Number(whole.high, 2),
        ]);
        promises.push(Promise {
            what: format!("start to first I/O, {name}"),
            // Both are upper bounds: the tracer costs as much as it sees calls.
            found: if first.median < whole.median { first } else { whole },
            limits: f64::NEG_INFINITY..=LIMIT_MS,
            unit: "ms",
        });
    }
    let floor = measured.of(variants.len() - 1);
    rows.push(vec![
        "(the program `true`)".into(),
        Cell::None,
        Cell::None,
        Cell::Number(floor.median, 2),
        Cell::Number(floor.high, 2),
    ]);
    let table = Table {
        title: format!(
            "flashmark run TARGET --op read --block 4k --size 4k --direct buffered --quiet, {rounds} rounds"
        ),
        columns: vec!["target", "first I/O ms", "75 %", "whole run ms", "75 %"],
        rows,
        note: "first I/O: from execve to the workload's first read or write of the target, under strace; in a directory \
               that is the writing of the test file. The program itself is in the page cache.",
    };
    Ok(Report { name: "startup", machine: String::new(), tables: vec![table], promises, skipped: Vec::new() })
}

const WORKLOAD: [&str; 10] =
    ["--op", "read", "--block", "4k", "--size", "4k", "--direct", "buffered", "--quiet", "--format=csv"];

fn whole_run_ms(flashmark: &Path, target: &Path) -> Result<f64, Failure> {
    time_ms(Command::new(flashmark).arg("run").arg(target).args(WORKLOAD))
}

fn time_ms(command: &mut Command) -> Result<f64, Failure> {
    let start = Instant::now();
    program::run(command)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn first_io_ms(flashmark: &Path, target: &Path, trace: &Path) -> Result<f64, Failure> {
    let options = ["-f", "--seccomp-bpf", "-ttt", "-y", "-e", "trace=execve,pread64,pwrite64", "-o"];
    let mut command = Command::new("strace");
    command.args(options).arg(trace).arg(flashmark).arg("run").arg(target).args(WORKLOAD);
    program::run(&mut command)?;
    let text = std::fs::read_to_string(trace).map_err(Failure::io("reading strace's output"))?;
    first_io_s(&text, target.as_os_str()).map(|s| s * 1e3).ok_or(Failure::Output {
        program: "strace",
        wanted: "read or write of the target",
        output: text,
    })
}

/// Seconds from the first line to the first I/O of the workload on a file whose path begins with `target`: the first
/// write (a test file is laid out), or where there is none the last read. The workload reads one block, and what
/// flashmark reads of a target before, looking for file systems and tables, does not count.
fn first_io_s(trace: &str, target: &OsStr) -> Option<f64> {
    // strace -y prints the path after the number of the file: pread64(3</tmp/file>, …
    let opened = format!("<{}", target.to_string_lossy());
    let seconds = |line: &str| line.split_whitespace().find(|word| word.contains('.'))?.parse::<f64>().ok();
    let start = seconds(trace.lines().next().filter(|line| line.contains("execve("))?)?;
    let calls = |name: &str| {
        let of_target = |line: &&str| {
            let arguments = line.split_once(name).map(|(_, arguments)| arguments);
            arguments.and_then(|arguments| arguments.split(',').next()).is_some_and(|file| file.contains(&opened))
        };
        trace.lines().filter(of_target).collect::<Vec<_>>()
    };
    let io = calls(" pwrite64(").first().copied().or_else(|| calls(" pread64(").last().copied())?;
    Some(seconds(io)? - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
4321 1700000000.100000 execve(\"/x/flashmark\", [\"/x/flashmark\", \"run\"], 0x7ffe /* 9 vars */) = 0
4321 1700000000.101000 pread64(3</usr/lib/libc.so.6>, \"\\6\", 784, 64) = 784
4321 1700000000.101500 pread64(3</dev/loop0>, \"\"..., 512, 1024) = 512
4321 1700000000.102000 pread64(3</dev/loop0>, \"\"..., 4096, 0) = 4096
4321 1700000000.103500 pwrite64(5</tmp/d/flashmark-test-0.tmp>, \"\"..., 4096, 0) = 4096
4321 1700000000.104000 pread64(5</tmp/d/flashmark-test-0.tmp>, \"\"..., 4096, 0) = 4096
";

    #[test]
    fn the_first_io_of_the_target_is_found() {
        let ms = |target: &str| first_io_s(TRACE, OsStr::new(target)).map(|s| (s * 1e4).round() / 10.0);
        assert_eq!(ms("/tmp/d"), Some(3.5), "the layout of the test file");
        assert_eq!(ms("/dev/loop0"), Some(2.0), "not the search for file systems");
        assert_eq!(ms("/tmp/e"), None, "reading a library is not it");
        assert_eq!(first_io_s("", OsStr::new("/")), None);
    }
}
