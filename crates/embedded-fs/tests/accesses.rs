//! Which accesses the file systems make, and what they say these are for.
#![allow(clippy::unwrap_used)]

mod support;

use flashmark_embedded_fs::ram::{Access, Operation, RamDevice};
use flashmark_embedded_fs::{OpenFlags, Purpose};
use support::{SETS, flash, make_directory, mounted, new, pattern, read_file, write_file};

fn esp_flash() -> RamDevice {
    RamDevice::nor_flash(2 << 20, 4096)
}

fn only(log: &[Access], operation: Operation, purpose: Purpose) -> Vec<(u64, u64)> {
    let of_kind = log.iter().filter(|access| access.operation == operation && access.purpose == purpose);
    of_kind.map(|access| (access.address, access.bytes)).collect()
}

/// As ESP-IDF's `perf_benchmark` does it: clusters of 64 KiB, one `write` of 64 KiB to a new file.
#[test]
fn fatfs_writes_a_cluster_with_one_erase_and_one_program() {
    let device = esp_flash();
    let mut fs = mounted("fatfs", "cluster=64k", &device);
    let file = fs.open("/TEST.BIN", OpenFlags::CREATE).unwrap();
    device.log();
    assert_eq!(fs.write(file, &pattern(1, 65536)).unwrap(), 65536);
    let log = device.log();
    let [(address, bytes)] = only(&log, Operation::Erase, Purpose::Data)[..] else { panic!("{log:?}") };
    assert_eq!((bytes, address % 4096), (65536, 0));
    assert_eq!(only(&log, Operation::Program, Purpose::Data), [(address, 65536)]);
    assert_eq!(only(&log, Operation::Read, Purpose::Data), []);
    fs.close(file).unwrap();
    let log = device.log();
    assert!(log.iter().all(|access| access.purpose == Purpose::Metadata));
    // The window (a sector of the FAT) with its copy, then the directory's sector.
    assert_eq!(only(&log, Operation::Erase, Purpose::Metadata).len(), 3, "{log:?}");

    let file = fs.open("/TEST.BIN", OpenFlags::READ).unwrap();
    device.log();
    fs.read(file, &mut vec![0; 65536]).unwrap();
    assert_eq!(only(&device.log(), Operation::Read, Purpose::Data), [(address, 65536)]);
}

/// The last 255 bytes stay in the file's buffer until it is closed.
#[test]
fn fatfs_keeps_the_rest_of_a_sector_until_close() {
    let device = esp_flash();
    let mut fs = mounted("fatfs", "cluster=64k", &device);
    let file = fs.open("/TEST.BIN", OpenFlags::CREATE).unwrap();
    device.log();
    fs.write(file, &[1; 255]).unwrap();
    // The directory's sector gives way to the FAT's in the window, that is all.
    assert!(device.log().iter().all(|access| access.purpose == Purpose::Metadata));
    fs.close(file).unwrap();
    assert_eq!(only(&device.log(), Operation::Program, Purpose::Data).len(), 1);
}

/// `vfs_fat_spiflash.c` formats with a work buffer of a sector: every sector is erased and programmed alone.
#[test]
fn fatfs_formats_sector_by_sector() {
    let device = esp_flash();
    new("fatfs", "", &device).format().unwrap();
    let counters = device.counters();
    assert_eq!(counters.erases, counters.programs);
    assert_eq!(counters.erase_bytes, 4096 * counters.erases);
    assert_eq!(counters.data_bytes, 0);
    // Boot sector, two FATs of one sector (506 entries of 12 bits), a root directory of 512 entries.
    assert_eq!(counters.erases, 1 + 2 + 4);
    let device = esp_flash();
    new("fatfs", "format-buffer=64k", &device).format().unwrap();
    assert!(device.counters().erases < counters.erases);
}

#[test]
fn trims_are_told_only_where_asked_for() {
    for (options, told) in [("", false), ("trim=true", true)] {
        let device = esp_flash();
        let mut fs = mounted("fatfs", options, &device);
        write_file(&mut *fs, "/A", &[1; 10_000]);
        fs.remove("/A").unwrap();
        assert_eq!(device.counters().trims > 0, told);
    }
}

/// A truncated file is committed when it is opened, and the time once more: what esp_littlefs 1.14 does.
#[test]
fn littlefs_commits_as_esp_littlefs_does() {
    let programs = |options: &str| {
        let device = esp_flash();
        let mut fs = mounted("littlefs", options, &device);
        write_file(&mut *fs, "/test.bin", &pattern(1, 300));
        device.log();
        let file = fs.open("/test.bin", OpenFlags::CREATE).unwrap();
        let on_open = only(&device.log(), Operation::Program, Purpose::Metadata).len();
        fs.write(file, &pattern(2, 300)).unwrap();
        let on_write = only(&device.log(), Operation::Program, Purpose::Metadata).len();
        fs.close(file).unwrap();
        let on_close = only(&device.log(), Operation::Program, Purpose::Metadata).len();
        (on_open, on_write, on_close)
    };
    assert_eq!(programs("vfs=none mtime=off"), (0, 0, 1));
    assert_eq!(programs("mtime=off"), (1, 0, 1));
    assert_eq!(programs("mtime=on-commit"), (1, 0, 1));
    assert_eq!(programs("mtime=on-open"), (2, 0, 1));
}

