//! Wrong command lines: the exit code is 2 (1 where a workload turns out to be impossible), standard output stays
//! empty, and the message names the cause and what to do.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use support::process::{Line, flashmark, run};
use support::{Scratch, assert_nothing_left};

/// A wrong command line: refused before anything is done, and nothing stays in the target.
#[track_caller]
fn wrong(words: &str, says: &[&str]) {
    let dir = Scratch::new();
    run(dir.path()).words(words).exits(2).printed_nothing().says(says);
    assert_nothing_left(dir.path());
}

/// A wrong command line that needs no target.
#[track_caller]
fn wrong_line(line: Line, says: &[&str]) {
    line.exits(2).printed_nothing().says(says);
}

#[test]
fn nothing_to_do() {
    wrong_line(flashmark(""), &["Usage: flashmark <COMMAND>"]);
    wrong_line(flashmark("run"), &["<TARGET>"]);
    wrong_line(flashmark("show"), &["<FILE>"]);
    wrong_line(flashmark("rnu ."), &["unrecognized subcommand 'rnu'", "--help"]);
}

#[test]
fn help_and_version_are_no_errors() {
    for words in ["--help", "help run", "run --help", "help suites", "--version"] {
        let ran = flashmark(words).exits(0);
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran}");
    }
    let ran = flashmark("help run").exits(0);
    for part in ["flashmark run .", "--destroy", "--resume", "Exit codes", "--queue-depth"] {
        assert!(ran.stdout.contains(part), "nothing of {part}: {ran}");
    }
}

#[test]
fn an_unknown_suite_gets_the_nearest_name() {
    wrong("--suite quik", &["`quik`", "did you mean `quick`", "raw-read"]);
    wrong("--suite nothing-like-it", &["`nothing-like-it`", "built in are", "./nothing-like-it.toml"]);
    wrong("--suite ./missing.toml", &["./missing.toml", "No such file"]);
    wrong_line(flashmark("suites show sdfta"), &["did you mean `sdfat`"]);
}

#[test]
fn unknown_options_keys_and_values_get_the_nearest_name() {
    wrong("--blok 4k", &["--blok", "--block"]);
    wrong("--set blok=4k", &["--set blok=4k", "did you mean `block`"]);
    wrong("--suite sdfat --set write-pass=3", &["`write-pass`", "did you mean `write-passes`"]);
    wrong("--set block", &["`block`", "KEY=VALUE"]);
    wrong("--op wirte --size 1m", &["--op", "wirte", "did you mean `write`"]);
    wrong("--op write --size 1m --order randm", &["randm", "\"random\""]);
    wrong("--format xml", &["xml", "table", "json", "csv", "markdown", "esp-idf", "sdfat", "sd-bench"]);
    wrong("--only nonsense", &["nonsense", "sequential write", "random read"]);
}

#[test]
fn sizes_and_times_that_mean_nothing() {
    wrong("--size 0", &["size is 0", "the least is one block"]);
    wrong("--block 0", &["block is 0", "the least is 1 byte"]);
    wrong("--time 0s", &["time is 0"]);
    wrong("--repeats 0", &["repeats"]);
    wrong("--size 4q", &["--size 4q", "KiB", "MB"]);
    wrong("--size -1", &["-1"]);
    wrong("--time 10", &["--time 10", "unit", "10s"]);
    wrong("--size 99999999999999999999", &["99999999999999999999", "too large"]);
    wrong("--op write --block 64k --size 4k", &["65536", "4096", "make block smaller or size larger"]);
    wrong("--block 2m --file-size 1m", &["2097152", "1048576", "file-size"]);
    wrong("--op mixed --read-percent 101 --size 1m", &["101", "100"]);
}

#[test]
fn settings_that_contradict_each_other() {
    wrong("--op read --size 1m --sync end", &["sync", "leave"]);
    wrong("--op read --size 1m --file new", &["--file new", "a workload that reads needs file = \"existing\""]);
    wrong("--op write --file append --order random --size 1m", &["append", "sequential"]);
    wrong("--op write", &["size"]);
    wrong("--suite quick --op write", &["leave the option out"]);
    wrong("--compat", &["quick", "only one form"]);
    wrong("--format esp-idf", &["esp-idf", "`quick`", "run suite esp-idf"]);
    wrong("--suite sdfat --format sd-bench", &["sd-bench", "`sdfat`", "choose format"]);
    wrong("--resume x.jsonl", &["--resume", "cannot be used with"]);
}

