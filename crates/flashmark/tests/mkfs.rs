//! `--mkfs`: file systems are made, measured and removed; nobody else sees them; what they are said to do they do; and
//! nothing is made where something is wrong.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use std::path::{Path, PathBuf};

use flashmark_core::record::{Record, Status};
use flashmark_core::target::FaultKind;
use rustix::process::Signal;
use support::devices::{Image, Loop, Mounted};
use support::process::{Ran, Running, flashmark, run, until};
use support::{Scratch, assert_nothing_left, can_run, names_in, records, sh, try_sh};

/// What a run with file systems of the ext family needs.
const EXT_NEEDS: &[&str] = &["mkfs.ext4", "losetup"];
const BTRFS_NEEDS: &[&str] = &["mkfs.btrfs", "losetup", "filefrag"];

/// A small workload that reads and writes.
const MIXED: &str = "--op mixed --order random --block 4k --size 256k --sync end";

/// Stops the test if anything of a run in `dir` is left: a file, a mount, a loop device.
#[track_caller]
fn assert_all_gone(dir: &Path) {
    assert_nothing_left(dir);
    assert_no_device(dir);
}

#[track_caller]
fn assert_no_device(dir: &Path) {
    let text = dir.to_str().unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(text), "{mounts}");
    until("the loop device is gone", || !sh("losetup -a").contains(text));
}

fn names(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.target.name.rsplit_once('#').unwrap().1).collect()
}

#[test]
fn each_is_made_measured_and_removed() {
    if !can_run(true, &["mkfs.ext4", "mkfs.btrfs", "mkfs.xfs", "losetup"]) {
        return;
    }
    let dir = Scratch::new();
    let small = ["ext4", "ext3", "ext2", "ext4:encrypt", "ext4:mkfs=[-b 4096 -E stride=4]:mount=[noatime,commit=30]"];
    for (list, size) in [(small.join(","), "24m"), ("btrfs,btrfs:compress=zstd".into(), "110m"), ("xfs".into(), "300m")]
    {
        let ran = run(dir.path()).words("--mkfs").arg(&list).words("--image-size").arg(size);
        let ran = ran.words(MIXED).words("--format json").exits(0);
        assert_all_gone(dir.path());
        let records = ran.records();
        let shown: Vec<String> =
            records.iter().map(|record| record.target.name.split_once('#').unwrap().1.to_owned()).collect();
        assert_eq!(shown.join(","), list, "{ran}");
        for (record, name) in records.iter().zip(&shown) {
            assert_eq!(record.outcome.status, Status::Done, "{ran}");
            assert_eq!(record.outcome.bytes, 256 << 10, "{ran}");
            assert!(record.target.name.starts_with(&format!("{}#", dir.path().display())), "{ran}");
            let file_system = record.environment.file_system.as_ref().unwrap();
            assert_eq!(file_system.kind, name.split(':').next().unwrap());
            assert!(file_system.source.as_ref().unwrap().starts_with("/dev/loop"));
            let bytes = flashmark_core::units::parse_bytes(size).unwrap();
            let device = record.environment.device.as_ref().unwrap();
            assert_eq!(device.size_bytes, Some(bytes), "{ran}");
            assert!(device.loop_backing.as_ref().unwrap().file.starts_with(dir.path().to_str().unwrap()));
            assert!(file_system.made_with[0].starts_with(&format!("mkfs.{} ", file_system.kind)), "{ran}");
            // What it says of direct I/O is looked at as for any other directory: fscrypt without inline hardware has none.
            let backing_direct = device.loop_backing.as_ref().unwrap().direct_io;
            let lower = records::warning(record, flashmark_core::record::WarningCode::LowerCache);
            assert_eq!(lower.is_some(), !backing_direct, "{ran}");
            if name.contains("encrypt") {
                assert!(file_system.made_with.last().unwrap().contains("fscrypt"), "{ran}");
            }
        }
        if size == "24m" {
            let own = records.last().unwrap().environment.file_system.as_ref().unwrap();
            assert!(own.made_with[0].ends_with("lazy_journal_init=0,stride=4 -b 4096"), "{own:?}");
            assert_eq!((own.made_with[1].as_str(), own.block_bytes), ("mount -o noatime,commit=30", Some(4096)));
            let options = own.options.as_ref().unwrap();
            assert!(options.contains("noatime") && options.contains("commit=30"), "{options}");
        }
        if size == "110m" {
            let options = records[1].environment.file_system.as_ref().unwrap().options.as_ref().unwrap();
            assert!(options.contains("compress=zstd") && !options.contains("discard"), "{options}");
        }
    }
}

