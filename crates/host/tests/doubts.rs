//! What a user without the rights of root can't see: it is told where it does not matter for certain, and refused where
//! it does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use flashmark_host::device::{Part, Refusal, Use, claim, claim_file};
use rustix::fs::{Gid, Uid};
use support::devices::{Image, consent_to};
use support::holder::Holder;
use support::{can_run, sh};

const NOBODY: u32 = 65534;

/// Runs something in a thread that has the rights of nobody; the kernel keeps users by thread.
fn as_nobody<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    let drop_rights = || {
        let (uid, gid) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        rustix::thread::set_thread_groups(&[]).unwrap();
        rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
        rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
    };
    let run = move || {
        drop_rights();
        act()
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

/// A directory that everybody may enter, with a file of nobody's.
fn with_file() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("data");
    fs::write(&file, "precious").unwrap();
    chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    (dir, file)
}

fn mentions(doubts: &[String], what: &str, path: &Path) -> bool {
    doubts.iter().any(|doubt| doubt.contains(what) && doubt.contains(&path.display().to_string()))
}

#[test]
fn root_has_no_doubts() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    // In a container there may be processes outside.
    let container = fs::read_link("/proc/self/ns/pid").unwrap() != Path::new("pid:[4026531836]");
    let image = Image::new(1);
    assert!(claim_file(&image.path, &consent_to(&image.path)).unwrap().doubts().is_empty());
    let device = image.attach();
    let doubts = claim(&device.node, &consent_to(&device.node)).unwrap().doubts().to_vec();
    assert_eq!(doubts.len(), usize::from(container), "{doubts:?}");
    assert_eq!(mentions(&doubts, "outside of this container", &device.node), container, "{doubts:?}");
}

#[test]
fn who_has_a_device_open_is_not_known_to_everybody() {
    if !can_run(true, &["losetup", "python3"]) {
        return;
    }
    let image = Image::new(1);
    fs::set_permissions(image.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let device = image.attach();
    // The right to the device alone, as the group `disk` has it, but not to udev's node.
    let node = image.dir.path().join("node");
    sh(&format!("mknod {} b 7 {}", node.display(), device.name().trim_start_matches("loop")));
    chown(&node, Some(NOBODY), Some(NOBODY)).unwrap();
    let _writer = Holder::open(&device.node, "os.O_RDWR");
    let doubts = as_nobody(|| claim(&node, &consent_to(&node)).unwrap().doubts().to_vec());
    assert!(mentions(&doubts, "other users can't be looked into", &node), "{doubts:?}");
    assert!(mentions(&doubts, "can't be locked", &device.node), "{doubts:?}");
    // Root sees who it is.
    let refusal = claim(&node, &consent_to(&node)).unwrap_err();
    assert!(matches!(refusal, Refusal::InUse { usage, .. } if matches!(usage.by, Use::OpenForWriting { .. })));
}

/// What a device is made of has to be known.
#[test]
fn a_backing_file_out_of_sight_is_a_refusal() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let (image, place) = (Image::new(1), with_file());
    fs::set_permissions(image.dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let device = image.attach();
    let node = place.0.path().join("node");
    sh(&format!("mknod {} b 7 {}", node.display(), device.name().trim_start_matches("loop")));
    chown(&node, Some(NOBODY), Some(NOBODY)).unwrap();
    let refusal = as_nobody(|| claim(&node, &consent_to(&node)).unwrap_err());
    assert!(matches!(refusal, Refusal::Unchecked { .. }), "{refusal:?}");
    let message = refusal.to_string();
    assert!(message.contains("out of sight") && message.contains("run as root"), "{message}");
    drop(claim(&node, &consent_to(&node)).unwrap());
}

/// For files, the kernel itself knows of all writers.
#[test]
fn a_writer_of_a_file_is_found_without_the_right_to_look() {
    if !can_run(true, &["python3"]) {
        return;
    }
    let (_dir, file) = with_file();
    let doubts = as_nobody(|| claim_file(&file, &consent_to(&file)).unwrap().doubts().to_vec());
    assert_eq!(doubts, [""; 0]);

    let writer = Holder::open(&file, "os.O_RDWR");
    let refusal = as_nobody(|| claim_file(&file, &consent_to(&file)).unwrap_err());
    let message = refusal.to_string();
    let Refusal::InUse { usage, .. } = refusal else { panic!("{message}") };
    assert_eq!((usage.part, usage.by), (Part::Itself, Use::OpenForWriting { processes: Vec::new() }));
    assert!(message.contains("in a process that this user may not see, or in the kernel"), "{message}");
    drop(writer);

    // A mapping writes as well, though no file is open any more.
    let script = format!(
        "import mmap, os, time\nf = os.open('{}', os.O_RDWR)\nm = mmap.mmap(f, 8)\nos.close(f)\nprint('mapped', \
         flush=True)\ntime.sleep(600)",
        file.display()
    );
    let mapping = Holder::python(&script);
    let refusal = claim_file(&file, &consent_to(&file)).unwrap_err();
    assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal:?}");
    drop(mapping);

    let _reader = Holder::open(&file, "os.O_RDONLY");
    drop(as_nobody(|| claim_file(&file, &consent_to(&file)).unwrap()));
}

/// Only a file's owner may ask the kernel.
#[test]
fn writers_of_another_users_file_are_a_doubt() {
    if !can_run(true, &[]) {
        return;
    }
    let (_dir, file) = with_file();
    chown(&file, Some(0), Some(0)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let doubts = as_nobody(|| claim_file(&file, &consent_to(&file)).unwrap().doubts().to_vec());
    assert!(mentions(&doubts, "other users can't be looked into", &file), "{doubts:?}");
}

#[test]
fn processes_that_are_not_even_listed() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let (_dir, file) = with_file();
    chown(&file, Some(0), Some(0)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let doubts = std::thread::scope(|scope| {
        let hidden = || {
            // This thread's own mounts from here on, and those of what it starts.
            #[allow(unsafe_code, reason = "only CLONE_FILES is of any danger")]
            // SAFETY: no file descriptor table is unshared.
            unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }.unwrap();
            sh("mount --make-rprivate / && mount -t proc -o hidepid=2 proc /proc");
            as_nobody(|| claim_file(&file, &consent_to(&file)).unwrap().doubts().to_vec())
        };
        scope.spawn(hidden).join().unwrap()
    });
    assert!(mentions(&doubts, "hidepid", &file), "{doubts:?}");
}
