//! Random sequences of all calls, on random volumes, against a model: files in RAM.
//!
//! The model knows what each file must hold, not where: at `Error::Full` it takes over what is there, after making sure
//! that everything written before is.
#![allow(clippy::unwrap_used, clippy::panic)]

mod board;
mod open_files;
#[path = "../ram/mod.rs"]
mod ram;
mod strategies;

use std::cell::RefCell;
use std::collections::BTreeMap;

use board::Board;
use flashmark_chips::nor::{Chip, Overwrite, profiles};
use flashmark_core::ledger::Ledger;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use ram::{Ram, Random, Room, Rules, Volume};
use spiffs::{Config, Error, File, Flash, Listing, Magic, Nor, OpenFlags, SeekFrom};
use strategies::{calls, setups};

/// The same cases each time. Some rare states of a full volume lose data, as in the C code.
const SEED: RngSeed = RngSeed::Fixed(4);

/// How many names there are.
const NAMES: u8 = 7;

fn name(number: u8, config: &Config) -> Vec<u8> {
    let longest = usize::from(config.name_bytes) - 1;
    match number {
        0 => b"/".to_vec(),
        1 => vec![b'n'; longest],
        2 => [vec![b'n'; longest - 1], vec![b'm']].concat(),
        3 => vec![0xff; longest / 2],
        _ => vec![b'a' + number],
    }
}

#[derive(Clone, Debug)]
enum Call {
    Create(u8),
    Open(u8, u16),
    OpenPage(u8, u16),
    Read(usize, usize),
    Write(usize, usize),
    Seek(usize, SeekFrom),
    Truncate(usize, u32),
    Flush(usize),
    Close(usize),
    Position(usize),
    Remove(u8),
    RemoveOpen(usize),
    Rename(u8, u8),
    SetMeta(u8),
    SetMetaOpen(usize),
    Stat(u8),
    StatOpen(usize),
    List,
    Collect(u32),
    EraseDeleted(u16),
    Check,
    Unmount,
    Abandon,
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    config: Config,
    files: usize,
    cache_pages: usize,
}

/// A file of the model.
#[derive(Clone, Debug)]
struct Stored {
    /// What it held since it was stored last, the latest last. With one entry everything is on the flash.
    contents: Vec<Vec<u8>>,
    meta: Vec<u8>,
}

impl Stored {
    fn new(config: &Config) -> Self {
        Self { contents: vec![vec![]], meta: vec![0xff; config.meta_bytes.into()] }
    }

    fn content(&self) -> &Vec<u8> {
        self.contents.last().unwrap()
    }

    fn is_stored(&self) -> bool {
        self.contents.len() == 1
    }

    fn stored(&mut self) {
        self.contents.drain(..self.contents.len() - 1);
    }

    fn change(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut content = self.content().clone();
        change(&mut content);
        self.contents.push(content);
    }

    /// Each byte is one that it held at a time, and so is the size.
    fn can_be(&self, actual: &[u8]) -> bool {
        let sizes = self.contents.iter().map(Vec::len);
        let (least, most) = (sizes.clone().min().unwrap(), sizes.max().unwrap());
        (least..=most).contains(&actual.len())
            && actual
                .iter()
                .enumerate()
                .all(|(at, byte)| self.contents.iter().any(|content| content.get(at) == Some(byte)))
    }
}

/// An open file of the model. The file is `None` when it was removed.
#[derive(Clone, Debug)]
struct Handle {
    file: File,
    name: Option<u8>,
    flags: OpenFlags,
    position: usize,
}

struct Model {
    setup: Setup,
    files: BTreeMap<u8, Stored>,
    handles: Vec<Handle>,
    random: Random,
    /// Whether a call ran out of room: it may have left pages behind that no file has.
    was_full: bool,
}

fn no_room<E>(error: &Error<E>) -> bool {
    // Garbage collection that needs a page answers `NotFound`, as in the C code.
    matches!(error, Error::Full | Error::NotFound)
}

impl Model {
    fn new(setup: Setup) -> Self {
        Self { setup, files: BTreeMap::new(), handles: vec![], random: Random(3), was_full: false }
    }

    fn name(&self, number: u8) -> Vec<u8> {
        name(number, &self.setup.config)
    }

    fn open_count(&self) -> usize {
        self.handles.iter().filter(|handle| handle.name.is_some()).count()
    }

