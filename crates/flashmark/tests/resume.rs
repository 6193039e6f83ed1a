//! `--resume`: an interrupted run is finished, and its file is then like that of an unbroken one.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::{Path, PathBuf};

use flashmark_core::record::{Record, Status};
use rustix::process::Signal;
use support::process::{Line, Running, flashmark, run, until};
use support::{Scratch, assert_nothing_left, records, test_file_in};

const SUITE: &str = "name = \"four\"\n[defaults]\nblock = \"4k\"\nsize = \"64k\"\n\
     [[workload]]\nname = \"one\"\nop = \"write\"\n\
     [[workload]]\nname = \"two\"\n\
     [[workload]]\nname = \"three\"\nsize = \"128k\"\nrepeats = 2\npause = \"$pause\"\n\
     [[workload]]\nname = \"four\"\nop = \"mixed\"\nverify = true\n";

/// A suite, a directory to run it on, and a place for the run file.
struct Setting {
    out: Scratch,
    target: PathBuf,
    suite: PathBuf,
}

impl Setting {
    fn with_pause(pause: &str) -> Self {
        let out = Scratch::new();
        let target = out.subdir("target");
        let suite = out.write("four.toml", SUITE.replace("$pause", pause));
        Self { out, target, suite }
    }

    fn new() -> Self {
        Self::with_pause("1ms")
    }

    fn file(&self) -> PathBuf {
        self.out.join("run.jsonl")
    }

    fn run(&self, file: &Path) -> Line {
        run(&self.target).words("--set seed=7 --suite").arg(&self.suite).words("-o").arg(file)
    }

    /// Starts it and waits until the third workload has come as far as its pause.
    fn start(&self) -> Running {
        let running = self.run(&self.file()).start();
        until("the third pauses", || {
            // Its file is larger than those before, and open by nothing but its lock.
            let test_file =
                test_file_in(&self.target).filter(|file| file.metadata().is_ok_and(|m| m.len() == 128 << 10));
            test_file.is_some_and(|file| running.times_open(&file) == 1)
        });
        assert_eq!(records::lines_in(&self.file()), 2);
        running
    }

    fn resume(&self) -> Line {
        flashmark("run --format json --resume").arg(self.file())
    }
}

/// What is the same in two runs of the same thing, except for the run's number.
fn structure(records: &[Record]) -> Vec<String> {
    let of_one = |record: &Record| {
        let Record { run, workload, outcome, target, .. } = record;
        let mut run = run.clone();
        run.id.clear();
        let ops: Vec<_> = outcome.ops.iter().map(|op| (op.op, op.count, op.bytes)).collect();
        format!("{run:?} {workload:?} {target:?} {:?} {ops:?} {}", outcome.status, outcome.verified_bytes)
    };
    records.iter().map(of_one).collect()
}

/// The file is complete: each record done once, all of one run, as in a run that nothing came between.
#[track_caller]
fn assert_complete(setting: &Setting) {
    let records = records::of_file(&setting.file());
    assert!(records.iter().all(|record| record.run.id == records[0].run.id));
    let done: Vec<Record> = records.into_iter().filter(|record| record.outcome.status == Status::Done).collect();
    let unbroken = setting.out.join("unbroken.jsonl");
    setting.run(&unbroken).exits(0);
    assert_eq!(structure(&done), structure(&records::of_file(&unbroken)));
    assert_nothing_left(&setting.target);
}

/// Cuts the last `bytes` off.
fn tear(file: &Path, bytes: usize) {
    let whole = std::fs::read(file).unwrap();
    std::fs::write(file, &whole[..whole.len() - bytes]).unwrap();
}

#[test]
fn a_torn_last_line_is_shown_around_and_cut_off() {
    let setting = Setting::new();
    let file = setting.file();
    setting.run(&file).exits(0);
    let whole = std::fs::read(&file).unwrap();
    let last = String::from_utf8(whole.clone()).unwrap().lines().last().unwrap().len();
    // Little of the last record, nearly all of it, and all of it without its newline, which makes it whole.
    for (cut, kept) in [(last - 3, 3), (last / 2, 3), (2, 3), (1, 4)] {
        std::fs::write(&file, &whole).unwrap();
        tear(&file, cut);
        let shown = flashmark("show --format json").arg(&file).exits(0);
        assert_eq!(shown.records().len(), kept, "{cut}: {shown}");
        assert_eq!(shown.stderr.contains("line 4 is torn"), kept == 3, "{cut}: {shown}");
        let resumed = setting.resume().exits(0);
        assert_eq!(resumed.records().len(), 4, "{resumed}");
        assert_eq!(resumed.stderr.contains("line 4 is torn"), kept == 3, "{resumed}");
        if kept == 4 {
            // There was nothing to append, so nothing in the file has changed.
            assert_eq!(std::fs::read(&file).unwrap(), whole[..whole.len() - cut]);
        } else {
            assert_complete(&setting);
            std::fs::remove_file(setting.out.join("unbroken.jsonl")).unwrap();
        }
    }
}

