//! Interrupted runs on simulated boards: what is there is what an unbroken run begins with, and resuming makes it whole.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use rustix::process::Signal;
use support::Scratch;
use support::process::{flashmark, run, until};
use support::records::lines_in;

const SMALL: &str = "--suite esp-idf --set tries=2 --set target-size=8k";

#[test]
fn a_run_that_was_cut_off_becomes_whole() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    run("lab:esp32").words(SMALL).words("--set fatfs.cluster=8k -o").arg(&file).exits(0);
    let whole = std::fs::read(&file).unwrap();
    let lines = lines_in(&file);
    for kept in [1, 2, 5, lines - 1, lines] {
        let part: Vec<u8> = whole.split_inclusive(|byte| *byte == b'\n').take(kept).flatten().copied().collect();
        std::fs::write(&file, part).unwrap();
        let ran = flashmark("run --format json --resume").arg(&file).exits(0);
        assert_eq!(ran.records().len(), lines, "all of the run is shown");
        assert!(std::fs::read(&file).unwrap() == whole, "{kept} records were kept");
    }
}

/// Ctrl-C: what was measured stays, in order, and no half of a workload.
#[test]
fn a_signal_stops_it() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    // The first ones are short; the last one would take minutes.
    let suite = "name = \"long\"\n[defaults]\nop = \"write\"\nfile = \"new\"\nsize = \"8k\"\nblock = \"4k\"\n\
                 [[workload]]\nname = \"one\"\n[[workload]]\nname = \"two\"\n\
                 [[workload]]\nname = \"three\"\nrepeats = 100000\nsize = \"64k\"\n[[workload]]\nname = \"four\"\n";
    let suite = out.write("long.toml", suite);
    let line = || run("lab:esp32/fatfs").arg("lab:esp32/littlefs").words("--suite").arg(&suite);
    let running = line().words("-o").arg(&file).start();
    until("two records are there", || lines_in(&file) == 2);
    running.signal(Signal::INT);
    let ran = running.end().exited(130);
    assert!(ran.stdout.contains("one") && ran.stdout.contains("two"), "{ran}");
    assert_eq!(lines_in(&file), 2, "a workload that was stopped leaves no record");
    // As the same run without the rest would have had them.
    let short = line().words("--only one --only two --format json").exits(0).records();
    let before = support::records::of_file(&file);
    assert_eq!(before[1].outcome, short[1].outcome);
}

/// A board that does otherwise than it did is another board.
#[test]
fn a_changed_board_is_refused() {
    let out = Scratch::new();
    let text = flashmark("boards show esp32").exits(0).stdout;
    let board = out.write("board.toml", &text);
    let file = out.join("run.jsonl");
    run(format!("lab:{}/fatfs", board.display())).words(SMALL).words("-o").arg(&file).exits(0);
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let before = std::fs::read(&file).unwrap();
    let changed = text.replacen("[partition]\n", "[partition]\n# moved\n", 1);
    std::fs::write(&board, changed).unwrap();
    flashmark("run --resume").arg(&file).exits(0);
    assert!(std::fs::read(&file).unwrap() == whole, "a comment changes nothing");
    std::fs::write(&file, &before).unwrap();
    let changed = text.replacen("seed = { value = 1,", "seed = { value = 77,", 1);
    assert_ne!(changed, text);
    std::fs::write(&board, changed).unwrap();
    let ran = flashmark("run --resume").arg(&file).exits(2).printed_nothing();
    ran.says(&["has changed since the run began", "start again with -o"]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

/// The chip is part of the board, whether its file is named by the profile, on the command line or by a sweep.
#[test]
fn a_changed_chip_makes_another_run() {
    let out = Scratch::new();
    let text = flashmark("chips show w25q32jv").exits(0).stdout;
    let chip = out.write("chip.toml", &text);
    let slower = text.replacen("typical = 45", "typical = 145", 1);
    assert_ne!(slower, text);
    let id_of = |words: &str| {
        let ran = run("lab:esp32/raw").words(SMALL).words(words).words("--format json").exits(0);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        json["records"][0]["run"]["id"].as_str().unwrap().to_owned()
    };
    for words in [format!("--set chip={}", chip.display()), format!("--sweep chip={}", chip.display())] {
        std::fs::write(&chip, &text).unwrap();
        let before = id_of(&words);
        assert_eq!(id_of(&words), before);
        std::fs::write(&chip, &slower).unwrap();
        assert_ne!(id_of(&words), before, "{words}");
    }
}

/// A record in the file that the board does not give is not of this run.
#[test]
fn an_edited_record_is_noticed() {
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    run("lab:esp32/fatfs").words(SMALL).words("-o").arg(&file).exits(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let kept: String = text.split_inclusive('\n').take(2).collect();
    let elapsed = support::records::of_file(&file)[0].outcome.elapsed_ns;
    let edited = kept.replacen(&format!("\"elapsed_ns\":{elapsed}"), &format!("\"elapsed_ns\":{}", elapsed + 1), 1);
    assert_ne!(edited, kept);
    std::fs::write(&file, &edited).unwrap();
    flashmark("run --resume").arg(&file).exits(2).says(&["gives other results now", "start again with -o"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), edited);
}
