//! Real loop devices, in every state in which they must not be overwritten, and in those in which they may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use flashmark_host::device::{Part, Refusal, Use, claim, claim_file, inspect, refuse_without_consent};
use support::devices::{Image, Loop, Mounted, Swapping, consent_args, consent_to};
use support::holder::{Holder, used};
use support::{can_run, not_in_this_kernel, run, sh};

#[test]
fn a_blank_device_may_be_overwritten_and_is_held() {
    if !can_run(true, &["losetup", "python3"]) {
        return;
    }
    let image = Image::new(8);
    let device = image.attach();
    assert!(inspect(&device.node).unwrap().is_blank());
    assert!(matches!(refuse_without_consent(&device.node), Refusal::NoConsent { .. }));

    let claimed = claim(&device.node, &consent_to(&device.node)).unwrap();
    assert_eq!(claimed.size_bytes(), 8 << 20);
    claimed.file().write_all_at(b"flashmark", 4096).unwrap();
    let again = claimed.reopen(rustix::fs::OFlags::RDONLY).unwrap();
    let mut read = [0; 9];
    again.read_exact_at(&mut read, 4096).unwrap();
    assert_eq!(&read, b"flashmark");

    // Whoever asks for it now is turned away, be it mount or another flashmark.
    let open = format!("python3 -c 'import os; os.open(\"{}\", os.O_RDWR | os.O_EXCL)'", device.node.display());
    let refused = run(&open);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("busy"), "{refused:?}");
    drop((claimed, again));
    sh(&open);
}

#[test]
fn what_is_on_an_unused_device_is_named_and_goes_with_consent_only() {
    if !can_run(true, &["losetup", "mkfs.ext4", "sfdisk", "partx"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    sh(&format!("mkfs.ext4 -q -L holiday {}", device.node.display()));
    let before = fs::read(&image.path).unwrap();
    let refusal = refuse_without_consent(&device.node);
    let message = refusal.to_string();
    let expected = format!(
        "{0} (loop device, 67.1 MB) holds: ext4 file system \"holiday\". Writing to it needs your consent, and all data \
         on it will be lost; if that is what you want, add: --destroy {0}",
        device.node.display()
    );
    assert_eq!(message, expected);
    assert!(matches!(refusal, Refusal::NoConsent { findings, .. } if findings.contents[0].name == "ext4"));
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
    assert!(fs::read(&image.path).unwrap() == before, "looking and claiming must not change anything");
}

#[test]
fn a_table_with_unused_partitions_is_named_with_what_is_on_them() {
    if !can_run(true, &["losetup", "mkfs.ext4", "sfdisk", "partx"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    let [first, second] = device.partition();
    // Somebody has read the disk before, and keeps its old pages in memory: those of a partition are apart from them.
    let mut reader = fs::File::open(&device.node).unwrap();
    std::io::Read::read_exact(&mut reader, &mut vec![0; 48 << 20]).unwrap();
    sh(&format!("mkfs.ext4 -q -L rootfs {}", second.display()));
    let message = refuse_without_consent(&device.node).to_string();
    assert!(
        message
            .contains("GPT partition table: partition 1 (21.0 MB), partition 2 (21.0 MB, ext4 file system \"rootfs\")"),
        "{message}"
    );
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
    // The consent to the disk is none to a partition, nor the other way round.
    let args = consent_args(&[&device.node]);
    assert!(args.consent_to(&first).is_none());
    assert!(matches!(claim(&first, &args.consent_to(&device.node).unwrap()), Err(Refusal::OtherConsent { .. })));
}

#[test]
fn mounted() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let image = Image::new(16);
    let device = image.attach();
    sh(&format!("mkfs.ext4 -q {}", device.node.display()));
    let mount = Mounted::new(&device.node);
    let at = mount.at.path();
    let (part, by, message) = used(&device.node);
    assert_eq!((part, by), (Part::Itself, Use::Mounted { at: at.into(), kind: "ext4".into() }));
    assert_eq!(
        message,
        format!(
            "{} will not be written to: it is mounted at {1} (ext4); unmount it first: umount {1}",
            device.node.display(),
            at.display()
        )
    );
    // Without consent, the reason that consent can't overcome is given.
    assert!(matches!(refuse_without_consent(&device.node), Refusal::InUse { .. }));
    // Another node of the same device is the same device.
    let node = image.dir.path().join("node");
    sh(&format!("mknod {} b 7 {}", node.display(), device.name().trim_start_matches("loop")));
    assert!(matches!(used(&node).1, Use::Mounted { .. }));
    drop(mount);
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
}

#[test]
fn mounted_in_another_namespace() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "unshare"]) {
        return;
    }
    let image = Image::new(16);
    let device = image.attach();
    sh(&format!("mkfs.ext4 -q {}", device.node.display()));
    let at = tempfile::tempdir().unwrap();
    let script = format!("mount {} {} && echo mounted && exec sleep 600", device.node.display(), at.path().display());
    let mut command = Command::new("unshare");
    command.args(["-m", "--propagation", "private", "sh", "-c", &script]).stdout(Stdio::piped());
    let mut holder = Holder(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(holder.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "mounted\n");
    let (_, by, message) = used(&device.node);
    let Use::MountedElsewhere { at: found, process } = by else { panic!("{message}") };
    assert_eq!((found.as_path(), process.pid), (at.path(), holder.0.id()));
}

#[test]
fn a_partition_is_mounted() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "sfdisk", "partx"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    let [first, second] = device.partition();
    sh(&format!("mkfs.ext4 -q {}", first.display()));
    let mount = Mounted::new(&first);
    let (part, by, message) = used(&device.node);
    assert_eq!(part, Part::Partition(format!("{}p1", device.name())));
    assert!(matches!(by, Use::Mounted { .. }));
    assert!(message.contains(&format!("its partition {} is mounted at", first.display())), "{message}");
    assert!(matches!(used(&first), (Part::Itself, Use::Mounted { .. }, _)));
    // Its neighbour is nobody's business.
    drop(claim(&second, &consent_to(&second)).unwrap());
    drop(mount);
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
}