/// The suite that is made for it; its mix needs an engine with a queue.
#[test]
fn the_table_compares_them() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let dir = Scratch::new();
    let line = run(dir.path()).words("--mkfs ext4,ext2 --image-size 24m --suite emmc-sd --only stream");
    let ran = line.words("--set stream-calls=200").exits(0);
    assert_all_gone(dir.path());
    let (_, table) = ran.stdout.split_once("side by side").unwrap_or_else(|| panic!("{ran}"));
    for part in ["#ext4", "#ext2", "compressible stream", "incompressible stream"] {
        assert!(table.contains(part), "nothing of {part}: {ran}");
    }
}

/// What the suite has for devices: here without `--mkfs`, on a loop device.
#[test]
fn the_whole_of_a_device_is_read() {
    if !can_run(true, &["losetup"]) {
        return;
    }
    let device = Loop::new(Image::new(3 << 20));
    for form in ["", "--compat"] {
        let ran = run(&device.node).words("--suite emmc-sd --format json").words(form).exits(0);
        let record = ran.record();
        assert_eq!((record.workload.name.as_str(), record.outcome.bytes), ("whole read", 3 << 20), "{ran}");
        assert_eq!(record.target.direct, Some(false), "{ran}");
    }
}

/// A run that has written once and then pauses for a long time.
struct Slow {
    dir: Scratch,
    out: Scratch,
    running: Running,
}

/// What is written: to be found in an image that is not encrypted.
const TEXT: &str = "flashmark-writes-this-in-the-open";

impl Slow {
    fn of(spec: &str, size: &str) -> Self {
        let (dir, out) = (Scratch::new(), Scratch::new());
        let line = run(dir.path()).words("--mkfs").arg(spec).words("--image-size").arg(size);
        let line =
            line.words("--op write --block 64k --size 1m --sync end --direct buffered --repeats 2 --pause 10min");
        let line =
            line.words("--data").arg(format!("text:{TEXT}")).words("--format json -o").arg(out.join("run.jsonl"));
        let slow = Self { running: line.start(), dir, out };
        until("it pauses", || {
            let file = slow.measured_file();
            file.is_some_and(|file| file.metadata().is_ok_and(|meta| meta.len() == 1 << 20) && slow.opened() == 1)
        });
        slow
    }

    /// The mount points that the run sees in its directory.
    fn mount_points(&self) -> Vec<PathBuf> {
        let mounts = std::fs::read_to_string(format!("/proc/{}/mounts", self.running.id())).unwrap_or_default();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(PathBuf::from);
        points.filter(|point| point.starts_with(self.dir.path())).collect()
    }

    /// A path as the run sees it.
    fn seen(&self, path: &Path) -> PathBuf {
        Path::new(&format!("/proc/{}/root", self.running.id())).join(path.strip_prefix("/").unwrap())
    }

    /// The test file on what was made.
    fn measured_file(&self) -> Option<PathBuf> {
        let points = self.mount_points();
        let measured = self.seen(points.first()?).join("measured");
        std::fs::read_dir(measured).ok()?.next()?.ok().map(|entry| entry.path())
    }

    /// How many times the run has its test file open: once by its lock, and once while it works.
    fn opened(&self) -> usize {
        let fds = std::fs::read_dir(format!("/proc/{}/fd", self.running.id()));
        let is_file = |fd: &std::fs::DirEntry| {
            fd.path().read_link().is_ok_and(|to| to.to_string_lossy().contains("/measured/flashmark-test-"))
        };
        fds.into_iter().flatten().filter(|fd| fd.as_ref().is_ok_and(is_file)).count()
    }