#[test]
fn an_interrupted_run_is_finished() {
    let setting = Setting::with_pause("2s");
    let file = setting.file();
    let running = setting.start();
    running.signal(Signal::INT);
    running.end().exited(130);
    let before = records::of_file(&file);
    assert_eq!(before.last().unwrap().outcome.status, Status::Interrupted);
    let ran = setting.resume().exits(0);
    let names: Vec<_> = ran.records().iter().map(|record| record.workload.name.clone()).collect();
    assert_eq!(names, ["one", "two", "three", "four"], "all of the run is shown: {ran}");
    assert_eq!(records::of_file(&file)[..before.len()], before, "what was there stays as it was");
    assert_complete(&setting);
}

#[test]
fn a_killed_run_is_finished() {
    let setting = Setting::with_pause("2s");
    let running = setting.start();
    running.signal(Signal::KILL);
    running.end();
    setting.resume().exits(0).says(&["left behind by an earlier run"]);
    assert_complete(&setting);
}

#[test]
fn nothing_runs_for_a_complete_run() {
    let setting = Setting::new();
    setting.run(&setting.file()).exits(0);
    let before = std::fs::read(setting.file()).unwrap();
    let ran = setting.resume().exits(0);
    assert_eq!(ran.records(), records::of_file(&setting.file()));
    assert_eq!(std::fs::read(setting.file()).unwrap(), before);
    assert_complete(&setting);
}

/// What failed is tried again; what failed before stays in the file.
#[test]
fn what_failed_is_tried_again() {
    let setting = Setting::new();
    let suite = SUITE.replace("$pause", "1ms").replace("name = \"two\"\n", "name = \"two\"\nfile-size = \"1m\"\n");
    std::fs::write(&setting.suite, suite).unwrap();
    setting.run(&setting.file()).limited_to(512).exits(1);
    let ran = setting.resume().exits(0);
    assert_eq!(ran.records().len(), 4, "{ran}");
    let statuses: Vec<Status> = records::of_file(&setting.file()).iter().map(|record| record.outcome.status).collect();
    assert_eq!(statuses, [Status::Done, Status::Failed, Status::Done, Status::Done, Status::Done]);
    assert_nothing_left(&setting.target);
}

#[test]
fn a_changed_suite_is_refused() {
    let setting = Setting::new();
    setting.run(&setting.file()).exits(0);
    tear(&setting.file(), 100);
    let before = std::fs::read(setting.file()).unwrap();
    std::fs::write(&setting.suite, SUITE.replace("$pause", "2ms")).unwrap();
    let ran = setting.resume().exits(2).printed_nothing();
    ran.says(&["run.jsonl", "suite four", "has changed since the run began", "start again with -o"]);
    assert_eq!(std::fs::read(setting.file()).unwrap(), before, "the torn line, too");
    std::fs::remove_file(&setting.suite).unwrap();
    setting.resume().exits(2).printed_nothing().says(&["four.toml"]);
    assert_eq!(std::fs::read(setting.file()).unwrap(), before);
    assert_nothing_left(&setting.target);
}

/// A file that is refused may be anything, and stays as it was.
#[test]
fn there_has_to_be_something_to_go_on_with() {
    let setting = Setting::new();
    setting.resume().exits(2).printed_nothing().says(&["run.jsonl does not exist", "-o"]);
    let no_record = "run.jsonl holds no whole record, so nothing tells what ran; start again with -o";
    for (content, why) in [
        ("", no_record),
        ("\n\n", no_record),
        // Killed before its first record was whole, perhaps.
        ("{\"schema\":", no_record),
        ("{\"schema\":1,\"flash", no_record),
        ("{", "line 1 is not JSON"),
        ("{\"draft\":", "line 1 is not JSON"),
        ("[]", "line 1 is not a flashmark record"),
    ] {
        std::fs::write(setting.file(), content).unwrap();
        setting.resume().exits(2).printed_nothing().says(&["run.jsonl", why]);
        assert_eq!(std::fs::read_to_string(setting.file()).unwrap(), content);
    }
}

/// Two runs in one file at once destroyed each other's records. The second is refused; whoever only reads is not.
#[test]
fn a_file_that_a_run_writes_to_is_taken() {
    let setting = Setting::with_pause("2s");
    let other = setting.out.subdir("other");
    let running = setting.start();
    let before = std::fs::read(setting.file()).unwrap();
    let in_use = ["run.jsonl is in use by another flashmark", "wait for it, or choose another name"];
    setting.resume().exits(2).printed_nothing().says(&in_use);
    run(&other)
        .words("--op write --block 4k --size 64k -o")
        .arg(setting.file())
        .exits(2)
        .printed_nothing()
        .says(&in_use);
    assert_nothing_left(&other);
    assert_eq!(flashmark("show --format json").arg(setting.file()).exits(0).records().len(), 2);
    assert_eq!(std::fs::read(setting.file()).unwrap(), before);
    running.end().exited(0);
    assert_complete(&setting);
}

