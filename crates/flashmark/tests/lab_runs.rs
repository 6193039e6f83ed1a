//! Runs on simulated boards: in virtual time, the same every time, whatever they are beside.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{Record, Status, TargetKind};
use support::process::{flashmark, run};
use support::{Scratch, assert_nothing_left, records};

/// A small run of ESP-IDF's suite.
const SMALL: &str = "--suite esp-idf --compat --set tries=2 --set target-size=8k";

fn names(records: &[Record]) -> Vec<&str> {
    let mut names: Vec<&str> = records.iter().map(|record| record.target.name.as_str()).collect();
    names.dedup();
    names
}

#[test]
fn a_board_is_all_of_its_storages() {
    let ran = run("lab:esp32").words(SMALL).words("--format json").exits(0);
    let records = ran.records();
    let names = names(&records);
    assert!(names.len() >= 3, "{names:?}");
    assert_eq!(names[0], "lab:esp32/raw");
    assert!(names.contains(&"lab:esp32/fatfs") && names.contains(&"lab:esp32/littlefs"), "{names:?}");
    for (nth, record) in records.iter().enumerate() {
        assert_eq!(record.outcome.status, Status::Done, "{record:?}");
        assert_eq!((record.run.index, record.run.total), (nth as u32, records.len() as u32));
        assert_eq!(record.target.kind, TargetKind::Lab);
        assert_eq!(record.target.direct, None);
        assert!(record.simulation.is_some() && record.started_at.starts_with("1970-01-01T00:0"), "{record:?}");
        // A step is there for those that it is for alone.
        assert_eq!(record.workload.name.starts_with("raw"), record.target.name == "lab:esp32/raw");
    }
    // ORIGINALS of the flash part: two raw rows, and eight for each file system.
    assert_eq!(records.iter().filter(|record| record.target.name == "lab:esp32/raw").count(), 2);
    assert_eq!(records.iter().filter(|record| record.target.name == "lab:esp32/fatfs").count(), 8);
}

#[test]
fn the_originals_rows_are_printed() {
    let ran = run("lab:esp32").words(SMALL).words("--format esp-idf").exits(0);
    let rows: Vec<&str> = ran.stdout.lines().map(|line| line.split(']').next().unwrap().trim_end()).collect();
    for row in [
        "[SPI Flash raw write",
        "[SPI Flash raw read",
        "[SPI FATFS (new file): write target size",
        "[SPI FATFS (new file): read tiny size",
        "[SPI LittleFS (new file): write more than target size",
    ] {
        assert!(rows.contains(&row), "no row {row}: {ran}");
    }
}

/// Nothing of this machine or of this moment is in the results.
#[test]
fn a_run_repeats_byte_for_byte() {
    let out = Scratch::new();
    let line = |file: &str| run("lab:esp32").words(SMALL).words("-o").arg(out.join(file));
    line("one.jsonl").exits(0);
    line("two.jsonl").words("--threads 1").exits(0);
    line("three.jsonl").words("--threads 7").exits(0);
    let one = std::fs::read(out.join("one.jsonl")).unwrap();
    assert!(!one.is_empty());
    for other in ["two.jsonl", "three.jsonl"] {
        assert!(std::fs::read(out.join(other)).unwrap() == one, "{other} differs");
    }
}

/// A storage does the same whatever else is in the run.
#[test]
fn a_target_is_repeated_by_its_name_alone() {
    let all = run("lab:esp32").words(SMALL).words("--set fatfs.cluster=8k --format json").exits(0).records();
    let name = "lab:esp32/fatfs,fatfs.cluster=8k";
    let own: Vec<&Record> = all.iter().filter(|record| record.target.name == name).collect();
    assert_eq!(own.len(), 8);
    let alone = run(name).words(SMALL).words("--format json").exits(0).records();
    assert_eq!(alone.len(), 8);
    for (one, other) in alone.iter().zip(own) {
        assert_eq!((&one.outcome, &one.simulation), (&other.outcome, &other.simulation));
        assert_eq!(one.environment, other.environment);
    }
    let otherwise = run("lab:esp32/fatfs").words(SMALL).words("--format json").exits(0).records();
    assert_ne!(otherwise[0].environment, alone[0].environment);
}

/// The four accounts of all layers are the measured time, exactly.
#[test]
fn no_nanosecond_is_lost() {
    for record in run("lab:esp32").words(SMALL).words("--format json").exits(0).records() {
        let spent = &record.simulation.as_ref().unwrap().spent;
        let sum: u64 = spent.iter().map(|layer| layer.total_ns()).sum();
        assert_eq!(sum, record.outcome.elapsed_ns, "{}: {spent:?}", record.workload.name);
    }
}

