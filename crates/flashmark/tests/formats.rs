//! Standard output: with a machine format it is data and nothing else, whatever happens in the run.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{OpKind, Outcome, Record};
use support::process::{Line, flashmark, run};
use support::{Scratch, assert_nothing_left};

/// A run on a file that may only be read and on a directory: done, skipped and failed. Whatever a format has to tell
/// about a run is in it.
fn eventful(dir: &Scratch) -> Line {
    let file = dir.write("data.bin", vec![7; 64 << 10]);
    let directory = dir.join("target");
    std::fs::create_dir_all(&directory).unwrap();
    let suite = dir.write(
        "eventful.toml",
        "name = \"eventful\"\n\
         [defaults]\nblock = \"4k\"\nsize = \"64k\"\n\
         [[workload]]\nname = \"read, \\\"quoted\\\"\"\n\
         [[workload]]\nname = \"write too much\"\nop = \"write\"\nsize = \"1m\"\n",
    );
    run(file).arg(directory).words("--suite").arg(suite).limited_to(256)
}

/// How its rows go.
const ROWS: [(&str, &str); 4] = [
    ("read, \"quoted\"", "done"),
    ("write too much", "skipped"),
    ("read, \"quoted\"", "done"),
    ("write too much", "failed"),
];

/// What it has to tell.
const REMARKS: [&str; 3] = ["not allowed to write", "--destroy", "os error 27"];

#[test]
fn json_is_json_and_the_rest_is_on_standard_error() {
    let dir = Scratch::new();
    let ran = eventful(&dir).words("--format json").exits(1);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["schema"], 1);
    let records = value["records"].as_array().unwrap();
    let row = |record: &'_ serde_json::Value| (record["workload"]["name"].clone(), record["outcome"]["status"].clone());
    let expected = ROWS.map(|(name, status)| (name.into(), status.into()));
    assert_eq!(records.iter().map(row).collect::<Vec<_>>(), expected);
    ran.says(&REMARKS);
}

#[test]
fn csv_is_csv_and_the_rest_is_on_standard_error() {
    let dir = Scratch::new();
    let ran = eventful(&dir).words("--format csv").exits(1);
    let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(ran.stdout.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (name, status) = (column("workload"), column("status"));
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|row| (&row[name], &row[status])).collect();
    assert_eq!(rows, ROWS);
    ran.says(&REMARKS);
}

#[test]
fn markdown_is_a_document() {
    let dir = Scratch::new();
    let ran = eventful(&dir).words("--format markdown").exits(1);
    assert!(ran.stdout.starts_with('#') && ran.stdout.contains("| read, \"quoted\" |"), "{ran}");
    assert!(!ran.stdout.contains("flashmark:"), "{ran}");
}

#[test]
fn a_table_has_everything_on_standard_output() {
    let dir = Scratch::new();
    let ran = eventful(&dir).exits(1);
    for part in ["(skipped)", "(failed)", " MB/s"].iter().chain(&REMARKS) {
        assert!(ran.stdout.contains(part), "nothing of {part}: {ran}");
    }
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "colours are for terminals: {ran}");
    let ran = eventful(&dir).words("--rate-unit MiB").exits(1);
    assert!(ran.stdout.contains("MiB/s") && !ran.stdout.contains(" MB/s"), "{ran}");
}

/// What did not run has one remark with its reason, and is no error: nothing went wrong.
#[test]
fn what_did_not_run_is_told_once() {
    let dir = Scratch::new();
    let file = dir.write("data.bin", vec![7; 64 << 10]);
    let suite = dir.write(
        "refused.toml",
        "name = \"refused\"\n\
         [defaults]\nblock = \"4k\"\nsize = \"64k\"\n\
         [[workload]]\nname = \"read\"\n\
         [[workload]]\nname = \"write\"\nop = \"write\"\n\
         [[workload]]\nname = \"mix\"\nop = \"mixed\"\n",
    );
    let ran = || run(&file).words("--suite").arg(&suite);
    let (table, json) = (ran().exits(0), ran().words("--format json").exits(0));
    for text in [&table.stdout, &json.stderr] {
        assert!(text.contains("warning: write, mix: did not run: not allowed to write"), "{table}{json}");
        assert_eq!(text.matches("not allowed to write").count(), 1, "{table}{json}");
        assert!(!text.contains("error:"), "{table}{json}");
    }
    assert!(!table.stdout.contains("but buffered in"), "{table}");
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 64 << 10]);
}

/// A check of single bytes must not pass for a check of all of them.
#[test]
fn what_was_verified_is_told_as_it_was() {
    let dir = Scratch::new();
    let verified = |verify: &str| {
        let words = format!("--op read --data zeros --block 4k --size 64k --verify {verify}");
        run(dir.path()).words(&words).exits(0).stdout
    };
    let (last_byte, full) = (verified("last-byte"), verified("full"));
    assert!(last_byte.contains(": last byte of 16 blocks found right\n"), "{last_byte}");
    assert!(full.contains(": 64 KiB read back and found right\n"), "{full}");
}