    /// Bytes that the volume can hold at most, and those that it holds: with pages that are partly used, and indexes.
    fn used_pages(&self) -> u32 {
        let config = &self.setup.config;
        let header = 13 + u32::from(config.name_bytes) + u32::from(config.meta_bytes);
        let (in_header, in_index) = ((config.page_bytes - header) / 2, (config.page_bytes - 8) / 2);
        let pages = |file: &Stored| {
            let data = (file.content().len() as u32).div_ceil(config.data_page_bytes());
            1 + data + data.saturating_sub(in_header).div_ceil(in_index)
        };
        self.files.values().map(pages).sum()
    }

    /// What a call without room left. All files are closed, and those that were not stored taken over as they are.
    fn full<F: Flash>(&mut self, volume: &mut Volume<'_, F>) {
        self.was_full = true;
        for handle in std::mem::take(&mut self.handles) {
            let mut tries = 0;
            while handle.name.is_some() && volume.close(handle.file).is_err() {
                tries += 1;
                assert!(tries < 3);
            }
        }
        // Writing that runs out of room may leave an index that lists a deleted page; that is what a check is for. Without
        // page checks, nobody sees it until the page's block is erased.
        if !self.setup.config.page_check || self.files.iter().any(|file| self.is_broken(volume, file)) {
            let checked = volume.check(|_, _| ());
            // The check needs room itself. Without any, the file that was being written has to go, and no other.
            if checked.is_err() {
                let broken = self.files.iter().filter(|file| self.is_broken(volume, *file));
                for number in broken.map(|(number, _)| *number).collect::<Vec<_>>() {
                    let _ = volume.remove(self.name(number));
                    let _ = volume.check(|_, _| ());
                    self.files.remove(&number);
                }
            }
        }
        self.adopt(volume);
    }

    /// Whether a file that was being written cannot be read.
    fn is_broken<F: Flash>(&self, volume: &mut Volume<'_, F>, (number, file): (&u8, &Stored)) -> bool {
        !file.is_stored() && try_content(volume, &self.name(*number)).is_err()
    }

    /// Takes over what files hold that were not stored.
    fn adopt<F: Flash>(&mut self, volume: &mut Volume<'_, F>) {
        let config = self.setup.config;
        for (number, file) in &mut self.files {
            let actual = content(volume, &name(*number, &config));
            assert!(file.can_be(&actual), "file {number}: {} bytes are none of those written", actual.len());
            file.contents = vec![actual];
        }
    }

    /// Flushes all handles of a file that let writes wait.
    fn settle<F: Flash>(&mut self, volume: &mut Volume<'_, F>, number: u8) -> bool {
        for handle in self.handles.clone().iter().filter(|handle| handle.name == Some(number)) {
            if let Err(error) = volume.flush(handle.file) {
                assert!(no_room(&error) || matches!(error, Error::DataLost), "{error}");
                self.full(volume);
                return false;
            }
        }
        self.files.get_mut(&number).unwrap().stored();
        true
    }

