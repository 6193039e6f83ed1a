//! The lock that udev and other programs ask for before they look at a disk.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use flashmark_host::device::{Refusal, claim};
use support::devices::{Image, consent_to};
use support::holder::Holder;
use support::{can_run, run, sh};

/// As udevd asks for it: shared, and without waiting.
fn udev_may_look_at(node: &Path) -> bool {
    let status = run(&format!("flock --nonblock --shared {} true", node.display())).status;
    // flock(1): 1 if the lock is taken; anything else is a failure of the test's.
    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    status.success()
}

/// A process that another test is just starting has copies of all open files for a moment, of the lock too.
#[track_caller]
fn is_unlocked(node: &Path) {
    assert!((0..50).any(|_| udev_may_look_at(node)), "{} stays locked", node.display());
}

#[test]
fn a_claimed_disk_is_locked() {
    if !can_run(true, &["losetup", "flock"]) {
        return;
    }
    let image = Image::new(8);
    let device = image.attach();
    let claimed = claim(&device.node, &consent_to(&device.node)).unwrap();
    assert!(!udev_may_look_at(&device.node));
    // What the engine does between repeats.
    drop(claimed.reopen(rustix::fs::OFlags::RDWR).unwrap());
    assert!(!udev_may_look_at(&device.node));
    drop(claimed);
    is_unlocked(&device.node);

    // The lock belongs to udev's node, by whatever node the device is claimed.
    let node = image.dir.path().join("node");
    sh(&format!("mknod {} b 7 {}", node.display(), device.name().trim_start_matches("loop")));
    let claimed = claim(&node, &consent_to(&node)).unwrap();
    assert!(!udev_may_look_at(&device.node));
    drop(claimed);
}

#[test]
fn the_disk_of_claimed_partitions_is_locked() {
    if !can_run(true, &["losetup", "flock", "sfdisk", "partx"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    let partitions = device.partition();
    // One run can have several partitions of a disk as targets.
    let [first, second] = partitions.each_ref().map(|node| claim(node, &consent_to(node)).unwrap());
    assert!(!udev_may_look_at(&device.node));
    drop(first);
    assert!(!udev_may_look_at(&device.node));
    drop(second);
    is_unlocked(&device.node);
}

#[test]
fn a_disk_that_another_program_has_locked() {
    if !can_run(true, &["losetup", "python3"]) {
        return;
    }
    let image = Image::new(8);
    let device = image.attach();
    let lock = |seconds: &str| {
        let script = format!(
            "import fcntl, os, time\nd = os.open('{}', os.O_RDONLY)\nfcntl.flock(d, fcntl.LOCK_SH)\nprint('locked', \
             flush=True)\ntime.sleep({seconds})\nfcntl.flock(d, fcntl.LOCK_UN)\ntime.sleep(600)",
            device.node.display()
        );
        Holder::python(&script)
    };
    // udevd is through soon, and is waited for.
    let holder = lock("0.3");
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
    drop(holder);

    let holder = lock("600");
    let started = Instant::now();
    let refusal = claim(&device.node, &consent_to(&device.node)).unwrap_err();
    assert!(started.elapsed() >= Duration::from_millis(900));
    assert!(matches!(&refusal, Refusal::Locked { path } if *path == device.node), "{refusal:?}");
    drop(holder);
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
}