    /// The image, and the mount point.
    fn leftovers(&self) -> (PathBuf, PathBuf) {
        let (mut files, mut dirs) = (Vec::new(), Vec::new());
        for name in names_in(self.dir.path()) {
            let path = self.dir.join(&name);
            if path.is_dir() { dirs.push(path) } else { files.push(path) }
        }
        assert_eq!((files.len(), dirs.len()), (1, 1));
        (files.remove(0), dirs.remove(0))
    }

    /// What the image holds.
    fn image(&self) -> Vec<u8> {
        std::fs::read(self.leftovers().0).unwrap()
    }

    #[track_caller]
    fn ends_by(self, signal: Signal) -> (Ran, Scratch) {
        self.running.signal(signal);
        (self.running.end(), self.dir)
    }
}

fn holds(image: &[u8], text: &str) -> bool {
    image.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn nobody_else_sees_it() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let slow = Slow::of("ext4", "24m");
    assert_eq!(slow.mount_points().len(), 1, "the run sees it");
    let own = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!own.contains(slow.dir.path().to_str().unwrap()), "{own}");
    let (image, point) = slow.leftovers();
    assert_eq!(names_in(&point), Vec::<String>::new(), "the mount point is empty for everybody else");
    // Every byte of the image is there and written, mkfs or not.
    let image = std::fs::File::open(image).unwrap();
    assert_eq!(rustix::fs::seek(&image, rustix::fs::SeekFrom::Hole(0)), Ok(24 << 20));
    let (ran, dir) = slow.ends_by(Signal::INT);
    ran.exited(130);
    assert_all_gone(dir.path());
}

/// Most machines share every mount with every namespace: below such a one, too, the run keeps its own to itself; and what
/// is unmounted elsewhere is let go by the run.
#[test]
fn nor_below_a_mount_that_is_shared() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let (below, other) = (Scratch::new(), Scratch::new());
    let shared = Mounted::with(&format!("--bind {}", below.path().display()));
    sh(&format!("mount --make-shared {}", shared.path().display()));
    // Another medium, on a directory of the shared mount: what happens there is told to all namespaces.
    let medium_path = shared.path().join("medium").display().to_string();
    sh(&format!("mkdir {medium_path} && mount -t tmpfs tmpfs {medium_path}"));
    let words = "--mkfs ext4 --image-size 16m --op write --block 4k --size 64k --repeats 2 --pause 10min -o";
    let running = run(shared.path()).words(words).arg(other.join("run.jsonl")).start();
    let mounts_of = |who: &str| std::fs::read_to_string(format!("/proc/{who}/mounts")).unwrap_or_default();
    let point = format!("{}/flashmark-test-", shared.path().display());
    until("it is mounted", || mounts_of(&running.id().to_string()).contains(&point));
    assert!(!mounts_of("self").contains(&point));
    assert!(mounts_of(&running.id().to_string()).contains(&medium_path));
    // Its directory stays for now: removing that would take the mount out of every namespace.
    sh(&format!("umount {medium_path}"));
    assert!(!mounts_of(&running.id().to_string()).contains(&medium_path), "nothing is kept busy");
    sh(&format!("rmdir {medium_path}"));
    running.signal(Signal::INT);
    running.end().exited(130);
    assert_all_gone(below.path());
}

#[test]
fn ctrl_c_leaves_nothing() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    for signal in [Signal::INT, Signal::TERM] {
        let slow = Slow::of("ext4,ext2", "24m");
        let file = slow.out.join("run.jsonl");
        slow.running.signal(signal);
        let ran = slow.running.end().exited(130);
        assert_all_gone(slow.dir.path());
        let records = ran.records();
        assert_eq!((names(&records), records[0].outcome.status), (vec!["ext4"], Status::Interrupted), "{ran}");
        assert_eq!(records::of_file(&file), records);
    }
}