#[test]
fn littlefs_keeps_the_time_where_asked_for() {
    for (options, kept) in [("mtime=on-open", true), ("mtime=on-commit", true), ("mtime=off", false)] {
        let device = esp_flash();
        let mut fs = mounted("littlefs", options, &device);
        write_file(&mut *fs, "/a", &[1; 10]);
        assert_eq!(fs.stat("/a").unwrap().mtime_s, kept.then_some(1_704_067_200));
        fs.mkdir("/d").unwrap();
        assert_eq!(fs.stat("/d").unwrap().mtime_s, None);
    }
}

/// Every byte of content can be found in a program or read that is told as data, and little else is.
#[test]
fn content_is_told_from_metadata() {
    let content = pattern(77, 40_000);
    for (name, options, kib) in SETS {
        let device = flash(*kib);
        let mut fs = mounted(name, options, &device);
        make_directory(&mut *fs, "/D");
        device.log();
        write_file(&mut *fs, "/D/A", &content);
        let log = device.log();
        let image = device.image();
        let is_content = |(address, bytes): &(u64, u64)| {
            let stored = &image[usize::try_from(*address).unwrap()..usize::try_from(address + bytes).unwrap()];
            // A sixteenth of it is in the file, in one piece: not the FAT's, a directory's or a bitmap's.
            let piece = &stored[stored.len() / 2..stored.len() / 2 + stored.len().min(256) / 16];
            piece.len() >= 4 && content.windows(piece.len()).any(|window| window == piece)
        };
        let data = only(&log, Operation::Program, Purpose::Data);
        let sum: u64 = data.iter().map(|(_, bytes)| bytes).sum();
        assert!((40_000..46_000).contains(&sum), "{name} {options}: {sum} bytes of data");
        let wrong = data.iter().filter(|access| !is_content(access)).count();
        assert!(wrong <= 1, "{name} {options}: {wrong} programs told as data are none");
        let metadata = only(&log, Operation::Program, Purpose::Metadata);
        assert!(!metadata.iter().any(is_content), "{name} {options}");
        let erased: u64 = only(&log, Operation::Erase, Purpose::Data).iter().map(|(_, bytes)| bytes).sum();
        // SPIFFS erases when it is short of free pages, whatever was in them.
        let expected = if *name == "spiffs" { 0..1 } else { 40_000..57_344 };
        assert!(expected.contains(&erased), "{name} {options}: {erased} bytes erased for data");

        fs.unmount().unwrap();
        let mut fs = new(name, options, &device);
        fs.mount().unwrap();
        device.log();
        assert!(read_file(&mut *fs, "/D/A") == content);
        let log = device.log();
        let mut read = only(&log, Operation::Read, Purpose::Data);
        if *name == "spiffs" {
            // Looking at a page's header brings the whole page into the cache, if there is one.
            read.extend(only(&log, Operation::Read, Purpose::Metadata).iter().filter(|access| is_content(access)));
        }
        let sum: u64 = read.iter().map(|(_, bytes)| bytes).sum();
        // littlefs reads the pointers that its files' blocks begin with, too.
        let wrong: u64 = read.iter().filter(|access| !is_content(access)).map(|(_, bytes)| bytes).sum();
        assert!((40_000..60_000).contains(&sum) && wrong < 10_000, "{name} {options}: {wrong} of {sum} bytes");
    }
}

#[test]
fn ram_grows_with_open_files() {
    for (name, options, in_file) in
        [("fatfs", "", 4096..4400), ("fatfs", "per-file-buffers=false", 50..300), ("littlefs", "", 512..700)]
    {
        let device = flash(2048);
        let mut fs = mounted(name, options, &device);
        let before = fs.ram_bytes();
        assert!((500..6000).contains(&before), "{before}");
        let file = fs.open("/A", OpenFlags::CREATE).unwrap();
        assert!(in_file.contains(&(fs.ram_bytes() - before)), "{}", fs.ram_bytes() - before);
        fs.close(file).unwrap();
        assert_eq!(fs.ram_bytes(), before);
    }
}

#[test]
fn preallocated_files_lie_in_one_piece() {
    let device = esp_flash();
    let mut fs = mounted("fatfs", "", &device);
    let file = fs.open("/A", OpenFlags::CREATE).unwrap();
    fs.preallocate(file, 100_000).unwrap();
    assert_eq!(fs.size(file).unwrap(), 100_000);
    device.log();
    fs.write(file, &pattern(1, 100_000)).unwrap();
    let data = only(&device.log(), Operation::Program, Purpose::Data);
    assert!(data.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0));
    fs.close(file).unwrap();
    assert!(read_file(&mut *fs, "/A") == pattern(1, 100_000));
}

/// Whole sectors go from the caller's buffer to the device; what is left of one is copied.
#[test]
fn copies_are_told() {
    for (name, options, written, read) in [
        ("fatfs", "", 10_000 % 4096, 10_000 % 4096),
        ("fatfs", "per-file-buffers=false", 10_000 % 4096, 10_000 % 4096),
        ("littlefs", "", 10_000, 8192),
    ] {
        let device = esp_flash();
        let mut fs = mounted(name, options, &device);
        write_file(&mut *fs, "/A", &pattern(1, 10_000));
        let after_write = device.counters().copied_bytes;
        assert_eq!(after_write, written, "{name} {options}");
        read_file(&mut *fs, "/A");
        let copied = device.counters().copied_bytes - after_write;
        assert!(copied <= read && copied > 0, "{name} {options}: {copied}");
    }
}