#[test]
fn the_disk_of_a_partition_is_held() {
    if !can_run(true, &["losetup", "sfdisk", "partx", "python3"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    let [first, _] = device.partition();
    let _holder = Holder::open(&device.node, "os.O_RDONLY | os.O_EXCL");
    let (part, by, message) = used(&first);
    assert_eq!(part, Part::Disk(device.name().into()));
    assert!(matches!(by, Use::Exclusive { processes } if processes[0].name == "python3"), "{message}");
}

#[test]
fn swap() {
    if !can_run(true, &["losetup", "mkswap", "swapon", "sfdisk", "partx"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    let [first, _] = device.partition();
    let swapping = Swapping::on(&first);
    assert_eq!(used(&first).1, Use::Swap { area: first.clone() });
    let (part, _, message) = used(&device.node);
    assert_eq!(part, Part::Partition(format!("{}p1", device.name())));
    assert!(
        message.contains(&format!("is in use as swap; switch it off first: swapoff {}", first.display())),
        "{message}"
    );
    drop(swapping);
    let findings = inspect(&first).unwrap();
    assert_eq!((findings.contents[0].name, findings.uses.len()), ("swap", 0));
    drop(claim(&first, &consent_to(&first)).unwrap());
}

#[test]
fn member_of_a_mounted_btrfs() {
    if !can_run(true, &["losetup", "mkfs.btrfs", "mount"]) {
        return;
    }
    let (one, two) = (Image::new(128), Image::new(128));
    let (first, second) = (one.attach(), two.attach());
    sh(&format!("mkfs.btrfs -q -d single -m raid1 {} {}", first.node.display(), second.node.display()));
    sh(&format!("btrfs device scan {} {}", first.node.display(), second.node.display()));
    let mount = Mounted::new(&first.node);
    // A mount shows one of the devices only, and a made-up device number.
    for device in [&first, &second] {
        let found = inspect(&device.node).unwrap();
        let member = found.uses.iter().find_map(|usage| match &usage.by {
            Use::BtrfsMember { at, .. } => Some(at.clone()),
            _ => None,
        });
        assert_eq!(member, Some(Some(mount.at.path().to_path_buf())), "{found:?}");
        let (part, _, message) = used(&device.node);
        assert_eq!(part, Part::Itself);
        assert!(message.contains(&mount.at.path().display().to_string()), "{message}");
    }
    drop(mount);
    sh("btrfs device scan --forget");
    drop(claim(&second.node, &consent_to(&second.node)).unwrap());
}

#[test]
fn held_by_device_mapper() {
    if !can_run(true, &["losetup", "dmsetup"]) {
        return;
    }
    if !run("dmsetup version").status.success() {
        not_in_this_kernel("the device mapper; tests/held.rs has it on trees");
        return;
    }
    let image = Image::new(8);
    let device = image.attach();
    let name = format!("flashmark-test-{}", std::process::id());
    let table = format!("0 16384 linear {} 0", device.node.display());
    sh(&format!("dmsetup create {name} --table '{table}'"));
    let refused = std::panic::catch_unwind(|| used(&device.node));
    sh(&format!("dmsetup remove {name}"));
    let (_, by, message) = refused.unwrap();
    assert!(matches!(by, Use::Held { .. }) && message.contains(&format!("dmsetup remove {name}")), "{message}");
}

#[test]
fn opened_exclusively_by_another_process() {
    if !can_run(true, &["losetup", "python3"]) {
        return;
    }
    let image = Image::new(8);
    let device = image.attach();
    let holder = Holder::open(&device.node, "os.O_RDONLY | os.O_EXCL");
    let (part, by, message) = used(&device.node);
    assert_eq!(part, Part::Itself);
    let Use::Exclusive { processes } = by else { panic!("{message}") };
    assert_eq!((processes.len(), processes[0].pid), (1, holder.0.id()));
    let expected = format!("claimed exclusively by another program, probably process {} (python3)", holder.0.id());
    assert!(message.contains(&expected), "{message}");
    drop(holder);
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
}

#[test]
fn opened_for_writing_by_another_process() {
    if !can_run(true, &["losetup", "python3"]) {
        return;
    }
    let image = Image::new(8);
    let device = image.attach();
    // As a virtual machine does; the kernel would not mind a second writer.
    let holder = Holder::open(&device.node, "os.O_RDWR");
    let (_, by, message) = used(&device.node);
    assert!(matches!(by, Use::OpenForWriting { processes } if processes[0].pid == holder.0.id()), "{message}");
    drop(holder);
    // Reading hurts nobody but the reader.
    let _reader = Holder::open(&device.node, "os.O_RDONLY");
    drop(claim(&device.node, &consent_to(&device.node)).unwrap());
}

#[test]
fn backing_of_a_loop_device() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let image = Image::new(8);
    let below = image.attach();
    let above = Loop::of(&below.node, "");
    let expected = Use::LoopBacking { device: above.name().into(), used: None };
    assert_eq!(used(&below.node).1, expected);
    let (_, by, message) = used(&image.path);
    let Use::LoopBacking { device, used: Some(usage) } = by else { panic!("{message}") };
    assert_eq!((device.as_str(), usage.by), (below.name(), expected));
    drop(above);
    drop(claim(&below.node, &consent_to(&below.node)).unwrap());
    drop(below);
    drop(claim_file(&image.path, &consent_to(&image.path)).unwrap());
}

#[test]
fn read_only_devices() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let image = Image::new(8);
    let device = image.attach_with("-r");
    let refusal = claim(&device.node, &consent_to(&device.node)).unwrap_err();
    assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal:?}");
    assert!(refusal.to_string().contains("blockdev --setrw"), "{refusal}");
}

#[test]
fn devices_without_capacity() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let image = Image::new(0);
    let device = image.attach();
    let refusal = claim(&device.node, &consent_to(&device.node)).unwrap_err();
    assert!(matches!(refusal, Refusal::NoMedium { .. }), "{refusal:?}");
    assert!(matches!(refuse_without_consent(&device.node), Refusal::NoMedium { .. }));
}