#[test]
fn the_originals_print_their_own_lines() {
    let dir = Scratch::new();
    let ran = run(dir.path()).words("--suite esp-idf --compat --set tries=1 --format esp-idf").exits(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 16, "{ran}");
    assert!(
        lines.iter().all(|line| line.starts_with('[') && line.contains("(1x)") && line.ends_with(" MB/s")),
        "{ran}"
    );
    assert!(lines[0].contains("(new file): write target size"), "{ran}");

    let small = "--set write-passes=2 --set read-passes=1 --size 64k";
    let ran = run(dir.path()).words("--suite sdfat --compat --format sdfat").words(small).exits(0);
    assert!(ran.stdout.contains("\nwrite speed and latency\nspeed,max,min,avg\nKB/Sec,usec,usec,usec\n"), "{ran}");
    assert!(ran.stdout.ends_with("\nDone\n"), "{ran}");

    let ran = run(dir.path()).words("--suite sd-bench --compat --format sd-bench --set writes=5").exits(0);
    assert_eq!(ran.stdout.lines().count(), 6, "{ran}");
    assert!(ran.stdout.starts_with("write buffer size = 16384\nsum="), "{ran}");
    assert_nothing_left(dir.path());
}

/// What the corrected form syncs inside the time is in the numbers of the originals' formats, as it is in the table's.
#[test]
fn the_originals_formats_agree_with_the_record() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    let file = dir.join("esp-idf.jsonl");
    let ran = run(&target).words("--suite esp-idf --set tries=2 --format esp-idf -o").arg(&file).exits(0);
    let records = support::records::of_file(&file);
    assert_eq!(ran.stdout.lines().count(), records.len(), "{ran}");
    assert!(records.iter().any(|record| record.outcome.op(OpKind::Sync).is_some()));
    for (row, Record { outcome, .. }) in ran.stdout.lines().zip(&records) {
        let (_, figures) = row.split_once("(2x)").unwrap();
        let figures: Vec<&str> = figures.split_whitespace().collect();
        let figure = |nth: usize| figures[nth].parse::<f64>().unwrap();
        let (seconds, mebibytes) = (outcome.elapsed_ns as f64 / 1e9, outcome.bytes as f64 / f64::from(1 << 20));
        for (shown, exact) in [(figure(0), seconds * 1e3 / 2.0), (figure(4), mebibytes / seconds)] {
            // Three decimals, and single precision on the way.
            assert!((shown - exact).abs() < 0.001 + exact * 1e-6, "{exact} in {row}: {outcome:?}");
        }
    }

    let file = dir.join("sd-bench.jsonl");
    let ran = run(&target).words("--suite sd-bench --set writes=5 --format sd-bench -o").arg(&file).exits(0);
    let Outcome { ops, repeats, .. } = support::records::of_file(&file).remove(0).outcome;
    assert!(ops.iter().any(|stats| stats.op == OpKind::Sync));
    let elapsed_us = repeats[0].elapsed_ns / 1000;
    assert!(elapsed_us > repeats[0].sum_ns / 1000, "{repeats:?}");
    let average_us = elapsed_us / 5;
    for part in [
        format!("\nsum={elapsed_us} microseconds, average={average_us} microseconds\n"),
        format!("\naverage write speed = {} byte/s\n", 16_384_000_000 / average_us),
        format!("\nmaximum={} microseconds,", repeats[0].max_ns / 1000),
    ] {
        assert!(ran.stdout.contains(&part), "no {part} in {ran}");
    }
}

/// A compatibility form that went through the cache says so, but never within the original's lines.
#[test]
fn an_originals_format_has_its_doubts_on_standard_error() {
    let dir = Scratch::new();
    let words = "--suite sd-bench --set writes=5 --format sd-bench --engine tokio";
    let ran = run(dir.path()).words(words).exits(0).says(&["warning", "not direct"]);
    assert!(!ran.stdout.contains("warning"), "{ran}");
    let quiet = run(dir.path()).words(words).words("--quiet").exits(0);
    assert_eq!(quiet.stderr, "", "{quiet}");
}

#[test]
fn show_prints_what_run_printed() {
    let dir = Scratch::new();
    let file = dir.join("run.jsonl");
    for format in ["table", "json", "csv", "markdown"] {
        let ran = eventful(&dir).words("--format").arg(format).words("-o").arg(&file).exits(1);
        let shown = flashmark("show").arg(&file).words("--format").arg(format).exits(0);
        assert_eq!(shown.stdout, ran.stdout, "{format}");
        std::fs::remove_file(&file).unwrap();
    }
}

/// Files can be joined, and come from standard input.
#[cfg(unix)]
#[test]
fn joined_files_can_be_shown() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    for name in ["a.jsonl", "b.jsonl"] {
        run(&target).words("--op write --size 64k --block 4k -o").arg(dir.join(name)).exits(0);
    }
    let both = flashmark("show --format json").arg(dir.join("a.jsonl")).arg(dir.join("b.jsonl")).exits(0);
    assert_eq!(both.records().len(), 2);
    let program = env!("CARGO_BIN_EXE_flashmark");
    let joined =
        support::sh(&format!("cd {}; cat a.jsonl b.jsonl | {program} show - --format json", dir.path().display()));
    assert_eq!(joined, both.stdout.trim());
}

/// Whoever reads the output may have seen enough.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let program = env!("CARGO_BIN_EXE_flashmark");
    let out = support::try_sh(&format!("{program} suites show esp-idf | head -n 1"));
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    assert!(out.stdout.starts_with(b"# esp-idf"));
}
