//! `run --iolog`: what is recorded is what was done, and it can be replayed.

mod support;

use support::Scratch;
use support::process::{flashmark, run};

#[test]
fn a_run_is_recorded() {
    let dir = Scratch::new();
    let trace = dir.path().join("trace.log");
    let line = "--op write --block 4k --size 64k --order random-once --sync every:4";
    run(dir.path()).words(line).arg("--iolog").arg(&trace).exits(0);
    let text = std::fs::read_to_string(&trace).unwrap();
    assert!(text.starts_with("fio version 3 iolog\n"), "{text}");
    let count = |word: &str| text.lines().filter(|line| line.split(' ').nth(2) == Some(word)).count();
    assert_eq!((count("write"), count("datasync"), count("read")), (16, 4, 0), "{text}");
    // Replayed on a file that flashmark makes.
    let replay = flashmark("fio --name=again --replay_no_stall=1 --output-format=json")
        .arg(format!("--replay_redirect={}", dir.path().join("replayed").display()))
        .arg(format!("--read_iolog={}", trace.display()))
        .exits(0);
    let json: serde_json::Value = serde_json::from_str(&replay.stdout).unwrap();
    assert_eq!(json["jobs"][0]["write"]["total_ios"], 16);
    assert_eq!(json["jobs"][0]["sync"]["total_ios"], 4);
}

/// The name in the trace is that of a file: the test file of a directory, which a replay makes again.
#[test]
fn a_directory_is_recorded_as_the_file_that_was_in_it() {
    let dir = Scratch::new();
    let work = dir.subdir("work");
    let trace = dir.path().join("trace.log");
    run(".").words("--op write --block 4k --size 64k").arg("--iolog").arg(&trace).in_dir(&work).exits(0);
    let text = std::fs::read_to_string(&trace).unwrap();
    let name = text.lines().nth(1).and_then(|line| line.split(' ').nth(1)).unwrap();
    assert!(name.starts_with("./flashmark-test-"), "{text}");
    assert!(text.lines().skip(1).all(|line| line.split(' ').nth(1) == Some(name)), "{text}");
    let file = work.join(name);
    assert!(!file.exists());
    let words = "--name=again --replay_no_stall=1 --output-format=json";
    let of_trace = format!("--read_iolog={}", trace.display());
    flashmark("fio").words(words).arg(&of_trace).in_dir(&work).exits(0);
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 65536);
    std::fs::remove_file(&file).unwrap();
    if support::can_run(false, &["fio"]) {
        support::sh(&format!("cd {} && fio {words} {of_trace}", work.display()));
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 65536);
    }
}

#[test]
fn a_simulated_target_is_recorded_in_its_own_time() {
    let dir = Scratch::new();
    let trace = dir.path().join("lab.log");
    flashmark("run lab:esp32/fatfs --op write --block 4k --size 16k --repeats 2").arg("--iolog").arg(&trace).exits(0);
    let text = std::fs::read_to_string(&trace).unwrap();
    let times: Vec<u64> = text.lines().skip(1).map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted(), "{text}");
    assert!(*times.last().unwrap() > 1000, "a write to flash takes milliseconds: {text}");
    assert_eq!(text.lines().filter(|line| line.contains(" write ")).count(), 8, "{text}");
}

#[test]
fn several_targets_have_no_one_trace() {
    let dir = Scratch::new();
    let trace = dir.path().join("trace.log");
    let line = flashmark("run lab:esp32 --suite esp-idf").arg("--iolog").arg(&trace);
    line.exits(2).says(&["--iolog", "name one"]);
    assert!(!trace.exists());
}
