//! The environment of recorded machines, and of this one against what the usual programs say of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod support;

use std::path::Path;

use flashmark_core::environment::Environment;
use flashmark_core::record::{Warning, WarningCode};
use flashmark_host::device::{BlockDevice, block_device_of};
use flashmark_host::environment::{
    Collect, LowerCache, collect, describe_device, describe_system, lower_caches, mount_of,
};
use support::devices::{Image, Loop, Mounted};
use support::tree::Tree;
use support::{can_run, sh};

/// What is collected of a device of a recorded machine.
fn recorded(tree: &Tree, name: &str, options: Collect) -> (Environment, Vec<Warning>) {
    let sysfs = tree.sysfs();
    let device: BlockDevice = sysfs.block_named(name).unwrap();
    let mut warnings = Vec::new();
    let mut environment = describe_system(&sysfs);
    environment.device = Some(describe_device(&sysfs, &device, options, &mut warnings));
    (environment, warnings)
}

#[test]
fn a_raspberry_pi_with_an_sd_card() {
    let tree = Tree::named("raspberry-pi");
    let (environment, warnings) = recorded(&tree, "mmcblk0p2", Collect::default());
    assert_eq!(warnings, []);
    insta::assert_debug_snapshot!(environment);
    let shown = format!("{environment:?}");
    for secret in ["deadbeef", "ffeeddcc", "0353"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    let (environment, _) = recorded(&tree, "mmcblk0", Collect { serials: true });
    assert_eq!(environment.device.unwrap().serial.as_deref(), Some("0xffeeddcc"));
}

#[test]
fn a_phones_emmc_without_debugfs() {
    let (environment, warnings) = recorded(&Tree::named("phone-emmc"), "mmcblk0p40", Collect::default());
    insta::assert_debug_snapshot!(environment.device);
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].code, WarningCode::Environment);
    assert!(warnings[0].message.contains("bus clock and mode of mmcblk0 are unknown"), "{}", warnings[0].message);
}

#[test]
fn an_nvme_drive() {
    let tree = Tree::named("laptop-lvm-crypt");
    insta::assert_debug_snapshot!(recorded(&tree, "nvme0n1", Collect::default()).0.device);
    let device = recorded(&tree, "nvme0n1", Collect { serials: true }).0.device.unwrap();
    assert_eq!(device.serial.as_deref(), Some("S4EVNX0N123456A"));
    let model = |name| recorded(&tree, name, Collect::default()).0.device.unwrap().model;
    assert_eq!(model("dm-0").as_deref(), Some("dm-crypt volume"));
    assert_eq!(model("dm-1").as_deref(), Some("LVM volume"));
}

#[test]
fn a_sata_disk_and_an_array() {
    let tree = Tree::named("md-raid1");
    insta::assert_debug_snapshot!(recorded(&tree, "sda1", Collect::default()).0.device);
    let device = recorded(&tree, "sda", Collect { serials: true }).0.device.unwrap();
    assert_eq!(device.serial.as_deref(), Some("naa.50014ee2b1234567"));
    assert_eq!(recorded(&tree, "md127", Collect::default()).0.device.unwrap().model.as_deref(), Some("md raid1"));
}

#[test]
fn this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let (environment, _) = collect(dir.path(), Collect::default());
    let system = environment.system.unwrap();
    assert_eq!(system, sh("uname -srm"));
    assert_eq!(environment.cpu_count.map(|count| count.to_string()), Some(sh("getconf _NPROCESSORS_ONLN")));
    let kib = environment.memory_bytes.unwrap() / 1024;
    assert_eq!(kib.to_string(), sh("awk '/MemTotal/ { print $2 }' /proc/meminfo"));
    let file_system = environment.file_system.unwrap();
    let stat = sh(&format!("stat -f -c '%S %s' {}", dir.path().display()));
    let (fragment, block) = stat.split_once(' ').unwrap();
    assert_eq!(file_system.block_bytes.unwrap().to_string(), block);
    assert_eq!(file_system.size_bytes.unwrap() % fragment.parse::<u64>().unwrap(), 0);
    assert!(file_system.free_bytes.unwrap() <= file_system.size_bytes.unwrap());
}

