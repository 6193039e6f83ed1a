//! SPIFFS as ESP-IDF uses it: names, times, descriptors, what is copied, and which accesses its habits make.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use flashmark_embedded_fs::ram::{Access, FaultKind, Operation, RamDevice};
use flashmark_embedded_fs::{ErrorKind, FileSystem, OpenFlags, Purpose};
use support::{flash, mounted, new, pattern, read_file, write_file};

fn esp_flash() -> RamDevice {
    RamDevice::nor_flash(2 << 20, 4096)
}

fn names(fs: &mut dyn FileSystem, path: &str) -> Vec<String> {
    fs.list(path).unwrap().into_iter().map(|entry| entry.name).collect()
}

fn count(log: &[Access], operation: Operation, bytes: u64) -> usize {
    log.iter().filter(|access| access.operation == operation && access.bytes == bytes).count()
}

/// `SPIFFS_format`: a block is erased and gets its erase count and its magic, two bytes each.
#[test]
fn a_block_is_formatted_with_one_erase_and_two_programs() {
    let device = esp_flash();
    new("spiffs", "", &device).format().unwrap();
    let counters = device.counters();
    assert_eq!((counters.erases, counters.erase_bytes), (512, 2 << 20));
    assert_eq!((counters.programs, counters.program_bytes), (1024, 2048));
    assert_eq!((counters.reads, counters.data_bytes), (0, 0));
    let device = esp_flash();
    new("spiffs", "magic=off", &device).format().unwrap();
    assert_eq!(device.counters().programs, 512);
}

/// What ESP-IDF's generator of images and its VFS store: the path behind the mount point, with its slash.
#[test]
fn names_are_stored_with_their_slash() {
    // Behind the byte that tells a file.
    let (with, without) = (&b"\x01/dir/name.txt\0"[..], &b"\x01dir/name.txt\0"[..]);
    for (options, stored, other) in [("", with, without), ("vfs=none", without, with)] {
        let device = esp_flash();
        let mut fs = mounted("spiffs", options, &device);
        write_file(&mut *fs, "/dir/name.txt", &[1; 10]);
        let image = device.image();
        assert!(image.windows(stored.len()).any(|window| window == stored), "{options}");
        assert!(!image.windows(other.len()).any(|window| window == other), "{options}");
        // With or without a slash at the start, a path is the same.
        assert_eq!(read_file(&mut *fs, "dir/name.txt"), [1; 10]);
    }
}

