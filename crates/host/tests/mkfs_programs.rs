//! The programs that make file systems take what they are given, whether or not this kernel can mount the result: they ask
//! nothing, make what they should, and give no space of the image back.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::os::unix::fs::MetadataExt as _;

use flashmark_host::make_fs::{FILE_SYSTEMS, FsSpec};
use support::{can_run, run, sh};

/// Every file system with every option that changes how it is made.
const SPECS: &[&str] = &[
    "ext4",
    "ext4:encrypt",
    "ext4:encrypt:mkfs=[-O ^has_journal -E stride=4 -b 4096]",
    "ext3",
    "ext2",
    "xfs",
    "xfs:mkfs=[-b size=1024]",
    "btrfs",
    "btrfs:compress=zstd",
    "f2fs",
    "f2fs:compress",
    "f2fs:compress=zstd:encrypt",
    "vfat",
    "exfat",
];

#[test]
fn every_program_takes_its_words() {
    let programs: Vec<&str> = FILE_SYSTEMS.iter().map(|entry| entry.program).collect();
    if !can_run(false, &programs) || !can_run(false, &["blkid"]) {
        return;
    }
    for entry in FILE_SYSTEMS {
        assert!(SPECS.contains(&entry.name), "{} is not tried", entry.name);
    }
    for text in SPECS {
        let spec: FsSpec = text.parse().unwrap();
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = dir.path().join("image");
        // The smallest that it says it takes, with something else in it.
        std::fs::write(&path, vec![0xa5; usize::try_from(spec.entry().bytes_min).unwrap()]).unwrap();
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        let blocks = path.metadata().unwrap().blocks();
        let words: Vec<String> = spec.recipe().mkfs.iter().map(|word| format!("'{word}'")).collect();
        let line = format!("{} {} '{}' </dev/null", spec.entry().program, words.join(" "), path.display());
        let output = run(&line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(sh(&format!("blkid -p -o value -s TYPE '{}'", path.display())), spec.entry().name, "{line}");
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        let after = path.metadata().unwrap();
        // What was one piece can be several then, and those have to be listed.
        assert!(after.len() == spec.entry().bytes_min && after.blocks() >= blocks, "{line} gave space back");
    }
}

/// A size below the least one is what the program refuses, too: the table is neither made up nor too careful by much.
#[test]
fn the_least_sizes_are_the_programs() {
    if !can_run(false, &["mkfs.xfs", "mkfs.btrfs"]) {
        return;
    }
    for text in ["xfs", "btrfs"] {
        let spec: FsSpec = text.parse().unwrap();
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = dir.path().join("image");
        std::fs::File::create(&path).unwrap().set_len(spec.entry().bytes_min - (4 << 20)).unwrap();
        let line = format!("{} {} '{}'", spec.entry().program, spec.recipe().mkfs.join(" "), path.display());
        assert!(!run(&line).status.success(), "{line}");
    }
}