    fn run<F: Flash>(&mut self, volume: &mut Volume<'_, F>, call: &Call)
    where
        F::Error: PartialEq,
    {
        match *call {
            Call::Create(number) => {
                let result = volume.create(self.name(number));
                match result {
                    Err(error) if self.files.contains_key(&number) => assert!(error == Error::NameTaken, "{error}"),
                    Err(error) => {
                        assert!(no_room(&error), "{error}");
                        self.full(volume);
                    }
                    Ok(()) => {
                        let before = self.files.insert(number, Stored::new(&self.setup.config));
                        assert!(before.is_none());
                    }
                }
            }
            Call::Open(number, bits) => {
                let flags = OpenFlags::from_bits_truncate(bits);
                self.before_truncating(volume, number, flags);
                let expected = self.expect_open(number, flags);
                let result = volume.open(self.name(number), flags);
                self.opened(volume, number, flags, expected, result);
            }
            Call::OpenPage(number, bits) => {
                let flags = OpenFlags::from_bits_truncate(bits) - OpenFlags::EXCLUSIVE;
                if self.files.contains_key(&number) {
                    self.before_truncating(volume, number, flags);
                    let expected = self.expect_open(number, flags);
                    let page = volume.stat(self.name(number)).unwrap().page;
                    let result = volume.open_page(page, flags);
                    self.opened(volume, number, flags, expected, result);
                }
            }
            Call::Unmount | Call::Abandon => unreachable!(),
            Call::Remove(number) => {
                let result = volume.remove(self.name(number));
                if self.open_count() == self.setup.files {
                    assert!(result == Err(Error::TooManyOpenFiles));
                } else if !self.files.contains_key(&number) {
                    assert!(result == Err(Error::NotFound));
                } else {
                    result.unwrap();
                    self.removed(number);
                }
            }
            Call::Rename(from, to) => {
                if self.files.contains_key(&from) && !self.settle(volume, from) {
                    return;
                }
                let result = volume.rename(self.name(from), self.name(to));
                if !self.files.contains_key(&from) {
                    assert!(result == Err(Error::NotFound));
                } else if self.files.contains_key(&to) {
                    assert!(result == Err(Error::NameTaken));
                } else if self.open_count() == self.setup.files {
                    assert!(result == Err(Error::TooManyOpenFiles));
                } else if let Err(error) = result {
                    assert!(no_room(&error), "{error}");
                    self.full(volume);
                } else {
                    let file = self.files.remove(&from).unwrap();
                    self.files.insert(to, file);
                    for handle in self.handles.iter_mut().filter(|handle| handle.name == Some(from)) {
                        handle.name = Some(to);
                    }
                }
            }
            Call::SetMeta(number) => {
                if self.files.contains_key(&number) && !self.settle(volume, number) {
                    return;
                }
                let meta = self.random.bytes(self.setup.config.meta_bytes.into());
                let result = volume.set_meta(self.name(number), &meta);
                if meta.is_empty() {
                    assert!(result == Err(Error::MetaLength));
                } else if !self.files.contains_key(&number) {
                    assert!(result == Err(Error::NotFound));
                } else if self.open_count() == self.setup.files {
                    assert!(result == Err(Error::TooManyOpenFiles));
                } else if let Err(error) = result {
                    assert!(no_room(&error), "{error}");
                    self.full(volume);
                } else {
                    self.files.get_mut(&number).unwrap().meta = meta;
                }
            }
            Call::Stat(number) => match (volume.stat(self.name(number)), self.files.get(&number)) {
                (Err(error), None) => assert!(error == Error::NotFound),
                (info, file) => {
                    let (info, file) = (info.unwrap(), file.unwrap());
                    check_info(file, &info);
                }
            },
            Call::List => self.list(volume),
            Call::Collect(bytes) => {
                if let Err(error) = volume.collect_garbage(bytes) {
                    assert!(no_room(&error), "{error}");
                    self.was_full = true;
                }
            }
            Call::EraseDeleted(most_free) => {
                let result = volume.erase_deleted(most_free);
                assert!(matches!(result, Ok(()) | Err(Error::NoDeletedBlocks)));
            }
            Call::Check => {
                self.close_all(volume);
                self.check(volume);
            }
            Call::Read(handle, _)
            | Call::Write(handle, _)
            | Call::Seek(handle, _)
            | Call::Truncate(handle, _)
            | Call::Flush(handle)
            | Call::Close(handle)
            | Call::Position(handle)
            | Call::RemoveOpen(handle)
            | Call::SetMetaOpen(handle)
            | Call::StatOpen(handle) => {
                if self.handles.is_empty() {
                    return;
                }
                let slot = handle % self.handles.len();
                let handle = self.handles[slot].clone();
                let Some(number) = handle.name else {
                    self.handles.remove(slot);
                    assert!(volume.read(handle.file, &mut [0; 3]) == Err(Error::FileClosed));
                    assert!(volume.write(handle.file, &[0; 3]) == Err(Error::FileClosed));
                    assert!(volume.close(handle.file) == Err(Error::FileClosed));
                    assert!(volume.remove_open(handle.file) == Err(Error::FileClosed));
                    return;
                };
                // What one descriptor lets wait in the cache, one with `DIRECT` does not know of, nor the other way round.
                let file = &self.files[&number];
                let direct = |handle: &Handle| handle.flags.contains(OpenFlags::DIRECT);
                let mixed =
                    self.handles.iter().any(|other| other.name == Some(number) && direct(other) != direct(&handle));
                // Nor does a read ask for what waits while nothing else is in the file, as in the C code.
                let unasked = matches!(call, Call::Read(..)) && file.contents[0].is_empty();
                if (mixed || unasked) && !file.is_stored() && !self.settle(volume, number) {
                    return;
                }
                self.run_open(volume, call, slot, number);
            }
        }
    }

    /// A file that is emptied while writes to it wait gets them all the same.
    fn before_truncating<F: Flash>(&mut self, volume: &mut Volume<'_, F>, number: u8, flags: OpenFlags) {
        if flags.contains(OpenFlags::TRUNCATE) && self.files.contains_key(&number) {
            self.settle(volume, number);
        }
    }

    fn expect_open<E>(&self, number: u8, flags: OpenFlags) -> Result<(), Error<E>> {
        if self.open_count() == self.setup.files {
            Err(Error::TooManyOpenFiles)
        } else if self.files.contains_key(&number) {
            let exclusive = flags.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE);
            if exclusive { Err(Error::FileExists) } else { Ok(()) }
        } else if flags.contains(OpenFlags::CREATE) {
            Ok(())
        } else {
            Err(Error::NotFound)
        }
    }

