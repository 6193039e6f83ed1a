//! Jobs write to what flashmark made, and to what `--destroy` names; to nothing else.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::{Line, flashmark};
use support::{Scratch, can_run, names_in, somebodys_data};

fn job(words: &str, target: &std::path::Path) -> Line {
    flashmark("fio --name=j --bs=4k --size=64k").arg(format!("--filename={}", target.display())).words(words)
}

#[test]
fn a_device_is_refused_without_consent_and_written_with_it() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let device = Loop::new(Image::ext4(4 << 20));
    let before = std::fs::read(&device.image.path).unwrap();
    let destroy = format!("--destroy {}", device.node.display());
    for words in
        ["--rw=write", "--rw=randrw", "--rw=trim", "--rw=randwrite --ioengine=io_uring --iodepth=16 --direct=1"]
    {
        let ran = job(words, &device.node).exits(3).printed_nothing();
        ran.says(&[device.node.to_str().unwrap(), &destroy, "ext4 file system", "holiday"]);
    }
    assert!(std::fs::read(&device.image.path).unwrap() == before, "not a byte is changed");
    // To read it is nobody's harm.
    job("--rw=randread", &device.node).exits(0);
    job("--rw=write --verify=crc32c --direct=1", &device.node).words(&destroy).exits(0);
    assert!(std::fs::read(&device.node).unwrap()[..64 << 10] != before[..64 << 10]);
    assert!(std::fs::read(&device.node).unwrap()[64 << 10..] == before[64 << 10..], "only what the job is about");
}

#[test]
fn consent_that_nobody_uses_is_an_error() {
    let dir = Scratch::new();
    let other = dir.write("other", "x");
    let target = dir.join("target");
    let ran = job("--rw=write --destroy", &target);
    ran.arg(&other).exits(2).printed_nothing().says(&["--destroy", "other", "no job uses it"]);
    assert_eq!(names_in(dir.path()), ["other"]);
}

#[test]
fn a_device_in_use_is_refused_in_spite_of_consent() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(8 << 20);
    std::fs::write(ext4.path().join("holiday.jpg"), "sea").unwrap();
    let node = &ext4.device.node;
    let ran = job("--rw=write --destroy", node).arg(node).exits(3).printed_nothing();
    ran.says(&["mounted", ext4.path().to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(ext4.path().join("holiday.jpg")).unwrap(), "sea");
}

#[test]
fn somebody_elses_file_is_refused() {
    let dir = Scratch::new();
    let data = somebodys_data(64 << 10);
    let photo = dir.write("photo.jpg", &data);
    for words in ["--rw=write", "--rw=randrw --ioengine=libaio --iodepth=8", "--rw=write --size=1m", "--rw=randtrim"] {
        let ran = job(words, &photo).exits(3).printed_nothing();
        ran.says(&["photo.jpg", "--destroy"]);
        assert!(std::fs::read(&photo).unwrap() == data, "{words}");
    }
    // One job of several that is refused stops all of them.
    let file = format!(
        "[global]\nsize=64k\n[a]\nfilename={0}/a\nrw=write\n[b]\nstonewall\nfilename={0}/photo.jpg\nrw=write\n",
        dir.path().display()
    );
    let jobs = dir.write("jobs.fio", file);
    flashmark("fio").arg(&jobs).exits(3).says(&["photo.jpg"]);
    assert_eq!(names_in(dir.path()), ["jobs.fio", "photo.jpg"]);
    // By a link it is the same file.
    let link = dir.join("link");
    std::os::unix::fs::symlink(&photo, &link).unwrap();
    job("--rw=write", &link).exits(3);
    assert!(std::fs::read(&photo).unwrap() == data);
    job("--rw=read", &photo).exits(0);
    job("--rw=write --destroy", &photo).arg(&photo).exits(0);
    assert!(std::fs::read(&photo).unwrap() != data);
}

#[test]
fn what_an_earlier_run_made_is_written_again() {
    let dir = Scratch::new();
    let own = dir.join("own");
    for _ in 0..2 {
        job("--rw=write", &own).exits(0);
    }
    job("--rw=write --unlink=1", &own).exits(0);
    assert_eq!(names_in(dir.path()), Vec::<String>::new());
}

#[test]
fn a_trace_that_writes_needs_consent_too() {
    let dir = Scratch::new();
    let data = somebodys_data(8192);
    let photo = dir.write("photo.jpg", &data);
    let name = photo.display();
    let trace = dir
        .write("t.log", format!("fio version 2 iolog\n{name} add\n{name} open\n{name} write 0 4096\n{name} close\n"));
    let line = || flashmark("fio --name=r --ioengine=psync").arg(format!("--read_iolog={}", trace.display()));
    line().exits(3).printed_nothing().says(&["photo.jpg", "--destroy"]);
    assert!(std::fs::read(&photo).unwrap() == data);
    line().words("--destroy").arg(&photo).exits(0);
    assert!(std::fs::read(&photo).unwrap()[..4096] != data[..4096]);
}

