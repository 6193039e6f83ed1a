use flashmark_core::record::Status;
use flashmark_core::workload::{FileMode, SyncPolicy};
use flashmark_embedded_fs::{Device, DirectoryEntry, Stat};

use super::*;
use crate::bench::Bench;
use crate::board::Board;

#[test]
fn sizes_are_mixed_and_the_same_every_time() {
    let sizes: Vec<u64> = (0..1000).map(|number| size_bytes(7, number)).collect();
    assert!(sizes.iter().all(|size| (SIZES.0..=SIZES.1).contains(size)));
    let mean = sizes.iter().sum::<u64>() / 1000;
    assert!(mean.abs_diff(u64::midpoint(SIZES.0, SIZES.1)) < 1000, "{mean}");
    assert_ne!(sizes, (0..1000).map(|number| size_bytes(8, number)).collect::<Vec<_>>());
}

/// A file system without directories that is full before it says so: at a share of what it says it can hold.
struct FullEarly {
    files: Box<dyn FileSystem>,
    most_percent: u64,
}

macro_rules! pass_on {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)+) => {
        $(fn $name(&mut self, $($argument: $kind),*) -> $result {
            self.files.$name($($argument),*)
        })+
    };
}

impl FileSystem for FullEarly {
    pass_on! {
        format() -> Result<(), FsError>;
        mount() -> Result<(), FsError>;
        unmount() -> Result<(), FsError>;
        open(path: &str, how: OpenFlags) -> Result<FileId, FsError>;
        close(file: FileId) -> Result<(), FsError>;
        read(file: FileId, buffer: &mut [u8]) -> Result<usize, FsError>;
        seek(file: FileId, position: u64) -> Result<u64, FsError>;
        position(file: FileId) -> Result<u64, FsError>;
        size(file: FileId) -> Result<u64, FsError>;
        truncate(file: FileId, size_bytes: u64) -> Result<(), FsError>;
        sync(file: FileId) -> Result<(), FsError>;
        preallocate(file: FileId, size_bytes: u64) -> Result<(), FsError>;
        remove(path: &str) -> Result<(), FsError>;
        rename(from: &str, to: &str) -> Result<(), FsError>;
        stat(path: &str) -> Result<Stat, FsError>;
        list(path: &str) -> Result<Vec<DirectoryEntry>, FsError>;
        usage() -> Result<Usage, FsError>;
        device() -> &mut dyn Device;
    }

    fn name(&self) -> &'static str {
        "full early"
    }

    fn write(&mut self, file: FileId, data: &[u8]) -> Result<usize, FsError> {
        let usage = self.files.usage()?;
        if used(&usage) * 100 > usage.total_bytes * self.most_percent {
            let (name, meaning) = ("FULL", "no room");
            return Err(FsError::Code(flashmark_embedded_fs::Code {
                number: -1,
                name,
                meaning,
                kind: ErrorKind::NoSpace,
            }));
        }
        self.files.write(file, data)
    }

    fn mkdir(&mut self, _: &str) -> Result<(), FsError> {
        Err(FsError::Unsupported { file_system: "full early", what: "make directories" })
    }

    fn ram_bytes(&self) -> usize {
        self.files.ram_bytes()
    }

    fn into_device(self: Box<Self>) -> Box<dyn Device> {
        self.files.into_device()
    }
}

fn target(most_percent: u64) -> LabTarget {
    let board = Board::load("esp32").unwrap();
    let mut target = LabTarget::open(&board, "littlefs", None).unwrap();
    let raw = LabTarget::open(&board, "raw", None).unwrap().store;
    let Store::Files(files) = std::mem::replace(&mut target.store, raw) else { panic!("littlefs has files") };
    target.store = Store::Files(Box::new(FullEarly { files, most_percent }));
    target
}

fn rewrite(percent: u8) -> Workload {
    Workload {
        read_percent: 0,
        file: FileMode::New,
        block_bytes: 4096,
        size_bytes: Some(4096),
        file_bytes: Some(4096),
        sync: SyncPolicy::End,
        repeats: 20,
        fill_percent: Some(percent),
        ..Workload::named("rewrite")
    }
}

/// The level that is reached, in permille, and what is said of it.
fn run(target: &mut LabTarget, workload: &Workload) -> (u64, Vec<String>) {
    let outcome = Bench::new().run(workload, target, &mut ()).unwrap();
    assert_eq!(outcome.status, Status::Done, "{:?}", outcome.faults);
    let filled = target.simulation().filled.unwrap();
    let said = outcome.warnings.into_iter().filter(|warning| warning.code == WarningCode::FillLevel);
    (filled.used_bytes * 1000 / filled.total_bytes, said.map(|warning| warning.message).collect())
}

#[test]
fn a_file_system_that_is_full_early_keeps_room_for_the_file() {
    let mut target = target(80);
    let (reached, said) = run(&mut target, &rewrite(60));
    assert!(reached.abs_diff(600) <= 10 && said.is_empty(), "{reached}: {said:?}");
    let (reached, said) = run(&mut target, &rewrite(95));
    assert!((760..=800).contains(&reached), "{reached}");
    assert!(said.len() == 1 && said[0].contains("instead of 95 %: it takes no more data"), "{said:?}");
    let Store::Files(files) = &mut target.store else { panic!("it has files") };
    let names: Vec<String> = files.list("/").unwrap().into_iter().map(|entry| entry.name).collect();
    assert!(names.iter().all(|name| name == "test.bin" || name.starts_with("fill-")), "{names:?}");
    assert_eq!(names.len() as u64, 1 + target.fill.files.len() as u64, "nothing half written is left");
}
