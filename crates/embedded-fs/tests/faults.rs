//! Devices that fail, fill up or panic.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use flashmark_embedded_fs::ram::{FaultKind, RamDevice};
use flashmark_embedded_fs::{Device, DeviceError, ErrorKind, FileSystem, FsError, Geometry, OpenFlags, Options, make};
use support::{SETS, flash, mounted, new, pattern, read_file, suited, write_file};

/// Operations whose errors, if any, come back.
fn work(fs: &mut dyn FileSystem) -> Result<(), FsError> {
    fs.mount()?;
    // SPIFFS has none, and needs none.
    match fs.mkdir("/D") {
        Err(error) if error.kind() == ErrorKind::Unsupported => {}
        made => made?,
    }
    let file = fs.open("/D/A", OpenFlags::CREATE)?;
    for seed in 0..3 {
        if fs.write(file, &pattern(seed, 3000))? < 3000 {
            panic!("the device is not full");
        }
    }
    fs.close(file)?;
    let file = fs.open("/D/A", OpenFlags::UPDATE)?;
    fs.seek(file, 4000)?;
    fs.write(file, &[7; 700])?;
    fs.truncate(file, 5000)?;
    fs.sync(file)?;
    fs.seek(file, 0)?;
    fs.read(file, &mut [0; 6000])?;
    fs.close(file)?;
    fs.rename("/D/A", "/B")?;
    fs.list("/")?;
    fs.stat("/B")?;
    fs.usage()?;
    fs.remove(if fs.name() == "spiffs" { "/B" } else { "/D" })?;
    fs.unmount()
}