#[test]
fn a_real_target_can_be_in_the_same_run() {
    let dir = Scratch::new();
    let ran = run(dir.path()).arg("lab:esp32/raw").arg("lab:esp32/littlefs").words(SMALL);
    let records = ran.words("--only target --only raw --format json").exits(0).records();
    let kinds: Vec<TargetKind> = records.iter().map(|record| record.target.kind).collect();
    assert_eq!(kinds.first(), Some(&TargetKind::Directory));
    assert_eq!(kinds.last(), Some(&TargetKind::Lab));
    assert!(records.iter().all(|record| record.outcome.status == Status::Done));
    assert!(records.iter().enumerate().all(|(nth, record)| record.run.index == nth as u32));
    assert_nothing_left(dir.path());
}

/// Steps run on the targets that they are for; a target that none is for is a mistake, unless nobody named it.
#[test]
fn workloads_choose_their_targets() {
    let suite = "name = \"files\"\n[[workload]]\nname = \"w\"\nop = \"write\"\naccess = \"files\"\nsize = \"8k\"\nblock = \"4k\"\n";
    let dir = Scratch::new();
    let suite = dir.write("files.toml", suite);
    let ran = run("lab:esp32").words("--format json --suite").arg(&suite).exits(0);
    assert!(ran.records().iter().all(|record| record.target.name != "lab:esp32/raw"));
    ran.says(&["lab:esp32/raw is passed over", "suite files"]);
    let ran = run("lab:esp32/raw").words("--suite").arg(&suite).exits(2).printed_nothing();
    ran.says(&["suite files", "lab:esp32/raw", "without a file system"]);
    run(dir.path()).words("--suite esp-idf --compat --only raw").exits(2).printed_nothing().says(&["esp-idf"]);
}

#[test]
fn where_and_wear_are_shown() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    let views = |ran: &str| {
        for part in ["cpu", "busy", "sleep", "translation", "programs", "wear:"] {
            assert!(ran.contains(part), "nothing of {part}: {ran}");
        }
    };
    let line = || run("lab:esp32/fatfs").words(SMALL).words("--where --wear");
    let ran = line().words("-o").arg(&file).exits(0);
    views(&ran.stdout);
    views(&flashmark("show --where --wear").arg(&file).exits(0).stdout);
    assert!(!flashmark("show").arg(&file).exits(0).stdout.contains("wear:"));
    // Nothing stands beside data.
    let ran = line().words("--format json").exits(0);
    assert_eq!(ran.records().len(), 8);
    views(&ran.stderr);
}

#[test]
fn a_storage_is_saved_and_begun_with() {
    let out = Scratch::new();
    let (saved, again) = (out.join("saved.img"), out.join("again.img"));
    run("lab:esp32/littlefs").words(SMALL).words("--save-image").arg(&saved).exits(0);
    assert!(saved.metadata().unwrap().len() > 65536);
    run("lab:esp32/littlefs").words(SMALL).words("--image").arg(&saved).words("--save-image").arg(&again).exits(0);
    assert_eq!(saved.metadata().unwrap().len(), again.metadata().unwrap().len());
    let ran = run("lab:esp32/littlefs").words(SMALL).words("--save-image").arg(&saved).exits(2).printed_nothing();
    ran.says(&["saved.img", "exists"]);
    let short = out.write("short.img", [0xff; 100]);
    let ran = run("lab:esp32/littlefs").words(SMALL).words("--image").arg(&short).exits(2).printed_nothing();
    ran.says(&["lab:esp32/littlefs", "100"]);
    let mut broken = std::fs::read(&saved).unwrap();
    broken.iter_mut().for_each(|byte| *byte ^= 0x5a);
    let broken = out.write("broken.img", broken);
    run("lab:esp32/littlefs").words(SMALL).words("--image").arg(&broken).exits(2).printed_nothing().says(&["image"]);
    for (target, option) in [("lab:esp32", "--image"), ("lab:esp32", "--save-image"), (".", "--image")] {
        let ran = run(target).words(SMALL).words(option).arg(if option == "--image" { &saved } else { &short });
        ran.exits(2).printed_nothing().says(&[option, "lab:esp32/fatfs"]);
    }
    let ran = run("lab:esp32/littlefs").words(SMALL).words("--image /nonexistent.img").exits(2).printed_nothing();
    ran.says(&["--image /nonexistent.img"]);
}

/// `show` knows records of boards as any others.
#[test]
fn records_are_shown_again() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    let ran = run("lab:esp32").words(SMALL).words("--format csv -o").arg(&file).exits(0);
    assert_eq!(flashmark("show --format csv").arg(&file).exits(0).stdout, ran.stdout);
    let records = records::of_file(&file);
    // A cell may have several lines.
    let rows = ran.stdout.lines().filter(|line| line.starts_with(&records[0].run.id));
    assert_eq!(records.len(), rows.count());
}
