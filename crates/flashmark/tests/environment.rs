//! What the record says about the machine, the file system and the device.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::environment::Environment;
use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::run;
use support::{Scratch, can_run, sh};

fn environment_of(target: impl AsRef<std::ffi::OsStr>, words: &str) -> Environment {
    let ran = run(target).words("--op read --size 64k --block 4k --format json").words(words).exits(0);
    ran.record().environment
}

#[test]
fn the_machine() {
    let dir = Scratch::new();
    let environment = environment_of(dir.path(), "");
    let system = environment.system.unwrap();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert!(system.starts_with("Linux ") && system.contains(kernel.trim()), "{system}");
    assert!(system.ends_with(std::env::consts::ARCH), "{system}");
    let cpu = environment.cpu_model.unwrap();
    assert!(!cpu.is_empty() && cpu.trim() == cpu, "{cpu:?}");
    assert!(environment.cpu_count.unwrap() >= 1);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kib: u64 = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert_eq!(environment.memory_bytes, Some(kib * 1024));
}

#[test]
fn a_tmpfs_has_no_device() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let tmpfs = Mounted::tmpfs("4m");
    let environment = environment_of(tmpfs.path(), "");
    let file_system = environment.file_system.unwrap();
    assert_eq!(file_system.kind, "tmpfs");
    assert_eq!(file_system.mount_point.as_deref(), tmpfs.path().to_str());
    assert_eq!(file_system.size_bytes, Some(4 << 20));
    assert!(file_system.options.unwrap().split(',').any(|option| option == "size=4096k"));
    assert_eq!(environment.device, None);
}

#[test]
fn ext4_on_a_loop_device() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let environment = environment_of(ext4.path(), "");
    let file_system = environment.file_system.unwrap();
    assert_eq!(file_system.kind, "ext4");
    assert_eq!(file_system.source.as_deref(), ext4.device.node.to_str());
    assert!(file_system.options.unwrap().split(',').any(|option| option == "rw"));
    assert!(file_system.free_bytes.unwrap() < file_system.size_bytes.unwrap());
    let device = environment.device.unwrap();
    assert_eq!(device.name, ext4.device.name());
    assert_eq!(device.size_bytes, Some(16 << 20));
    let backing = device.loop_backing.unwrap();
    assert_eq!(backing.file, ext4.device.image.path.to_str().unwrap());
    assert!(!backing.direct_io);
    assert!(backing.file_system.is_some());
}

#[test]
fn a_block_device() {
    if !can_run(true, &["losetup", "blockdev"]) {
        return;
    }
    let loop_device = Loop::new(Image::new(1 << 20));
    let environment = environment_of(&loop_device.node, "");
    assert_eq!(environment.file_system, None, "that of /dev has nothing to do with it");
    let device = environment.device.unwrap();
    assert_eq!(device.name, loop_device.name());
    let block = sh(&format!("blockdev --getss {}", loop_device.node.display()));
    assert_eq!(device.logical_block_bytes, Some(block.parse().unwrap()));
    assert_eq!((device.size_bytes, device.removable), (Some(1 << 20), Some(false)));
    for known in [device.rotational.is_some(), device.scheduler.is_some(), device.queue_requests_max.is_some()] {
        assert!(known, "{device:?}");
    }
}

/// Serial numbers are there when they are asked for, and only then.
#[test]
fn serial_numbers_only_on_request() {
    let dir = Scratch::new();
    let without = environment_of(dir.path(), "");
    assert_eq!(without.device.and_then(|device| device.serial), None);
    let Some(device) = environment_of(dir.path(), "--serials").device else { return };
    let disk = device.disk.unwrap_or(device.name);
    let told = std::fs::read_to_string(format!("/sys/block/{disk}/serial")).map(|text| text.trim().to_owned());
    if let Some(serial) = told.ok().filter(|serial| !serial.is_empty()) {
        assert_eq!(device.serial, Some(serial));
    }
}