#[test]
fn ctrl_c_while_the_image_is_written_leaves_nothing() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let dir = Scratch::new();
    let running = run(dir.path()).words("--mkfs ext4 --image-size 8g --op write --size 64k --block 4k").start();
    until("it writes the image", || running.written_bytes() > 4 << 20);
    running.signal(Signal::INT);
    let ran = running.end().exited(130);
    assert_all_gone(dir.path());
    assert!(!ran.stdout.contains("failed"), "{ran}");
}

/// The second signal waits for nothing, and leaves nothing either.
#[test]
fn twice() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let dir = Scratch::new();
    let words = "--mkfs ext4 --image-size 400m --op write --block 256m --size 256m --format json";
    let mut running = run(dir.path()).words(words).start();
    let pid = running.id();
    until("it has begun", || {
        std::fs::read_to_string(format!("/proc/{pid}/mounts"))
            .is_ok_and(|text| text.contains(dir.path().to_str().unwrap()))
    });
    while running.is_alive() {
        running.signal(Signal::INT);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.end().exited(130);
    assert_all_gone(dir.path());
}

#[test]
fn at_any_time() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    for nth in 0..16_u64 {
        let dir = Scratch::new();
        let running = run(dir.path()).words("--mkfs ext4,ext2 --image-size 16m").words(MIXED).start();
        std::thread::sleep(std::time::Duration::from_millis(nth * nth * 2));
        running.signal(Signal::INT);
        let ran = running.end();
        // Before it could ask to be told, the signal ends it by itself; and it may have been done.
        assert!(matches!(ran.status.code(), None | Some(0 | 130)), "{ran}");
        assert_all_gone(dir.path());
    }
}

#[test]
fn kill_leaves_what_clean_removes() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let slow = Slow::of("ext4", "24m");
    // In use as long as the run is alive.
    let ran = flashmark("clean").arg(slow.dir.path()).exits(0);
    assert_eq!(ran.stderr.matches("in use by a running flashmark").count(), 2, "{ran}");
    let (image, point) = slow.leftovers();
    let (_, dir) = slow.ends_by(Signal::KILL);
    assert_no_device(dir.path());
    assert!(image.is_file() && point.is_dir());
    assert_eq!(names_in(dir.path()).len(), 2);
    let somebodys = dir.subdir("flashmark-test-notes.tmp");
    let ran = flashmark("clean").arg(dir.path()).exits(0);
    assert_eq!(ran.stderr.matches("left behind by an earlier run").count(), 2, "{ran}");
    assert!(somebodys.is_dir());
    std::fs::remove_dir(somebodys).unwrap();
    assert_nothing_left(dir.path());
}

#[test]
fn the_next_run_removes_what_was_left() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let (_, dir) = Slow::of("ext4", "24m").ends_by(Signal::KILL);
    assert_no_device(dir.path());
    let ran = run(dir.path()).words("--mkfs ext2 --image-size 16m").words(MIXED).exits(0);
    assert_eq!(ran.stderr.matches("left behind by an earlier run").count(), 2, "{ran}");
    assert_all_gone(dir.path());
}

#[test]
fn what_is_encrypted_cannot_be_read_from_the_image() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    if !Path::new("/sys/fs/ext4/features/encryption").exists() {
        not_in_this_kernel("encryption in ext4");
        return;
    }
    for (spec, is_open) in [("ext4", true), ("ext4:encrypt", false)] {
        let slow = Slow::of(spec, "24m");
        let file = slow.measured_file().unwrap();
        let content = std::fs::read(&file).unwrap();
        assert!(holds(&content, TEXT), "with the key it is what was written");
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let image = slow.image();
        assert_eq!((holds(&image, TEXT), holds(&image, &name)), (is_open, is_open), "{spec}");
        let attributes = sh(&format!("lsattr -d {}", file.parent().unwrap().display()));
        assert_eq!(attributes.split(' ').next().unwrap().contains('E'), !is_open, "{attributes}");
        let (_, dir) = slow.ends_by(Signal::INT);
        assert_all_gone(dir.path());
    }
}

