//! Sweeps over simulated boards, and runs in parts: the same records on any number of threads and machines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::Path;

use flashmark_core::record::{Record, Status};
use support::process::{Line, flashmark, run};
use support::{Scratch, names_in, records};

const ONE: &str = "--suite esp-idf --set tries=2 --set target-size=8k --only tiny";

fn sweep() -> Line {
    run("lab:esp32/fatfs").words(ONE).words("--sweep fatfs.cluster=4k,8k,16k --sweep board.seed=1,2")
}

fn names(records: &[Record]) -> Vec<String> {
    let mut names: Vec<String> = records.iter().map(|record| record.target.name.clone()).collect();
    names.dedup();
    names
}

#[test]
fn every_combination_is_a_target() {
    let out = Scratch::new();
    let file = out.join("sweep.jsonl");
    let ran = sweep().words("-o").arg(&file).exits(0);
    let records = records::of_file(&file);
    let expected: Vec<String> = ["4k", "8k", "16k"]
        .iter()
        .flat_map(|cluster| ["1", "2"].map(|seed| format!("lab:esp32/fatfs,fatfs.cluster={cluster},board.seed={seed}")))
        .collect();
    assert_eq!(names(&records), expected);
    assert_eq!(records.len(), 12, "{ran}");
    assert!(records.iter().enumerate().all(|(nth, record)| record.run.index == nth as u32 && record.run.total == 12));
    for part in ["fatfs.cluster", "board.seed", "by rate, the fastest first", "16k"] {
        assert!(ran.stdout.contains(part), "nothing of {part}: {ran}");
    }
    // Each as if it were alone.
    for record in &records {
        let alone = run(&record.target.name).words(ONE).words("--format json").exits(0).records();
        let same = alone.iter().find(|other| other.workload.name == record.workload.name).unwrap();
        assert_eq!((&same.outcome, &same.simulation), (&record.outcome, &record.simulation));
    }
}

#[test]
fn threads_change_nothing() {
    let out = Scratch::new();
    let of = |threads: &str| {
        let file = out.join(threads);
        let shown = sweep().words("--threads").arg(threads).words("-o").arg(&file).exits(0).stdout;
        (std::fs::read(file).unwrap(), shown)
    };
    let one = of("1");
    assert!(of("2") == one && of("5") == one);
    sweep().words("--threads 0").exits(2).printed_nothing().says(&["--threads"]);
}

#[test]
fn parts_are_the_whole() {
    let out = Scratch::new();
    let whole = out.join("whole.jsonl");
    sweep().words("-o").arg(&whole).exits(0);
    let whole = std::fs::read(whole).unwrap();
    for parts in [1, 2, 3, 6, 8] {
        let mut joined = Vec::new();
        for part in 1..=parts {
            let file = out.join(&format!("{part}-of-{parts}.jsonl"));
            let ran = sweep().arg("--shard").arg(format!("{part}/{parts}")).words("-o").arg(&file).exits(0);
            let bytes = std::fs::read(&file).unwrap();
            if bytes.is_empty() {
                ran.says(&[&format!("part {part}/{parts} is empty"), "6 targets"]).printed_nothing();
            }
            joined.extend(bytes);
        }
        assert!(joined == whole, "{parts} parts");
    }
    // Shown together, they are one run.
    let joined = out.write("joined.jsonl", &whole);
    let shown = flashmark("show --sort rate").arg(&joined).exits(0).stdout;
    assert_eq!(shown, sweep().exits(0).stdout);
}

#[test]
fn what_is_no_part_is_refused() {
    for (part, says) in [("0/8", "1/8"), ("9/8", "8/8"), ("8", "K/N"), ("2/0", "1/1"), ("x/y", "K/N")] {
        sweep().words("--shard").arg(part).exits(2).printed_nothing().says(&["--shard", says]);
    }
}

/// Real targets are parted as well, and share the number of their run.
#[test]
fn real_targets_have_parts() {
    let out = Scratch::new();
    let dirs = ["a", "b", "c"].map(|name| out.subdir(name));
    let part = |part: &str| {
        let file = out.join(&part.replace('/', "-"));
        let line = run(&dirs[0]).arg(&dirs[1]).arg(&dirs[2]).words("--op write --size 8k --block 4k --shard");
        line.arg(part).words("-o").arg(&file).exits(0);
        records::of_file(&file)
    };
    let (one, two) = (part("1/2"), part("2/2"));
    let places: Vec<u32> = one.iter().chain(&two).map(|record| record.run.index).collect();
    assert_eq!(places, [0, 1, 2]);
    assert!(one.iter().chain(&two).all(|record| record.run.id == one[0].run.id && record.run.total == 3));
}

#[test]
fn the_metric_decides_over_the_order() {
    let of = |record: &Record, metric: &str| match metric {
        "elapsed" => record.outcome.elapsed_ns,
        _ => u64::from(record.simulation.as_ref().unwrap().wear.as_ref().unwrap().max),
    };
    for metric in ["elapsed", "wear"] {
        let records = sweep().words("--format json --sort").arg(metric).exits(0).records();
        let writes: Vec<u64> = records
            .iter()
            .filter(|record| record.workload.name.contains("write"))
            .map(|record| of(record, metric))
            .collect();
        assert!(writes.len() == 6 && writes.is_sorted(), "{metric}: {writes:?}");
    }
    // Without the option, data is in the order of the run.
    let records = sweep().words("--format json").exits(0).records();
    assert!(records.iter().enumerate().all(|(nth, record)| record.run.index == nth as u32));
    sweep().words("--sort rte").exits(2).printed_nothing().says(&["`rte`", "did you mean `rate`"]);
    sweep().words("--sort wear --format esp-idf").exits(2).printed_nothing().says(&["--sort", "esp-idf"]);
}

