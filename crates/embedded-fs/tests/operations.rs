//! Random operations, against a model in memory.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;

use flashmark_embedded_fs::ram::RamDevice;
use flashmark_embedded_fs::{ErrorKind, FileId, FileSystem, OpenFlags};
use proptest::prelude::*;
use support::{SETS, flash, mounted, new, pattern};

#[derive(Clone, Debug)]
enum Operation {
    Open { slot: usize, path: usize, truncate: bool, append: bool },
    OpenToRead { slot: usize, path: usize },
    Write { slot: usize, bytes: usize, seed: u8 },
    Read { slot: usize, bytes: usize },
    Seek { slot: usize, permille: usize },
    Truncate { slot: usize, permille: usize },
    Sync { slot: usize },
    Close { slot: usize },
    Remove { path: usize },
    Rename { from: usize, to: usize },
    MakeDirectory { directory: usize },
    RemoveDirectory { directory: usize },
    List { directory: usize },
    Remount,
}

const PATHS: &[&str] = &["/A.BIN", "/B.TXT", "/D1/C.BIN", "/D1/LONGNAME.DAT", "/D2/E", "/D2/F.F"];
const DIRECTORIES: &[&str] = &["/D1", "/D2"];
const SLOTS: usize = 3;
const LARGEST: usize = 60_000;

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let slot = || 0..SLOTS;
    let path = || 0..PATHS.len();
    let directory = || 0..DIRECTORIES.len();
    let bytes = || prop_oneof![0..50_usize, 400..5000_usize, Just(512), Just(4096), 10_000..30_000_usize];
    prop_oneof![
        4 => (slot(), path(), any::<bool>(), any::<bool>())
            .prop_map(|(slot, path, truncate, append)| Open { slot, path, truncate, append }),
        2 => (slot(), path()).prop_map(|(slot, path)| OpenToRead { slot, path }),
        8 => (slot(), bytes(), any::<u8>()).prop_map(|(slot, bytes, seed)| Write { slot, bytes, seed }),
        5 => (slot(), bytes()).prop_map(|(slot, bytes)| Read { slot, bytes }),
        4 => (slot(), 0..=1000_usize).prop_map(|(slot, permille)| Seek { slot, permille }),
        2 => (slot(), 0..=1200_usize).prop_map(|(slot, permille)| Truncate { slot, permille }),
        2 => slot().prop_map(|slot| Sync { slot }),
        3 => slot().prop_map(|slot| Close { slot }),
        1 => path().prop_map(|path| Remove { path }),
        1 => (path(), path()).prop_map(|(from, to)| Rename { from, to }),
        2 => directory().prop_map(|directory| MakeDirectory { directory }),
        1 => directory().prop_map(|directory| RemoveDirectory { directory }),
        1 => directory().prop_map(|directory| List { directory }),
        1 => Just(Remount),
    ]
}

struct Open {
    id: FileId,
    path: usize,
    position: usize,
    append: bool,
    writes: bool,
}

struct Check {
    name: &'static str,
    options: &'static str,
    device: RamDevice,
    fs: Box<dyn FileSystem>,
    files: BTreeMap<usize, Vec<u8>>,
    directories: [bool; 2],
    open: [Option<Open>; SLOTS],
}

fn directory_of(path: usize) -> Option<usize> {
    DIRECTORIES.iter().position(|directory| PATHS[path].starts_with(directory))
}

impl Check {
    fn has_directory(&self, path: usize) -> bool {
        self.is_flat() || directory_of(path).is_none_or(|directory| self.directories[directory])
    }

    /// Paths are names; there are no directories.
    fn is_flat(&self) -> bool {
        self.name == "spiffs"
    }

    fn is_open(&self, path: usize) -> bool {
        self.open.iter().flatten().any(|open| open.path == path)
    }

