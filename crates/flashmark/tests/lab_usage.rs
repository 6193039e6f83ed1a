//! Wrong command lines about simulated boards: the message names the cause and what to do; the list of boards.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use support::Scratch;
use support::process::{flashmark, run};

#[test]
fn targets_that_are_no_boards() {
    for (target, says) in [
        ("lab:", &["lab: names no board", "flashmark boards"][..]),
        ("lab:/fatfs", &["names no board"]),
        ("lab:esp33", &["esp33", "esp32"]),
        ("lab:esp32/fat", &["no storage", "fatfs", "raw"]),
        ("lab:esp32,fatfs.cluster", &["fatfs.cluster", "key=value"]),
        ("lab:esp32,fatfs.clustr=4k", &["fatfs.clustr", "fatfs.cluster"]),
        ("lab:./missing.toml", &["./missing.toml"]),
        ("esp32", &["esp32 does not exist", "lab:esp32"]),
        ("esp32/fatfs", &["esp32/fatfs does not exist", "lab:esp32/fatfs"]),
    ] {
        run(target).words("--suite esp-idf").exits(2).printed_nothing().says(says);
    }
}

#[test]
fn the_same_target_twice() {
    run("lab:esp32").arg("lab:esp32/raw").exits(2).printed_nothing().says(&["lab:esp32/raw is named twice"]);
    let settings = run("lab:esp32/raw,board.seed=1").arg("lab:esp32/raw").words("--suite esp-idf --set board.seed=1");
    settings.exits(2).printed_nothing().says(&["lab:esp32/raw,board.seed=1 is named twice"]);
}

#[test]
fn keys_of_boards_are_for_boards() {
    let dir = Scratch::new();
    for key in ["fatfs.cluster=4k", "chip=w25q32jv"] {
        let ran = run(dir.path()).words("--set").arg(key).exits(2).printed_nothing();
        ran.says(&[key, "key of simulated boards", "lab:esp32"]);
    }
    let lab = |words: &str, says: &[&str]| {
        run("lab:esp32/fatfs").words("--suite esp-idf").words(words).exits(2).printed_nothing().says(says);
    };
    lab("--set fatfs.clustr=4k", &["fatfs.clustr", "fatfs.cluster"]);
    lab("--set board.seed=many", &["board.seed", "many"]);
    lab("--set board.seed=1,2", &["board.seed=1,2", "--sweep"]);
    lab("--set tires=3", &["tires", "tries"]);
    lab("--set chip=w25q99", &["w25q99"]);
    // No path is touched, so that consent is a misunderstanding.
    lab("--destroy lab:esp32/fatfs", &["--destroy", "simulated"]);
}

/// The seed is the suite's, whatever boards have.
#[test]
fn suite_keys_stay_with_the_suite() {
    let words =
        "--suite esp-idf --set tries=1 --set target-size=4k --set seed=7 --set board.seed=3 --only tiny --format json";
    let records = run("lab:esp32/fatfs").words(words).exits(0).records();
    assert!(!records.is_empty());
    for record in records {
        assert_eq!(record.workload.seed, 7);
        assert_eq!(record.target.name, "lab:esp32/fatfs,board.seed=3");
        assert_eq!(record.run.targets, ["lab:esp32/fatfs"]);
        assert!(record.run.settings.contains(&"board.seed=3".to_owned()), "{:?}", record.run.settings);
    }
}

#[test]
fn boards_are_listed_shown_and_run_from_a_file() {
    let ran = flashmark("boards").exits(0);
    let names: Vec<&str> = ran.stdout.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    for board in ["esp32", "esp32-s2", "esp32-s3", "esp32-c3"] {
        assert!(names.contains(&board), "no {board}: {ran}");
    }
    assert!(ran.stdout.contains("fatfs") && ran.stdout.contains("littlefs"), "{ran}");
    let text = flashmark("boards show esp32").exits(0).stdout;
    assert!(text.contains("source"), "{text}");
    let dir = Scratch::new();
    let file = dir.write("my.toml", &text);
    let words = "--suite esp-idf --set tries=1 --set target-size=4k --only tiny --format json";
    let own = run(format!("lab:{}/fatfs", file.display())).words(words).exits(0).records();
    let built_in = run("lab:esp32/fatfs").words(words).exits(0).records();
    assert_eq!(own.len(), built_in.len());
    for (one, other) in own.iter().zip(&built_in) {
        assert_eq!(one.outcome, other.outcome);
    }
    flashmark("boards show").arg(&file).exits(0);
    flashmark("boards show esp33").exits(2).printed_nothing().says(&["esp33", "esp32"]);
    let broken = dir.write("broken.toml", text.replacen("[partition]", "[partitoin]", 1));
    flashmark("boards show").arg(&broken).exits(2).printed_nothing().says(&["broken.toml:", "partitoin"]);
    run(format!("lab:{}", broken.display())).exits(2).printed_nothing().says(&["broken.toml:", "partitoin"]);
}

#[test]
fn the_keys_of_boards_are_told() {
    let all = flashmark("boards keys").exits(0).stdout;
    for key in ["  chip ", "  fatfs.cluster ", "  board.seed ", "  partition.size ", "[fatfs]", "[esp-flash]"] {
        assert_eq!(all.lines().filter(|line| line.starts_with(key)).count(), 1, "{key}: {all}");
    }
    assert!(all.lines().all(|line| line.chars().count() <= 100), "{all}");
    let of_board = flashmark("boards keys esp32").exits(0).stdout;
    for part in ["cpu.clock ", "160MHz", "CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_160", "not set:"] {
        assert!(of_board.contains(part), "{part}: {of_board}");
    }
    flashmark("boards keys esp33").exits(2).printed_nothing().says(&["esp33"]);
}

#[test]
fn chips_are_listed_and_shown() {
    let ran = flashmark("chips").exits(0);
    assert!(ran.stdout.lines().count() >= 6, "{ran}");
    assert!(ran.stdout.contains("w25q32jv") && ran.stdout.contains("4 MiB"), "{ran}");
    let text = flashmark("chips show W25Q32JV").exits(0).stdout;
    assert!(text.contains("source"), "{text}");
    let dir = Scratch::new();
    let file = dir.write("mine.toml", &text);
    assert_eq!(flashmark("chips show").arg(&file).exits(0).stdout, text);
    flashmark("chips show w25q99").exits(2).printed_nothing().says(&["w25q99", "w25q32jv"]);
}

#[test]
fn help_tells_of_boards() {
    let help = flashmark("help run").exits(0).stdout;
    for part in ["lab:esp32", "--sweep", "--shard", "--where", "--wear", "--image", "--sort"] {
        assert!(help.contains(part), "nothing of {part}: {help}");
    }
    assert!(flashmark("--help").exits(0).stdout.contains("boards"));
}
