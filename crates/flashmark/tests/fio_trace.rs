//! Traces by the command line: recorded, replayed, and read from others.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use serde_json::Value;
use support::Scratch;
use support::process::flashmark;

/// Reads, writes and their bytes.
fn run(dir: &Scratch, words: &str) -> [u64; 4] {
    let ran = flashmark("fio --output-format=json").words(words).in_dir(dir.path()).exits(0);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let job = &json["jobs"][0];
    ["/read/total_ios", "/read/io_bytes", "/write/total_ios", "/write/io_bytes"]
        .map(|path| job.pointer(path).unwrap().as_u64().unwrap())
}

#[test]
fn what_was_recorded_is_replayed() {
    let dir = Scratch::new();
    let recorded =
        run(&dir, "--name=j --filename=data --rw=randrw --bssplit=4k/50:16k/50 --size=1m --write_iolog=trace.log");
    assert!(recorded.iter().all(|number| *number > 0));
    assert!(std::fs::read_to_string(dir.join("trace.log")).unwrap().starts_with("fio version 3 iolog\n"));
    for engine in ["psync", "libaio --iodepth=8", "io_uring --iodepth=8"] {
        for more in ["--replay_no_stall=1", "", "--replay_redirect=other --replay_no_stall=1"] {
            let replayed = run(&dir, &format!("--name=r --ioengine={engine} --read_iolog=trace.log {more}"));
            assert_eq!(replayed, recorded, "{engine} {more}");
        }
    }
    let reads = run(&dir, "--name=r --read_iolog=trace.log --replay_no_stall=1 --replay_skip=write");
    assert_eq!(reads, [recorded[0], recorded[1], 0, 0]);
}

#[test]
fn fios_own_traces_are_replayed_and_fio_replays_ours() {
    let dir = Scratch::new();
    if !support::can_run(false, &["fio"]) {
        return;
    }
    let at = dir.path().display();
    let job = "--name=j --filename=data --rw=randrw --bs=4k --size=256k";
    support::sh(&format!("cd {at} && fio {job} --write_iolog=theirs.log && rm data"));
    let theirs = run(&dir, "--name=r --read_iolog=theirs.log --replay_no_stall=1");
    assert_eq!((theirs[0] + theirs[2], theirs[1] + theirs[3]), (64, 256 << 10));
    let ours = run(&dir, &format!("{job} --write_iolog=ours.log"));
    let replay = "fio --name=r --read_iolog=ours.log --replay_no_stall=1 --output-format=json";
    let text = support::sh(&format!("cd {at} && {replay}"));
    let json: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let counts = ["read", "write"].map(|direction| json["jobs"][0][direction]["total_ios"].as_u64().unwrap());
    assert_eq!(counts, [ours[0], ours[2]]);
}

#[test]
fn the_text_of_blkparse_is_replayed() {
    let dir = Scratch::new();
    let mut text = String::new();
    for index in 0..8 {
        let word = if index % 2 == 0 { "R" } else { "W" };
        text += &format!(
            "  8,0    1 {:8} {:14} {:5}  Q  {word:2} {} + 8 [fio]\n",
            index + 1,
            format!("0.{index:09}"),
            77,
            index * 8
        );
    }
    dir.write("blk.txt", text);
    let moved = run(&dir, "--name=r --read_iolog=blk.txt --replay_redirect=data --replay_no_stall=1");
    assert_eq!(moved, [4, 4 * 4096, 4, 4 * 4096]);
}

#[test]
fn a_broken_trace_is_told_with_its_line() {
    let dir = Scratch::new();
    dir.write("bad.log", "fio version 2 iolog\nf add\nf open\nf reed 0 4096\n");
    let ran = flashmark("fio --name=r --read_iolog=bad.log").in_dir(dir.path()).exits(2).printed_nothing();
    ran.says(&["bad.log", "4", "reed"]);
    dir.write("empty.log", "");
    flashmark("fio --name=r --read_iolog=empty.log").in_dir(dir.path()).exits(2).says(&["empty.log"]);
    flashmark("fio --name=r --read_iolog=none.log").in_dir(dir.path()).exits(2).says(&["none.log"]);
}
