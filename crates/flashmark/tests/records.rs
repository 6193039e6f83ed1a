//! What a run writes with `-o` fits docs/record.schema.json, and goes nowhere where it would cost data.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::Path;

use flashmark_core::record::{FAULTS_KEPT, Record, Status, TargetKind};
use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::{flashmark, run, until};
use support::{Scratch, assert_nothing_left, can_run, records};

/// The records of the file, each of which must fit.
#[track_caller]
fn fitting(file: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/record.schema.json"));
    let schema: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
    let validator = jsonschema::draft202012::options().build(&schema).unwrap();
    let records = records::of_file(file);
    assert!(!records.is_empty());
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let complaints: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(complaints.is_empty(), "{complaints:?}\n{line}");
        // Nothing that is written is lost by reading it.
        let record: Record = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(record).unwrap(), value);
    }
    records
}

#[test]
fn of_every_setting_on_a_directory() {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    let settings = [
        "--op read --size 64k --order random",
        "--op read --size 64k --order zipf:1.1 --repeats 3 --warm-up 1 --pause 1ms",
        "--op mixed --size 64k --read-percent 70 --order random-once --sync every:2 --verify",
        "--op write --size 64k --sync end --time-open-close --preallocate --data zeros",
        "--op write --size 64k --file append --data text:abc --data-end z --direct buffered",
        "--op write --size 64k --data compressible:40 --engine tokio --drain=false --accept-short --seed 7",
        "--op write --file-size 64k --file existing --time 5ms --reopen once --max-errors 3",
    ];
    for (nth, words) in settings.into_iter().enumerate() {
        let file = dir.join(&format!("{nth}.jsonl"));
        run(&target).words("--block 4k").words(words).words("-o").arg(&file).exits(0);
        let record = fitting(&file).remove(0);
        assert_eq!((record.outcome.status, record.target.kind), (Status::Done, TargetKind::Directory));
        assert_eq!(record.run.settings.len(), words.matches("--").count() + 1, "{:?}", record.run.settings);
    }
    assert_nothing_left(&target);
}

#[test]
fn of_suites_in_both_forms() {
    let dir = Scratch::new();
    for (nth, words) in [
        "--suite quick --size 64k --file-size 64k --block 4k",
        "--suite esp-idf --set target-size=4k --set tries=2 --compat",
        "--suite sdfat --set write-passes=1 --size 64k --only write",
        "--suite sync-async --set calls=2 --file-size 1m --compat",
    ]
    .into_iter()
    .enumerate()
    {
        let file = dir.join(&format!("{nth}.jsonl"));
        run(dir.path()).words(words).words("-o").arg(&file).exits(0);
        fitting(&file);
    }
}

#[test]
fn of_files_and_devices_skipped_and_destroyed() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let dir = Scratch::new();
    let data = dir.write("data.bin", support::somebodys_data(64 << 10));
    let device = Loop::new(Image::ext4(4 << 20));
    let words = "--size 64k --file-size 64k --block 4k --serials -o";
    for (name, kind) in [(&data, TargetKind::File), (&device.node, TargetKind::Device)] {
        let (read, destroyed) = (dir.join("read.jsonl"), dir.join("destroyed.jsonl"));
        run(name).words(words).arg(&read).exits(0);
        let records = fitting(&read);
        assert!(records.iter().all(|record| record.target.kind == kind));
        assert_eq!(records.iter().filter(|record| record.outcome.status == Status::Skipped).count(), 4);
        run(name).words(words).arg(&destroyed).words("--destroy").arg(name).exits(0);
        assert!(fitting(&destroyed).iter().all(|record| record.outcome.status == Status::Done));
        std::fs::remove_file(read).unwrap();
        std::fs::remove_file(destroyed).unwrap();
    }
    let ext4 = Ext4::new(16 << 20);
    let file = dir.join("ext4.jsonl");
    run(ext4.path()).words(words).arg(&file).exits(0);
    fitting(&file);
}