/// What is wrong in a suite file is named with its place.
#[test]
fn a_wrong_suite_file_is_named_with_its_line() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    for (text, says) in [
        ("name = \"x\"\n[[workload]]\nname = \"a\"\nblock = true\n", "suite.toml:4:9: block = true"),
        ("name = \"x\"\n[[workload]]\nname = \"a\"\nblok = \"4k\"\n", "suite.toml:4:1: unknown key `blok`"),
        ("name = \"x\"\n[[workload]]\nname = \"a\"\nsize = \"4 parsecs\"\n", "suite.toml:4:8"),
        ("name = \"x\"\n[[workload]\n", "suite.toml:2"),
        ("name = \"x\"\n", "there is no workload"),
        ("[[workload]]\nname = \"a\"\nsize = \"1m\"\n", "`name`"),
        ("name = \"x\"\n[[workload]]\nname = \"a\"\nblock = \"8k\"\nsize = \"4k\"\n", "make block smaller"),
    ] {
        let suite = dir.write("suite.toml", text);
        run(&target).words("--suite").arg(&suite).exits(2).printed_nothing().says(&["suite.toml", says]);
        flashmark("suites show").arg(&suite).exits(2).printed_nothing().says(&["suite.toml"]);
    }
    assert_nothing_left(&target);
}

#[test]
fn targets_that_are_none() {
    wrong_line(
        run("/nonexistent/card"),
        &["/nonexistent/card does not exist", "name a directory, a file or a block device"],
    );
    if cfg!(unix) {
        wrong_line(run("/dev/null"), &["/dev/null is not a directory, a regular file or a block device"]);
    }
    let dir = Scratch::new();
    // The first target is fine, but nothing is to be done when the second one is wrong.
    run(dir.path()).arg("/nonexistent/card").words("--size 1m").exits(2).printed_nothing().says(&["/nonexistent/card"]);
    assert_nothing_left(dir.path());
}

#[test]
fn consent_for_something_else_stops_everything() {
    let dir = Scratch::new();
    let target = dir.write("target.img", [1; 4096]);
    let other = dir.write("other.img", [2; 4096]);
    for given in [other.as_path(), "/nonexistent".as_ref(), dir.path()] {
        let line = run(&target).words("--op write --size 4k --block 4k --destroy").arg(given);
        line.exits(2).printed_nothing().says(&["--destroy", "nothing was done"]);
    }
    assert_eq!(std::fs::read(&target).unwrap(), [1; 4096]);
    assert_eq!(std::fs::read(&other).unwrap(), [2; 4096]);
}

#[test]
fn output_files_that_cannot_be() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    let taken = dir.write("taken.jsonl", "mine\n");
    let line = |path: &std::path::Path| run(&target).words("--op write --size 4k --block 4k -o").arg(path);
    line(&taken).exits(2).printed_nothing().says(&["taken.jsonl", "exists", "--resume"]);
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine\n");
    line(&dir.join("no/such/place.jsonl")).exits(2).printed_nothing().says(&["place.jsonl", "No such file"]);
    line(&target).exits(2).printed_nothing().says(&["target", "directory"]);
    // The same of a recording; neither file is made without the other.
    let (output, iolog) = (dir.join("new.jsonl"), dir.join("new.log"));
    let both = |output: &std::path::Path, iolog: &std::path::Path| line(output).arg("--iolog").arg(iolog);
    both(&output, &dir.join("no/such/place.log")).exits(2).printed_nothing().says(&["place.log", "No such file"]);
    both(&output, &taken).exits(2).printed_nothing().says(&["--iolog", "taken.jsonl", "exists"]);
    both(&dir.join("no/such/place.jsonl"), &iolog).exits(2).printed_nothing().says(&["place.jsonl", "No such file"]);
    assert!(!output.exists() && !iolog.exists());
    let fio = |path: &std::path::Path| {
        flashmark("fio --name=j --rw=write --size=4k").arg(format!("--output={}", path.display())).in_dir(&target)
    };
    fio(&dir.join("no/such/place.txt")).exits(2).printed_nothing().says(&["--output=", "place.txt", "No such file"]);
    fio(&target).exits(2).printed_nothing().says(&["--output=", "directory"]);
    assert_nothing_left(&target);
}

#[test]
fn files_that_are_no_runs() {
    let dir = Scratch::new();
    let text = dir.write("letter.txt", "Dear Sir,\n");
    for line in [flashmark("show").arg(&text), flashmark("run --resume").arg(&text)] {
        line.exits(2).printed_nothing().says(&["letter.txt", "line 1 is not JSON"]);
    }
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "Dear Sir,\n", "a foreign file is left as it is");
    let json = dir.write("other.jsonl", "{\"schema\":1,\"colour\":\"red\"}\n");
    flashmark("show").arg(&json).exits(2).printed_nothing().says(&["line 1 is not a flashmark record"]);
    let later = dir.write("later.jsonl", "{\"schema\":99,\"flashmark\":\"7.0\"}\n");
    flashmark("show").arg(&later).exits(2).printed_nothing().says(&["version 99", "7.0"]);
    flashmark("show /nonexistent.jsonl").exits(2).printed_nothing().says(&["/nonexistent.jsonl"]);
    flashmark("clean /nonexistent").exits(2).printed_nothing().says(&["/nonexistent"]);
}

