//! Memory: time series are written while a run goes on, so that what it takes does not grow with its time.
//!
//! An hour need not pass to see it. What a run could keep is either something of every line of a log, or something of every
//! access. Both are tried, ten times as many of them in the second run: lines, by windows of a millisecond, which makes as
//! many lines in 3.6 s as windows of a second make in an hour; and accesses that are lines each, without windows.

use std::path::Path;

use super::Bench;
use super::section::{Section, number};
use super::tool::{Tool, Words, words};
use crate::linux::failure::Failure;
use crate::linux::interrupt;
use crate::linux::media;
use crate::linux::report::Table;
use crate::linux::rounds::Spread;

/// For the whole program, with an hour of series and with ten.
const LIMIT_MIB: f64 = 16.0;
/// Of ten times as long a run over the shorter one: what the allocator may do differently.
const LIMIT_GROWTH_MIB: f64 = 1.0;

/// As many windows of a millisecond as there are seconds in an hour.
const HOUR: &str = "--runtime=3600ms";
const TEN_HOURS: &str = "--runtime=36s";
/// Reads of 4 KiB.
const SHORT: &str = "--size=409600000";
const LONG: &str = "--size=4096000000";

/// Measures both tools, each run once: the peak hardly differs between runs.
///
/// # Errors
/// [`Failure`].
pub fn measure(bench: &Bench<'_>) -> Result<Section, Failure> {
    let windows = |runtime| words(["--size=1g", "--time_based", "--log_avg_msec=1", runtime]);
    let cases: [(&str, [(&str, Words); 2]); 2] = [
        ("windows", [("3600 windows: an hour of seconds", windows(HOUR)), ("36 000 windows", windows(TEN_HOURS))]),
        ("each access a line", [("100 000 accesses", words([SHORT])), ("1 000 000 accesses", words([LONG]))]),
    ];
    let mut section = Section::default();
    let mut rows = Vec::new();
    for (name, [short, long]) in &cases {
        let ours = [short, long].map(|(_, job)| peak(&bench.flashmark, bench.dir, job));
        let theirs = [short, long].map(|(_, job)| peak(&bench.fio, bench.dir, job));
        let [(short_mib, _), (long_mib, _)] =
            [&ours[0], &ours[1]].map(|run| run.as_ref().map_or((f64::NAN, 0), |run| *run));
        for ((text, _), (ours, theirs)) in [short, long].into_iter().zip(ours.into_iter().zip(theirs)) {
            let ((ours, our_lines), (theirs, their_lines)) = (ours?, theirs?);
            rows.push(vec![
                (*name).into(),
                (*text).into(),
                number(our_lines as f64, 0),
                number(their_lines as f64, 0),
                number(ours, 1),
                number(theirs, 1),
            ]);
        }
        let once = |value| Spread::of(vec![value]);
        section.at_most(format!("series: peak memory, {}", long.0), once(long_mib), LIMIT_MIB, "MiB");
        section.at_most(
            format!("series: growth of memory with ten times as long a run, {name}"),
            once(long_mib - short_mib),
            LIMIT_GROWTH_MIB,
            "MiB",
        );
    }
    section.tables.push(Table {
        title: "series: peak resident memory with logs of bandwidth, IOPS and latency; engine null".into(),
        columns: vec!["logs", "run", "flashmark: lines", "fio: lines", "flashmark: MiB", "fio: MiB"],
        rows,
        note: "ru_maxrss of wait4. A window of a millisecond makes a line as one of a second does; lines: of all logs.",
    });
    Ok(section)
}

/// The peak in MiB, and how many lines there are in the logs.
fn peak(tool: &Tool, dir: &Path, job: &Words) -> Result<(f64, usize), Failure> {
    interrupt::check()?;
    let place = media::directory(dir)?;
    let mut all = words(["--ioengine=null", "--rw=read", "--bs=4k"]);
    all.extend(job.iter().cloned());
    all.extend(["bw", "iops", "lat"].map(|kind| format!("--write_{kind}_log={}", place.path().join("log").display())));
    let figures = tool.run(&all, None)?;
    let lines = lines(place.path()).map_err(Failure::io("counting lines of logs"))?;
    Ok((figures.peak_resident_bytes as f64 / f64::from(1 << 20), lines))
}

/// Lines of all files.
fn lines(dir: &Path) -> std::io::Result<usize> {
    use std::io::BufRead as _;
    let mut count = 0;
    for entry in std::fs::read_dir(dir)? {
        let mut file = std::io::BufReader::new(std::fs::File::open(entry?.path())?);
        loop {
            let buffer = file.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            count += buffer.iter().filter(|byte| **byte == b'\n').count();
            let seen = buffer.len();
            file.consume(seen);
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_files_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "1\n2\n").unwrap();
        std::fs::write(dir.path().join("b"), "x\n".repeat(50_000)).unwrap();
        assert_eq!(lines(dir.path()).unwrap(), 50_002);
    }
}
