//! Corrupt images give errors or wrong data: no panic, no abort, no call without end.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::OnceLock;

use flashmark_embedded_fs::{ErrorKind, FileSystem, OpenFlags};
use proptest::prelude::*;
use support::{SETS, flash, make_directory, mounted, new, pattern, write_file};

/// An image of each option set, made once.
fn populated(set: usize) -> Vec<u8> {
    static IMAGES: [OnceLock<Vec<u8>>; SETS.len()] = [const { OnceLock::new() }; SETS.len()];
    IMAGES[set].get_or_init(|| populate(set)).clone()
}

fn populate(set: usize) -> Vec<u8> {
    let (name, options, kib) = SETS[set];
    let device = flash(kib);
    let mut fs = mounted(name, options, &device);
    make_directory(&mut *fs, "/D");
    for index in 0..12_u8 {
        write_file(&mut *fs, &format!("/D/FILE{index}.BIN"), &pattern(index, 200 * usize::from(index)));
    }
    write_file(&mut *fs, "/BIG", &pattern(1, 90_000));
    fs.unmount().unwrap();
    device.image()
}

/// Uses everything, whatever comes of it.
fn use_it(fs: &mut dyn FileSystem) {
    if fs.mount().is_err() {
        return;
    }
    for path in ["/", "/D"] {
        for entry in fs.list(path).unwrap_or_default() {
            let _ = fs.stat(&format!("{path}/{}", entry.name));
        }
    }
    let _ = fs.usage();
    for path in ["/BIG", "/D/FILE3.BIN", "/D/FILE11.BIN"] {
        let Ok(file) = fs.open(path, OpenFlags::READ) else { continue };
        for _ in 0..40 {
            if !matches!(fs.read(file, &mut [0; 5000]), Ok(1..)) {
                break;
            }
        }
        let _ = fs.seek(file, 45_000);
        let _ = fs.close(file);
    }
    for path in ["/BIG", "/D/FILE5.BIN", "/D/NEW.BIN"] {
        let Ok(file) = fs.open(path, OpenFlags::UPDATE) else { continue };
        let _ = fs.seek(file, 1000);
        let _ = fs.write(file, &[1; 7000]);
        let _ = fs.truncate(file, 2000);
        let _ = fs.sync(file);
        let _ = fs.close(file);
    }
    let _ = fs.rename("/D/FILE6.BIN", "/D/RENAMED");
    let _ = fs.mkdir("/D/E");
    for path in ["/BIG", "/D/FILE7.BIN", "/D/E", "/D"] {
        let _ = fs.remove(path);
    }
    let _ = fs.unmount();
}

/// Where metadata lies: a change there does more than one in the middle of a file.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0..1024_usize, 3 => 0..40_000_usize, 1 => any::<usize>()]
}

/// One of those whose images do not take long to copy.
fn small_set() -> impl Strategy<Value = usize> {
    (0..SETS.len()).prop_filter("small", |set| SETS[*set].2 < 10_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_end_in_errors_at_worst(
        set in small_set(),
        changes in prop::collection::vec((place(), any::<u8>()), 1..40),
    ) {
        let mut image = populated(set);
        for (place, value) in changes {
            let place = place % image.len();
            image[place] = value;
        }
        let (name, options, kib) = SETS[set];
        // Changed flash is not checked for erases: a file system may program where it thinks it is blank.
        let device = flash(kib).without_erase_check();
        device.load(&image);
        use_it(&mut *new(name, options, &device));
    }

    #[test]
    fn noise_is_no_file_system(seed: u8, set in small_set()) {
        let (name, options, kib) = SETS[set];
        let device = flash(kib).without_erase_check();
        device.load(&pattern(seed, usize::try_from(kib << 10).unwrap()));
        let error = new(name, options, &device).mount().unwrap_err();
        prop_assert!(matches!(error.kind(), ErrorKind::NoFileSystem | ErrorKind::Corrupt), "{}", error);
    }
}

/// Sets entries of a FAT16 to values that a chain must not have.
#[test]
fn chains_in_a_circle_end() {
    let (name, options, kib) = ("fatfs", "sector=512 cluster=512 type=fat16 fats=1 lfn=on fast-seek=true", 4096);
    let device = flash(kib);
    let mut fs = mounted(name, options, &device);
    fs.mkdir("/D").unwrap();
    write_file(&mut *fs, "/D/FILE3.BIN", &pattern(1, 20_000));
    write_file(&mut *fs, "/BIG", &pattern(2, 90_000));
    fs.unmount().unwrap();
    let image = device.image();
    for target in [2_u16, 3, 10, 40, 60, 0, 1, 0xFFF0, 0xFFF7] {
        for entry in (2..50_usize).step_by(5) {
            let device = flash(kib).without_erase_check();
            let mut image = image.clone();
            image[512 + 2 * entry..514 + 2 * entry].copy_from_slice(&target.to_le_bytes());
            device.load(&image);
            use_it(&mut *new(name, options, &device));
        }
    }
}

/// Exponents of two in the boot sector of exFAT that are beyond any number.
#[test]
fn sizes_beyond_all_numbers_are_refused() {
    let options = "lfn=on type=exfat sector=512 cluster=1k";
    let device = flash(4096);
    mounted("fatfs", options, &device).unmount().unwrap();
    let image = device.image();
    for place in [108, 109] {
        for exponent in [26, 31, 32, 63, 64, 255] {
            let mut image = image.clone();
            image[place] = exponent;
            let device = flash(4096);
            device.load(&image);
            let error = new("fatfs", options, &device).mount().unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::NoFileSystem | ErrorKind::Corrupt), "{error}");
        }
    }
}

#[test]
fn an_image_larger_than_the_device_is_refused() {
    let large = flash(2048);
    let mut fs = mounted("littlefs", "", &large);
    write_file(&mut *fs, "/A", &[1; 5000]);
    drop(fs);
    let small = flash(1024);
    small.load(&large.image());
    let error = new("littlefs", "", &small).mount().unwrap_err();
    assert_eq!(error.to_string(), "the image tells of 2097152 bytes, the device has 1048576");
}

/// littlefs commits small files from a cache, of the size that the options tell, not the image.
#[test]
fn files_larger_than_the_cache_inside_a_directory() {
    let device = flash(1024);
    let mut fs = mounted("littlefs", "block=8k cache=1k", &device);
    write_file(&mut *fs, "/A", &pattern(1, 900));
    drop(fs);
    for options in ["block=8k cache=128", "block=8k cache=512", "block=8k cache=128 vfs=none mtime=off"] {
        let mut fs = new("littlefs", options, &device);
        fs.mount().unwrap();
        if let Ok(file) = fs.open("/A", OpenFlags::UPDATE) {
            let _ = fs.write(file, &[1]);
            let _ = fs.sync(file);
            let _ = fs.truncate(file, 300);
            let _ = fs.close(file);
        }
        let _ = fs.list("/");
    }
}
