//! kill -9: the run file is readable to the last whole record, and the test file that stays is recognised and removed, but
//! not one that a live run uses.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::PathBuf;

use rustix::process::Signal;
use support::process::{Running, flashmark, run, until};
use support::{Scratch, assert_nothing_left, names_in, records, test_file_in};

/// A run that has one record in its file and then pauses for a long time.
struct Slow {
    running: Running,
    test_file: PathBuf,
    file: PathBuf,
}

impl Slow {
    fn start(target: &Scratch, out: &Scratch) -> Self {
        let others: Vec<String> = names_in(target.path());
        let suite = out.write(
            "slow.toml",
            "name = \"slow\"\n[defaults]\nop = \"write\"\nblock = \"4k\"\nsize = \"64k\"\n\
             [[workload]]\nname = \"quick\"\n\
             [[workload]]\nname = \"slow\"\nrepeats = 2\npause = \"10min\"\n",
        );
        let file = out.join("run.jsonl");
        let running = run(target.path()).words("--suite").arg(suite).words("-o").arg(&file).start();
        until("the first record is written", || records::lines_in(&file) == 1);
        let test_file = names_in(target.path()).into_iter().find(|name| !others.contains(name)).unwrap();
        let test_file = target.join(&test_file);
        // The second workload has written its first repeat and closed the file.
        until("it pauses", || {
            test_file.metadata().is_ok_and(|meta| meta.len() == 64 << 10) && running.times_open(&test_file) == 1
        });
        Self { running, test_file, file }
    }

    fn kill(self) -> PathBuf {
        self.running.signal(Signal::KILL);
        let ran = self.running.end();
        assert_eq!(ran.status.code(), None, "{ran}");
        assert!(self.test_file.exists(), "what is killed cleans nothing up");
        self.file
    }
}

#[test]
fn the_records_made_so_far_can_be_shown() {
    let (target, out) = (Scratch::new(), Scratch::new());
    let file = Slow::start(&target, &out).kill();
    let ran = flashmark("show --format json").arg(&file).exits(0);
    assert_eq!(ran.record().workload.name, "quick");
    assert_eq!(ran.stderr, "");
}

#[test]
fn clean_removes_what_was_left() {
    let (target, out) = (Scratch::new(), Scratch::new());
    Slow::start(&target, &out).kill();
    target.write("flashmark-test-notes.tmp", "mine");
    target.write("flashmark-test-0123456789abcdef.tmp", "mine too");
    let ran = flashmark("clean").arg(target.path()).exits(0).printed_nothing();
    ran.says(&["removed", "flashmark-test-", "(64", "left behind by an earlier run"]);
    assert_eq!(names_in(target.path()), ["flashmark-test-0123456789abcdef.tmp", "flashmark-test-notes.tmp"]);
    flashmark("clean").in_dir(target.path()).exits(0).says(&["nothing left behind in ."]);
}

#[test]
fn the_next_run_removes_what_was_left() {
    let (target, out) = (Scratch::new(), Scratch::new());
    Slow::start(&target, &out).kill();
    let ran = run(target.path()).words("--op write --size 64k --block 4k --format csv").exits(0);
    assert!(ran.stdout.starts_with("run_id,"), "{ran}");
    assert_nothing_left(target.path());
    ran.says(&["removed", "left behind by an earlier run"]);
}

#[test]
fn a_live_runs_file_is_left_alone() {
    let (target, out, other) = (Scratch::new(), Scratch::new(), Scratch::new());
    let live = Slow::start(&target, &out);
    let dead = Slow::start(&target, &other);
    let (live_file, dead_file) = (live.test_file.clone(), dead.test_file.clone());
    assert!(live_file.exists(), "a second run leaves the first one's file alone");
    dead.kill();
    flashmark("clean").arg(target.path()).exits(0).says(&["in use by a running flashmark; left alone"]);
    assert!(live_file.exists() && !dead_file.exists());
    run(target.path()).words("--op write --size 64k --block 4k").exits(0);
    assert!(live_file.exists());
    assert_eq!(test_file_in(target.path()), Some(live_file));
    live.running.signal(Signal::INT);
    live.running.end().exited(130);
    assert_nothing_left(target.path());
}

/// A link of such a name is somebody else's.
#[test]
fn links_and_directories_are_no_leftovers() {
    let (target, out) = (Scratch::new(), Scratch::new());
    let left = Slow::start(&target, &out);
    let name = left.test_file.clone();
    left.kill();
    let data = out.write("data.bin", "mine");
    std::fs::remove_file(&name).unwrap();
    std::os::unix::fs::symlink(&data, &name).unwrap();
    flashmark("clean").arg(target.path()).exits(0).says(&["nothing left behind"]);
    assert_eq!(std::fs::read_to_string(&data).unwrap(), "mine");
    assert!(name.is_symlink());
}