#[test]
fn a_listing_tells_the_names_behind_a_path() {
    for options in ["", "vfs=none"] {
        let device = esp_flash();
        let mut fs = mounted("spiffs", options, &device);
        for path in ["/a", "/d/b", "/d/e/c", "/D/f", "/dd"] {
            write_file(&mut *fs, path, &[1; 10]);
        }
        assert_eq!(names(&mut *fs, "/"), ["a", "d/b", "d/e/c", "D/f", "dd"], "{options}");
        // vfs_spiffs_readdir_r compares without regard to case.
        assert_eq!(names(&mut *fs, "/d"), ["b", "e/c", "f"], "{options}");
        assert_eq!(names(&mut *fs, "d/e/"), ["c"], "{options}");
        assert_eq!(names(&mut *fs, "/nothing"), [""; 0], "{options}");
        assert!(fs.stat("/").unwrap().is_directory);
        assert_eq!(fs.stat("/d").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(fs.mkdir("/d").unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(fs.remove("/d").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(fs.open("/", OpenFlags::CREATE).unwrap_err().kind(), ErrorKind::InvalidName);
    }
}

#[test]
fn names_have_the_room_that_is_given_them() {
    let device = esp_flash();
    let mut fs = mounted("spiffs", "name=12", &device);
    write_file(&mut *fs, "/0123456789", &[1]);
    let error = fs.open("/01234567890", OpenFlags::CREATE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameTooLong);
    assert_eq!(error.to_string(), "SPIFFS_ERR_NAME_TOO_LONG (-10036): the name is too long");
}

/// `vfs_spiffs_open` keeps the time where the flags of SPIFFS lack the bit of reading.
#[test]
fn the_time_is_kept_when_a_file_is_opened_to_be_written_alone() {
    let both = OpenFlags { read: true, ..OpenFlags::CREATE };
    let time = Some(1_704_067_200);
    for (options, how, kept) in [
        ("", OpenFlags::CREATE, time),
        ("", both, None),
        ("meta=16", OpenFlags::CREATE, time),
        ("mtime=off", OpenFlags::CREATE, None),
        ("mtime=off meta=0", OpenFlags::CREATE, None),
    ] {
        let device = esp_flash();
        let mut fs = mounted("spiffs", options, &device);
        let file = fs.open("/a", how).unwrap();
        fs.write(file, &[1; 10]).unwrap();
        fs.close(file).unwrap();
        assert_eq!(fs.stat("/a").unwrap().mtime_s, kept, "{options}");
        fs.rename("/a", "/b").unwrap();
        assert_eq!(fs.stat("/b").unwrap().mtime_s, kept, "{options}");
    }
}

/// The time costs a new page for the file's header, and a byte of flags for the old one.
#[test]
fn keeping_the_time_writes_the_header_again() {
    let pages = |options: &str| {
        let device = esp_flash();
        let mut fs = mounted("spiffs", options, &device);
        write_file(&mut *fs, "/a", &[1; 1000]);
        device.log();
        let _open = fs.open("/a", OpenFlags { write: true, ..OpenFlags::default() }).unwrap();
        count(&device.log(), Operation::Program, 256)
    };
    assert_eq!((pages("mtime=off"), pages("")), (0, 1));
}

#[test]
fn as_many_files_are_open_as_are_asked_for() {
    let device = esp_flash();
    let mut fs = mounted("spiffs", "files=3", &device);
    let ram = fs.ram_bytes();
    let files: Vec<_> = (0..3).map(|nth| fs.open(&format!("/{nth}"), OpenFlags::CREATE).unwrap()).collect();
    let error = fs.open("/3", OpenFlags::CREATE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyOpenFiles);
    // Removing opens the file.
    fs.close(files[0]).unwrap();
    fs.remove("/0").unwrap();
    assert_eq!(fs.ram_bytes(), ram);
    let more = mounted("spiffs", "files=13", &esp_flash()).ram_bytes() - ram;
    // Ten descriptors and ten pages of cache with what is known of them.
    assert!((2560..4000).contains(&more), "{more}");
}

#[test]
fn content_goes_through_the_cache_where_there_is_one() {
    for (options, small, large, read) in [
        ("", 100, 0, 1100),
        ("write-cache=false", 0, 0, 1100),
        ("cache=off", 0, 0, 0),
        ("cache=off page-check=false", 0, 0, 0),
    ] {
        let device = esp_flash();
        let mut fs = mounted("spiffs", options, &device);
        let mut before = 0;
        let mut copied = || {
            let now = device.counters().copied_bytes;
            std::mem::replace(&mut before, now).abs_diff(now)
        };
        let file = fs.open("/a", OpenFlags { read: true, ..OpenFlags::CREATE }).unwrap();
        fs.write(file, &[1; 100]).unwrap();
        assert_eq!(copied(), small, "{options}");
        fs.write(file, &[2; 1000]).unwrap();
        assert_eq!(copied(), large, "{options}");
        fs.seek(file, 0).unwrap();
        assert_eq!(fs.read(file, &mut [0; 2000]).unwrap(), 1100);
        assert_eq!(copied(), read, "{options}");
    }
}

/// Less than a page waits until the file is synced.
#[test]
fn small_writes_wait_in_the_cache() {
    let device = esp_flash();
    let mut fs = mounted("spiffs", "", &device);
    let file = fs.open("/a", OpenFlags::CREATE).unwrap();
    device.log();
    fs.write(file, &pattern(1, 255)).unwrap();
    assert_eq!(device.log(), []);
    fs.sync(file).unwrap();
    let log = device.log();
    let data: u64 = log.iter().filter(|access| access.purpose == Purpose::Data).map(|access| access.bytes).sum();
    assert_eq!(data, 255);
    fs.close(file).unwrap();
    assert!(device.log().is_empty());
}

#[test]
fn what_cannot_be_stored_is_told_when_the_file_is_closed() {
    let device = esp_flash();
    let mut fs = mounted("spiffs", "", &device);
    let file = fs.open("/a", OpenFlags::CREATE).unwrap();
    fs.write(file, &[1; 100]).unwrap();
    device.fail(1, FaultKind::FromThenOn);
    let error = fs.close(file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
    assert_eq!(error.to_string(), "faults were asked for; the file system answered hal error (-1): the device failed");
    device.heal();
    // It is closed all the same, and its descriptor is free.
    assert_eq!(fs.close(file).unwrap_err().kind(), ErrorKind::UnknownFile);
    fs.remove("/a").unwrap();
}

#[test]
fn a_volume_of_other_parameters_is_none() {
    let device = esp_flash();
    mounted("spiffs", "", &device).unmount().unwrap();
    let image = device.image();
    for (options, kib, mounts) in [
        ("", 2048, true),
        ("", 1024, false),
        ("magic=page-size", 2048, false),
        ("page=512", 2048, false),
        ("block=8k", 2048, false),
        ("magic=off", 2048, true),
    ] {
        let device = flash(kib);
        device.load(&image);
        let mounted = new("spiffs", options, &device).mount();
        assert_eq!(mounted.is_ok(), mounts, "{options} {kib}");
        if let Err(error) = mounted {
            assert_eq!(error.kind(), ErrorKind::NoFileSystem);
            assert_eq!(error.to_string(), "SPIFFS_ERR_NOT_A_FS (-10025): there is no SPIFFS of these options");
        }
    }
}

#[test]
fn beyond_its_end_a_file_has_no_positions_and_no_sizes() {
    let device = esp_flash();
    let mut fs = mounted("spiffs", "", &device);
    write_file(&mut *fs, "/a", &[1; 1000]);
    let file = fs.open("/a", OpenFlags::UPDATE).unwrap();
    assert_eq!(
        fs.seek(file, 1001).unwrap_err().to_string(),
        "SPIFFS_ERR_END_OF_OBJECT (-10003): it lies behind the end of the file"
    );
    assert_eq!(fs.position(file).unwrap(), 1000);
    assert_eq!(fs.truncate(file, 1001).unwrap_err().kind(), ErrorKind::InvalidParameter);
    fs.truncate(file, 10).unwrap();
    assert_eq!((fs.size(file).unwrap(), fs.position(file).unwrap()), (10, 10));
    assert_eq!(fs.preallocate(file, 10).unwrap_err().kind(), ErrorKind::Unsupported);
}

/// Ten blocks are cleaned for one call at most: a large write to a dirty volume fails, and goes through in pieces.
#[test]
fn one_call_collects_garbage_in_few_blocks() {
    for (options, fits) in [("", false), ("gc-runs=100", true)] {
        let device = RamDevice::nor_flash(512 << 10, 4096);
        let mut fs = mounted("spiffs", options, &device);
        let large = pattern(1, 100_000);
        let mut failed = false;
        for _ in 0..12 {
            let file = fs.open("/a", OpenFlags { read: true, ..OpenFlags::CREATE }).unwrap();
            match fs.write(file, &large) {
                Ok(bytes) => assert_eq!(bytes, large.len()),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::NoSpace);
                    failed = true;
                    for piece in large.chunks(4096) {
                        fs.write(file, piece).unwrap();
                    }
                }
            }
            fs.close(file).unwrap();
        }
        assert_ne!(failed, fits, "{options}");
    }
}
