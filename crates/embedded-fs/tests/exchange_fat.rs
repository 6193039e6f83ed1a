//! FAT and exFAT images, checked and read by other programs (dosfstools, mtools, exfatprogs), and theirs by ours.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::path::Path;

use flashmark_embedded_fs::FileSystem;
use flashmark_embedded_fs::ram::RamDevice;
use support::{flash, has, mounted, new, pattern, read_file, sh, write_file};

fn fill(fs: &mut dyn FileSystem) {
    fs.mkdir("/SUB").unwrap();
    for index in 0..40_u8 {
        write_file(fs, &format!("/SUB/F{index}.BIN"), &pattern(index, 997 * usize::from(index)));
    }
    for index in (0..40).step_by(3) {
        fs.remove(&format!("/SUB/F{index}.BIN")).unwrap();
    }
    write_file(fs, "/FRAGMENT.BIN", &pattern(200, 100_000));
    fs.rename("/SUB/F1.BIN", "/MOVED.BIN").unwrap();
    fs.unmount().unwrap();
}

const FAT: &[(&str, u64)] = &[
    ("", 2048),
    ("fats=1 per-file-buffers=false", 2048),
    ("cluster=16k", 4096),
    ("sector=512 cluster=4k", 4096),
    ("sector=512 cluster=512 type=fat16", 4096),
    ("sector=1k cluster=2k type=fat12 lfn=on", 2048),
    ("sector=2k cluster=8k root-entries=256", 4096),
    ("sector=512 cluster=512 type=fat32 lfn=on", 36864),
];

#[test]
fn fsck_finds_nothing_in_our_fat_images() {
    if !has("fsck.fat") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fat.img");
    for (options, kib) in FAT {
        let device = flash(*kib);
        fill(&mut *mounted("fatfs", options, &device));
        std::fs::write(&path, device.image()).unwrap();
        let told = sh(&path, "fsck.fat -n -v \"$F\"");
        assert!(told.contains("28 files") || told.contains("29 files"), "{options}: {told}");
    }
}

#[test]
fn mtools_read_what_we_wrote() {
    if !has("mcopy") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fat.img");
    for (options, kib) in FAT {
        let device = flash(*kib);
        fill(&mut *mounted("fatfs", options, &device));
        std::fs::write(&path, device.image()).unwrap();
        for (name, expected) in [
            ("FRAGMENT.BIN", pattern(200, 100_000)),
            ("MOVED.BIN", pattern(1, 997)),
            ("SUB/F38.BIN", pattern(38, 997 * 38)),
        ] {
            let copy = dir.path().join("copy");
            sh(&path, &format!("mcopy -n -i \"$F\" ::{name} {}", copy.display()));
            assert!(std::fs::read(copy).unwrap() == expected, "{options}: {name}");
        }
        let listed = sh(&path, "mdir -b -i \"$F\" ::SUB");
        assert_eq!(listed.lines().filter(|line| line.contains("/F")).count(), 25, "{options}: {listed}");
    }
}

fn load(path: &Path, device: &RamDevice) {
    device.load(&std::fs::read(path).unwrap());
}

#[test]
fn we_read_what_mkfs_and_mtools_made_and_they_what_we_add() {
    if !has("mkfs.fat") || !has("mcopy") || !has("fsck.fat") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fat.img");
    let source = dir.path().join("source.bin");
    std::fs::write(&source, pattern(5, 77_777)).unwrap();
    for (mkfs, options, kib) in [
        ("-F 12 -S 4096 -s 1", "", 2048),
        ("-F 12 -S 512 -s 8", "sector=512 lfn=on", 4096),
        ("-F 16 -S 512 -s 1", "sector=512 lfn=on per-file-buffers=false", 8192),
        ("-F 32 -S 512 -s 1", "sector=512 lfn=on fast-seek=true", 40960),
        ("-F 16 -S 1024 -s 1", "sector=1k", 8192),
    ] {
        File::create(&path).unwrap().set_len(kib << 10).unwrap();
        sh(&path, &format!("mkfs.fat {mkfs} \"$F\""));
        let has_long_names = options.contains("lfn=on");
        let (directory, name) = if has_long_names { ("Ein Ordner", "ein langer Name.bin") } else { ("D", "N.BIN") };
        sh(
            &path,
            &format!("mmd -i \"$F\" '::{directory}' && mcopy -i \"$F\" {} '::{directory}/{name}'", source.display()),
        );
        let device = flash(kib);
        load(&path, &device);
        let mut fs = new("fatfs", options, &device);
        fs.mount().unwrap();
        let file = format!("/{directory}/{name}");
        assert!(read_file(&mut *fs, &file) == pattern(5, 77_777), "{mkfs}");
        assert_eq!(fs.list(&format!("/{directory}")).unwrap()[0].name, name);
        let ours = if has_long_names { "/Änderung am Dateisystem.txt" } else { "/OURS.TXT" };
        write_file(&mut *fs, ours, &pattern(6, 33_333));
        fs.remove(&file).unwrap();
        fs.unmount().unwrap();
        std::fs::write(&path, device.image()).unwrap();
        sh(&path, "fsck.fat -n \"$F\"");
        let copy = dir.path().join("copy");
        sh(&path, &format!("LC_ALL=C.UTF-8 mcopy -n -i \"$F\" '::{ours}' {}", copy.display()));
        assert!(std::fs::read(copy).unwrap() == pattern(6, 33_333), "{mkfs}");
    }
}

#[test]
fn exfat_goes_both_ways() {
    if !has("fsck.exfat") || !has("mkfs.exfat") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("exfat.img");
    for (options, kib) in [
        ("sector=512 cluster=4k", 8192),
        ("sector=512 cluster=1k per-file-buffers=false", 8192),
        ("sector=4k cluster=32k", 32768),
    ] {
        let options = format!("lfn=on type=exfat {options}");
        let device = flash(kib);
        fill(&mut *mounted("fatfs", &options, &device));
        std::fs::write(&path, device.image()).unwrap();
        let told = sh(&path, "fsck.exfat -n \"$F\"");
        assert!(told.contains("clean"), "{options}: {told}");
    }
    File::create(&path).unwrap().set_len(16 << 20).unwrap();
    sh(&path, "mkfs.exfat \"$F\"");
    let device = flash(16 << 10);
    load(&path, &device);
    let mut fs = new("fatfs", "lfn=on sector=512", &device);
    fs.mount().unwrap();
    fill(&mut *fs);
    std::fs::write(&path, device.image()).unwrap();
    let told = sh(&path, "fsck.exfat -n \"$F\"");
    assert!(told.contains("clean"), "{told}");
}

#[test]
fn a_partition_table_is_what_others_see() {
    if !has("mcopy") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("card.img");
    let device = RamDevice::card(64 << 20);
    let mut fs = mounted("fatfs", "sector=512 cluster=16k partition-table=true", &device);
    write_file(&mut *fs, "/A.BIN", &pattern(9, 50_000));
    fs.unmount().unwrap();
    assert_eq!(device.counters().erases, 0);
    std::fs::write(&path, device.image()).unwrap();
    let copy = dir.path().join("copy");
    sh(&path, &format!("mcopy -n -i \"$F@@$((63*512))\" ::A.BIN {}", copy.display()));
    assert!(std::fs::read(copy).unwrap() == pattern(9, 50_000));
}
