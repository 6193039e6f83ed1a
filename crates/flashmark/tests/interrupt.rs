//! Ctrl-C and its relatives at every moment: exit code 130, no test file stays, the run file has whole lines, and what was
//! measured is printed.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use flashmark_core::record::{Record, Status};
use rustix::process::Signal;
use support::process::{Ran, Running, run, until};
use support::{Scratch, assert_nothing_left, records, test_file_in};

/// A run in a directory of its own.
struct Interrupted {
    target: Scratch,
    out: Scratch,
    running: Running,
}

impl Interrupted {
    fn of(words: &str) -> Self {
        let out = Scratch::new();
        Self::start(words.to_owned(), out)
    }

    fn of_suite(workloads: &str) -> Self {
        let out = Scratch::new();
        let suite =
            out.write("slow.toml", format!("name = \"slow\"\n[defaults]\nblock = \"4k\"\nsize = \"64k\"\n{workloads}"));
        Self::start(format!("--suite {}", suite.display()), out)
    }

    fn start(words: String, out: Scratch) -> Self {
        let target = Scratch::new();
        let line = run(target.path()).words(&words).words("--format json -o").arg(out.join("run.jsonl"));
        Self { running: line.start(), target, out }
    }

    fn file(&self) -> PathBuf {
        self.out.join("run.jsonl")
    }

    /// Waits until the test file has so many bytes and is open so many times (once by its lock).
    #[track_caller]
    fn until_test_file(&self, what: &str, bytes: u64, open: usize) {
        until(what, || {
            let Some(test_file) = test_file_in(self.target.path()) else { return false };
            let has = test_file.metadata().map_or(0, |meta| meta.len());
            has >= bytes && self.running.times_open(&test_file) == open
        });
    }

    #[track_caller]
    fn ends_by(self, signal: Signal) -> (Ran, Vec<Record>) {
        self.running.signal(signal);
        let file = self.file();
        let ran = self.running.end().exited(130);
        assert_nothing_left(self.target.path());
        let records = ran.records();
        assert_eq!(records::of_file(&file), records, "{ran}");
        (ran, records)
    }
}

#[track_caller]
fn assert_interrupted(ran: &Ran, records: &[Record]) {
    assert_eq!(records.len(), 1, "{ran}");
    assert_eq!(records[0].outcome.status, Status::Interrupted, "{ran}");
    assert_eq!(records[0].outcome.fault_count, 0, "it is no fault: {ran}");
}

#[test]
fn during_the_layout() {
    let run = Interrupted::of("--op read --file-size 2g --block 4k --time 60s");
    run.until_test_file("it is laid out", 1, 2);
    let (ran, records) = run.ends_by(Signal::INT);
    assert_interrupted(&ran, &records);
    assert_eq!(records[0].outcome.bytes, 0, "{ran}");
}

#[test]
fn while_it_writes() {
    let run = Interrupted::of("--op write --file append --block 4k --time 60s");
    run.until_test_file("it writes", 4096, 2);
    let (ran, records) = run.ends_by(Signal::INT);
    assert_interrupted(&ran, &records);
    assert!(records[0].outcome.bytes > 0, "the figures cover what had run: {ran}");
    ran.says(&["interrupted; the numbers cover what had run"]);
}

#[test]
fn while_it_reads() {
    let run = Interrupted::of("--op read --order random --file-size 64k --block 4k --time 60s --verify");
    run.until_test_file("it reads", 64 << 10, 2);
    let (ran, records) = run.ends_by(Signal::INT);
    assert_interrupted(&ran, &records);
}

#[test]
fn in_a_pause() {
    let run = Interrupted::of("--op write --size 64k --block 4k --repeats 2 --pause 10min");
    run.until_test_file("it pauses", 64 << 10, 1);
    let (ran, records) = run.ends_by(Signal::INT);
    assert_interrupted(&ran, &records);
    assert_eq!((records[0].outcome.repeats.len(), records[0].outcome.bytes), (1, 64 << 10), "{ran}");
}

#[test]
fn in_the_second_workload() {
    let run = Interrupted::of_suite(
        "[[workload]]\nname = \"quick\"\nop = \"write\"\n\
         [[workload]]\nname = \"slow\"\nop = \"write\"\nsize = \"128k\"\nrepeats = 2\npause = \"10min\"\n\
         [[workload]]\nname = \"never\"\n",
    );
    run.until_test_file("the second pauses", 128 << 10, 1);
    let (ran, records) = run.ends_by(Signal::INT);
    assert_eq!(records::statuses(&records), [("quick", Status::Done), ("slow", Status::Interrupted)], "{ran}");
}

