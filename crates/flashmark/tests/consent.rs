//! Nothing that was there before is written without consent, and nothing that is in use is written with it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{Record, Status, WarningCode};
use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::{Line, run};
use support::{Scratch, can_run, records, sh, somebodys_data};

const SMALL: &str = "--size 64k --file-size 64k --block 4k --format json";
const WRITE: &str = "--op write --size 64k --block 4k --format json";

fn statuses(records: &[Record]) -> Vec<Status> {
    records.iter().map(|record| record.outcome.status).collect()
}

/// Rows of `quick`: four that write, two that read.
#[track_caller]
fn assert_only_read(line: Line, says: &[&str]) {
    let ran = line.exits(0);
    let records = ran.records();
    let (writing, reading) = records.split_at(4);
    assert!(statuses(writing).iter().all(|status| *status == Status::Skipped), "{ran}");
    assert!(statuses(reading).iter().all(|status| *status == Status::Done), "{ran}");
    for record in writing {
        assert_eq!((record.outcome.bytes, record.outcome.ops.len()), (0, 0), "{ran}");
        let why = records::warning(record, WarningCode::Skipped).unwrap();
        for part in ["not allowed to write", "--destroy"].iter().chain(says) {
            assert!(why.contains(part), "nothing of {part}: {why}");
        }
    }
}

#[test]
fn a_device_is_only_read_without_consent() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let device = Loop::new(Image::ext4(4 << 20));
    let before = std::fs::read(&device.image.path).unwrap();
    let file_system = ["ext4 file system", "holiday"];
    assert_only_read(run(&device.node).words(SMALL), &file_system);
    let ran = run(&device.node).words(WRITE).exits(3).printed_nothing();
    let destroy = format!("--destroy {}", device.node.display());
    ran.says(&[device.node.to_str().unwrap(), &destroy, "ext4 file system", "holiday"]);
    assert_eq!(std::fs::read(&device.image.path).unwrap(), before, "not a byte is changed");
}

#[test]
fn a_device_with_consent_is_written_and_verified() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let device = Loop::new(Image::ext4(4 << 20));
    let ran = run(&device.node).words(SMALL).words("--verify --destroy").arg(&device.node).exits(0);
    let records = ran.records();
    assert_eq!(statuses(&records), [Status::Done; 6], "{ran}");
    assert!(records.iter().all(|record| record.outcome.verified_bytes == 64 << 10), "{ran}");
    // Consent is for a device, not for a spelling.
    let dir = Scratch::new();
    let link = dir.join("card");
    std::os::unix::fs::symlink(&device.node, &link).unwrap();
    run(&device.node).words(WRITE).words("--destroy").arg(&link).exits(0);
    run(&link).words(WRITE).words("--destroy").arg(&device.node).exits(0);
}

#[test]
fn a_mounted_device_is_refused_in_spite_of_consent() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(8 << 20);
    std::fs::write(ext4.path().join("holiday.jpg"), "sea").unwrap();
    let node = &ext4.device.node;
    let ran = run(node).words(WRITE).words("--destroy").arg(node).exits(3).printed_nothing();
    ran.says(&[node.to_str().unwrap(), "mounted", ext4.path().to_str().unwrap()]);
    // With workloads that read too, nothing runs either: the command asks for what must not be.
    run(node).words(SMALL).words("--destroy").arg(node).exits(3).printed_nothing().says(&["mounted"]);
    // Reading it is nobody's harm.
    run(node).words("--op read --size 64k --block 4k").exits(0);
    assert_eq!(std::fs::read_to_string(ext4.path().join("holiday.jpg")).unwrap(), "sea");
}

/// A device that nobody uses can have its bytes where somebody else's are.
#[test]
fn a_device_whose_bytes_are_mounted_elsewhere_is_refused() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(8 << 20);
    let mounted = &ext4.device.node;
    std::fs::write(ext4.path().join("holiday.jpg"), "sea").unwrap();
    sh(&format!("sync -f {}", ext4.path().display()));
    let before = std::fs::read(mounted).unwrap();
    for backing in [&ext4.device.image.path, mounted] {
        let other = Attached::to(backing);
        let ran = run(&other.0).words(WRITE).words("--destroy").arg(&other.0).exits(3).printed_nothing();
        ran.says(&[&other.0, "below it", mounted.to_str().unwrap(), "mounted", ext4.path().to_str().unwrap()]);
    }
    assert!(std::fs::read(mounted).unwrap() == before, "not a byte is changed");
    // A file on that file system is in nobody's way, nor is a device on the file.
    let inside = ext4.path().join("inside.img");
    std::fs::write(&inside, somebodys_data(1 << 20)).unwrap();
    run(&inside).words(WRITE).words("--destroy").arg(&inside).exits(0);
    let free = Attached::to(&inside);
    run(&free.0).words(WRITE).words("--destroy").arg(&free.0).exits(0);
}