    fn opened<F: Flash>(
        &mut self,
        volume: &mut Volume<'_, F>,
        number: u8,
        flags: OpenFlags,
        expected: Result<(), Error<F::Error>>,
        result: Result<File, Error<F::Error>>,
    ) where
        F::Error: PartialEq,
    {
        match (expected, result) {
            (Err(expected), result) => assert_eq!(result, Err(expected)),
            (Ok(()), Ok(file)) => {
                let stored = self.files.entry(number).or_insert_with(|| Stored::new(&self.setup.config));
                self.handles.push(Handle { file, name: Some(number), flags, position: 0 });
                if flags.contains(OpenFlags::TRUNCATE) && !stored.content().is_empty() {
                    stored.change(Vec::clear);
                    stored.stored();
                    self.clamp(number);
                }
            }
            (Ok(()), Err(error)) => {
                assert!(no_room(&error), "{error}");
                if let (Some(file), true) = (self.files.get_mut(&number), flags.contains(OpenFlags::TRUNCATE)) {
                    file.change(Vec::clear);
                }
                self.full(volume);
            }
        }
    }

    fn removed(&mut self, number: u8) {
        self.files.remove(&number).unwrap();
        self.handles.iter_mut().filter(|handle| handle.name == Some(number)).for_each(|handle| handle.name = None);
    }

    /// Positions behind the end of a file move to its end.
    fn clamp(&mut self, number: u8) {
        let size = self.files[&number].content().len();
        for handle in self.handles.iter_mut().filter(|handle| handle.name == Some(number)) {
            handle.position = handle.position.min(size);
        }
    }

    fn close_all<F: Flash>(&mut self, volume: &mut Volume<'_, F>) {
        for number in self.files.keys().copied().collect::<Vec<_>>() {
            self.settle(volume, number);
        }
        for handle in std::mem::take(&mut self.handles) {
            if handle.name.is_some() {
                volume.close(handle.file).unwrap();
            }
        }
    }

    /// A check finds nothing, unless room was missing before; in any case all files stay as they are.
    fn check<F: Flash>(&mut self, volume: &mut Volume<'_, F>) {
        let mut findings = vec![];
        let result = volume.check(|pass, finding| {
            if !matches!(finding, spiffs::Finding::Progress(_)) {
                findings.push((pass, finding));
            }
        });
        if !self.was_full {
            assert!(findings.is_empty(), "{findings:?}");
            result.unwrap();
        }
        self.compare(volume);
    }