    fn close(&mut self, slot: usize) {
        if let Some(open) = self.open[slot].take() {
            self.fs.close(open.id).unwrap();
            assert_eq!(self.fs.close(open.id).unwrap_err().kind(), ErrorKind::UnknownFile);
        }
    }

    fn open(&mut self, slot: usize, path: usize, how: OpenFlags) {
        if self.is_open(path) {
            return;
        }
        self.close(slot);
        let exists = self.files.contains_key(&path);
        let opened = self.fs.open(PATHS[path], how);
        if !self.has_directory(path) || !(exists || how.create) {
            assert_eq!(opened.unwrap_err().kind(), ErrorKind::NotFound);
            return;
        }
        let content = self.files.entry(path).or_default();
        if how.truncate {
            content.clear();
        }
        self.open[slot] = Some(Open { id: opened.unwrap(), path, position: 0, append: how.append, writes: how.write });
    }

    #[allow(clippy::too_many_lines)] // one arm an operation
    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Open { slot, path, truncate, append } => {
                let how = OpenFlags { read: true, write: true, create: true, truncate, append, exclusive: false };
                self.open(slot, path, how);
            }
            Operation::OpenToRead { slot, path } => self.open(slot, path, OpenFlags::READ),
            Operation::Write { slot, bytes, seed } => {
                let Some(open) = &mut self.open[slot] else { return };
                let data = pattern(seed, bytes);
                if !open.writes {
                    // Not even an empty write of littlefs is permitted; FatFs looks at the flags first as well.
                    assert_eq!(self.fs.write(open.id, &[1]).unwrap_err().kind(), ErrorKind::Denied);
                    return;
                }
                let content = self.files.get_mut(&open.path).unwrap();
                let at = if open.append { content.len() } else { open.position };
                if at + bytes > LARGEST {
                    return;
                }
                assert_eq!(self.fs.write(open.id, &data).unwrap(), bytes);
                if bytes == 0 {
                    return;
                }
                content.resize(content.len().max(at + bytes), 0);
                content[at..at + bytes].copy_from_slice(&data);
                open.position = at + bytes;
                assert_eq!(self.fs.size(open.id).unwrap(), content.len() as u64);
                assert_eq!(self.fs.position(open.id).unwrap(), open.position as u64);
            }
            Operation::Read { slot, bytes } => {
                let Some(open) = &mut self.open[slot] else { return };
                let content = &self.files[&open.path];
                let mut buffer = vec![0xA5; bytes];
                // After an empty append FatFs stands at the end, littlefs where it was.
                let position = self.fs.position(open.id).unwrap();
                open.position = usize::try_from(position).unwrap();
                let read = self.fs.read(open.id, &mut buffer).unwrap();
                let expected = &content[open.position.min(content.len())..];
                let expected = &expected[..expected.len().min(bytes)];
                assert_eq!(read, expected.len());
                assert!(buffer[..read] == *expected, "{} {}: wrong content", self.name, self.options);
                open.position += read;
            }
            Operation::Seek { slot, permille } => {
                let Some(open) = &mut self.open[slot] else { return };
                open.position = self.files[&open.path].len() * permille / 1000;
                assert_eq!(self.fs.seek(open.id, open.position as u64).unwrap(), open.position as u64);
            }
            Operation::Truncate { slot, permille } => {
                let Some(open) = &mut self.open[slot] else { return };
                let content = self.files.get_mut(&open.path).unwrap();
                let size = (content.len() * permille / 1000).min(LARGEST);
                let result = self.fs.truncate(open.id, size as u64);
                if !open.writes {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::Denied);
                    open.position = open.position.min(content.len());
                    return;
                }
                if self.name == "spiffs" && size > content.len() {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidParameter);
                    return;
                }
                result.unwrap();
                content.resize(size, 0);
                open.position = open.position.min(size);
                self.fs.seek(open.id, open.position as u64).unwrap();
            }
            Operation::Sync { slot } => {
                let Some(open) = &self.open[slot] else { return };
                self.fs.sync(open.id).unwrap();
                let size = self.fs.stat(PATHS[open.path]).unwrap().size_bytes;
                assert_eq!(size, self.files[&open.path].len() as u64);
            }
            Operation::Close { slot } => self.close(slot),
            Operation::Remove { path } => {
                let result = self.fs.remove(PATHS[path]);
                if self.is_open(path) {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::Busy);
                } else if self.files.remove(&path).is_some() {
                    result.unwrap();
                } else {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound);
                }
            }
            Operation::Rename { from, to } => self.rename(from, to),
            Operation::MakeDirectory { directory } => {
                let result = self.fs.mkdir(DIRECTORIES[directory]);
                if self.is_flat() {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::Unsupported);
                } else if self.directories[directory] {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::Exists);
                } else {
                    result.unwrap();
                    self.directories[directory] = true;
                }
            }
            Operation::RemoveDirectory { directory } => {
                let result = self.fs.remove(DIRECTORIES[directory]);
                let holds_files = self.files.keys().any(|path| directory_of(*path) == Some(directory));
                if !self.directories[directory] {
                    assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound);
                } else if holds_files {
                    assert!(matches!(result.unwrap_err().kind(), ErrorKind::Denied | ErrorKind::NotEmpty));
                } else {
                    result.unwrap();
                    self.directories[directory] = false;
                }
            }
            Operation::List { directory } => self.list(directory),
            Operation::Remount => self.remount(),
        }
    }

    fn rename(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        let result = self.fs.rename(PATHS[from], PATHS[to]);
        if self.is_open(from) {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Busy);
        } else if !self.files.contains_key(&from) {
            // An open target is told by littlefs before a source that is not there.
            assert!(matches!(result.unwrap_err().kind(), ErrorKind::NotFound | ErrorKind::Busy));
        } else if !self.has_directory(to) {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound);
        } else if self.name != "littlefs" && self.files.contains_key(&to) && (self.name == "fatfs" || !self.is_open(to))
        {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Exists);
        } else if self.is_open(to) {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Busy);
        } else {
            result.unwrap();
            let content = self.files.remove(&from).unwrap();
            self.files.insert(to, content);
        }
    }

    fn list(&mut self, directory: usize) {
        let listed = self.fs.list(DIRECTORIES[directory]);
        if !self.directories[directory] && !self.is_flat() {
            assert_eq!(listed.unwrap_err().kind(), ErrorKind::NotFound);
            return;
        }
        let mut names: Vec<_> = listed.unwrap().into_iter().map(|entry| entry.name).collect();
        names.sort();
        let in_directory = |path: &&usize| directory_of(**path) == Some(directory);
        let mut expected: Vec<_> = self.files.keys().filter(in_directory).map(|path| &PATHS[*path][4..]).collect();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    fn remount(&mut self) {
        self.fs.unmount().unwrap();
        for open in self.open.iter_mut().filter_map(Option::take) {
            assert_eq!(self.fs.read(open.id, &mut [0]).unwrap_err().kind(), ErrorKind::NotMounted);
        }
        self.fs = new(self.name, self.options, &self.device);
        self.fs.mount().unwrap();
        for (path, content) in &self.files {
            assert!(support::read_file(&mut *self.fs, PATHS[*path]) == *content, "{}", PATHS[*path]);
        }
    }
}

fn run(set: usize, operations: &[Operation]) {
    let (name, options, kib) = SETS[set];
    let device = flash(kib);
    let fs = mounted(name, options, &device);
    let open = [None, None, None];
    let mut check = Check { name, options, device, fs, files: BTreeMap::new(), directories: [false; 2], open };
    for operation in operations {
        check.apply(operation);
    }
    check.remount();
    for directory in 0..DIRECTORIES.len() {
        check.list(directory);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_operations_do_what_the_model_does(
        set in 0..SETS.len(),
        operations in prop::collection::vec(operation(), 1..120),
    ) {
        run(set, &operations);
    }
}