#[test]
fn what_is_compressed_takes_less() {
    if !can_run(true, BTRFS_NEEDS) {
        return;
    }
    for (spec, compresses) in [("btrfs", false), ("btrfs:compress=zstd", true), ("btrfs:compress-force=[zlib:9]", true)]
    {
        let slow = Slow::of(spec, "110m");
        let extents = sh(&format!("filefrag -v {}", slow.measured_file().unwrap().display()));
        assert_eq!(extents.contains("encoded"), compresses, "{spec}: {extents}");
        assert_eq!(holds(&slow.image(), &TEXT.repeat(100)), !compresses, "{spec}");
        let (_, dir) = slow.ends_by(Signal::INT);
        assert_all_gone(dir.path());
    }
}

/// A file system that its program or the kernel refuses has its rows, with what they said; the others are measured.
#[test]
fn what_cannot_be_made_is_told_and_the_rest_is_measured() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let dir = Scratch::new();
    let list = "ext4:mkfs=[-b 77],ext4:mount=[no-such-option],ext2";
    let ran = run(dir.path()).words("--image-size 16m --format json --mkfs").arg(list).words(MIXED).exits(1);
    assert_all_gone(dir.path());
    let records = ran.records();
    let statuses: Vec<Status> = records.iter().map(|record| record.outcome.status).collect();
    assert_eq!(statuses, [Status::Failed, Status::Failed, Status::Done], "{ran}");
    let fault = |nth: usize| &records::fault(&records[nth]).fault;
    assert_eq!(fault(0).kind, FaultKind::Unsupported);
    assert!(fault(0).message.contains("mkfs.ext4") && fault(0).message.contains("invalid block size"), "{ran}");
    assert!(fault(1).message.contains("no-such-option"), "{ran}");
    assert!(records[0].environment.file_system.as_ref().is_some_and(|fs| fs.kind == "ext4"), "{ran}");
}

#[test]
fn an_interrupted_run_is_resumed() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let (dir, out) = (Scratch::new(), Scratch::new());
    let suite = out.write(
        "two.toml",
        "name = \"two\"\n[defaults]\nop = \"write\"\nblock = \"4k\"\nsize = \"64k\"\n\
         [[workload]]\nname = \"quick\"\n\
         [[workload]]\nname = \"slow\"\nrepeats = 2\npause = \"5s\"\n",
    );
    let file = out.join("run.jsonl");
    let line = run(dir.path()).words("--mkfs ext4:mount=[noatime,commit=30],ext2 --image-size 16m --suite").arg(&suite);
    let running = line.words("-o").arg(&file).start();
    until("the first is done", || records::lines_in(&file) == 1);
    running.signal(Signal::INT);
    running.end().exited(130);
    assert_all_gone(dir.path());
    flashmark("run --resume").arg(&file).exits(0);
    assert_all_gone(dir.path());
    let mut done: Vec<(String, String)> = records::of_file(&file)
        .into_iter()
        .filter(|record| record.outcome.status == Status::Done)
        .map(|record| (record.target.name.split_once('#').unwrap().1.to_owned(), record.workload.name))
        .collect();
    done.sort();
    let ext4 = "ext4:mount=[noatime,commit=30]";
    let all = [("ext2", "quick"), ("ext2", "slow"), (ext4, "quick"), (ext4, "slow")];
    assert_eq!(done, all.map(|(target, name)| (target.to_owned(), name.to_owned())));
}

