//! How often a board repeats the workloads of its original at most: SPIFFS once, as ESP-IDF's example does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{Record, Status, WarningCode};
use support::process::{flashmark, run};
use support::records::warning;
use support::{Scratch, records};

const STORAGES: [&str; 4] = ["/raw", "/fatfs", "/littlefs", "/spiffs"];

const CUT: &str = "measured once instead of 10 times: spiffs.tries = 1";

/// The storages of these records in order, each with the repeats that its workloads have, and that ran.
fn repeats(records: &[Record]) -> Vec<(&'static str, u32, usize)> {
    let storage = |record: &Record| -> &'static str {
        let is_its = |storage: &&&str| record.target.name.contains(**storage);
        STORAGES.iter().find(is_its).unwrap()
    };
    let told = |record: &Record| (storage(record), record.workload.repeats, record.outcome.repeats.len());
    let mut found: Vec<_> = records.iter().map(told).collect();
    found.dedup();
    found
}

fn is_told(record: &Record) -> bool {
    warning(record, WarningCode::Skipped).is_some_and(|text| text.starts_with("measured "))
}

#[test]
fn the_originals_suite_runs_on_all_four_storages() {
    for (form, warm_up) in [("", 1), ("--compat", 0)] {
        for board in ["lab:esp32", "lab:esp32-s3"] {
            let ran = run(board).words("--suite esp-idf --format json").words(form).exits(0);
            let records = ran.records();
            assert!(records.iter().all(|record| record.outcome.status == Status::Done), "{ran}");
            let expected = [("/raw", 10, 10), ("/fatfs", 10, 10), ("/littlefs", 10, 10), ("/spiffs", 1, 1)];
            assert_eq!(repeats(&records), expected, "{ran}");
            for record in &records {
                // Warm-ups are no tries.
                assert_eq!(record.workload.warm_up, warm_up, "{record:?}");
                assert_eq!(is_told(record), record.target.name.contains("/spiffs"), "{record:?}");
            }
        }
    }
}

/// The published lines of SPIFFS are marked (1x), whatever the tries of the others.
#[test]
fn the_originals_lines_are_marked_as_published() {
    let ran = run("lab:esp32").words("--compat --set tries=3 --set target-size=8k --format esp-idf").exits(0);
    let with = |label: &str| ran.stdout.lines().filter(|line| line.starts_with(label)).collect::<Vec<_>>();
    let (spiffs, littlefs) = (with("[SPI SPIFFS"), with("[SPI LittleFS"));
    assert!(spiffs.len() == 8 && spiffs.iter().all(|line| line.contains("] (1x)")), "{ran}");
    assert!(littlefs.len() == 8 && littlefs.iter().all(|line| line.contains("] (3x)")), "{ran}");
    ran.says(&["measured once instead of 3 times", "spiffs.tries = 1"]);
}

/// It is said once for all rows of the target, by the run and by what shows its records, with what to do.
#[test]
fn the_user_is_told_once() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    let words = "--suite esp-idf --compat --only tiny --set fatfs.cluster=16k -o";
    let ran = run("lab:esp32").words(words).arg(&file).exits(0);
    let again = flashmark("show").arg(&file).exits(0);
    for shown in [&ran.stdout, &again.stdout] {
        assert_eq!(shown.matches(CUT).count(), 1, "{shown}");
        assert!(shown.contains("lab:esp32/spiffs,fatfs.cluster=16k,spiffs.tries=0 repeats as often as"), "{shown}");
        assert!(shown.contains("as the suite says (all rows)"), "{shown}");
    }
    assert_eq!(records::of_file(&file).iter().filter(|record| is_told(record)).count(), 2);
}

/// What the note says works, by the target's name, by `--set` and in a sweep.
#[test]
fn zero_is_as_often_as_the_suite_says() {
    let words = "--suite esp-idf --compat --only tiny --format json";
    let whole = [("/spiffs", 10, 10)];
    for line in [
        run("lab:esp32/spiffs,spiffs.tries=0").words(words),
        run("lab:esp32/spiffs").words("--set spiffs.tries=0").words(words),
    ] {
        let ran = line.exits(0);
        assert_eq!(repeats(&ran.records()), whole, "{ran}");
        assert!(!ran.records().iter().any(is_told), "{ran}");
    }
    let ran = run("lab:esp32/spiffs").words("--sweep spiffs.tries=0,1,3,20").words(words).exits(0);
    let swept = [("/spiffs", 10, 10), ("/spiffs", 1, 1), ("/spiffs", 3, 3), ("/spiffs", 10, 10)];
    assert_eq!(repeats(&ran.records()), swept, "{ran}");
    // Any storage has the key.
    let ran = run("lab:esp32/fatfs,fatfs.tries=2").words(words).exits(0);
    assert_eq!(repeats(&ran.records()), [("/fatfs", 2, 2)], "{ran}");
    ran.says(&["measured 2 times instead of 10 times: fatfs.tries = 2", "lab:esp32/fatfs,fatfs.tries=0"]);
    run("lab:esp32/fatfs,fatfs.tries=x").words(words).exits(2).printed_nothing().says(&["fatfs.tries = x"]);
}

/// With all tries SPIFFS does what it does on a real board: it is full, though nothing is in use.
#[test]
fn all_tries_are_more_than_spiffs_takes() {
    let ran = run("lab:esp32/spiffs,spiffs.tries=0").words("--suite esp-idf --format json").exits(1);
    assert!(ran.records().iter().all(|record| record.workload.repeats == 10), "{ran}");
    ran.says(&["SPIFFS_ERR_FULL"]);
}

/// The board speaks of its original's suite; what others repeat is theirs.
#[test]
fn other_suites_repeat_as_they_say() {
    let ran = run("lab:esp32/spiffs").words("--suite fill --set rewrites=5 --set reads=3 --format json");
    let records = ran.words("--only 10").exits(0).records();
    assert_eq!(repeats(&records), [("/spiffs", 5, 5), ("/spiffs", 3, 3)]);
    let own = "--op write --block 4k --size 4k --repeats 4 --format json";
    assert_eq!(repeats(&run("lab:esp32/spiffs").words(own).exits(0).records()), [("/spiffs", 4, 4)]);
    // One of the same original is its suite as well.
    let dir = Scratch::new();
    let text = "[[workload]]\nname = \"w\"\nop = \"write\"\nsize = \"8k\"\nblock = \"4k\"\nrepeats = 3\n";
    for (original, expected) in [("original = \"esp-idf\"\n", 1), ("", 3)] {
        let suite = dir.write("my.toml", format!("name = \"esp-idf\"\n{original}{text}"));
        let records = run("lab:esp32/spiffs").words("--format json --suite").arg(&suite).exits(0).records();
        assert_eq!(repeats(&records), [("/spiffs", expected, expected as usize)]);
    }
}

/// A run goes on with the repeats that it was begun with.
#[test]
fn a_run_is_resumed() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    run("lab:esp32/spiffs").words("--suite esp-idf --compat -o").arg(&file).exits(0);
    let whole = std::fs::read_to_string(&file).unwrap();
    let begun: String = whole.lines().take(3).map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, begun).unwrap();
    flashmark("run --resume").arg(&file).exits(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
}