#[test]
fn a_file_system_on_a_loop_device() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "findmnt"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    sh(&format!("mkfs.ext4 -q {}", device.node.display()));
    let mount = Mounted::new(&device.node);
    let file = mount.at.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let (environment, warnings) = collect(&file, Collect::default());
    assert_eq!(warnings, []);

    let file_system = environment.file_system.unwrap();
    let found = sh(&format!("findmnt -n -r -o FSTYPE,TARGET,SOURCE,OPTIONS {}", mount.at.path().display()));
    let own =
        [file_system.kind, file_system.mount_point.unwrap(), file_system.source.unwrap(), file_system.options.unwrap()];
    assert_eq!(own.join(" "), found);
    let df = sh(&format!("df -B1 --output=size,avail {} | tail -1", mount.at.path().display()));
    let df: Vec<u64> = df.split_whitespace().map(|n| n.parse().unwrap()).collect();
    assert_eq!([file_system.size_bytes.unwrap(), file_system.free_bytes.unwrap()], [df[0], df[1]]);

    let found = environment.device.unwrap();
    assert_eq!((found.name.as_str(), found.size_bytes), (device.name(), Some(64 << 20)));
    let queue = |attribute: &str| sh(&format!("cat /sys/block/{}/queue/{attribute}", device.name()));
    assert_eq!(found.logical_block_bytes.unwrap().to_string(), queue("logical_block_size"));
    assert_eq!(found.read_ahead_bytes.unwrap() / 1024, queue("read_ahead_kb").parse::<u64>().unwrap());
    assert!(queue("scheduler").contains(&found.scheduler.unwrap()));
    let backing = found.loop_backing.unwrap();
    assert_eq!((backing.file.as_str(), backing.direct_io), (image.path.to_str().unwrap(), false));
    assert_eq!(backing.file_system, mount_of(&image.path).map(|mount| mount.kind));

    // The device itself is on no file system, though its node is.
    let (environment, _) = collect(&device.node, Collect::default());
    assert_eq!((environment.file_system, environment.device.unwrap().name.as_str()), (None, device.name()));
}

#[test]
fn a_btrfs_hides_its_device_but_it_is_found() {
    if !can_run(true, &["losetup", "mkfs.btrfs", "mount"]) {
        return;
    }
    let image = Image::new(128);
    let device = image.attach();
    sh(&format!("mkfs.btrfs -q {}", device.node.display()));
    let mount = Mounted::new(&device.node);
    sh(&format!("btrfs subvolume create {}/sub >/dev/null", mount.at.path().display()));
    let found = block_device_of(&mount.at.path().join("sub")).unwrap();
    assert_eq!(found.name, device.name());
}

#[test]
fn the_mount_on_top_counts() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let under = Tmpfs::at(dir.path(), "size=1m");
    let over = Tmpfs::at(dir.path(), "size=2m,mode=0700");
    let mount = mount_of(dir.path()).unwrap();
    assert_eq!((mount.kind.as_str(), mount.point.as_path()), ("tmpfs", dir.path()));
    assert!(mount.all_options().contains("size=2048k"), "{mount:?}");
    assert!(mount.is_memory());
    let (environment, warnings) = collect(dir.path(), Collect::default());
    assert_eq!((environment.device, warnings.len()), (None, 0));
    drop((over, under));
    assert_ne!(mount_of(dir.path()).unwrap().point, dir.path());
    assert_eq!(mount_of(&dir.path().join("missing")), None);
}

/// A tmpfs mounted over a directory.
struct Tmpfs<'a>(&'a Path);

impl<'a> Tmpfs<'a> {
    fn at(dir: &'a Path, options: &str) -> Self {
        sh(&format!("mount -t tmpfs -o {options} flashmark-test {}", dir.display()));
        Self(dir)
    }
}

impl Drop for Tmpfs<'_> {
    fn drop(&mut self) {
        support::run(&format!("umount {}", self.0.display()));
    }
}

/// An overlay over the directories `lower` and `upper` of another one, made anew.
struct Overlay {
    at: tempfile::TempDir,
}

impl Overlay {
    /// `lower` may hold files already.
    fn over(lower: &Path, upper: &Path) -> Self {
        let at = tempfile::tempdir().unwrap();
        let (lower, upper) = (lower.display(), upper.display());
        sh(&format!(
            "mkdir -p {lower}/lower {upper}/upper {upper}/work && mount -t overlay -o \
             lowerdir={lower}/lower,upperdir={upper}/upper,workdir={upper}/work none {}",
            at.path().display()
        ));
        Self { at }
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        support::run(&format!("umount {}", self.at.path().display()));
    }
}

/// A file system on a loop device, with a directory `lower` that holds the file `old`.
fn ext4_with_file(device: &Loop) -> Mounted {
    sh(&format!("mkfs.ext4 -q {}", device.node.display()));
    let mount = Mounted::new(&device.node);
    std::fs::create_dir(mount.at.path().join("lower")).unwrap();
    std::fs::write(mount.at.path().join("lower/old"), "from below").unwrap();
    mount
}

const OVERLAY_NEEDS: [&str; 3] = ["losetup", "mkfs.ext4", "mount"];