#[test]
fn of_what_failed_and_was_interrupted() {
    if !can_run(true, &["mount", "losetup"]) {
        return;
    }
    let dir = Scratch::new();
    let tmpfs = Mounted::tmpfs("1m");
    let file = dir.join("full.jsonl");
    run(tmpfs.path()).words("--op write --file append --block 64k --time 60s -o").arg(&file).exits(1);
    assert_eq!(fitting(&file)[0].outcome.status, Status::Failed);

    let device = Loop::new(Image::new(1 << 20));
    device.image.set_len(64 << 10);
    let file = dir.join("errors.jsonl");
    run(&device.node).words("--op read --block 4k --max-errors 1000 -o").arg(&file).exits(1);
    let record = fitting(&file).remove(0);
    assert_eq!((record.outcome.status, record.outcome.faults.len()), (Status::Done, FAULTS_KEPT));

    let file = dir.join("interrupted.jsonl");
    let target = dir.subdir("target");
    let running = run(&target).words("--op write --file append --block 4k --time 60s -o").arg(&file).start();
    until("it writes", || {
        support::test_file_in(&target).is_some_and(|test| test.metadata().is_ok_and(|m| m.len() > 0))
    });
    running.signal(rustix::process::Signal::INT);
    running.end().exited(130);
    assert_eq!(fitting(&file)[0].outcome.status, Status::Interrupted);
}

/// A run with this word and path, which is refused before it begins.
#[track_caller]
fn refused(word: &str, path: &Path, is: &str) {
    let dir = Scratch::new();
    let target = dir.subdir("target");
    let line = if word == "-o" { run(&target).words("--op write --size 4k --block 4k") } else { flashmark("run") };
    let says = format!("{} is {is}, and a run file is a regular file or a pipe", path.display());
    line.words(word).arg(path).exits(2).printed_nothing().says(&[&says]);
    assert_nothing_left(&target);
}

/// `-o /dev/sdX` once wrote the first record over the first bytes of the disk.
#[test]
fn a_disk_is_no_place_for_records() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let data = support::somebodys_data(1 << 20);
    let image = Image::new(data.len() as u64);
    std::fs::write(&image.path, &data).unwrap();
    let device = Loop::new(image);
    let dir = Scratch::new();
    let link = dir.join("run.jsonl");
    std::os::unix::fs::symlink(&device.node, &link).unwrap();
    let ext4 = Ext4::new(4 << 20);
    for word in ["-o", "--resume"] {
        for path in [&device.node, &link, &ext4.device.node] {
            refused(word, path, "a block device");
        }
    }
    support::sh(&format!("blockdev --flushbufs {}", device.node.display()));
    assert!(std::fs::read(&device.node).unwrap() == data, "the device has changed");
    assert!(std::fs::read(&device.image.path).unwrap() == data, "the disk has changed");
    // The first 1024 bytes are not ext4's, but whoever writes to the device begins there.
    let start = std::fs::read(&ext4.device.node).unwrap();
    assert!(start[..1024].iter().all(|byte| *byte == 0), "{:?}", &start[..1024]);
}

#[test]
fn a_directory_and_other_devices_are_no_places_for_records() {
    let dir = Scratch::new();
    for word in ["-o", "--resume"] {
        refused(word, dir.path(), "a directory");
        refused(word, Path::new("/dev/zero"), "a device that is no terminal");
    }
}

#[test]
fn records_can_go_to_pipes_and_terminals() {
    let dir = Scratch::new();
    let words = "--op write --size 4k --block 4k --quiet -o";
    let ran = run(dir.path()).words(words).arg("/dev/stderr").exits(0);
    assert!(ran.stderr.starts_with("{\"schema\":1,") && ran.stderr.ends_with("}\n"), "{ran}");
    run(dir.path()).words(words).arg("/dev/null").exits(0);
    flashmark("run --resume /dev/null").exits(2).says(&["only a run in a file can be resumed"]);
    if !can_run(false, &["script"]) {
        return;
    }
    let (program, target) = (env!("CARGO_BIN_EXE_flashmark"), dir.path().display());
    for terminal in ["/dev/tty", "/dev/stdout"] {
        // Runs the command on a terminal of its own.
        let command = format!("script -qec '{program} run {target} {words} {terminal}' /dev/null");
        let shown = support::sh(&command);
        assert!(shown.contains("{\"schema\":1,"), "{terminal}: {shown}");
    }
}
