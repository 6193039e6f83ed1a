//! Whether data came from the medium or from memory is in the record.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use flashmark_core::record::{Reached, Record, Status, WarningCode};
use support::devices::{EXT4_NEEDS, Ext4, Image, Loop, Mounted};
use support::process::{Ran, run};
use support::{assert_nothing_left, can_run, records, sh, somebodys_data};

const SIZE: usize = 1 << 20;

fn read(target: &Path, words: &str) -> (Ran, Record) {
    let ran = run(target).words("--op read --size 1m --block 64k --format json").words(words).exits(0);
    let record = ran.record();
    assert_eq!(record.outcome.status, Status::Done);
    (ran, record)
}

#[test]
fn a_tmpfs_is_memory() {
    if !can_run(true, &["mount"]) {
        return;
    }
    let tmpfs = Mounted::tmpfs("8m");
    let ran = run(tmpfs.path()).words("--size 1m --file-size 1m --time 50ms --format json").exits(0);
    for record in ran.records() {
        let not_direct = records::warning(&record, WarningCode::NotDirect).unwrap();
        assert!(not_direct.starts_with("not direct: tmpfs keeps its files in memory"), "{not_direct}");
        assert_eq!(record.target.direct, Some(false));
        // A sync does not make it any more durable.
        let reached = record.workload.writes().then_some(Reached::Cache);
        assert_eq!(record.outcome.reached, reached, "{ran}");
    }
    let (ran, record) = read(tmpfs.path(), "--direct buffered");
    assert!(records::warning(&record, WarningCode::PageCache).unwrap().contains("served from memory"), "{ran}");
    run(tmpfs.path()).words("--op read --size 1m --direct required").exits(2).says(&["tmpfs", "direct = \"required\""]);
    assert_nothing_left(tmpfs.path());
}

#[test]
fn direct_io_on_ext4_is_direct() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let words = "--size 1m --file-size 1m --time 50ms --direct required --format json";
    for record in run(ext4.path()).words(words).exits(0).records() {
        assert_eq!(record.target.direct, Some(true));
        let synced = record.workload.sync != flashmark_core::workload::SyncPolicy::Never;
        // What the loop device took may be in its image's pages only.
        let reached = if synced { Reached::Medium } else { Reached::Cache };
        assert_eq!(record.outcome.reached, record.workload.writes().then_some(reached), "{}", record.workload.name);
        assert_eq!(records::warning(&record, WarningCode::PageCache), None);
        assert_eq!(records::warning(&record, WarningCode::NotDirect), None);
        // The loop device below has its image in the cache, and nothing at this level can pass that by.
        let lower = records::warning(&record, WarningCode::LowerCache).unwrap();
        assert!(lower.contains(ext4.device.name()) && lower.contains("--direct-io=on"), "{lower}");
    }
}

/// Pages that the machine has dirtied.
fn dirtied_pages() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap();
    text.lines().find_map(|line| line.strip_prefix("nr_dirtied ")).unwrap().parse().unwrap()
}

/// A btrfs with checksums takes direct writes into the cache, since Linux 6.15, without a word. What is found has to be
/// what the kernel did.
#[test]
fn writes_that_the_kernel_buffers_are_found_out() {
    if !can_run(true, &["losetup", "mkfs.btrfs", "mount"]) {
        return;
    }
    let image = Image::new(256 << 20);
    sh(&format!("mkfs.btrfs -q {}", image.path.display()));
    let device = Loop::new(image);
    let btrfs = Mounted::with(&device.node.display().to_string());
    let words = "--op write --size 64m --block 1m --format json";
    let (mut buffered, mut record) = (false, None);
    // Others dirty pages too, but not every time so many.
    for _ in 0..3 {
        let before = dirtied_pages();
        let measured = run(btrfs.path()).words(words).exits(0).record();
        buffered = dirtied_pages() - before >= (64 << 20) / 4096;
        record = Some(measured);
        if !buffered {
            break;
        }
    }
    let record = record.unwrap();
    assert_eq!(record.target.direct, Some(!buffered));
    assert_eq!(records::warning(&record, WarningCode::NotDirect).is_some(), buffered);
    if buffered {
        assert_eq!(record.outcome.reached, Some(Reached::Cache));
        let required = run(btrfs.path()).words(words).words("--direct required").exits(1);
        assert_eq!(required.record().outcome.status, Status::Failed, "{required}");
    }
    // A block that is smaller than the file system's is not tried.
    let ran = run(btrfs.path()).words("--op read --size 1m --block 512 --format json").exits(0);
    assert_eq!(ran.record().target.direct, Some(false), "{ran}");
    assert_nothing_left(btrfs.path());
}

