//! Options that contradict each other or the device are refused with a reason.
#![allow(clippy::unwrap_used)]

mod support;

use flashmark_embedded_fs::ram::RamDevice;
use flashmark_embedded_fs::{ErrorKind, FILE_SYSTEMS, OpenFlags, Options, make};
use support::{SETS, suited};

fn refusal(name: &str, options: &str, kib: u64, erase_bytes: u32) -> String {
    let options = Options::parse(options.split_whitespace()).unwrap();
    let error = match make(name, Box::new(suited(name, RamDevice::nor_flash(kib << 10, erase_bytes))), &options) {
        Ok(mut fs) => fs.format().unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::Options, "{error}");
    error.to_string()
}

#[test]
fn a_refusal_tells_key_value_and_reason() {
    for (name, options, kib, erase_bytes, expected) in [
        ("fatfs", "cluster=3000", 2048, 4096, "cluster=3000: it has to be a power of two"),
        ("fatfs", "cluster=2k", 2048, 4096, "cluster=2k: it has to be a multiple of the sector, 4096 bytes"),
        ("fatfs", "cluster=1m", 2048, 4096, "cluster=1m: it has to be at most 524288 bytes with these sectors"),
        ("fatfs", "sector=512", 2048, 4096, "sector=512: it has to be a multiple of what the device can erase"),
        ("fatfs", "sector=5000", 2048, 4096, "sector=5000: it has to be 512, 1024, 2048 or 4096"),
        ("fatfs", "", 256, 4096, "sector=4096: the device of 262144 bytes has 64 sectors of this size; the least"),
        ("fatfs", "type=exfat", 4096, 512, "type=exfat: exFAT needs lfn=on"),
        ("fatfs", "type=exfat lfn=on", 4096, 512, "type=exfat: the device of 4194304 bytes has 1024 sectors"),
        ("fatfs", "type=fat16", 2048, 4096, "type=fat16: the device gives"),
        ("fatfs", "type=ntfs", 2048, 4096, "type=ntfs: it has to be one of auto, fat12, fat16, fat32, exfat"),
        ("fatfs", "type=fat32", 2048, 4096, "FR_MKFS_ABORTED (14)"),
        ("fatfs", "fats=3", 2048, 4096, "fats=3: it has to be from 1 to 2"),
        ("fatfs", "root-entries=100", 2048, 4096, "root-entries=100: it has to be a multiple of 128"),
        ("fatfs", "format-buffer=1k", 2048, 4096, "format-buffer=1k: it has to be from 4096"),
        ("fatfs", "align=6k", 2048, 512, "align=6k: it has to be 0 or a power of two"),
        ("fatfs", "fast-seek=maybe", 2048, 4096, "fast-seek=maybe: it has to be true or false"),
        ("fatfs", "clutser=4k", 2048, 4096, "fatfs has no option `clutser`; it has sector, cluster"),
        ("littlefs", "block=8m", 2048, 4096, "block=8m: it is larger than the device, 2097152 bytes"),
        ("littlefs", "block=1m", 2048, 4096, "block=1m: the device of 2097152 bytes has 2 such blocks"),
        ("littlefs", "block=2k", 2048, 4096, "block=2k: it has to be a multiple of what the device erases, 4096"),
        ("littlefs", "block=64", 2048, 16, "block=64: it has to be from 128 bytes"),
        ("littlefs", "cache=500", 2048, 4096, "cache=500: it has to be a multiple of read and program"),
        ("littlefs", "cache=768", 2048, 4096, "cache=768: it has to be a factor of the block, 4096 bytes"),
        ("littlefs", "read=0", 2048, 4096, "read=0: it has to be a multiple of what the device can read, 1 bytes"),
        ("littlefs", "lookahead=12", 2048, 4096, "lookahead=12: it has to be a multiple of 8 bytes"),
        ("littlefs", "block-cycles=0", 2048, 4096, "block-cycles=0: it has to be -1 or more than 0"),
        ("littlefs", "blocks=1000", 2048, 4096, "blocks=1000: it has to be from 3 to 512"),
        ("littlefs", "inline-max=1k", 2048, 4096, "inline-max=1k: it has to be from 1 to 512 bytes"),
        ("littlefs", "metadata-max=8k", 2048, 4096, "metadata-max=8k: it has to be auto, or from 128 to 4096"),
        ("littlefs", "name-max=300", 2048, 4096, "name-max=300: it has to be auto, or from 1 to 255"),
        ("littlefs", "compact-threshold=1k", 2048, 4096, "compact-threshold=1k: it has to be from half a block"),
        ("littlefs", "read=12q", 2048, 4096, "read=12q: "),
        ("spiffs", "page=48", 2048, 4096, "page=48: it has to be from 64 to 32768 bytes"),
        (
            "spiffs",
            "",
            16384,
            4096,
            "page=256: the device of 16777216 bytes has 65536 such pages, and SPIFFS numbers at most 65535: take page=512",
        ),
        ("spiffs", "block=5000", 2048, 4096, "block=5000: it has to be a multiple of what the device erases, 4096"),
        ("spiffs", "page=300", 2048, 4096, "block=4096: it has to be whole pages of 300 bytes, at least 4 of them"),
        ("spiffs", "page=2k", 2048, 4096, "block=4096: it has to be whole pages of 2048 bytes, at least 4 of them"),
        ("spiffs", "block=4m", 2048, 4096, "block=4m: it is larger than the device, 2097152 bytes"),
        ("spiffs", "block=1m", 2048, 4096, "block=1m: the device of 2097152 bytes has 2 such blocks"),
        ("spiffs", "name=1", 2048, 4096, "name=1: it has to be from 2 to 32768 bytes"),
        ("spiffs", "name=250", 2048, 4096, "name=250: a name has room for"),
        ("spiffs", "meta=240", 2048, 4096, "meta=240: a name has room for"),
        ("spiffs", "meta=3", 2048, 4096, "meta=3: the time of the last change takes 4 bytes"),
        (
            "spiffs",
            "page=64 name=8 block=2k",
            2048,
            512,
            "magic=length: the page lookup of a block of this size has no room",
        ),
        ("spiffs", "cache=33", 2048, 4096, "cache=33: it has to be from 1 to 32"),
        ("spiffs", "files=0", 2048, 4096, "files=0: it has to be from 1 to 1000"),
        ("spiffs", "gc-runs=0", 2048, 4096, "gc-runs=0: it has to be from 1 to 10000"),
        ("spiffs", "copy=0", 2048, 4096, "copy=0: it has to be from 1 to 32768 bytes"),
        ("spiffs", "magic=on", 2048, 4096, "magic=on: it has to be one of length, page-size, off"),
        ("ext4", "", 2048, 4096, "there is no file system `ext4`; there are fatfs, littlefs, spiffs"),
    ] {
        let text = refusal(name, options, kib, erase_bytes);
        assert!(text.contains(expected), "{name} {options}: {text}");
    }
}

