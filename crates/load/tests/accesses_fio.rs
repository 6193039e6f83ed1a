//! The same jobs by fio itself: its log of I/O (`write_iolog`) of a job that moves no data, against our sequence.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use flashmark_fio::{JobFile, JobSet, Rules, ThisMachine};
use flashmark_load::accesses::{Access, Accesses, Direction, file_parts};

/// Whether fio is here. If not, says so, and panics if `FLASHMARK_REQUIRE_ALL=1`.
fn fio_is_here() -> bool {
    if Command::new("fio").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return true;
    }
    assert!(
        std::env::var_os("FLASHMARK_REQUIRE_ALL").is_none_or(|value| value != "1"),
        "FLASHMARK_REQUIRE_ALL=1, but missing: fio"
    );
    let _ = std::io::Write::write_all(&mut std::io::stderr(), b"SKIPPED: fio\n");
    false
}

/// Direction, file by its number, offset and size.
type Line = (Direction, u32, u64, u32);

/// What fio does.
fn by_fio(options: &str, directory: &Path) -> Vec<Line> {
    let log = directory.join("log");
    let _ = std::fs::remove_file(&log);
    let output = Command::new("fio")
        .current_dir(directory)
        .args(["--name=job", "--ioengine=null"])
        .arg(format!("--write_iolog={}", log.display()))
        .args(options.split(' ').map(|option| format!("--{option}")))
        .output()
        .unwrap();
    assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
    let mut lines = Vec::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        // Version 3 has a time in front: TIME FILE ACTION OFFSET LENGTH.
        let words: Vec<&str> = line.split(' ').collect();
        let [words @ .., offset, bytes] = words.as_slice() else { continue };
        let [.., file, action] = words else { continue };
        let direction = match *action {
            "read" => Direction::Read,
            "write" => Direction::Write,
            "trim" => Direction::Trim,
            _ => continue,
        };
        let number = file.rsplit('.').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        lines.push((direction, number, offset.parse().unwrap(), bytes.parse().unwrap()));
    }
    assert!(!lines.is_empty(), "{options}: fio did nothing");
    lines
}

/// Hands each case what we and fio do. fio sleeps more than it works, so that many run at a time.
fn compare(cases: &[&str], check: impl Fn(&str, Vec<Line>, Vec<Line>) + Sync) {
    if !fio_is_here() {
        return;
    }
    for some in cases.chunks(8) {
        std::thread::scope(|scope| {
            for options in some {
                scope.spawn(|| {
                    let directory = tempfile::tempdir().unwrap();
                    check(options, by_us(options), by_fio(options, directory.path()));
                });
            }
        });
    }
}

/// What we do.
fn by_us(options: &str) -> Vec<Line> {
    let text = format!("[job]\nioengine=null\n{}\n", options.replace(' ', "\n"));
    let file = JobFile::parse("test.fio", &text, &ThisMachine).unwrap();
    let job = JobSet::from_file(&file, &ThisMachine, Rules::default()).unwrap().jobs.remove(0);
    let found = vec![0; job.options.files.nrfiles as usize];
    let parts = file_parts(&job.options.access, &job.options.files, &found, 0, 1).unwrap();
    let mut accesses = Accesses::new(&job.options.access, &job.options.files.file_service_type, &parts, 1).unwrap();
    let mut lines = Vec::new();
    for _ in 0..job.options.run.loops {
        while let Some(Access { direction, file, offset, bytes }) = accesses.next_access() {
            lines.push((direction, file, offset, bytes));
        }
        accesses.restart();
    }
    lines
}