/// The table says what is complete and what is not.
#[test]
fn the_table_is_printed() {
    let target = Scratch::new();
    let running = run(target.path()).words("--op write --file append --block 4k --time 60s").start();
    until("it writes", || test_file_in(target.path()).is_some_and(|file| file.metadata().is_ok_and(|m| m.len() > 0)));
    running.signal(Signal::INT);
    let ran = running.end().exited(130);
    assert!(ran.stdout.contains("(interrupted)") && ran.stdout.contains("MB/s"), "{ran}");
    assert_nothing_left(target.path());
}

#[test]
fn by_sigterm_and_sighup() {
    for signal in [Signal::TERM, Signal::HUP] {
        let run = Interrupted::of("--op write --size 64k --block 4k --repeats 2 --pause 10min");
        run.until_test_file("it pauses", 64 << 10, 1);
        let (ran, records) = run.ends_by(signal);
        assert_interrupted(&ran, &records);
    }
}

/// A second one does not wait for the operation: here one block of 256 MiB, which takes a while to be made.
#[test]
fn twice() {
    let target = Scratch::new();
    let out = Scratch::new();
    let file = out.join("run.jsonl");
    let words = "--op write --block 256m --size 2g --format json -o";
    let mut running = run(target.path()).words(words).arg(&file).start();
    // Open by its lock and by the workload, which makes its first block now.
    until("it has begun", || test_file_in(target.path()).is_some_and(|test_file| running.times_open(&test_file) == 2));
    while running.is_alive() {
        running.signal(Signal::INT);
        std::thread::sleep(Duration::from_millis(20));
    }
    let ran = running.end().exited(130);
    assert_nothing_left(target.path());
    assert!(records::of_file(&file).len() <= 1);
    // Without optimisation the block is not ready by then, and nothing has come to an end that could be printed.
    if cfg!(debug_assertions) {
        assert_eq!(ran.stdout, "", "{ran}");
    }
}

/// As soon as a record is there, which may be before the next workload begins.
#[test]
fn between_two_workloads() {
    let run = Interrupted::of_suite(
        "[[workload]]\nname = \"quick\"\nop = \"write\"\n\
         [[workload]]\nname = \"slow\"\nrepeats = 2\npause = \"10min\"\n",
    );
    until("the first is done", || records::lines_in(&run.file()) == 1);
    let (ran, records) = run.ends_by(Signal::INT);
    let both = [("quick", Status::Done), ("slow", Status::Interrupted)];
    assert_eq!(records::statuses(&records), both[..records.len()], "{ran}");
}

/// Whenever it comes, nothing stays. Before the program could ask to be told, the signal ends it by itself.
#[test]
fn at_any_time() {
    let out = Scratch::new();
    let suite = out.write(
        "mixed.toml",
        "name = \"mixed\"\n[defaults]\nblock = \"4k\"\nsize = \"256k\"\nverify = \"full\"\n\
         [[workload]]\nname = \"write\"\nop = \"write\"\nsync = \"every:8\"\n\
         [[workload]]\nname = \"read\"\nrepeats = 3\npause = \"1ms\"\n\
         [[workload]]\nname = \"mixed\"\nop = \"mixed\"\n\
         [[workload]]\nname = \"slow\"\ntime = \"60s\"\nsize = \"all\"\nfile-size = \"256k\"\n",
    );
    for nth in 0..24_u64 {
        let target = Scratch::new();
        let file = out.join(&format!("{nth}.jsonl"));
        let running = run(target.path()).words("--suite").arg(&suite).words("-o").arg(&file).start();
        std::thread::sleep(Duration::from_millis(nth * nth / 4));
        running.signal(Signal::INT);
        let ran = running.end();
        let by_itself = ran.status.code().is_none() && !file.exists();
        assert!(by_itself || ran.status.code() == Some(130), "{ran}");
        assert_nothing_left(target.path());
        if file.exists() {
            assert_whole(&file);
        }
    }
}

/// Every line is a record, all but the last complete.
fn assert_whole(file: &Path) {
    let records = records::of_file(file);
    for (nth, record) in records.iter().enumerate() {
        assert_eq!(record.run.index as usize, nth);
        assert!(record.outcome.status == Status::Done || nth + 1 == records.len());
    }
}