#[test]
fn every_default_is_what_is_taken_without_it() {
    for entry in FILE_SYSTEMS {
        let with_all = entry.keys.iter().map(|key| format!("{}={}", key.name, key.default)).collect::<Vec<_>>();
        let images = [Vec::new(), with_all].map(|options| {
            let device = suited(entry.name, RamDevice::nor_flash(2 << 20, 4096));
            let mut fs = make(entry.name, Box::new(device.clone()), &Options::parse(&options).unwrap()).unwrap();
            fs.format().unwrap();
            fs.mount().unwrap();
            support::write_file(&mut *fs, "/A.BIN", &[1; 10_000]);
            device.image()
        });
        assert!(images[0] == images[1], "{}", entry.name);
    }
}

#[test]
fn any_option_text_is_taken_or_refused() {
    let values = ["0", "1", "-1", "7", "128", "4k", "3000", "64k", "1g", "5g", "auto", "off", "on", "", "x"];
    for entry in FILE_SYSTEMS {
        for key in entry.keys {
            for value in values {
                let options = Options::parse([format!("{}={value}", key.name)]).unwrap();
                let device = suited(entry.name, RamDevice::nor_flash(2 << 20, 512));
                let Ok(mut fs) = make(entry.name, Box::new(device), &options) else { continue };
                if fs.format().is_ok() {
                    fs.mount().unwrap();
                    // A name or file that is too long for the options is refused; all else works.
                    let Ok(file) = fs.open("A.BIN", OpenFlags::CREATE) else { continue };
                    if fs.write(file, &[1; 3000]).is_ok() {
                        fs.close(file).unwrap();
                        assert_eq!(support::read_file(&mut *fs, "A.BIN"), [1; 3000]);
                    }
                }
            }
        }
    }
}

#[test]
fn the_smallest_devices_are_formatted_or_refused() {
    for (name, options, _) in SETS {
        for sectors in (1..300).step_by(7) {
            let options = Options::parse(options.split_whitespace()).unwrap();
            let device = RamDevice::nor_flash(sectors * 512, 512);
            let Ok(mut fs) = make(name, Box::new(device), &options) else { continue };
            if fs.format().is_ok() {
                fs.mount().unwrap();
            }
        }
    }
}