#[test]
fn what_is_not_random_is_the_same_in_fio() {
    let cases = [
        "rw=read bs=4k size=64k",
        "rw=write bs=4k size=64k",
        "rw=trim bs=4k size=64k",
        "rw=read bs=4k size=10000",
        "rw=read bs=3k size=64k",
        "rw=read bs=4k size=40k number_ios=3",
        "rw=read bs=4k size=40k io_size=10k",
        "rw=read bs=4k size=12k io_size=48k",
        "rw=write bs=4k size=12k io_size=48k",
        "rw=read bs=4k size=12k io_size=30k",
        "rw=read bs=4k size=12k io_size=26k",
        "rw=read bs=4k size=12k loops=3",
        "rw=read:4k bs=4k size=32k",
        "rw=write:12k bs=4k size=64k",
        "rw=read:8k bs=8k size=36k",
        "rw=read:-8k bs=4k size=32k",
        "rw=read:-12k bs=4k size=64k",
        "rw=read bs=4k offset=8k size=16k",
        "rw=read:-8k bs=4k offset=8k size=16k",
        "rw=read bs=4k,8k,16k size=64k",
        "rw=write bs=4k,8k,16k size=64k",
        "rw=trim bs=4k,8k,16k size=64k",
        "rw=trimwrite bs=4k size=32k",
        "rw=trimwrite bs=4k size=40k number_ios=3",
        "rw=read bs=4k nrfiles=3 size=50k",
        "rw=read bs=4k nrfiles=3 size=56k",
        "rw=read bs=4k nrfiles=3 size=50k file_service_type=roundrobin:2",
        "rw=read bs=4k nrfiles=3 size=50k file_service_type=sequential",
        "rw=write bs=4k nrfiles=3 filesize=16k size=20k",
        "rw=read bs=4k nrfiles=2 size=24k io_size=48k",
        "rw=read bs=4k nrfiles=3 filesize=32k",
        "rw=read bs=4k nrfiles=3 filesize=30k ioengine=psync",
        "rw=read bs=4k size=32k filesize=64k io_size=96k",
        "rw=randread bs=4k size=64k percentage_random=0",
        "rw=randread bs=64k,4k bs_is_seq_rand=1 size=256k percentage_random=0",
    ];
    compare(&cases, |options, ours, theirs| assert_eq!(ours, theirs, "{options}"));
}

/// How often each place is met, whatever the order.
fn places(lines: &[Line]) -> BTreeMap<Line, u32> {
    let mut places = BTreeMap::new();
    for line in lines {
        *places.entry(*line).or_default() += 1;
    }
    places
}

#[test]
fn random_jobs_meet_the_same_places_as_in_fio() {
    let cases = [
        "rw=randread bs=4k size=1m",
        "rw=randwrite bs=4k size=100000",
        "rw=randtrim bs=4k size=1m",
        "rw=randread bs=4k size=1m offset=64k",
        "rw=randread bs=4k size=64k io_size=192k",
        "rw=randread bs=4k size=64k loops=3 randrepeat=0",
        "rw=randtrimwrite bs=4k size=64k",
        "rw=randread bs=4k nrfiles=3 size=96k",
        "rw=randread bs=4k nrfiles=3 size=90k file_service_type=random:2",
        "rw=randread bs=4k size=256k random_generator=lfsr norandommap",
    ];
    compare(&cases, |options, ours, theirs| assert_eq!(places(&ours), places(&theirs), "{options}"));
}

#[test]
fn random_jobs_without_a_map_do_as_much_as_fio() {
    let cases = [
        "rw=randrw bs=4k size=1m",
        "rw=randrw bs=4k size=1m norandommap",
        "rw=randwrite bs=4k size=64k io_size=192k norandommap",
        "rw=randread bs=4k size=64k io_size=192k norandommap",
        "rw=randread:4 bs=4k size=1m",
        "rw=randread bs=4k size=1m random_distribution=zipf:1.2 io_size=4m",
        "rw=randread bs=4k size=1m number_ios=10 io_size=1g",
        "rw=randread bs=4k nrfiles=3 size=48k file_service_type=zipf:1.2",
    ];
    let bytes = |lines: &[Line]| (lines.len(), lines.iter().map(|line| u64::from(line.3)).sum::<u64>());
    compare(&cases, |options, ours, theirs| assert_eq!(bytes(&ours), bytes(&theirs), "{options}"));
}
