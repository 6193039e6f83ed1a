//! Every built-in suite in every form, on a directory; the list of suites.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::{Path, PathBuf};

use flashmark_core::record::{Form, Status};
use support::process::{flashmark, run};
use support::{Scratch, assert_nothing_left};

/// What makes a suite small; a suite that is not listed gets what fits most.
fn small(suite: &str) -> &'static str {
    match suite {
        "esp-idf" => "--set target-size=4k --set tries=2",
        "sd-bench" => "--set writes=20",
        "sdfat" => "--set write-passes=2 --set read-passes=2 --size 64k",
        "stream-10m" => "--size 256k",
        "sync-async" => "--set calls=4 --file-size 1m",
        "emmc-sd" => "--set mix-size=256k --set depth=4 --set stream-calls=20",
        "fill" => "--set rewrites=3 --set reads=2",
        _ => "--size 1m --file-size 1m --time 100ms",
    }
}

/// What a suite can run on that is for no directory.
fn lab(suite: &str) -> Option<&'static Path> {
    (suite == "fill").then(|| Path::new("lab:esp32/littlefs"))
}

/// Names and forms, as `flashmark suites` lists them.
fn listed() -> Vec<(String, Vec<&'static str>)> {
    let ran = flashmark("suites").exits(0);
    let of_line = |line: &str| {
        let name = line.split_whitespace().next().unwrap().to_owned();
        let forms = if line.contains("[--compat]") { vec!["", "--compat"] } else { vec![""] };
        (name, forms)
    };
    ran.stdout.lines().map(of_line).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites")
}

#[test]
fn all_suites_are_listed_and_shown_as_they_are() {
    let mut names: Vec<String> = listed().into_iter().map(|(name, _)| name).collect();
    for name in &names {
        let ran = flashmark("suites show").arg(name).exits(0);
        assert_eq!(ran.stdout, std::fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap());
        assert_eq!(ran.stderr, "");
    }
    let mut files: Vec<String> = support::names_in(&folder());
    names.sort();
    files.iter_mut().for_each(|file| file.truncate(file.len() - ".toml".len()));
    assert_eq!(names, files, "every file of the folder is a built-in suite");
}

/// A suite that is shown can be changed and run from its path.
#[test]
fn a_shown_suite_runs_from_a_file() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    let text = flashmark("suites show sd-bench").exits(0).stdout.replace("default = 10000", "default = 7");
    let suite = dir.write("mine.toml", text);
    let ran = run(&target).words("--format json --suite").arg(&suite).exits(0);
    let record = ran.record();
    assert_eq!(record.outcome.bytes, 7 * 16384);
    assert_eq!(record.run.suite_source, suite.to_str().unwrap());
    assert_nothing_left(&target);
}

#[test]
fn every_suite_runs_in_every_form_and_format() {
    let originals = ["esp-idf", "sdfat", "sd-bench"];
    for (suite, forms) in listed() {
        for form in forms {
            let dir = Scratch::new();
            let file = dir.join("run.jsonl");
            let target = dir.subdir("target");
            let line =
                || run(lab(&suite).unwrap_or(&target)).words("--suite").arg(&suite).words(form).words(small(&suite));

            let ran = line().words("--format json -o").arg(&file).exits(0);
            let records = ran.records();
            assert_eq!(support::records::of_file(&file), records, "{ran}");
            for (at, record) in records.iter().enumerate() {
                assert_eq!((record.run.index as usize, record.run.total as usize), (at, records.len()), "{ran}");
                assert_eq!(record.run.suite, suite);
                assert_eq!(record.run.form, if form.is_empty() { Form::Corrected } else { Form::Compat });
                assert_eq!(record.outcome.status, Status::Done, "{ran}");
                assert!(record.outcome.bytes > 0 && record.outcome.elapsed_ns > 0, "{ran}");
                assert_eq!(record.outcome.repeats.len(), record.workload.repeats as usize, "{ran}");
                let bytes: u64 = record.outcome.repeats.iter().map(|repeat| repeat.bytes).sum();
                assert_eq!(record.outcome.bytes, bytes, "{ran}");
            }
            assert_nothing_left(&target);

            // The same records, in every other form; the originals' formats are for their own suite.
            for format in ["table", "csv", "markdown"].into_iter().chain(originals) {
                let fits = !originals.contains(&format) || format == suite;
                let ran = flashmark("show").arg(&file).words("--format").arg(format).exits(if fits { 0 } else { 2 });
                assert_eq!(ran.stdout.is_empty(), !fits, "{ran}");
                assert_eq!(ran.stderr.is_empty(), fits, "{ran}");
            }
        }
    }
}

/// Every suite has a verifying form.
#[test]
fn every_suite_verifies() {
    for (suite, _) in listed() {
        let dir = Scratch::new();
        let line = run(lab(&suite).unwrap_or(dir.path()))
            .words("--verify full --format json --suite")
            .arg(&suite)
            .words(small(&suite));
        let ran = line.exits(0);
        for record in ran.records() {
            assert!(record.outcome.verified_bytes > 0, "{} of {suite}: {ran}", record.workload.name);
            assert_eq!(record.outcome.fault_count, 0, "{ran}");
        }
        assert_nothing_left(dir.path());
    }
}

#[test]
fn only_chooses_workloads_and_several_targets_go_in_turn() {
    let (first, second) = (Scratch::new(), Scratch::new());
    let line =
        run(first.path()).arg(second.path()).words("--only read --format json --size 64k --file-size 64k --block 4k");
    let ran = line.exits(0);
    let rows: Vec<(String, String)> =
        ran.records().into_iter().map(|record| (record.target.name, record.workload.name)).collect();
    let [a, b] = [first.path(), second.path()].map(|path| path.to_str().unwrap().to_owned());
    let expected = [(&a, "sequential read"), (&a, "random read"), (&b, "sequential read"), (&b, "random read")];
    assert_eq!(rows, expected.map(|(target, name)| (target.clone(), name.to_owned())));
    assert_nothing_left(first.path());
    assert_nothing_left(second.path());
}