    fn list<F: Flash>(&self, volume: &mut Volume<'_, F>) {
        let mut listing = Listing::default();
        let mut names = vec![];
        let mut ids = vec![];
        while let Some(info) = volume.next_file(&mut listing).unwrap() {
            let number = (0..NAMES).find(|number| self.name(*number) == info.name).unwrap();
            check_info(self.files.get(&number).unwrap_or_else(|| panic!("{number} was removed")), &info);
            names.push(number);
            ids.push(info.id);
        }
        names.sort_unstable();
        assert!(names.iter().eq(self.files.keys()), "{names:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), names.len());
    }

    /// All files hold what they must; all is stored.
    fn compare<F: Flash>(&self, volume: &mut Volume<'_, F>) {
        self.list(volume);
        for (number, file) in &self.files {
            assert!(content(volume, &self.name(*number)) == *file.content(), "file {number}");
        }
        let info = volume.info();
        let (data, used) = (self.setup.config.data_page_bytes(), self.used_pages());
        assert!(self.was_full || info.used_bytes >= used * data, "{} of {used} pages", info.used_bytes / data);
        assert!(
            self.was_full || info.used_bytes <= (used + u32::from(NAMES)) * data,
            "{} of {used}",
            info.used_bytes / data
        );
    }
}

fn check_info(file: &Stored, info: &spiffs::FileInfo<'_>) {
    let sizes: Vec<_> = file.contents.iter().map(|content| content.len() as u32).collect();
    let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!((least..=most).contains(&&info.size_bytes), "{} {sizes:?}", info.size_bytes);
    assert_eq!(info.meta, file.meta);
    assert_eq!(info.kind, 1);
    assert!(info.id > 0 && info.id < 0x7fff);
}

/// What a file holds, read in pieces of odd sizes.
fn content<F: Flash>(volume: &mut Volume<'_, F>, name: &[u8]) -> Vec<u8> {
    try_content(volume, name).unwrap()
}

fn try_content<F: Flash>(volume: &mut Volume<'_, F>, name: &[u8]) -> Result<Vec<u8>, Error<F::Error>> {
    let file = volume.open(name, OpenFlags::READ).unwrap();
    let mut content = vec![];
    let mut buffer = [0; 999];
    loop {
        let read = match volume.read(file, &mut buffer) {
            Ok(read) => read,
            Err(error) => {
                volume.close(file).unwrap();
                return Err(error);
            }
        };
        content.extend_from_slice(&buffer[..read]);
        if read < buffer.len() {
            break;
        }
    }
    volume.close(file).unwrap();
    Ok(content)
}

/// Runs calls on a flash, and gives it back.
fn run<F: Flash>(setup: Setup, mut flash: F, calls: &[Call]) -> F
where
    F::Error: PartialEq,
{
    let Setup { config, files, cache_pages } = setup;
    spiffs::format(&mut flash, &config).unwrap();
    let mut model = Model::new(setup);
    let mut room = Room::new(&config, files, cache_pages);
    let mut calls = calls.iter();
    let mut last = false;
    while !last {
        let mut volume = Volume::mount(flash, config, room.lend()).unwrap();
        let abandon = loop {
            match calls.next() {
                Some(Call::Unmount) => break false,
                Some(Call::Abandon) => break true,
                Some(call) => model.run(&mut volume, call),
                None => {
                    last = true;
                    model.close_all(&mut volume);
                    model.compare(&mut volume);
                    model.check(&mut volume);
                    break false;
                }
            }
        };
        model.handles.clear();
        let before = volume.info();
        if abandon {
            flash = volume.abandon();
        } else {
            let (back, result) = volume.unmount();
            flash = back;
            match result {
                Ok(()) => model.files.values_mut().for_each(Stored::stored),
                Err(error) => {
                    assert!(no_room(&error) || error == Error::DataLost);
                    model.was_full = true;
                }
            }
        }
        let mut volume = Volume::mount(flash, config, room.lend()).unwrap();
        let after = volume.info();
        if abandon && !model.was_full {
            // Not the free blocks: as in the C code, one that is erased while it is free counts twice until then.
            let numbers = |info: spiffs::Info| (info.used_bytes, info.deleted_pages);
            assert_eq!(numbers(after), numbers(before));
        }
        model.adopt(&mut volume);
        model.list(&mut volume);
        flash = volume.abandon();
    }
    flash
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: SEED, ..ProptestConfig::default() })]

    #[test]
    fn as_the_model(setup in setups(), calls in calls()) {
        let flash = run(setup, Ram::new(&setup.config), &calls);
        assert_eq!(flash.breach, None);
        let (volume, outside) = (setup.config.address as usize, setup.config.address + setup.config.size_bytes);
        assert!(flash.bytes[..volume].iter().chain(&flash.bytes[outside as usize..]).all(|byte| *byte == 0xff));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, rng_seed: SEED, ..ProptestConfig::default() })]

    #[test]
    fn as_the_model_on_a_chip(setup in setups(), calls in calls()) {
        // What the chip erases at once.
        let config = Config { sector_bytes: 4096, block_bytes: setup.config.block_bytes.max(4096), ..setup.config };
        let blocks = (config.size_bytes / config.block_bytes).max(4);
        let config = Config { size_bytes: blocks * config.block_bytes, magic: Magic::Off, ..config };
        let length = Config { magic: Magic::Length, ..config };
        let config = if length.check().is_ok() { length } else { config };
        prop_assume!(config.check().is_ok());
        let mut chip = Chip::new(profiles::load("w25q32jv").unwrap(), 5).unwrap();
        chip.set_overwrite(Overwrite::Count);
        let chip = RefCell::new(chip);
        let ledger = Ledger::new();
        let flash = Nor(flashmark_chips::nor::Flash::new(&chip, &ledger));
        run(Setup { config, ..setup }, Board { flash, rules: Rules::of(&config) }, &calls);
        assert_eq!(chip.borrow().violations(), []);
    }
}
