//! What fio 3.33 printed, from what its own JSON says: the same lines, and the same numbers but for what is measured more
//! finely here, or told wrongly there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod output_results;
mod support;

use flashmark_fio::OutputFormat;
use flashmark_fio::output::{RenderOptions, before_run, render};
use flashmark_fio::results::Results;
use flashmark_fio::{JobFile, JobSet, Rules};
use support::Machine;

/// What a file recorded: the lines before the run, terse lines, JSON, and text.
struct Recorded {
    set: JobSet,
    results: Results,
    before: String,
    terse: String,
    json: String,
    text: String,
}

fn recorded(jobs: &str, output: &str, version: &str) -> Recorded {
    let machine = Machine::default();
    let file = JobFile::parse("recorded.fio", jobs, &machine).unwrap();
    let set = JobSet::from_file(&file, &machine, Rules::default()).unwrap();
    let (before, rest) = output.split_once(&format!("\n{version};fio-")).unwrap();
    let (terse, rest) = rest.split_once("{\n").unwrap();
    let (json, text) = rest.split_once("\n}\n").unwrap();
    let json = format!("{{\n{json}\n}}\n");
    let results = output_results::read_from(&serde_json::from_str(&json).unwrap(), &set);
    let before = before.lines().filter(|line| !line.contains("Laying out IO file")).map(|line| format!("{line}\n"));
    Recorded {
        set,
        results,
        before: before.collect(),
        terse: format!("{version};fio-{terse}"),
        json,
        text: text.to_owned(),
    }
}

fn all() -> [(u8, Recorded); 3] {
    [
        (3, recorded(include_str!("data/output/groups.fio"), include_str!("data/output/groups.txt"), "3")),
        (5, recorded(include_str!("data/output/unified.fio"), include_str!("data/output/unified.txt"), "5")),
        (4, recorded(include_str!("data/output/trims.fio"), include_str!("data/output/trims.txt"), "4")),
    ]
}

fn as_fio(terse_version: u8) -> RenderOptions {
    RenderOptions { version: "fio-3.33".into(), terse_version, ..RenderOptions::default() }
}

/// A line without its numbers and its padding, and the numbers.
fn taken_apart(line: &str) -> (String, Vec<f64>) {
    let (mut shape, mut numbers) = (String::new(), Vec::new());
    let mut rest = line.trim_end().trim_end_matches(',');
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        if first.is_ascii_digit() {
            // The digits behind the point belong to the shape: floats are floats, and as precise.
            let number = &rest[..length];
            let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            numbers.push(number.parse().unwrap_or(f64::NAN));
            shape += &format!("N{}", if decimals == 6 { "f".to_owned() } else { String::new() });
            rest = &rest[length..];
        } else {
            if first != ' ' || !shape.ends_with(' ') {
                shape.push(first);
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    (shape, numbers)
}

#[track_caller]
fn assert_alike(ours: &str, fios: &str) {
    let (shape, numbers) = taken_apart(ours);
    let (their_shape, their_numbers) = taken_apart(fios);
    assert_eq!(shape, their_shape, "\nours: {ours}\nfio:  {fios}");
    for ((our, their), is_whole) in numbers.iter().zip(&their_numbers).zip(whole(ours)) {
        // Bins are as wide as 1/64, so that one of several hundred accesses may be in the class beside; depths of fio are
        // of more than 100 percent where there were syncs.
        let close = (our - their).abs() <= their.abs() * 0.03 + if is_whole { 1.0 } else { 0.25 };
        assert!(close, "{our} for {their}\nours: {ours}\nfio:  {fios}");
    }
}

/// Of each number of a line, whether it has no point.
fn whole(line: &str) -> Vec<bool> {
    let numbers = line.split(|c: char| !c.is_ascii_digit() && c != '.');
    numbers
        .filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        .map(|number| !number.contains('.'))
        .collect()
}

#[test]
fn what_is_printed_before_the_run_is_the_same_but_for_processes() {
    for (version, recorded) in all() {
        let ours = before_run(&recorded.set.jobs, &as_fio(version));
        assert_eq!(ours, recorded.before.replace("process\n", "thread\n").replace("processes\n", "threads\n"));
    }
}

#[test]
fn terse_lines_have_the_same_fields() {
    for (version, recorded) in all() {
        let ours = render(&recorded.results, OutputFormat::Terse, &as_fio(version));
        assert_eq!(ours.lines().count(), recorded.terse.lines().count());
        for (ours, fios) in ours.lines().zip(recorded.terse.lines()) {
            let fields: Vec<[&str; 2]> =
                ours.split(';').zip(fios.split(';')).map(|(our, their)| [our, their]).collect();
            assert_eq!(ours.split(';').count(), fios.split(';').count(), "\n{ours}\n{fios}");
            fields.iter().for_each(|[our, their]| assert_alike(our, their));
        }
    }
}

#[test]
fn json_has_the_same_lines_and_later_versions_more() {
    const MORE: [&str; 5] = ["job_start", "latency_target_ns", "latency_window_us", "read_sectors", "write_sectors"];
    // fio 3.33 leaves out options without a value, as later versions do not, and its `eta` is not known yet at the end.
    const OTHERWISE: [&str; 5] = ["group_reporting", "stonewall", "time_based", "write_bw_log", "eta"];
    for (version, recorded) in all() {
        let ours = render(&recorded.results, OutputFormat::JsonPlus, &as_fio(version));
        let key = |line: &&str| line.split('"').nth(1).unwrap_or_default().to_owned();
        let is_shared = |line: &&str| !MORE.contains(&&*key(line)) && !OTHERWISE.contains(&&*key(line));
        let (ours, own) = ours.split_once("  \"flashmark\" : {").unwrap();
        assert!(own.contains("\"warnings\" : []"), "{own}");
        let ours: Vec<&str> = ours.lines().filter(is_shared).collect();
        let fios: Vec<&str> = recorded.json.lines().filter(is_shared).collect();
        for (ours, fios) in ours.iter().zip(&fios) {
            let leading = |line: &str| line.len() - line.trim_start().len();
            assert_eq!(leading(ours), leading(fios), "\nours: {ours}\nfio:  {fios}");
            assert_alike(ours, fios);
        }
        assert_eq!(ours.len() + 1, fios.len(), "the last line is our own object's");
    }
}

#[test]
fn text_has_the_same_lines() {
    for (version, recorded) in all() {
        let ours = render(&recorded.results, OutputFormat::Normal, &as_fio(version));
        assert_eq!(ours.lines().count(), recorded.text.lines().count(), "{ours}");
        for (ours, fios) in ours.lines().zip(recorded.text.lines()) {
            if fios.starts_with("  mixed: IOPS=0, BW=0 (0)(0B/") {
                // fio 3.33 forgets how many digits it should print; later versions do not.
                assert!(ours.starts_with("  mixed: IOPS="), "{ours}");
                continue;
            }
            let without_pid = |line: &str| match line.split_once(": pid=") {
                Some((before, rest)) => format!("{before}{}", &rest[rest.find(':').unwrap()..]),
                None => line.to_owned(),
            };
            assert_alike(&without_pid(ours), &without_pid(fios));
        }
    }
}
