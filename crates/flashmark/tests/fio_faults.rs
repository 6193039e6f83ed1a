//! Full media, media that fail, and users who have seen enough.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::time::{Duration, Instant};

use flashmark_core::record::{OpKind, Status};
use flashmark_core::target::FaultKind;
use rustix::process::Signal;
use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::{flashmark, until};
use support::{Scratch, can_run, records};

#[test]
fn what_does_not_fit_is_told_before_anything_is_written() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let tmpfs = Mounted::tmpfs("4m");
    for rw in ["write", "read"] {
        let ran = flashmark("fio --name=j --size=16m --bs=64k").words(&format!("--rw={rw}")).in_dir(tmpfs.path());
        ran.exits(2).printed_nothing().says(&["16777216", "free"]);
    }
}

#[test]
fn a_medium_that_fills_up_ends_the_job_with_the_places() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    for on_disk in [false, true] {
        for engine in
            ["psync", "libaio --iodepth=1", "libaio --iodepth=16", "io_uring --iodepth=1", "io_uring --iodepth=16"]
        {
            let (tmpfs, ext4);
            let at = if on_disk {
                ext4 = Ext4::new(8 << 20);
                ext4.path()
            } else {
                tmpfs = Mounted::tmpfs("4m");
                tmpfs.path()
            };
            let dir = Scratch::new();
            let file = dir.join("r.jsonl");
            let words = "--name=j --rw=write --size=16m --bs=96k --fallocate=none --output-format=json --records";
            let ran = flashmark(&format!("fio --ioengine={engine}")).words(words).arg(&file).in_dir(at).exits(1);
            let ran = ran.says(&["write of 98304 bytes at offset", "No space left on device"]);
            let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(json["jobs"][0]["error"], 28, "{engine}");
            assert!(json["jobs"][0]["write"]["io_bytes"].as_u64().unwrap() > 2 << 20, "{engine}: {ran}");
            let kept = records::of_file(&file);
            assert_eq!(kept[0].outcome.status, Status::Failed);
            let first = &kept[0].outcome.faults[0];
            assert_eq!((first.op, first.fault.kind), (OpKind::Write, FaultKind::NoSpace), "{engine}");
        }
    }
}

#[test]
fn a_job_that_fills_its_device_is_done_when_it_is_full() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    for on_disk in [false, true] {
        for engine in ["psync", "io_uring --iodepth=8"] {
            let (tmpfs, ext4);
            let at = if on_disk {
                ext4 = Ext4::new(8 << 20);
                ext4.path()
            } else {
                tmpfs = Mounted::tmpfs("4m");
                tmpfs.path()
            };
            let words = "--name=j --rw=write --bs=64k --fill_device=1 --fallocate=none --output-format=json";
            let line = || flashmark(&format!("fio --ioengine={engine}")).words(words).in_dir(at);
            let ran = line().exits(0);
            let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            assert!(json["jobs"][0]["write"]["io_bytes"].as_u64().unwrap() > 3 << 20, "{engine}: {ran}");
            assert_eq!(json["jobs"][0]["error"], 0);
            line().words("--filename=j.0.0 --verify=crc32c").exits(0);
        }
    }
}

#[test]
fn an_interrupted_run_with_thousands_under_way_ends_with_its_results() {
    let dir = Scratch::new();
    for engine in ["libaio", "io_uring"] {
        for (target, more) in [("data", "--direct=1"), ("data", "--rate_iops=1 --direct=1")] {
            let file = dir.join(&format!("{engine}-{}.jsonl", more.len()));
            let running = flashmark("fio --name=deep --rw=randread --bs=4k --size=64m --iodepth=4096 --time_based")
                .words("--runtime=1000 --output-format=json --records")
                .arg(&file)
                .words(&format!("--ioengine={engine} --filename={target} {more}"))
                .in_dir(dir.path())
                .start();
            // How much the disk was asked for (proc(5)): nothing before the job is at work.
            let io = format!("/proc/{}/io", running.id());
            let read_bytes = || {
                let text = std::fs::read_to_string(&io).unwrap_or_default();
                text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse::<u64>().ok()).unwrap_or(0)
            };
            let enough = if more.contains("rate") { 4096 } else { 32 << 20 };
            until("it reads", || read_bytes() >= enough);
            let begun = Instant::now();
            running.signal(Signal::INT);
            let ran = running.end().exited(130);
            assert!(begun.elapsed() < Duration::from_secs(20), "{engine} {more}: {:?}", begun.elapsed());
            let json: serde_json::Value =
                serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
            assert!(json["jobs"][0]["read"]["total_ios"].as_u64().unwrap() >= 1, "{ran}");
            let kept = records::of_file(&file);
            assert_eq!((kept.len(), kept[0].outcome.status), (1, Status::Interrupted));
        }
    }
}