#[test]
fn no_block_device() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let consent = consent_to(&file);
    let refusal = claim(&file, &consent).unwrap_err();
    assert!(refusal.to_string().contains("is a regular file, not a block device"), "{refusal}");
    assert!(matches!(claim(dir.path(), &consent), Err(Refusal::NotBlockDevice { what: "a directory", .. })));
    assert!(matches!(claim(Path::new("/dev/null"), &consent), Err(Refusal::NotBlockDevice { .. })));
    assert!(matches!(claim(&dir.path().join("none"), &consent), Err(Refusal::Missing { .. })));
    assert!(matches!(claim_file(dir.path(), &consent), Err(Refusal::NotRegularFile { .. })));
    assert!(matches!(inspect(dir.path()), Err(Refusal::NotBlockDevice { .. })));
}

#[test]
fn without_the_right_to_write() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let image = Image::new(8);
    let device = image.attach();
    let node = device.node.as_path();
    let consent = consent_to(node);
    let refused = std::thread::scope(|scope| {
        let nobody = scope.spawn(|| {
            // The kernel keeps users by thread; this one is not root any more, and ends here.
            let (uid, gid) = (rustix::fs::Uid::from_raw(65534), rustix::fs::Gid::from_raw(65534));
            rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
            rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
            [claim(node, &consent).unwrap_err(), inspect(node).unwrap_err()]
        });
        nobody.join().unwrap()
    });
    for refusal in refused {
        assert!(matches!(refusal, Refusal::Denied { .. }), "{refusal:?}");
        assert!(refusal.to_string().contains("run as root, or join the group that owns the device"), "{refusal}");
    }
}

