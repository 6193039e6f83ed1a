//! Devices that look unused from above, and whose bytes are in use below them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use flashmark_host::device::usage::Process;
use flashmark_host::device::{Backing, InUse, Part, Refusal, Use, claim, claim_file, refuse_without_consent};
use support::devices::{Image, Loop, Mounted, consent_to};
use support::holder::{Holder, used};
use support::{can_run, run, sh};

fn below(device: &Loop) -> Part {
    Part::Backing(Backing::Device(device.name().into()))
}

fn file_below(image: &Image) -> Part {
    Part::Backing(Backing::File(image.path.clone()))
}

#[track_caller]
fn may_be_claimed(node: &Path) {
    let mut last = None;
    for _ in 0..50 {
        match claim(node, &consent_to(node)) {
            Ok(_) => return,
            Err(refusal) => {
                let message = refusal.to_string();
                // A process that another test is just starting has copies of all open files for a moment.
                assert!(message.contains("is claimed exclusively"), "{message}");
                last = Some(message);
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }
    panic!("{last:?}");
}

#[test]
fn two_loop_devices_on_one_file() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let image = Image::new(16);
    let (first, second) = (image.attach(), image.attach());
    sh(&format!("mkfs.ext4 -q {}", first.node.display()));
    let mount = Mounted::new(&first.node);
    let at = mount.at.path();
    let (part, by, message) = used(&second.node);
    let mounted = InUse { part: Part::Itself, by: Use::Mounted { at: at.into(), kind: "ext4".into() } };
    assert_eq!(part, file_below(&image));
    assert_eq!(by, Use::LoopBacking { device: first.name().into(), used: Some(Box::new(mounted)) });
    let expected = format!(
        "{} will not be written to: the file {} below it is the backing file of {2}, and {2} is mounted at {3} (ext4); \
         unmount it first: umount {3}",
        second.node.display(),
        image.path.display(),
        first.node.display(),
        at.display()
    );
    assert_eq!(message, expected);
    assert!(matches!(refuse_without_consent(&second.node), Refusal::InUse { .. }));

    drop(mount);
    let (_, by, message) = used(&second.node);
    assert_eq!(by, Use::LoopBacking { device: first.name().into(), used: None });
    assert!(message.ends_with(&format!("detach that first: losetup -d {}", first.node.display())), "{message}");
    drop(first);
    may_be_claimed(&second.node);
}

/// The path that the kernel shows is the one at the time of attaching.
#[test]
fn the_file_counts_and_not_its_path() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let (image, other) = (Image::new(1), Image::new(1));
    let first = image.attach();
    let link = other.dir.path().join("link");
    fs::hard_link(&image.path, &link).unwrap();
    let second = Loop::of(&link, "");
    // Another file in its place: for the path, the two devices would be on it, and on nothing together.
    fs::rename(&other.path, &image.path).unwrap();
    assert!(matches!(used(&second.node).1, Use::LoopBacking { device, .. } if device == first.name()));
    assert!(matches!(used(&link).1, Use::LoopBacking { .. }));
    drop(claim_file(&image.path, &consent_to(&image.path)).unwrap());
    fs::remove_file(&link).unwrap();
    assert!(matches!(used(&second.node).1, Use::LoopBacking { device, .. } if device == first.name()));
    drop(first);
    may_be_claimed(&second.node);
}

#[test]
fn a_loop_device_over_a_mounted_one() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let image = Image::new(16);
    let first = image.attach();
    sh(&format!("mkfs.ext4 -q {}", first.node.display()));
    let mount = Mounted::new(&first.node);
    let second = Loop::of(&first.node, "");
    let third = Loop::of(&second.node, "");
    for device in [&second, &third] {
        let (part, by, message) = used(&device.node);
        if device.node == third.node {
            assert_eq!(part, below(&first), "{message}");
            assert_eq!(by, Use::Mounted { at: mount.at.path().into(), kind: "ext4".into() });
            let expected = format!(
                "{} will not be written to: the device {} below it is mounted at {2} (ext4); unmount it first: umount {2}",
                device.node.display(),
                first.node.display(),
                mount.at.path().display()
            );
            assert_eq!(message, expected);
        } else {
            // The one above is as much in the way.
            assert_eq!(by, Use::LoopBacking { device: third.name().into(), used: None });
        }
    }
    drop(mount);
    may_be_claimed(&third.node);
    drop(third);
    may_be_claimed(&second.node);
}

