//! File systems at a level of use, on the command line: the suite, side by side, and what is refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{OpKind, Status};
use support::process::{flashmark, run};
use support::{Scratch, assert_nothing_left};

const SMALL: &str = "--suite fill --set rewrites=40 --set reads=5";

#[test]
fn the_suite_tells_the_longest_wait_at_each_level() {
    let ran = run("lab:esp32/littlefs").words("--suite fill --set rewrites=150 --set reads=5 --format json").exits(0);
    let records = ran.records();
    assert_eq!(records.len(), 16, "{ran}");
    let mut longest = Vec::new();
    for record in &records {
        assert_eq!(record.outcome.status, Status::Done, "{ran}");
        let filled = record.simulation.as_ref().unwrap().filled.unwrap();
        let wanted = u64::from(record.workload.fill_percent.unwrap());
        let reached = filled.used_bytes * 1000 / filled.total_bytes;
        assert!(reached.abs_diff(wanted * 10) <= 10, "{}: {reached}", record.workload.name);
        let repeat = record.outcome.op(OpKind::Repeat).unwrap();
        let calls = record.outcome.repeats.iter().map(|repeat| repeat.elapsed_ns).max().unwrap();
        assert!(repeat.latency_ns.max > calls, "{}", record.workload.name);
        if record.workload.writes() {
            longest.push(repeat.latency_ns.max);
        }
    }
    assert!(longest.last() > longest.first(), "a fuller one takes longer at most: {longest:?}");
}

#[test]
fn file_systems_stand_side_by_side() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    let ran = run("lab:esp32/littlefs").arg("lab:esp32/fatfs").words(SMALL).words("-o").arg(&file).exits(0);
    let view = |text: &str| text.split("lab:esp32, side by side\n").nth(1).unwrap_or_default().to_owned();
    let compared = view(&ran.stdout);
    let header = compared.lines().nth(1).unwrap();
    assert!(header.contains("littlefs") && header.contains("fatfs"), "{ran}");
    for line in ["10 % full: rewrite 4 KiB", "95 % full: read 4 KiB"] {
        let cells = compared.lines().find(|shown| shown.contains(line)).unwrap();
        assert!(cells.matches("MB/s").count() > 1, "{cells}");
    }
    assert!(compared.contains("fatfs: 30 % is 29.0 %"), "{compared}");
    // The same of the file, in a document as well; one target alone has nothing beside it.
    assert_eq!(view(&flashmark("show").arg(&file).exits(0).stdout), compared);
    let markdown = flashmark("show --format markdown").arg(&file).exits(0).stdout;
    assert!(markdown.contains("### lab:esp32, side by side") && markdown.contains("littlefs rate |"), "{markdown}");
    assert!(!run("lab:esp32/fatfs").words(SMALL).exits(0).stdout.contains("side by side"));
}

/// Any other run is compared on request; beside data the table goes to standard error.
#[test]
fn any_run_is_compared_on_request() {
    let words = "--suite esp-idf --compat --set tries=1 --set target-size=4k --only tiny";
    let line = || run("lab:esp32/littlefs").arg("lab:esp32/fatfs").words(words);
    assert!(!line().exits(0).stdout.contains("side by side"));
    assert!(line().words("--compare").exits(0).stdout.contains("side by side"));
    let ran = line().words("--compare --format csv").exits(0);
    assert!(ran.stderr.contains("side by side") && !ran.stdout.contains("side by side"), "{ran}");
    let ran = run("lab:esp32/fatfs").words(words).words("--compare").exits(0);
    assert!(ran.stdout.contains("nothing to compare"), "{ran}");
}

#[test]
fn nobodys_disk_is_filled() {
    let dir = Scratch::new();
    let says = ["fill is for file systems of simulated boards", "Leave fill out", "lab:esp32/littlefs"];
    run(dir.path()).words("--suite fill").exits(2).printed_nothing().says(&says);
    run(dir.path()).words("--op write --block 4k --size 4k --fill 50%").exits(2).printed_nothing().says(&says);
    assert_nothing_left(dir.path());
    let ran = run("lab:esp32/raw").words("--op write --block 4k --size 4k --fill 50%").exits(2).printed_nothing();
    ran.says(&["lab:esp32/raw", "nothing to fill", "lab:esp32/littlefs"]);
}

#[test]
fn levels_that_are_none() {
    let dir = Scratch::new();
    for (level, column) in [("\"100%\"", 8), ("\"-5%\"", 8), ("\"abc\"", 8), ("60", 8)] {
        let text = format!("name = \"s\"\n[[workload]]\nname = \"w\"\nfill = {level}\nsize = \"8k\"\nblock = \"4k\"\n");
        let suite = dir.write("s.toml", text);
        let ran = run("lab:esp32/littlefs").words("--suite").arg(&suite).exits(2).printed_nothing();
        ran.says(&[&format!("s.toml:4:{column}: fill = {level}"), "\"0%\" to \"99%\""]);
    }
    for level in ["100%", "-5%", "abc"] {
        let ran = run("lab:esp32/littlefs").words("--suite fill --fill").arg(level).exits(2).printed_nothing();
        ran.says(&[&format!("--fill {level}"), "\"0%\" to \"99%\""]);
    }
}