#[test]
fn files() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data");
    fs::write(&file, "precious").unwrap();
    let refusal = refuse_without_consent(&file);
    assert!(matches!(&refusal, Refusal::NoConsent { findings, .. } if findings.size_bytes == 8), "{refusal:?}");

    let claimed = claim_file(&file, &consent_to(&file)).unwrap();
    assert_eq!(claimed.size_bytes(), 8);
    assert!(matches!(claim_file(&file, &consent_to(&file)), Err(Refusal::Locked { .. })));
    drop(claimed);

    // Another file in its place is not what was consented to.
    let consent = consent_to(&file);
    fs::rename(&file, dir.path().join("moved")).unwrap();
    fs::write(&file, "other").unwrap();
    assert!(matches!(claim_file(&file, &consent), Err(Refusal::OtherConsent { .. })));
    assert_eq!(fs::read(&file).unwrap(), b"other");

    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    let refusal = claim_file(&file, &consent_to(&file)).unwrap_err();
    assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal:?}");
}

#[test]
fn files_that_others_write_to() {
    if !can_run(false, &["python3"]) {
        return;
    }
    let image = Image::new(1);
    let holder = Holder::open(&image.path, "os.O_RDWR");
    assert!(matches!(used(&image.path).1, Use::OpenForWriting { .. }));
    drop(holder);
    drop(claim_file(&image.path, &consent_to(&image.path)).unwrap());
}

#[test]
fn swap_files() {
    if !can_run(true, &["mkswap", "swapon", "losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let image = Image::new(64);
    let device = image.attach();
    sh(&format!("mkfs.ext4 -q {}", device.node.display()));
    let mount = Mounted::new(&device.node);
    let file = mount.at.path().join("my swap");
    let linked = mount.at.path().join("linked");
    fs::write(&file, vec![0; 8 << 20]).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::hard_link(&file, &linked).unwrap();
    sh(&format!("mkswap -q '{0}'", file.display()));
    sh(&format!("swapon '{0}'", file.display()));
    let refused = std::panic::catch_unwind(|| (used(&file).1, used(&linked).1));
    sh(&format!("swapoff '{0}'", file.display()));
    let area = Use::Swap { area: file.clone() };
    assert_eq!(refused.unwrap(), (area.clone(), area));
}

#[test]
fn immutable_files() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "chattr"]) {
        return;
    }
    let image = Image::new(16);
    let device = image.attach();
    sh(&format!("mkfs.ext4 -q {}", device.node.display()));
    let mount = Mounted::new(&device.node);
    let file = mount.at.path().join("kept");
    fs::write(&file, "x").unwrap();
    for flag in ["i", "a"] {
        sh(&format!("chattr +{flag} {}", file.display()));
        let refusal = claim_file(&file, &consent_to(&file)).unwrap_err();
        sh(&format!("chattr -{flag} {}", file.display()));
        assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal:?}");
        assert!(refusal.to_string().contains(&format!("chattr -{flag} first")), "{refusal}");
    }
    drop(claim_file(&file, &consent_to(&file)).unwrap());
    sh(&format!("mount -o remount,ro {}", mount.at.path().display()));
    assert!(matches!(claim_file(&file, &consent_to(&file)), Err(Refusal::ReadOnly { .. })));
}

#[test]
fn consent_names_devices_by_number() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let (one, two) = (Image::new(1), Image::new(1));
    let (first, second) = (one.attach(), two.attach());
    let node = one.dir.path().join("by another name");
    sh(&format!("mknod '{}' b 7 {}", node.display(), first.name().trim_start_matches("loop")));
    let link = one.dir.path().join("link");
    std::os::unix::fs::symlink(&first.node, &link).unwrap();
    for given in [&node, &link, &first.node] {
        let args = consent_args(&[given]);
        assert!(args.consent_to(&first.node).is_some(), "{given:?}");
        assert!(args.consent_to(&second.node).is_none(), "{given:?}");
        assert!(args.consent_to(&one.path).is_none(), "the backing file is another thing");
        assert_eq!(args.unused(&[&second.node]), [given.as_path()]);
        assert!(args.unused(&[&first.node]).is_empty());
    }
}
