//! What the tests of this crate share.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::{Command, Output};

use flashmark_embedded_fs::ram::RamDevice;
use flashmark_embedded_fs::{ErrorKind, FileSystem, OpenFlags, Options, make};

/// A file system by name and options, as `key=value` with spaces between.
pub fn new(name: &str, options: &str, device: &RamDevice) -> Box<dyn FileSystem> {
    let options = Options::parse(options.split_whitespace()).unwrap();
    make(name, Box::new(suited(name, device.clone())), &options).unwrap()
}

/// A device as a file system needs it: SPIFFS programs over what it has programmed.
pub fn suited(name: &str, device: RamDevice) -> RamDevice {
    if name == "spiffs" { device.with_overwrites() } else { device }
}

/// Makes a directory, or sees that it is refused where there are none and paths are names.
pub fn make_directory(fs: &mut dyn FileSystem, path: &str) {
    let made = fs.mkdir(path);
    if fs.name() == "spiffs" {
        assert_eq!(made.unwrap_err().kind(), ErrorKind::Unsupported);
    } else {
        made.unwrap();
    }
}

/// The same, formatted and mounted.
pub fn mounted(name: &str, options: &str, device: &RamDevice) -> Box<dyn FileSystem> {
    let mut fs = new(name, options, device);
    fs.format().unwrap();
    fs.mount().unwrap();
    fs
}

pub fn write_file(fs: &mut dyn FileSystem, path: &str, data: &[u8]) {
    let file = fs.open(path, OpenFlags::CREATE).unwrap();
    assert_eq!(fs.write(file, data).unwrap(), data.len());
    fs.close(file).unwrap();
}

pub fn read_file(fs: &mut dyn FileSystem, path: &str) -> Vec<u8> {
    let file = fs.open(path, OpenFlags::READ).unwrap();
    let mut data = vec![0; usize::try_from(fs.size(file).unwrap()).unwrap()];
    assert_eq!(fs.read(file, &mut data).unwrap(), data.len());
    fs.close(file).unwrap();
    data
}

/// Data that differs by seed and place.
pub fn pattern(seed: u8, bytes: usize) -> Vec<u8> {
    let mut state = u32::from(seed).wrapping_mul(2_654_435_761) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    (0..bytes).map(next).collect()
}

/// Tells that a check was left out for lack of a program, which is a failure where everything is asked for.
pub fn skip(what: &str) {
    assert!(std::env::var_os("FLASHMARK_REQUIRE_ALL").is_none(), "{what} is missing");
    eprintln!("skipped: {what} is missing");
}

/// Whether a program can be started; else the check is skipped.
pub fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("PATH=$PATH:/usr/sbin:/sbin command -v {program}")]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        skip(program);
    }
    found
}

/// Runs a shell command with the image's path as `$F`; fails with what it printed.
pub fn sh(image: &Path, command: &str) -> String {
    let output = try_sh(image, command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

pub fn try_sh(image: &Path, command: &str) -> Output {
    let command = format!("export PATH=$PATH:/usr/sbin:/sbin MTOOLS_SKIP_CHECK=1; {command}");
    Command::new("sh").args(["-c", &command]).env("F", image).output().unwrap()
}

/// The option sets that the tests go through: file system, options, size of the flash in KiB.
pub const SETS: &[(&str, &str, u64)] = &[
    ("fatfs", "", 2048),
    ("fatfs", "cluster=64k", 4096),
    ("fatfs", "sector=512 cluster=4k", 2048),
    ("fatfs", "sector=512 cluster=512 type=fat16", 4096),
    ("fatfs", "sector=512 cluster=512 type=fat32", 36864),
    ("fatfs", "per-file-buffers=false fats=1", 2048),
    ("fatfs", "sector=1k cluster=2k per-file-buffers=false lfn=on", 2048),
    ("fatfs", "lfn=on fast-seek=true partition-table=true sector=512 cluster=1k", 2048),
    ("fatfs", "lfn=on type=exfat sector=512 cluster=4k", 4096),
    ("fatfs", "lfn=on type=exfat sector=512 cluster=1k per-file-buffers=false trim=true", 4096),
    ("littlefs", "", 2048),
    ("littlefs", "mtime=off vfs=none", 2048),
    ("littlefs", "mtime=on-commit block-cycles=4", 1024),
    ("littlefs", "read=16 program=16 cache=64 lookahead=8 block=512", 512),
    ("littlefs", "read=1 program=1 cache=256 inline-max=off disk-version=2.0", 1024),
    ("littlefs", "read=512 program=512 cache=512 block=8k inline-max=64 metadata-max=4k", 2048),
    ("spiffs", "", 2048),
    ("spiffs", "cache=off page=512 block=8k meta=12", 1024),
    ("spiffs", "files=8 cache=1 open-hints=false page=128 block=2k name=24 gc-runs=3 mtime=off vfs=none", 1024),
    ("spiffs", "write-cache=false page-check=false magic=page-size copy=16 files=4", 1024),
];

/// A flash for an option set: the erase unit is the least that the sets' sectors and blocks take.
pub fn flash(kib: u64) -> RamDevice {
    RamDevice::nor_flash(kib << 10, 512)
}