/// A block that direct I/O cannot move goes through the cache, and the record says why.
#[test]
fn an_odd_block_is_not_direct() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let ran = run(ext4.path()).words("--op write --size 100000 --block 1000 --sync end --format json").exits(0);
    let record = ran.record();
    assert_eq!(record.target.direct, Some(false));
    let why = records::warning(&record, WarningCode::NotDirect).unwrap();
    assert!(why.contains("a block of 1000 bytes is not a multiple of"), "{why}");
    let ran = run(ext4.path()).words("--op write --size 100000 --block 1000 --direct required").exits(2);
    ran.says(&["a block of 1000 bytes is not a multiple of"]);
}

#[test]
fn a_file_is_dropped_before_it_is_read() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let file = ext4.path().join("data.bin");
    std::fs::write(&file, somebodys_data(SIZE)).unwrap();
    // All of it is in the cache now, and dirty. The repeats read what the one before has brought there.
    let (ran, record) = read(&file, "--direct buffered --repeats 3");
    assert_eq!(records::warning(&record, WarningCode::PageCache), None, "{ran}");
    assert_eq!(record.target.direct, Some(false));
    // Asked for, so that it is no doubt.
    assert_eq!(records::warning(&record, WarningCode::NotDirect), None, "{ran}");
}

#[test]
fn blocks_that_are_read_twice_come_from_the_cache() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    for words in ["--file-size 256k", "--order zipf", "--order random"] {
        let (ran, record) = read(ext4.path(), &format!("--direct buffered {words}"));
        let warning = records::warning(&record, WarningCode::PageCache).unwrap_or_default();
        assert!(warning.contains("served from the page cache in part"), "{ran}");
        let (ran, record) = read(ext4.path(), words);
        assert_eq!(records::warning(&record, WarningCode::PageCache), None, "direct I/O has no such doubt: {ran}");
    }
}

/// A program that keeps a file in memory.
struct Locker(Child);

impl Locker {
    fn of(file: &Path) -> Self {
        let script = "import ctypes, mmap, sys\n\
             file = open(sys.argv[1], 'r+b')\n\
             map = mmap.mmap(file.fileno(), 0)\n\
             at = ctypes.addressof(ctypes.c_char.from_buffer(map))\n\
             libc = ctypes.CDLL(None, use_errno=True)\n\
             assert libc.mlock(ctypes.c_void_p(at), ctypes.c_size_t(len(map))) == 0, ctypes.get_errno()\n\
             print('locked', flush=True)\n\
             sys.stdin.read()\n";
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut locker = Self(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(locker.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "locked\n");
        locker
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_file_that_another_program_keeps_in_memory_is_served_from_there() {
    if !can_run(true, &["losetup", "mkfs.ext4", "mount", "python3"]) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let file = ext4.path().join("data.bin");
    std::fs::write(&file, somebodys_data(SIZE)).unwrap();
    let locker = Locker::of(&file);
    let (ran, record) = read(&file, "--direct buffered");
    let warning = records::warning(&record, WarningCode::PageCache).unwrap_or_default();
    assert!(warning.starts_with("served from the page cache: 100 % of the file"), "{ran}");
    ran.says(&["served from the page cache"]);
    drop(locker);
    let (ran, record) = read(&file, "--direct buffered");
    assert_eq!(records::warning(&record, WarningCode::PageCache), None, "{ran}");
}

#[test]
fn holes_are_no_data() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let file = ext4.path().join("sparse.bin");
    sh(&format!("truncate -s 1m {}", file.display()));
    let (ran, record) = read(&file, "");
    assert!(records::warning(&record, WarningCode::Sparse).unwrap_or_default().contains("100 %"), "{ran}");
    // What is laid out by flashmark has none.
    let (ran, record) = read(ext4.path(), "");
    assert_eq!(records::warning(&record, WarningCode::Sparse), None, "{ran}");
}

#[test]
fn tokio_is_never_direct() {
    if !can_run(true, EXT4_NEEDS) {
        return;
    }
    let ext4 = Ext4::new(16 << 20);
    let (_, record) = read(ext4.path(), "--engine tokio");
    assert!(records::warning(&record, WarningCode::NotDirect).unwrap().contains("tokio"));
    assert_eq!((record.target.engine.as_str(), record.target.direct), ("tokio", Some(false)));
}

/// A loop device over a file of holes reads zeros from nowhere.
#[test]
fn a_loop_device_over_holes_is_told() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(2 << 20));
    let words = "--op read --block 64k --file-size all --format json";
    let record = run(&device.node).words(words).exits(0).record();
    let sparse = records::warning(&record, WarningCode::Sparse).unwrap();
    assert!(sparse.contains("100 %") && sparse.contains(&device.image.path.display().to_string()), "{sparse}");
    sh(&format!("dd if=/dev/urandom of={} bs=1M count=2 conv=notrunc,fsync status=none", device.image.path.display()));
    let record = run(&device.node).words(words).exits(0).record();
    assert_eq!(records::warning(&record, WarningCode::Sparse), None);
}