#[test]
fn an_error_of_any_access_comes_back() {
    for (name, options, kib) in SETS.iter().filter(|set| set.2 < 10_000) {
        let formatted = flash(*kib);
        new(name, options, &formatted).format().unwrap();
        let image = formatted.image();
        let accesses = {
            let device = flash(*kib);
            device.load(&image);
            work(&mut *new(name, options, &device)).unwrap();
            let counters = device.counters();
            counters.reads + counters.programs + counters.erases
        };
        // FatFs does not look at what became of writing the second allocation table: an erase and a program.
        let unseen = if *name == "fatfs" { 2 } else { 0 };
        for kind in [FaultKind::Once, FaultKind::FromThenOn] {
            // Every one of the first, then fewer.
            for nth in (1..).filter(|nth| *nth < 64 || nth % 7 == 0 || nth + 2 >= accesses) {
                let device = flash(*kib);
                device.load(&image);
                let mut fs = new(name, options, &device);
                device.fail(nth, kind);
                let result = work(&mut *fs);
                if !device.heal() {
                    result.unwrap();
                    break;
                }
                // One error may be nothing to the file system (a read that is tried again at another copy).
                if let Err(error) = result {
                    let is_told = matches!(error.kind(), ErrorKind::Device | ErrorKind::Corrupt | ErrorKind::Denied)
                        || error.kind() == ErrorKind::NoSpace;
                    assert!(is_told, "{name} {options}: {error:?}");
                } else {
                    assert!(
                        kind == FaultKind::Once || nth + unseen > accesses,
                        "{name} {options}: access {nth} failed and nothing was told"
                    );
                }
                // Whatever happened, it can be given up, or formatted and used again.
                if nth % 16 == 0 {
                    fs.format().unwrap();
                    work(&mut *fs).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_device_error_is_told_with_its_text() {
    let device = flash(2048);
    let mut fs = mounted("fatfs", "", &device);
    device.fail(1, FaultKind::FromThenOn);
    let error = fs.open("/A", OpenFlags::CREATE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
    assert!(error.to_string().starts_with("faults were asked for; the file system answered FR_DISK_ERR (1)"));
}

#[test]
fn littlefs_takes_another_block_for_a_worn_one() {
    for nth in 1..60 {
        let device = flash(512);
        let mut fs = mounted("littlefs", "block=4k", &device);
        device.fail(nth, FaultKind::Worn);
        write_file(&mut *fs, "/A", &pattern(3, 20_000));
        device.heal();
        assert!(read_file(&mut *fs, "/A") == pattern(3, 20_000));
    }
}

#[test]
fn a_full_device_is_told_and_stays_usable() {
    for (name, options, kib) in SETS.iter().filter(|set| set.2 < 10_000) {
        let device = flash(*kib);
        let mut fs = mounted(name, options, &device);
        write_file(&mut *fs, "/KEPT", &pattern(1, 5000));
        let free = fs.usage().unwrap().free_bytes;
        let file = fs.open("/BIG", OpenFlags::CREATE).unwrap();
        let mut total = 0;
        loop {
            match fs.write(file, &pattern(2, 3000)) {
                Ok(3000) => total += 3000,
                Ok(_) => break,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::NoSpace);
                    break;
                }
            }
        }
        assert!(total > free / 2 && total <= free, "{name} {options}: {total} of {free} bytes");
        let _ = fs.close(file);
        assert!(read_file(&mut *fs, "/KEPT") == pattern(1, 5000));
        fs.remove("/BIG").unwrap();
        let file = fs.open("/NEW", OpenFlags::CREATE).unwrap();
        // In pieces: SPIFFS collects garbage in some blocks only (gc-runs) for one call, and tells a full device then.
        for piece in pattern(4, 50_000).chunks(3000) {
            assert_eq!(fs.write(file, piece).unwrap(), piece.len(), "{name} {options}");
        }
        fs.close(file).unwrap();
        assert!(read_file(&mut *fs, "/NEW") == pattern(4, 50_000));
        let file = fs.open("/NEW", OpenFlags::UPDATE).unwrap();
        let most = fs.usage().unwrap().total_bytes + 100_000;
        // SPIFFS makes no file longer.
        let refused = if *name == "spiffs" { ErrorKind::InvalidParameter } else { ErrorKind::NoSpace };
        assert_eq!(fs.truncate(file, most).unwrap_err().kind(), refused, "{name} {options}");
    }
}

#[test]
fn sizes_beyond_the_numbers_are_refused() {
    for (name, options, kib) in SETS.iter().filter(|set| set.2 < 10_000) {
        let device = flash(*kib);
        let mut fs = mounted(name, options, &device);
        let file = fs.open("/A", OpenFlags::UPDATE).unwrap();
        for size in [u64::MAX, u64::MAX - 1, 1 << 63] {
            assert_eq!(fs.seek(file, size).unwrap_err().kind(), ErrorKind::TooLarge);
            assert!(fs.truncate(file, size).is_err());
            assert!(fs.preallocate(file, size).is_err());
        }
        fs.seek(file, 0).unwrap();
        fs.truncate(file, 0).unwrap();
        assert!(fs.preallocate(file, u64::from(u32::MAX)).is_err());
        assert_eq!(fs.read(file, &mut []).unwrap(), 0);
        assert_eq!(fs.write(file, &[]).unwrap(), 0);
        fs.close(file).unwrap();
        for path in ["/a\0b", "/A/B/C", ""] {
            if *name == "spiffs" && path == "/A/B/C" {
                continue; // a name as any other
            }
            assert!(fs.open(path, OpenFlags::CREATE).is_err(), "{path:?}");
        }
        let none = OpenFlags::default();
        assert_eq!(fs.open("/A", none).unwrap_err().kind(), ErrorKind::InvalidParameter);
        let create_to_read = OpenFlags { create: true, ..OpenFlags::READ };
        assert_eq!(fs.open("/A", create_to_read).unwrap_err().kind(), ErrorKind::InvalidParameter);
        let exclusive = OpenFlags { exclusive: true, ..OpenFlags::CREATE };
        assert_eq!(fs.open("/A", exclusive).unwrap_err().kind(), ErrorKind::Exists);
    }
}

struct Panicking {
    below: RamDevice,
    reads_left: u32,
}

impl Device for Panicking {
    fn geometry(&self) -> Geometry {
        self.below.geometry()
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), DeviceError> {
        assert!(self.reads_left > 0, "no more reads");
        self.reads_left -= 1;
        self.below.read(address, buffer)
    }

    fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.below.program(address, data)
    }

    fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.below.erase(address, bytes)
    }

    fn sync(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

#[test]
fn a_panic_of_the_device_goes_through_and_harms_nothing() {
    for (name, options, kib) in SETS.iter().filter(|set| set.2 < 10_000) {
        let formatted = flash(*kib);
        new(name, options, &formatted).format().unwrap();
        let options = Options::parse(options.split_whitespace()).unwrap();
        for reads_left in 0..12 {
            let below = flash(*kib);
            below.load(&formatted.image());
            let device = Panicking { below: suited(name, below), reads_left };
            let mut fs = make(name, Box::new(device), &options).unwrap();
            let panic = catch_unwind(AssertUnwindSafe(|| work(&mut *fs)));
            if let Err(panic) = panic {
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"no more reads"));
            }
        }
    }
}

#[test]
fn the_device_comes_back_out() {
    let device = flash(2048);
    for name in ["fatfs", "littlefs", "spiffs"] {
        let mut fs = mounted(name, "", &device);
        let _open = fs.open("/A", OpenFlags::CREATE).unwrap();
        assert_eq!(fs.device().geometry(), device.geometry());
        let mut out = fs.into_device();
        let before = device.counters().reads;
        out.read(0, &mut [0; 512]).unwrap();
        assert_eq!(device.counters().reads, before + 1);
    }
}

#[test]
fn nothing_works_unmounted() {
    let device = flash(2048);
    for name in ["fatfs", "littlefs", "spiffs"] {
        let mut fs = new(name, "", &device);
        assert_eq!(fs.unmount().unwrap_err(), FsError::NotMounted);
        assert_eq!(fs.open("/A", OpenFlags::CREATE).unwrap_err(), FsError::NotMounted);
        assert_eq!(fs.list("/").unwrap_err(), FsError::NotMounted);
        let blank = fs.mount().unwrap_err().kind();
        assert!(matches!(blank, ErrorKind::NoFileSystem | ErrorKind::Corrupt), "{blank:?}");
        fs.format().unwrap();
        fs.mount().unwrap();
        let file = fs.open("/A", OpenFlags::CREATE).unwrap();
        fs.format().unwrap();
        assert_eq!(fs.write(file, &[1]).unwrap_err().kind(), ErrorKind::NotMounted);
        fs.mount().unwrap();
        assert_eq!(fs.write(file, &[1]).unwrap_err().kind(), ErrorKind::UnknownFile);
        device.load(&[]);
    }
}