#[test]
fn a_loop_device_over_a_disk_with_a_mounted_partition() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "sfdisk", "partx"]) {
        return;
    }
    let image = Image::new(64);
    let disk = image.attach();
    let [first, second] = disk.partition();
    sh(&format!("mkfs.ext4 -q {}", first.display()));
    let mount = Mounted::new(&first);
    let over_disk = Loop::of(&disk.node, "");
    let (part, by, message) = used(&over_disk.node);
    let name = first.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(matches!(by, Use::Mounted { .. }), "{message}");
    assert_eq!(part, Part::Backing(Backing::Device(name)));
    drop(over_disk);
    // The other partition has bytes of its own.
    let over_second = Loop::of(&second, "");
    may_be_claimed(&over_second.node);
    // Another way to the same file is in the way of partitions too.
    drop(over_second);
    let again = image.attach();
    sh(&format!("partx -a {}", again.node.display()));
    let its_second = format!("{}p2", again.node.display());
    assert_eq!(used(Path::new(&its_second)).0, file_below(&image));
    drop(mount);
}

#[test]
fn a_backing_device_that_another_process_claims() {
    if !can_run(true, &["losetup", "python3"]) {
        return;
    }
    let image = Image::new(8);
    let first = image.attach();
    let second = Loop::of(&first.node, "");
    let holder = Holder::open(&first.node, "os.O_RDONLY | os.O_EXCL");
    let (part, by, message) = used(&second.node);
    assert_eq!(part, below(&first), "{message}");
    // Other tests' losetup looks at all loop devices, so that it may be among them.
    let holds = |processes: &[Process]| processes.iter().any(|process| process.pid == holder.0.id());
    assert!(matches!(by, Use::Exclusive { processes } if holds(&processes)), "{message}");
    drop(holder);

    // And nobody can claim it while the device on it is claimed.
    let claimed = claim(&second.node, &consent_to(&second.node)).unwrap();
    assert!(claimed.doubts().is_empty(), "{:?}", claimed.doubts());
    let open = format!("python3 -c 'import os; os.open(\"{}\", os.O_RDONLY | os.O_EXCL)'", first.node.display());
    let refused = run(&open);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("busy"), "{refused:?}");
    drop(claimed);
    assert!((0..50).any(|_| run(&open).status.success()));
}

#[test]
fn a_backing_device_that_is_mounted_in_another_namespace() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "unshare"]) {
        return;
    }
    let image = Image::new(16);
    let first = image.attach();
    sh(&format!("mkfs.ext4 -q {}", first.node.display()));
    let second = Loop::of(&first.node, "");
    let at = tempfile::tempdir().unwrap();
    let script = format!("mount {} {} && echo mounted && exec sleep 600", first.node.display(), at.path().display());
    let mut command = Command::new("unshare");
    command.args(["-m", "--propagation", "private", "sh", "-c", &script]).stdout(Stdio::piped());
    let mut holder = Holder(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(holder.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "mounted\n");
    let (part, by, message) = used(&second.node);
    assert_eq!(part, below(&first), "{message}");
    assert!(matches!(by, Use::MountedElsewhere { process, .. } if process.pid == holder.0.id()), "{message}");
}

#[test]
fn a_backing_file_that_is_swap() {
    if !can_run(true, &["mkswap", "swapon", "losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let image = Image::new(64);
    let disk = image.attach();
    sh(&format!("mkfs.ext4 -q {}", disk.node.display()));
    let mount = Mounted::new(&disk.node);
    let file = mount.at.path().join("swap");
    fs::write(&file, vec![0; 8 << 20]).unwrap();
    sh(&format!("chmod 600 {0}; mkswap -q {0}", file.display()));
    // A file on the file system of a loop device is a file like any other, and so is a device on it.
    drop(claim_file(&file, &consent_to(&file)).unwrap());
    let device = Loop::of(&file, "");
    may_be_claimed(&device.node);
    sh(&format!("swapon {}", file.display()));
    let refused = std::panic::catch_unwind(|| used(&device.node));
    sh(&format!("swapoff {}", file.display()));
    let (part, by, _) = refused.unwrap();
    assert_eq!((part, by), (Part::Backing(Backing::File(file.clone())), Use::Swap { area: file }));
}

#[test]
fn backings_that_another_process_writes_to() {
    if !can_run(true, &["losetup", "python3"]) {
        return;
    }
    let image = Image::new(8);
    let first = image.attach();
    let second = Loop::of(&first.node, "");
    for (path, expected) in [(&image.path, file_below(&image)), (&first.node, below(&first))] {
        let holder = Holder::open(path, "os.O_RDWR");
        let (part, by, message) = used(&second.node);
        assert_eq!(part, expected, "{message}");
        let Use::OpenForWriting { processes } = by else { panic!("{message}") };
        assert!(processes.iter().any(|process| process.pid == holder.0.id()), "{message}");
    }
    let _reader = Holder::open(&image.path, "os.O_RDONLY");
    may_be_claimed(&second.node);
}