#[test]
fn what_the_engine_or_the_target_cannot_do() {
    wrong("--op write --size 64k --block 4k --queue-depth 4", &["queue-depth = 4", "leave queue-depth out"]);
    let too_deep = "--op write --size 64k --block 4k --queue-depth 100000 --engine";
    wrong(
        &format!("{too_deep} io_uring"),
        &["queue-depth = 100000", "`io_uring` keeps at most 32768", ": use queue-depth = 32768 or less\n"],
    );
    wrong(
        &format!("{too_deep} sync"),
        &["at most 1 operation under way: leave queue-depth out, or use engine = \"libaio\" with at most 65536\n"],
    );
    wrong(
        "--op write --size 64k --block 4k --queue-depth 40000 --engine io_uring",
        &["use engine = \"libaio\", or queue-depth = 32768 or less\n"],
    );
    wrong(
        "--op write --size 64k --block 4k --engine warp",
        &["no engine `warp`", "there are sync, pvsync", "io_uring"],
    );
    wrong("--op write --size 64k --block 4k --engine tokio --direct required", &["direct = \"required\"", "tokio"]);
    wrong("--op read --time 1s", &["no size of its own", "file-size"]);
    let dir = Scratch::new();
    let file = dir.write("data.bin", [7; 4096]);
    let too_small = run(&file).words("--op read --block 4k --size 8k").exits(2).printed_nothing();
    too_small.says(&["data.bin", "4096 bytes", "8192", "make size or file-size smaller"]);
    // A suite of its own accord takes what there is.
    let ran = run(dir.write("small.bin", vec![7; 2 << 20])).words("--suite quick --only read --time 50ms").exits(0);
    assert!(ran.stdout.contains("the target has only 2097152 bytes"), "{ran}");
    let no_block = run(dir.write("empty.bin", "")).words("--op read --block 4k").exits(2).printed_nothing();
    no_block.says(&["empty.bin", "0 bytes", "4096 bytes"]);
}

/// A directory cannot be destroyed, and the message must not say that it is no target.
#[test]
fn consent_for_a_directory_is_a_misunderstanding() {
    let dir = Scratch::new();
    let line = run(dir.path()).words("--op write --size 4k --block 4k --destroy").arg(dir.path());
    let ran = line.exits(2).printed_nothing().says(&["--destroy", "directory"]);
    assert!(!ran.stderr.contains("names no target"), "{ran}");
}

/// Messages of the system are told once.
#[test]
fn no_message_says_the_same_twice() {
    let dir = Scratch::new();
    let text = dir.write("letter.txt", "Dear Sir,\n");
    for line in [
        run(dir.path()).words("--op write --size 4k --block 4k -o /nonexistent/run.jsonl"),
        run(dir.path()).words("--suite /nonexistent/suite.toml"),
        flashmark("show /nonexistent.jsonl"),
        flashmark("show").arg(&text),
        flashmark("run --resume").arg(&text),
        flashmark("run --resume").arg(dir.path()),
        flashmark("clean /nonexistent"),
    ] {
        let ran = line.exits(2);
        let mut parts: Vec<&str> = ran.stderr.trim().split(": ").collect();
        parts.sort_unstable();
        assert!(parts.windows(2).all(|two| two[0] != two[1]), "{ran}");
        for reason in ["os error", "expected value"] {
            assert!(ran.stderr.matches(reason).count() <= 1, "{ran}");
        }
    }
}

#[test]
fn a_target_that_is_named_twice_is_a_mistake() {
    let dir = Scratch::new();
    let data = dir.write("data.bin", [1; 8192]);
    let roundabout = dir.path().join(".").join("data.bin");
    run(&data).arg(&roundabout).words("--op read --block 4k").exits(2).printed_nothing().says(&["named twice"]);
}

/// Whoever takes a suite's parameter for an option, or a negative number for a size, is told what to do.
#[test]
fn near_misses_are_explained() {
    wrong("--suite sdfat --write-passes 3", &["--set write-passes=VALUE", "sdfat"]);
    wrong("--size -4k", &["--size -4k", "is expected"]);
    let dir = Scratch::new();
    run(dir.path()).arg("--only").arg("").exits(2).printed_nothing().says(&["--only"]);
    wrong("--bits --format csv", &["--bits is for format esp-idf"]);
}

#[cfg(unix)]
#[test]
fn a_path_that_no_record_could_name_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Scratch::new();
    let path = dir.path().join(std::ffi::OsStr::from_bytes(b"d\xffx"));
    std::fs::create_dir(&path).unwrap();
    run(&path).words("--op write --size 4k --block 4k").exits(2).printed_nothing().says(&["not UTF-8"]);
}