#[test]
fn results_and_traces_go_over_nothing_that_is_somebodys() {
    let dir = Scratch::new();
    let data = somebodys_data(8192);
    let photo = dir.write("photo.jpg", &data);
    let line = || flashmark("fio --name=j --ioengine=null --rw=read --size=64k");
    line()
        .arg(format!("--write_iolog={}", photo.display()))
        .exits(2)
        .printed_nothing()
        .says(&["photo.jpg", "no trace"]);
    assert!(std::fs::read(&photo).unwrap() == data);
    // A trace may be made anew.
    for _ in 0..2 {
        line().words("--write_iolog=t.log").in_dir(dir.path()).exits(0);
    }
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    for option in ["--write_iolog", "--output", "--records"] {
        let ran = line().arg(format!("{option}={}", device.node.display())).exits(2);
        ran.printed_nothing().says(&[device.node.to_str().unwrap()]);
    }
    assert!(std::fs::read(&device.node).unwrap().iter().all(|byte| *byte == 0), "not a byte is changed");
}

#[test]
fn what_was_put_over_an_own_file_is_somebodys() {
    let dir = Scratch::new();
    let own = dir.join("own");
    job("--rw=write", &own).exits(0);
    job("--rw=randwrite --ioengine=io_uring --iodepth=8", &own).exits(0);
    job("--rw=randwrite --ioengine=mmap", &own).exits(0);
    let data = somebodys_data(64 << 10);
    std::fs::write(&own, &data).unwrap();
    job("--rw=write", &own).exits(3).printed_nothing().says(&["made by flashmark", "size or time", "--destroy"]);
    job("--rw=read", &own).exits(0);
    assert!(std::fs::read(&own).unwrap() == data);
    job("--rw=write --destroy", &own).arg(&own).exits(0);
}

#[test]
fn an_own_file_in_use_is_refused() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    let path = device.image.path.with_file_name("own");
    job("--rw=write", &path).exits(0);
    let node = std::path::PathBuf::from(support::sh(&format!("losetup -f --show {}", path.display())));
    let ran = job("--rw=write", &path).end();
    support::sh(&format!("losetup -d {}", node.display()));
    ran.exited(3).says(&["own", "loop"]);
}

#[test]
fn where_no_file_can_be_marked_that_is_told() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let ramfs = Mounted::with("-t ramfs ramfs");
    let own = ramfs.path().join("own");
    job("--rw=write --loops=2", &own).exits(0);
    let before = std::fs::read(&own).unwrap();
    job("--rw=randwrite", &own).exits(3).says(&["no extended attributes", "--destroy"]);
    assert!(std::fs::read(&own).unwrap() == before);
    job("--rw=write --destroy", &own).arg(&own).exits(0);
    std::fs::remove_file(&own).unwrap();
    // Two jobs of one run share it all the same.
    job("--rw=write", &own)
        .words("--name=k --stonewall --rw=randwrite --bs=4k --size=64k")
        .arg(format!("--filename={}", own.display()))
        .exits(0);
}

#[test]
fn results_go_over_nothing_that_the_run_needs() {
    let dir = Scratch::new();
    let data = somebodys_data(64 << 10);
    let photo = dir.write("photo.jpg", &data);
    let text = format!("[j]\nfilename={}\nrw=read\nbs=4k\n", photo.display());
    let jobs = dir.write("jobs.fio", &text);
    for path in [&photo, &jobs, &dir.path().join(".").join("photo.jpg")] {
        let ran = flashmark("fio").arg(&jobs).arg(format!("--output={}", path.display())).exits(2);
        ran.printed_nothing().says(&["--output", "the run itself needs"]);
    }
    assert!(std::fs::read(&photo).unwrap() == data);
    assert_eq!(std::fs::read_to_string(&jobs).unwrap(), text);
    // A file that is made by the job.
    let new = dir.join("new");
    job("--rw=write", &new).arg(format!("--output={}", new.display())).exits(2).says(&["the run itself needs"]);
    assert!(!new.exists());
    // What is there stays until there are results.
    let result = dir.write("result.txt", "old ".repeat(10_000));
    job("--rw=write", &photo).arg(format!("--output={}", result.display())).exits(3);
    assert_eq!(std::fs::read_to_string(&result).unwrap(), "old ".repeat(10_000));
    flashmark("fio").arg(&jobs).arg(format!("--output={}", result.display())).exits(0);
    let results = std::fs::read_to_string(&result).unwrap();
    assert!(results.contains("read: IOPS=") && !results.contains("old old"), "{results}");
}

#[test]
fn readonly_leaves_out_what_a_trace_changes() {
    let dir = Scratch::new();
    let data = somebodys_data(8192);
    let photo = dir.write("photo.jpg", &data);
    let name = photo.display();
    let actions = format!("{name} add\n{name} open\n{name} read 0 4096\n{name} write 0 4096\n{name} close\n");
    let trace = dir.write("t.log", format!("fio version 2 iolog\n{actions}"));
    let line = || flashmark("fio --readonly --name=r --ioengine=psync");
    line().arg(format!("--read_iolog={}", trace.display())).words("--destroy").arg(&photo).exits(0);
    assert!(std::fs::read(&photo).unwrap() == data);
    let new = dir.join("new");
    line().words("--rw=read --size=64k").arg(format!("--filename={}", new.display())).exits(2).says(&["--readonly"]);
    assert!(!new.exists());
}
