//! What one process wrote another one checks; what is wrong is told with its place, and kept.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::os::unix::fs::FileExt as _;

use flashmark_core::record::{OpKind, Status};
use flashmark_core::target::FaultKind;
use support::process::{Ran, flashmark};
use support::{Scratch, records};

fn fio(dir: &Scratch, words: &str) -> Ran {
    flashmark("fio --name=j --filename=data --bs=4k --size=256k").words(words).in_dir(dir.path()).end()
}

fn flip(dir: &Scratch, offset: u64) -> (u8, u8) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(dir.join("data")).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.write_all_at(&[byte[0] ^ 0x55], offset).unwrap();
    // A medium that loses a bit tells nobody when.
    file.set_modified(modified).unwrap();
    (byte[0], byte[0] ^ 0x55)
}

#[test]
fn a_second_process_checks_what_the_first_one_wrote() {
    for (write, read) in [
        ("--rw=randwrite --ioengine=io_uring --iodepth=16", "--rw=read --ioengine=psync"),
        ("--rw=write --ioengine=psync --direct=1", "--rw=randread --ioengine=libaio --iodepth=16 --direct=1"),
    ] {
        for verify in
            ["--verify=crc32c", "--verify=sha256 --verify_interval=512", "--verify=pattern --verify_pattern=0xcafe%o"]
        {
            let dir = Scratch::new();
            fio(&dir, &format!("{write} {verify} --do_verify=0")).exited(0);
            fio(&dir, &format!("{read} {verify}")).exited(0);
            flip(&dir, 77_777);
            let ran = fio(&dir, &format!("{read} {verify} --output-format=json")).exited(1);
            let ran = ran.says(&["verify of 4096 bytes at offset 73728"]);
            let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(json["jobs"][0]["error"], 84);
            // The rest was read all the same.
            assert_eq!(json["jobs"][0]["read"]["total_ios"], 64);
        }
    }
}

#[test]
fn a_changed_byte_is_told_with_what_it_should_be_and_the_file_is_kept() {
    let dir = Scratch::new();
    fio(&dir, "--rw=write --verify=crc32c --do_verify=0").exited(0);
    let (expected, got) = flip(&dir, 100_000);
    let ran = fio(&dir, "--rw=read --verify=crc32c --unlink=1 --records r.jsonl").exited(1);
    let (offset, expected, got) = ("100000", format!("{expected:02x}"), format!("{got:02x}"));
    ran.says(&["data", offset, &expected, &got]);
    assert!(dir.join("data").exists(), "what is wrong is kept to be looked at");
    let kept = records::of_file(&dir.join("r.jsonl"));
    let fault = records::fault(&kept[0]);
    assert_eq!((kept[0].outcome.status, fault.op, fault.offset), (Status::Failed, OpKind::Verify, 98_304));
    assert_eq!(fault.fault.kind, FaultKind::Corrupt);
    assert!(fault.fault.message.contains(offset) && fault.fault.message.contains(&expected), "{fault:?}");
    assert_eq!(kept[0].outcome.verified_bytes, 0);
    // What is right goes.
    flip(&dir, 100_000);
    fio(&dir, "--rw=read --verify=crc32c --unlink=1").exited(0);
    assert!(!dir.join("data").exists());
}

#[test]
fn the_first_wrong_block_is_the_last_one_if_it_is_fatal_and_can_be_kept_beside() {
    let dir = Scratch::new();
    fio(&dir, "--rw=write --verify=md5 --do_verify=0").exited(0);
    for offset in [5000, 50_000, 150_000] {
        flip(&dir, offset);
    }
    let ran = fio(&dir, "--rw=read --verify=md5 --minimal").exited(1);
    assert_eq!(ran.stderr.matches("verify of 4096 bytes").count(), 3, "{ran}");
    let ran = fio(&dir, "--rw=read --verify=md5 --verify_fatal=1 --verify_dump=1 --minimal").exited(1);
    assert_eq!(ran.stderr.matches("verify of 4096 bytes").count(), 1, "{ran}");
    let dumps: Vec<String> = support::names_in(dir.path()).into_iter().filter(|name| name != "data").collect();
    assert_eq!(dumps.len(), 2, "expected and received: {dumps:?}");
    let [expected, received] = [".expected", ".received"]
        .map(|end| std::fs::read(dir.join(dumps.iter().find(|name| name.ends_with(end)).unwrap())).unwrap());
    let differing = expected.iter().zip(&received).filter(|(expected, received)| expected != received).count();
    assert_eq!((expected.len(), received.len(), differing), (4096, 4096, 1));
}

#[test]
fn a_run_that_was_cut_short_is_checked_as_far_as_it_came() {
    let dir = Scratch::new();
    let writing = "--rw=write --size=64m --verify=crc32c --do_verify=0 --ioengine=io_uring --iodepth=8";
    fio(&dir, &format!("{writing} --runtime=1 --rate_iops=200")).exited(0);
    assert!(support::names_in(dir.path()).iter().any(|name| name.ends_with("verify.state")));
    let checking = "--rw=write --size=64m --verify=crc32c --verify_only --ioengine=io_uring --iodepth=8 --minimal";
    fio(&dir, &format!("{checking} --verify_state_load=1")).exited(0);
    fio(&dir, checking).exited(1);
}

#[test]
fn an_engine_that_moves_nothing_finds_nothing_wrong_and_claims_nothing() {
    let dir = Scratch::new();
    for words in ["--rw=randwrite", "--rw=randrw --verify_backlog=8", "--rw=read"] {
        let file = format!("{}.jsonl", words.len());
        let words = format!("{words} --ioengine=null --iodepth=4 --verify=crc32c --records {file}");
        fio(&dir, &words).exited(0);
        assert_eq!(records::of_file(&dir.join(&file))[0].outcome.verified_bytes, 0, "{words}");
    }
    fio(&dir, "--rw=write --verify=crc32c --records real.jsonl").exited(0);
    assert_eq!(records::of_file(&dir.join("real.jsonl"))[0].outcome.verified_bytes, 256 << 10);
}

/// Two that write over each other verify what the other one wrote: that is told, also in records.
#[test]
fn jobs_that_write_over_each_other_and_verify_are_told_of() {
    let dir = Scratch::new();
    let says = "write bytes 131072 to 262144 of ";
    let second = "--name=k --filename=data --rw=write --bs=4k --size=256k";
    let ran = fio(&dir, &format!("--rw=write --verify=crc32c --records r.jsonl {second} --offset=128k"));
    let ran = ran.says(&["jobs `j` and `k`", says, "stonewall"]);
    assert_eq!(ran.stderr.matches(says).count(), 1, "{ran}");
    let records = records::of_file(&dir.join("r.jsonl"));
    assert!(records.iter().all(|record| record.outcome.warnings.iter().any(|doubt| doubt.message.contains(says))));
    let ran = fio(&dir, "--rw=write --verify=crc32c --numjobs=2");
    ran.says(&["copies of job `j` write bytes 0 to 262144"]);
    // None of these does.
    for words in [
        format!("--rw=write --verify=crc32c {second} --offset=256k"),
        format!("--rw=write --verify=crc32c {second} --stonewall"),
        format!("--rw=write {second}"),
        format!("--rw=write --verify=crc32c {}", second.replace("rw=write", "rw=read")),
        "--rw=write --verify=crc32c --numjobs=2 --offset_increment=256k".to_owned(),
    ] {
        let ran = fio(&dir, &words);
        assert!(!ran.stderr.contains("at the same time"), "{ran}");
    }
}