/// Of runs that start at the same time, one gets the file, and it gets all of it.
#[test]
fn one_of_many_gets_the_file() {
    let setting = Setting::with_pause("1s");
    let starts = || (0..4).map(|nth| setting.out.join(&format!("target-{nth}")));
    starts().for_each(|target| std::fs::create_dir(target).unwrap());
    let line = |target: PathBuf| run(target).words("--suite").arg(&setting.suite).words("-o").arg(setting.file());
    let running: Vec<Running> = starts().map(|target| line(target).start()).collect();
    let ended: Vec<_> = running.into_iter().map(Running::end).collect();
    let refused = ended.iter().filter(|ran| ran.status.code() == Some(2));
    for ran in refused.clone() {
        assert!(ran.stderr.contains("is in use by another") || ran.stderr.contains("is not empty"), "{ran}");
    }
    assert_eq!(refused.count(), 3);
    let records = records::of_file(&setting.file());
    assert_eq!(records.len(), 4);
    assert!(records.iter().all(|record| record.run.id == records[0].run.id));

    // The same with a run to go on with.
    let one: String = std::fs::read_to_string(setting.file()).unwrap().split_inclusive('\n').take(1).collect();
    std::fs::write(setting.file(), &one[..one.len() - 1]).unwrap();
    let running: Vec<Running> = (0..4).map(|_| setting.resume().start()).collect();
    let ended: Vec<_> = running.into_iter().map(Running::end).collect();
    // Whoever comes when the first has ended finds nothing left to do.
    let won = ended.iter().filter(|ran| ran.status.code() == Some(0));
    assert!(won.clone().count() >= 1 && won.clone().all(|ran| ran.records().len() == 4), "{}", ended[0]);
    for ran in ended.iter().filter(|ran| ran.status.code() != Some(0)) {
        assert!(ran.status.code() == Some(2) && ran.stderr.contains("is in use by another"), "{ran}");
    }
    let resumed = records::of_file(&setting.file());
    assert_eq!(records::statuses(&resumed), ["one", "two", "three", "four"].map(|name| (name, Status::Done)));
    assert_eq!(resumed[0], records[0]);
}

#[test]
fn what_the_run_was_is_not_given_again() {
    let setting = Setting::new();
    setting.run(&setting.file()).exits(0);
    for words in [".", "--suite quick", "--block 4k", "--only one", "--set seed=8", "--compat", "-o other.jsonl"] {
        setting.resume().words(words).exits(2).printed_nothing().says(&["cannot be used with"]);
    }
}

#[test]
fn the_targets_have_to_be_there() {
    let setting = Setting::new();
    setting.run(&setting.file()).exits(0);
    tear(&setting.file(), 100);
    std::fs::remove_dir(&setting.target).unwrap();
    setting.resume().exits(2).printed_nothing().says(&["target does not exist"]);
    std::fs::create_dir(&setting.target).unwrap();
    setting.resume().exits(0);
}

/// A built-in suite with parameters and settings, on two targets.
#[test]
fn settings_and_targets_are_taken_from_the_file() {
    let out = Scratch::new();
    let (first, second) = (out.subdir("first"), out.subdir("second"));
    let file = out.join("run.jsonl");
    let words = "--suite sdfat --compat --set write-passes=2 --set read-passes=2 --size 64k -o";
    run(&first).arg(&second).words(words).arg(&file).exits(0);
    let before = records::of_file(&file);
    let text = std::fs::read_to_string(&file).unwrap();
    let one: String = text.split_inclusive('\n').take(1).collect();
    std::fs::write(&file, one).unwrap();
    flashmark("run --resume").arg(&file).exits(0);
    let after = records::of_file(&file);
    assert_eq!(structure(&after), structure(&before));
    assert_eq!(after[0], before[0]);
    for dir in [first, second] {
        assert_nothing_left(&dir);
    }
}

/// A workload that was left out because the target was not there runs when it is.
#[test]
fn what_was_left_out_is_run() {
    let setting = Setting::with_pause("2s");
    let running = setting.start();
    std::fs::remove_dir_all(&setting.target).unwrap();
    running.end().exited(1);
    let statuses: Vec<Status> = records::of_file(&setting.file()).iter().map(|record| record.outcome.status).collect();
    assert_eq!(statuses, [Status::Done, Status::Done, Status::Failed, Status::Skipped]);
    std::fs::create_dir(&setting.target).unwrap();
    setting.resume().exits(0);
    assert_complete(&setting);
}