#[test]
fn an_overlay_is_on_the_device_of_its_upper_layer() {
    if !can_run(true, &OVERLAY_NEEDS) || !has_file_system("overlay") {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    let mount = ext4_with_file(&device);
    let overlay = Overlay::over(mount.at.path(), mount.at.path());
    assert_eq!(block_device_of(overlay.at.path()).unwrap().name, device.name());
    let buffered = LowerCache::LoopBuffered { device: device.name().into(), backing_file: image.path.clone() };
    for path in ["", "old"] {
        let found = lower_caches(&overlay.at.path().join(path));
        assert_eq!(found.first(), Some(&buffered), "{path}: {found:?}");
        assert!(!found.iter().any(|cache| matches!(cache, LowerCache::Unknown { .. })), "{found:?}");
    }
    let (environment, warnings) = collect(overlay.at.path(), Collect::default());
    assert_eq!((environment.device.unwrap().name.as_str(), warnings.len()), (device.name(), 0));
}

/// As Raspberry Pi OS and live systems have it, to spare the card.
#[test]
fn an_overlay_that_is_written_to_memory() {
    if !can_run(true, &OVERLAY_NEEDS) || !has_file_system("overlay") {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    let card = ext4_with_file(&device);
    let memory = tempfile::tempdir().unwrap();
    let _tmpfs = Tmpfs::at(memory.path(), "size=8m");
    let overlay = Overlay::over(card.at.path(), memory.path());
    let in_memory = [LowerCache::MemoryFileSystem { kind: "tmpfs".into() }];
    assert_eq!(lower_caches(overlay.at.path()), in_memory);
    let (environment, warnings) = collect(overlay.at.path(), Collect::default());
    assert_eq!((environment.device, warnings), (None, Vec::new()));
    // A file of the card is read from there until it is written.
    let old = overlay.at.path().join("old");
    assert!(matches!(lower_caches(&old)[..], [LowerCache::LoopBuffered { .. }, ..]));
    assert_eq!(block_device_of(&old).unwrap().name, device.name());
    drop(std::fs::OpenOptions::new().append(true).open(&old).unwrap());
    assert_eq!(lower_caches(&old), in_memory);
    assert_eq!(block_device_of(&old), None);
    let new = overlay.at.path().join("directory");
    std::fs::create_dir(&new).unwrap();
    std::fs::write(new.join("file"), "x").unwrap();
    assert_eq!(lower_caches(&new.join("file")), in_memory);
}

/// The path of an upper layer is one of whoever mounted it, an initial RAM disk perhaps.
#[test]
fn an_overlay_whose_upper_layer_is_out_of_sight() {
    if !can_run(true, &OVERLAY_NEEDS) || !has_file_system("overlay") {
        return;
    }
    let (memory, card) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let _tmpfs = Tmpfs::at(memory.path(), "size=8m");
    let overlay = Overlay::over(card.path(), memory.path());
    let unknown = [LowerCache::Unknown { kind: "overlay".into(), at: overlay.at.path().into() }];
    let message = unknown[0].to_string();
    assert!(message.starts_with("what is below the overlay on /"), "{message}");
    // Something else is there now, with a directory of that name.
    let other = Tmpfs::at(memory.path(), "size=4m");
    std::fs::create_dir(memory.path().join("upper")).unwrap();
    assert_eq!(lower_caches(overlay.at.path()), unknown);
    assert_eq!(collect(overlay.at.path(), Collect::default()).1.len(), 1);
    drop(other);
    assert_ne!(lower_caches(overlay.at.path()), unknown);
    // Or there is nothing of that name.
    let covering = Tmpfs::at(memory.path(), "size=8m");
    assert_eq!(lower_caches(overlay.at.path()), unknown);
    drop(covering);
}

fn has_file_system(kind: &str) -> bool {
    let known = sh("cat /proc/filesystems").lines().any(|line| line.ends_with(&format!("\t{kind}")));
    if !known {
        support::not_in_this_kernel(kind);
    }
    known
}

#[test]
fn caches_below_a_target() {
    if !can_run(true, &["losetup", "mount"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let tmpfs = Tmpfs::at(dir.path(), "size=16m");
    let file = dir.path().join("disk.img");
    std::fs::File::create(&file).unwrap().set_len(8 << 20).unwrap();
    let in_memory = LowerCache::MemoryFileSystem { kind: "tmpfs".into() };
    assert_eq!(lower_caches(&file), std::slice::from_ref(&in_memory));
    let device = Loop::of(&file, "");
    let buffered = LowerCache::LoopBuffered { device: device.name().into(), backing_file: file.clone() };
    assert_eq!(lower_caches(&device.node), [buffered, in_memory]);
    drop(device);
    drop(tmpfs);

    let image = Image::new(8);
    let direct = image.attach_with("--direct-io=on");
    let dio = sh(&format!("cat /sys/block/{}/loop/dio", direct.name())) == "1";
    assert_eq!(lower_caches(&direct.node).is_empty(), dio && lower_caches(&image.path).is_empty());
}