/// Suite keys are swept on any target, each value on a fresh board.
#[test]
fn suite_keys_are_swept() {
    let out = Scratch::new();
    let dir = out.subdir("dir");
    let words = "--op write --size 16k --sweep block=4k,8k --format json";
    let blocks =
        |records: &[Record]| -> Vec<u32> { records.iter().map(|record| record.workload.block_bytes).collect() };
    let real = run(&dir).words(words).exits(0).records();
    assert_eq!(blocks(&real), [4096, 8192]);
    let lab = run("lab:esp32/fatfs").words(words).words("--sweep board.seed=1,2").exits(0).records();
    assert_eq!(blocks(&lab), [4096, 8192, 4096, 8192]);
    assert_eq!(lab[0].started_at, lab[1].started_at, "the second one began on a board that had run");
    let alone = run("lab:esp32/fatfs,board.seed=1").words("--op write --size 16k --block 8k --format json").exits(0);
    assert_eq!(alone.records()[0].outcome, lab[1].outcome);
    assert_eq!(lab[0].run.settings.last().map(String::as_str), Some("--sweep board.seed=1,2"));
    run(&dir).words("--op write --size 16k --sweep block=4k,oops").exits(2).printed_nothing().says(&["block", "oops"]);
    assert_eq!(names_in(&dir), Vec::<String>::new());
}

/// A combination that cannot be has its records, which say so; the others run.
#[test]
fn what_cannot_be_is_left_out() {
    let line = |values: &str| run("lab:esp32/fatfs").words(ONE).arg("--sweep").arg(format!("partition.size={values}"));
    // No wear levelling fits a partition of two sectors; no chip has 3 GiB.
    let ran = line("2m,8k,3g").words("--format json").exits(0);
    let statuses: Vec<Status> = ran.records().iter().map(|record| record.outcome.status).collect();
    assert_eq!(
        statuses,
        [Status::Done, Status::Done, Status::Skipped, Status::Skipped, Status::Skipped, Status::Skipped]
    );
    ran.says(&["partition"]);
    let shown = line("2m,8k").exits(0);
    assert!(shown.stdout.contains("skipped") && shown.stderr.contains("partition"), "{shown}");
    line("8k,3g").exits(1);
    run("lab:esp32/fatfs,partition.size=8k").words(ONE).exits(2).printed_nothing().says(&["lab:esp32/fatfs"]);
}

#[test]
fn what_is_no_sweep_is_refused() {
    for (words, says) in [
        ("--sweep chip", &["KEY=VALUE,VALUE"][..]),
        ("--sweep fatfs.cluster=4k,,8k", &["a value is missing"]),
        ("--sweep fatfs.cluster=4k,4k", &["4k is there twice"]),
        ("--sweep fatfs.clustr=4k,8k", &["fatfs.clustr", "fatfs.cluster"]),
        ("--sweep board.seed=1,oops", &["board.seed", "oops"]),
        ("--sweep board.seed=1,2 --sweep board.seed=3,4", &["board.seed is swept twice"]),
        ("--sweep board.seed=1,2 --set board.seed=3", &["board.seed is set as well"]),
        ("--sweep blok=4k,8k", &["blok", "block"]),
    ] {
        run("lab:esp32/fatfs").words(ONE).words(words).exits(2).printed_nothing().says(says);
    }
    let many = |key: &str| format!("--sweep {key}={}", (0..400).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let words = format!("{} {}", many("board.seed"), many("wl.update-rate"));
    let ran = run("lab:esp32/fatfs").words(&words).exits(2).printed_nothing();
    ran.says(&["160000 targets", "100000"]);
    run(".").words("--sweep fatfs.cluster=4k,8k").exits(2).printed_nothing().says(&["fatfs.cluster", "lab:esp32"]);
    let set = run("lab:esp32/fatfs,board.seed=1").words(ONE).words("--sweep board.seed=1,2").exits(2);
    set.says(&["lab:esp32/fatfs,board.seed=1", "leave one out"]);
}

/// A resumed sweep is as if nothing had come between, however it was cut off.
#[test]
fn a_sweep_is_resumed() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    sweep().words("-o").arg(&file).exits(0);
    let whole = std::fs::read(&file).unwrap();
    let resume = |file: &Path| flashmark("run --resume").arg(file);
    for share in [3, 5, 9] {
        std::fs::write(&file, &whole[..whole.len() * share / 10]).unwrap();
        let ran = resume(&file).exits(0);
        assert!(std::fs::read(&file).unwrap() == whole, "{share}: {ran}");
        assert_eq!(ran.stdout, sweep().exits(0).stdout);
    }
    let ran = resume(&file).exits(0);
    assert_eq!(ran.stdout, sweep().exits(0).stdout);
    // One part of it.
    sweep().words("--shard 2/3 -o").arg(out.join("part.jsonl")).exits(0);
    let part = std::fs::read(out.join("part.jsonl")).unwrap();
    let first: Vec<u8> = part.split_inclusive(|byte| *byte == b'\n').next().unwrap().to_vec();
    let torn = out.write("torn.jsonl", &first);
    resume(&torn).words("--shard 2/3").exits(0);
    assert!(std::fs::read(&torn).unwrap() == part);
}