/// A loop device on something that stays.
struct Attached(String);

impl Attached {
    fn to(backing: &std::path::Path) -> Self {
        Self(sh(&format!("losetup -f --show {}", backing.display())))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        support::try_sh(&format!("losetup -d {}", self.0));
    }
}

#[test]
fn a_locked_device_is_refused() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    let lock = std::fs::File::open(&device.node).unwrap();
    lock.lock_shared().unwrap();
    let ran = run(&device.node).words(WRITE).words("--destroy").arg(&device.node).exits(3).printed_nothing();
    ran.says(&[device.node.to_str().unwrap(), "is locked by another program"]);
    drop(lock);
    run(&device.node).words(WRITE).words("--destroy").arg(&device.node).exits(0);
}

#[test]
fn a_device_with_a_mounted_partition_is_refused() {
    if !can_run(true, &["losetup", "sfdisk", "partx", "mkfs.ext4", "mount"]) {
        return;
    }
    let device = Loop::new(Image::new(16 << 20));
    let node = device.node.display().to_string();
    sh(&format!("printf 'label: gpt\\nsize=8M\\n' | sfdisk -q --no-reread --no-tell-kernel {node} && partx -a {node}"));
    let _partition = Unpartition(node.clone());
    sh(&format!("mkfs.ext4 -q -F -L trip {node}p1"));
    run(&node).words(WRITE).exits(3).printed_nothing().says(&["GPT", "trip"]);
    let mounted = Mounted::with(&format!("{node}p1"));
    let ran = run(&node).words(WRITE).words("--destroy").arg(&node).exits(3).printed_nothing();
    let part = format!("{}p1", device.name());
    ran.says(&[&part, "mounted", mounted.path().to_str().unwrap()]);
}

/// Takes the partitions of a loop device away.
struct Unpartition(String);

impl Drop for Unpartition {
    fn drop(&mut self) {
        support::try_sh(&format!("partx -d {}", self.0));
    }
}

#[test]
fn a_device_that_another_program_holds_is_refused() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(1 << 20));
    // Other tests start programs at the same time, which must not inherit it.
    let flags = rustix::fs::OFlags::EXCL | rustix::fs::OFlags::CLOEXEC;
    let held = rustix::fs::open(&device.node, flags, rustix::fs::Mode::empty()).unwrap();
    let ran = run(&device.node).words(WRITE).words("--destroy").arg(&device.node).exits(3).printed_nothing();
    ran.says(&[device.node.to_str().unwrap(), "will not be written to"]);
    drop(held);
    run(&device.node).words(WRITE).words("--destroy").arg(&device.node).exits(0);
}

#[test]
fn a_file_is_only_read_without_consent() {
    let dir = Scratch::new();
    let data = somebodys_data(64 << 10);
    let file = dir.write("photo.raw", &data);
    assert_only_read(run(&file).words(SMALL), &["photo.raw"]);
    run(&file).words(WRITE).exits(3).printed_nothing().says(&["photo.raw", "--destroy"]);
    run(&file).words("--op mixed --size 64k --block 4k").exits(3).printed_nothing();
    assert_eq!(std::fs::read(&file).unwrap(), data, "not a byte is changed");
    assert_eq!(support::names_in(dir.path()), ["photo.raw"]);
    // And with it.
    run(&file).words(SMALL).words("--verify --destroy").arg(&file).exits(0);
    assert_ne!(std::fs::read(&file).unwrap(), data);
}

/// A name that a shell would take apart can be copied from the message.
#[test]
fn the_remedy_can_be_copied() {
    let dir = Scratch::new();
    let file = dir.write("my photo's.raw", somebodys_data(64 << 10));
    let ran = run(&file).words(WRITE).exits(3);
    let words = ran.stderr.trim().split("add: ").nth(1).unwrap();
    let program = env!("CARGO_BIN_EXE_flashmark");
    let target = "my photo'\\''s.raw";
    sh(&format!("cd {}; {program} run '{target}' {WRITE} {words}", dir.path().display()));
}

/// Two targets: what may be written is, what may not is left out.
#[test]
fn consent_is_for_one_target() {
    let dir = Scratch::new();
    let [first, second] = ["first.img", "second.img"].map(|name| dir.write(name, somebodys_data(64 << 10)));
    let untouched = std::fs::read(&second).unwrap();
    let ran = run(&first).arg(&second).words(SMALL).words("--only write --destroy").arg(&first).exits(0);
    let records = ran.records();
    assert_eq!(statuses(&records[..4]), [Status::Done; 4], "{ran}");
    assert_eq!(statuses(&records[4..]), [Status::Skipped; 4], "{ran}");
    assert_eq!(std::fs::read(&second).unwrap(), untouched);
}