/// Nothing is made where something is wrong.
#[test]
fn refusals() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let dir = Scratch::new();
    let file = Scratch::new();
    let file = file.write("data", "mine");
    let cases: &[(&str, &[&str])] = &[
        ("--mkfs exf4", &["no file system `exf4`", "did you mean `ext4`?"]),
        ("--mkfs ext4:encrypted", &["no option `encrypted`", "did you mean `encrypt`?"]),
        ("--mkfs ext4,ext4", &["ext4 is named twice"]),
        ("--mkfs xfs --image-size 64m", &["xfs needs an image of at least 300MiB", "--image-size is 64MiB"]),
        ("--mkfs ext4 --image-size 7", &["a multiple of 4096 bytes"]),
        ("--mkfs ext4 --image-size lots", &["--image-size lots"]),
        ("--mkfs ext4 --image-size 512t", &["free, and the image needs 512TiB", "make --image-size smaller"]),
        ("--mkfs ext4 --image-size 16m --op read --size 16m", &["its file has 16MiB", "make the image larger"]),
    ];
    for (words, parts) in cases {
        run(dir.path()).words(words).exits(2).says(parts).printed_nothing();
        assert_all_gone(dir.path());
    }
    run(&file).words("--mkfs ext4").exits(2).says(&["--mkfs makes file systems in directories", "name a directory"]);
    run("lab:esp32/fatfs").words("--mkfs ext4").exits(2).says(&["--mkfs makes file systems in directories"]);
    flashmark("run --mkfs ext4").exits(2).says(&["name a directory"]);
    run(dir.path()).words("--image-size 64m").exits(2).says(&["--mkfs"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn without_roots_rights() {
    if !can_run(true, &["setpriv", "mkfs.ext4"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    sh(&format!("chmod 777 {}", dir.path().display()));
    // Where the program was built, others may have no way to.
    let program = dir.path().join("flashmark");
    std::fs::copy(env!("CARGO_BIN_EXE_flashmark"), &program).unwrap();
    let target = dir.path().join("target");
    sh(&format!("mkdir -m 777 {}", target.display()));
    let line = format!(
        "setpriv --reuid 65534 --regid 65534 --clear-groups {} run {} --mkfs ext4",
        program.display(),
        target.display()
    );
    let output = try_sh(&line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("root (CAP_SYS_ADMIN)") && said.contains("sudo"), "{said}");
    assert_nothing_left(&target);
}

/// Programs that are there for everybody are hidden from one run, in a namespace of its own.
#[test]
fn a_missing_program_is_told_with_its_package() {
    if !can_run(true, &["unshare", "mkfs.xfs", "mkfs.ext4"]) {
        return;
    }
    let dir = Scratch::new();
    let hide = "IFS=:; for dir in $PATH; do \
                [ ! -e $dir/mkfs.xfs ] || mount --bind /dev/null $dir/mkfs.xfs; done; unset IFS";
    let line =
        |args: &str| try_sh(&format!("unshare -m sh -c '{hide}; exec {} run {args}'", env!("CARGO_BIN_EXE_flashmark")));
    let output = line(&format!("{} --mkfs ext4,xfs", dir.path().display()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("mkfs.xfs is missing: install the package xfsprogs"), "{said}");
    assert_all_gone(dir.path());
    let list = String::from_utf8(line("--mkfs list").stdout).unwrap();
    assert!(list.contains("mkfs.xfs is missing"), "{list}");
}

/// What the kernel has is what `/proc/filesystems` lists, or a module that it can load.
#[test]
fn the_list_tells_what_there_is_and_why_not() {
    if !can_run(true, EXT_NEEDS) {
        return;
    }
    let list = flashmark("run --mkfs list").exits(0).stdout;
    let known = std::fs::read_to_string("/proc/filesystems").unwrap();
    for name in ["ext4", "ext3", "ext2", "xfs", "btrfs", "f2fs", "vfat", "exfat"] {
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("{name} is not in the list: {list}"));
        let in_kernel = known.lines().any(|line| line.split_whitespace().next_back() == Some(name));
        assert!(!in_kernel || !line.contains("this kernel has no"), "{line}");
        if line.contains("this kernel has no") {
            let dir = Scratch::new();
            let ran =
                run(dir.path()).words("--mkfs").arg(name).exits(2).says(&["cannot be made here", "this kernel has no"]);
            assert_nothing_left(dir.path());
            drop(ran);
        }
    }
    assert!(list.contains("ext4:encrypt") && list.contains("btrfs:compress=zlib|lzo|zstd"), "{list}");
}

/// Reports that this kernel can't do what a test is about. No program or right would help, so that it is never an error.
fn not_in_this_kernel(missing: &str) {
    let line = format!("NOT IN THIS KERNEL: {missing}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}