#[test]
fn an_interrupt_while_files_are_made_ends_it() {
    let dir = Scratch::new();
    // Should it be made before the signal arrives, the job that follows has no end of its own.
    let line = "fio --name=j --rw=read --size=1g --time_based --runtime=1000 --output-format=json";
    let running = flashmark(line).in_dir(dir.path()).start();
    until("it makes its file", || running.written_bytes() > 1 << 20);
    running.signal(Signal::INT);
    running.end().exited(130);
}

/// A device whose blocks behind the first half cannot be read or written.
fn damaged(bytes: u64) -> Loop {
    let device = Loop::new(Image::new(bytes));
    device.image.set_len(bytes / 2);
    device
}

#[test]
fn errors_in_the_middle_of_a_queue_are_told_with_their_places() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = damaged(1 << 20);
    let dir = Scratch::new();
    for engine in ["psync", "libaio --iodepth=32", "io_uring --iodepth=32", "vsync"] {
        let name = engine.split(' ').next().unwrap();
        let run = |more: &str, code: i32| {
            let file = dir.join(&format!("{name}{}.jsonl", more.len()));
            let ran = flashmark("fio --name=j --rw=randread --bs=4k --direct=1 --output-format=json --records")
                .arg(&file)
                .arg(format!("--filename={}", device.node.display()))
                .words(&format!("--ioengine={engine} {more}"))
                .exits(code);
            let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            (records::of_file(&file).remove(0), json, ran)
        };
        let (record, json, ran) = run("", 1);
        ran.says(&["read of 4096 bytes at offset", "Input/output error"]);
        assert_eq!(json["jobs"][0]["error"], 5);
        assert_eq!(record.outcome.status, Status::Failed);
        assert!(!record.outcome.faults.is_empty());
        for fault in &record.outcome.faults {
            assert!(
                (fault.offset >= 512 << 10) && (fault.op, fault.fault.kind) == (OpKind::Read, FaultKind::Io),
                "{fault:?}"
            );
        }
        // Going on, exactly the bad half fails.
        let (record, json, _) = run("--continue_on_error=read", 1);
        assert_eq!((record.outcome.fault_count, json["jobs"][0]["total_err"].as_u64()), (128, Some(128)), "{engine}");
        assert_eq!(json["jobs"][0]["read"]["total_ios"], 128, "{engine}");
        assert_eq!(json["jobs"][0]["first_error"], 5);
    }
}

#[test]
fn an_error_of_one_job_leaves_the_others_alone() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = damaged(1 << 20);
    let dir = Scratch::new();
    let text = format!(
        "[global]\nbs=4k\n[bad]\nfilename={}\nrw=read\nsize=1m\n[good]\nfilename=data\nrw=write\nsize=1m\n\
         [later]\nstonewall\nfilename=data\nrw=read\nsize=1m\n",
        device.node.display()
    );
    dir.write("job.fio", text);
    let ran = flashmark("fio job.fio --output-format=json").in_dir(dir.path()).exits(1);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let errors: Vec<u64> = json["jobs"].as_array().unwrap().iter().map(|job| job["error"].as_u64().unwrap()).collect();
    assert_eq!(errors, [5, 0, 0]);
    assert_eq!(
        (&json["jobs"][1]["write"]["total_ios"], &json["jobs"][2]["read"]["total_ios"]),
        (&256.into(), &256.into())
    );
}

#[test]
fn a_log_that_cannot_be_written_is_told_and_the_results_are_there() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let tmpfs = Mounted::tmpfs("64k");
    let line = "fio --name=j --ioengine=null --rw=read --bs=4k --size=256m --write_lat_log=l --output-format=json";
    let ran = flashmark(line).in_dir(tmpfs.path()).exits(1).says(&["a log could not be written", "No space left"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["jobs"][0]["read"]["total_ios"], 65536);
}
