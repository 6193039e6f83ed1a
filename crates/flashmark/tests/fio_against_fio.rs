//! The same jobs run by fio and by `flashmark fio`: the same keys with the same types, and the same counts.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

#[path = "../../fio/tests/fio_json/mod.rs"]
mod fio_json;
mod support;

use std::process::Command;

use fio_json::{can_run, keys_of, may_be_ours_alone};
use serde_json::Value;
use support::Scratch;
use support::process::flashmark;

/// What both print, as JSON; each runs in a directory of its own.
fn both(job: &str, words: &str, format: &str) -> [String; 2] {
    let (ours, theirs) = (Scratch::new(), Scratch::new());
    ours.write("job.fio", job);
    theirs.write("job.fio", job);
    let format = format!("--output-format={format}");
    let ran = flashmark("fio job.fio").words(words).arg(&format).in_dir(ours.path()).exits(0);
    let output = Command::new("fio")
        .arg("job.fio")
        .args(words.split_whitespace())
        .arg(&format)
        .env("LC_ALL", "C")
        .current_dir(theirs.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let start = text.find('{').unwrap_or_else(|| panic!("{text}"));
    [ran.stdout, text[start..].to_owned()]
}

/// Jobs whose counts follow from what they say.
const JOBS: &[&str] = &[
    "[global]\nsize=64k\nioengine=psync\nbs=4k,8k\n[first]\nreadwrite=randread\ngroup_reporting\nnumjobs=2\n\
     [second]\nrw=read\ngroup_reporting\n[third]\nstonewall\nrw=write\nblocksize=16k\n",
    "[global]\nioengine=libaio\niodepth=8\nsize=1m\n[a]\nrw=randwrite\nbs=4k\ndirect=1\n[b]\nrw=randread\nbs=8k\nloops=3\n",
    "[j]\nioengine=psync\nrw=write\nbs=4k\nsize=256k\nverify=crc32c\n",
    "[j]\nioengine=libaio\niodepth=4\nrw=randwrite\nbs=4k\nsize=256k\nverify=md5\nverify_backlog=16\n",
    "[j]\nioengine=null\nrw=randtrim\nbs=4k\nsize=64k\nnumjobs=2\n",
    "[j]\nioengine=psync\nrw=read\nbs=64k\nsize=1000k\n",
    "[j]\nioengine=psync\nrw=randread\nbs=4k\nsize=4m\nnrfiles=4\nfile_service_type=sequential\n",
    "[j]\nioengine=psync\nrw=write\nbs=4k\nsize=64k\nio_size=192k\n",
    "[j]\nioengine=psync\nrw=read:4k\nbs=4k\nsize=256k\n",
    "[j]\nioengine=mmap\nrw=write\nbs=4k\nfilesize=1m\nsize=50%\n",
    "[j]\nioengine=psync\nrw=read\nbs=4k\nsize=1m\noffset=25%\n",
    "[j]\nioengine=psync\nrw=randread\nbs=4k\nsize=1m\nnorandommap\nrandom_distribution=zipf:1.2\n",
    "[j]\nioengine=psync\nrw=read\nbs=4k\nsize=1m\noffset_increment=256k\nnumjobs=3\nfilename=shared\ngroup_reporting\n",
    "[j]\nioengine=vsync\niodepth=8\niodepth_batch=8\nrw=read\nbs=4k\nsize=1m\n",
    "[j]\nioengine=psync\nrw=randwrite\nbs=4k\nsize=1m\nnumber_ios=100\n",
    "[j]\nioengine=io_uring\niodepth=16\nfixedbufs\nregisterfiles\ndirect=1\nrw=randread\nbs=4k\nsize=1m\n",
    "[j]\nioengine=io_uring\niodepth=32\niodepth_batch_submit=16\niodepth_batch_complete_min=8\nrw=randwrite\nbs=4k\n\
     size=1m\nfsync=16\n",
    "[j]\nioengine=pvsync2\nrw=randrw\nrwmixread=100\nbs=4k\nsize=1m\nthinktime=10\nthinktime_blocks=16\n",
];

#[test]
fn counts_and_bytes_are_the_same() {
    if !can_run() {
        return;
    }
    for job in JOBS {
        let [ours, theirs] = both(job, "", "json").map(|text| serde_json::from_str::<Value>(&text).unwrap());
        let counts = |json: &Value| -> Vec<Vec<Value>> {
            let of = |job: &Value| {
                let directions = ["read", "write", "trim"];
                let moved = directions.iter().flat_map(|direction| {
                    ["total_ios", "io_bytes", "io_kbytes", "short_ios", "drop_ios"]
                        .map(|key| job[direction][key].clone())
                });
                ["jobname", "groupid", "error"].iter().map(|key| job[key].clone()).chain(moved).collect()
            };
            json["jobs"].as_array().unwrap().iter().map(of).collect()
        };
        assert_eq!(counts(&ours), counts(&theirs), "{job}");
    }
}

#[test]
fn keys_are_the_same_with_the_same_types() {
    if !can_run() {
        return;
    }
    for (job, words) in [
        (JOBS[0], ""),
        (JOBS[1], "--slat_percentiles=1 --lat_percentiles=1 --percentile_list=50:99:99.9"),
        (JOBS[2], ""),
        ("[j]\nioengine=psync\nrw=randrw\nbs=4k\nsize=1m\nfsync=8\ngtod_reduce=1\ndescription=text\n", ""),
        ("[j]\nioengine=psync\nrw=rw\nbs=4k\nsize=1m\nfsync=8\ncontinue_on_error=all\n", ""),
        ("[j]\nioengine=libaio\niodepth=4\nrw=rw\nbs=4k\nsize=1m\nunified_rw_reporting=mixed\n", ""),
    ] {
        for format in ["json", "json+"] {
            let [ours, theirs] = both(job, words, format);
            let (our_keys, their_keys) = (keys_of(&ours), keys_of(&theirs));
            // Which disks there are follows from where the directories are, and both are in one.
            for (path, kind) in their_keys.iter().filter(|(path, _)| !path.contains("/aggr_")) {
                assert_eq!(our_keys.get(path), Some(kind), "{format} {path}\n{job}{ours}");
            }
            for (path, kind) in &our_keys {
                assert!(their_keys.contains_key(path) || may_be_ours_alone(path, kind), "{path} is not fio's\n{ours}");
            }
        }
    }
}
