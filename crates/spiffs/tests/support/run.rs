//! Runs a script, and tells of each call what it returned and what it did to the flash, in the terms of the C code.

use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

use spiffs::{
    Borrowed, CacheSlot, ConfigError, Descriptor, Error, File, FileInfo, Finding, Listing, OpenFlags, SeekFrom, Spiffs,
};

use super::codes::{
    BAD_DESCRIPTOR, ERASE_FAILED, FILE_CLOSED, MOUNTED, NOT_CONFIGURED, NOT_FOUND, NOT_IMPLEMENTED, NOT_MOUNTED, code,
    known_to_c, unit,
};
use super::crc::crc32;
use super::nor::{Failure, Nor};
use super::outcome::{Outcome, printable};
use super::script::{Call, Line, SLOTS, Script, Whence};

type Volume<'v, const COUNTED: bool> = Spiffs<&'v mut Nor<COUNTED>, Borrowed<'v>>;

/// The memory of a volume, mounted any number of times.
struct Memory {
    bytes: Vec<u8>,
    descriptors: Vec<Descriptor>,
    slots: Vec<CacheSlot>,
}

impl Memory {
    fn lend(&mut self) -> Borrowed<'_> {
        Borrowed { bytes: &mut self.bytes, descriptors: &mut self.descriptors, slots: &mut self.slots }
    }
}

/// What the C code knows of the volume while it is not mounted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    Configuration,
}

/// A script, ready to be run.
pub struct Runner<'s> {
    script: &'s Script,
    memory: Memory,
    /// What the last open of a slot returned in C: a descriptor's number from 1, or an error.
    slots: [i64; SLOTS],
    /// The last file that was opened on each descriptor.
    files: Vec<Option<File>>,
    buffer: Vec<u8>,
    /// What became of the calls, if it is wanted.
    pub outcomes: Option<Vec<Outcome<'s>>>,
}

impl<'s> Runner<'s> {
    pub fn new(script: &'s Script) -> Self {
        let settings = &script.settings;
        let most =
            script.lines.iter().map(|line| if let Call::Read { bytes, .. } = line.call { bytes } else { 0 }).max();
        let memory = Memory {
            bytes: vec![0; settings.config.buffer_bytes(settings.cache_pages)],
            descriptors: vec![Descriptor::CLOSED; settings.descriptors],
            slots: vec![CacheSlot::FREE; settings.cache_pages],
        };
        let files = vec![None; settings.descriptors];
        let buffer = vec![0; most.unwrap_or_default()];
        Self { script, memory, slots: [0; SLOTS], files, buffer, outcomes: Some(Vec::new()) }
    }

    /// Runs all calls; false if one would never have ended.
    pub fn run<const COUNTED: bool>(&mut self, flash: &mut Nor<COUNTED>) -> bool {
        self.slots.fill(0);
        flash.restore();
        let script = self.script;
        let mut memory = std::mem::replace(
            &mut self.memory,
            Memory { bytes: Vec::new(), descriptors: Vec::new(), slots: Vec::new() },
        );
        let mut known = Known::Nothing;
        let mut at = 0;
        while let Some(line) = script.lines.get(at)
            && !flash.is_endless()
        {
            at += 1;
            if let Call::Mount = line.call {
                flash.begin();
                let was_dead = flash.is_dead();
                match Spiffs::mount(&mut *flash, script.settings.config, memory.lend()) {
                    Ok(mut volume) => {
                        known = Known::Configuration;
                        self.files.fill(None);
                        self.ran(line, 0, String::new(), volume.flash(), was_dead);
                        at = self.session(volume, at);
                    }
                    Err(refused) => {
                        let magic = refused.error == Error::Config(ConfigError::Magic);
                        known = if magic { Known::Nothing } else { Known::Configuration };
                        self.ran(line, code(refused.error), String::new(), refused.flash, was_dead);
                    }
                }
            } else {
                self.unmounted(line, &mut known, flash);
            }
        }
        self.memory = memory;
        !flash.is_endless()
    }

    /// A call while no volume is mounted.
    fn unmounted<const COUNTED: bool>(&mut self, line: &'s Line, known: &mut Known, flash: &mut Nor<COUNTED>) {
        flash.begin();
        let mut was_dead = flash.is_dead();
        let refusal = if *known == Known::Nothing { NOT_CONFIGURED } else { NOT_MOUNTED };
        let mut details = String::new();
        let result = match &line.call {
            Call::Restore => {
                flash.restore();
                was_dead = false;
                *known = Known::Nothing;
                0
            }
            call if self.on_flash(call, flash, &mut details) => 0,
            Call::Unmount => 0,
            Call::Format if *known == Known::Configuration => {
                match spiffs::format(flash, &self.script.settings.config) {
                    Ok(()) => 0,
                    Err(Error::Flash(_)) => ERASE_FAILED,
                    Err(error) => code(error),
                }
            }
            Call::SetMeta { meta, .. } | Call::SetMetaOpen { meta, .. } if meta.is_empty() => NOT_IMPLEMENTED,
            Call::Open { slot, .. } | Call::OpenListed { slot, .. } => {
                self.slots[*slot] = refusal;
                refusal
            }
            Call::List => {
                details.push_str(" n=0");
                refusal
            }
            _ => refusal,
        };
        self.ran(line, result, details, flash, was_dead);
    }

    /// Whether it is a call of the flash's, which is done then.
    fn on_flash<const COUNTED: bool>(&self, call: &Call, flash: &mut Nor<COUNTED>, details: &mut String) -> bool {
        match call {
            Call::Poke { address, bytes } => {
                let address = *address as usize;
                flash.bytes[address..address + bytes.len()].copy_from_slice(bytes);
            }
            Call::Cut { after, extent } => flash.cut_after(*after, *extent),
            Call::Image if self.outcomes.is_some() => {
                let _ = write!(details, " crc={:08x}", crc32(&flash.bytes));
            }
            Call::Image => {}
            _ => return false,
        }
        true
    }

    /// The calls on a mounted volume; returns which line is next.
    fn session<const COUNTED: bool>(&mut self, mut volume: Volume<'_, COUNTED>, first: usize) -> usize {
        let script = self.script;
        for (at, line) in script.lines.iter().enumerate().skip(first) {
            if matches!(line.call, Call::Restore | Call::Mount) || volume.flash().is_endless() {
                // The C code forgets everything then.
                return at;
            }
            volume.flash().begin();
            let was_dead = volume.flash().is_dead();
            if let Call::Unmount = line.call {
                let (flash, stored) = volume.unmount();
                self.ran(line, known_to_c(stored), String::new(), flash, was_dead);
                return at + 1;
            }
            let mut details = String::new();
            let result = self.call(&line.call, &mut volume, &mut details);
            self.ran(line, result, details, volume.flash(), was_dead);
        }
        script.lines.len()
    }

    fn call<const COUNTED: bool>(
        &mut self,
        call: &Call,
        volume: &mut Volume<'_, COUNTED>,
        details: &mut String,
    ) -> i64 {
        match call {
            Call::Mount | Call::Unmount | Call::Restore => 0,
            Call::Poke { .. } | Call::Cut { .. } | Call::Image => {
                self.on_flash(call, volume.flash(), details);
                0
            }
            Call::Format => MOUNTED,
            Call::Create { name } => unit(volume.create(name)),
            Call::Open { slot, name, flags } => {
                let opened = volume.open(name, *flags).map_err(code);
                self.opened(*slot, opened)
            }
            Call::OpenListed { slot, name, flags } => {
                let opened = open_listed(volume, name, *flags);
                self.opened(*slot, opened)
            }
            Call::Remove { name } => unit(volume.remove(name)),
            Call::Rename { from, to } => unit(volume.rename(from, to)),
            Call::SetMeta { meta, .. } | Call::SetMetaOpen { meta, .. } if meta.is_empty() => NOT_IMPLEMENTED,
            Call::SetMeta { name, meta } => unit(volume.set_meta(name, meta)),
            Call::Stat { name } => self.told(volume.stat(name), details),
            Call::List => self.list(volume, details),
            Call::Info => {
                let info = volume.info();
                if self.outcomes.is_some() {
                    let _ = write!(details, " total={} used={}", info.total_bytes, info.used_bytes);
                }
                0
            }
            Call::Check => check(volume),
            Call::Collect { bytes } => unit(volume.collect_garbage(*bytes)),
            Call::EraseDeleted { most_free } => unit(volume.erase_deleted(*most_free)),
            Call::Read { slot, bytes } => self.on_file(*slot, |runner, file| {
                let into = &mut runner.buffer[..*bytes];
                let result = volume.read(file, into).map_or_else(code, |bytes| bytes as i64);
                if let (Ok(bytes), true) = (usize::try_from(result), runner.outcomes.is_some()) {
                    let _ = write!(details, " crc={:08x}", crc32(&runner.buffer[..bytes]));
                }
                result
            }),
            Call::Write { slot, data } => {
                self.on_file(*slot, |_, file| volume.write(file, data).map_or_else(code, |bytes| bytes as i64))
            }
            Call::Seek { slot, offset, whence } => self.on_file(*slot, |_, file| {
                let to = match (whence, u32::try_from(*offset)) {
                    (Whence::Set, Ok(offset)) => SeekFrom::Start(offset),
                    // Before the start, wherever the end is.
                    (Whence::Set, Err(_)) => SeekFrom::End(i32::MIN),
                    (Whence::Current, _) => SeekFrom::Current(*offset),
                    (Whence::End, _) => SeekFrom::End(*offset),
                };
                volume.seek(file, to).map_or_else(code, i64::from)
            }),
            Call::Tell { slot } => self.on_file(*slot, |_, file| volume.position(file).map_or_else(code, i64::from)),
            Call::Eof { slot } => self.on_file(*slot, |_, file| volume.is_at_end(file).map_or_else(code, i64::from)),
            Call::Truncate { slot, size } => self.on_file(*slot, |_, file| unit(volume.truncate(file, *size))),
            // Without a write cache the C code does not look at the descriptor.
            Call::Flush { .. } if !volume.config().write_cache => 0,
            Call::Flush { slot } => self.on_file(*slot, |_, file| known_to_c(volume.flush(file))),
            Call::Close { slot } => self.on_file(*slot, |_, file| match volume.close(file) {
                Err(Error::DataLost) => unit(volume.close(file)),
                closed => unit(closed),
            }),
            Call::RemoveOpen { slot } => self.on_file(*slot, |_, file| unit(volume.remove_open(file))),
            Call::StatOpen { slot } => self.on_file(*slot, |runner, file| runner.told(volume.stat_open(file), details)),
            Call::SetMetaOpen { slot, meta } => self.on_file(*slot, |_, file| unit(volume.set_meta_open(file, meta))),
        }
    }

    /// Does something with the file of a slot, if there is one.
    #[inline]
    fn on_file(&mut self, slot: usize, call: impl FnOnce(&mut Self, File) -> i64) -> i64 {
        match self.file(slot) {
            Ok(file) => call(self, file),
            Err(result) => result,
        }
    }

    /// The file of a slot. A slot whose file was closed has the file that uses its descriptor now, as in C, where a
    /// handle is a number.
    fn file(&self, slot: usize) -> Result<File, i64> {
        let descriptor = usize::try_from(self.slots[slot]).ok().and_then(|number| number.checked_sub(1));
        let file = self.files.get(descriptor.ok_or(BAD_DESCRIPTOR)?).ok_or(BAD_DESCRIPTOR)?;
        file.ok_or(FILE_CLOSED)
    }

    fn opened(&mut self, slot: usize, opened: Result<File, i64>) -> i64 {
        let result = opened.map_or_else(
            |code| code,
            |file| {
                let descriptor = descriptor_of(file);
                self.files[descriptor] = Some(file);
                descriptor as i64 + 1
            },
        );
        self.slots[slot] = result;
        result
    }

    fn told(&self, told: Result<FileInfo<'_>, Error<Failure>>, details: &mut String) -> i64 {
        let info = match told {
            Ok(info) => info,
            Err(error) => return code(error),
        };
        if self.outcomes.is_some() {
            let FileInfo { id, size_bytes, kind, name, meta, .. } = info;
            let _ = write!(details, " size={size_bytes} type={kind} id={id:04x} name={}", printable(name));
            if !meta.is_empty() {
                let _ = write!(details, " meta={:08x}", crc32(meta));
            }
        }
        0
    }

    fn list<const COUNTED: bool>(&self, volume: &mut Volume<'_, COUNTED>, details: &mut String) -> i64 {
        let mut listing = Listing::default();
        let mut files = 0;
        let mut entries = String::new();
        let result = loop {
            match volume.next_file(&mut listing) {
                Ok(Some(FileInfo { name, size_bytes, id, .. })) => {
                    files += 1;
                    if self.outcomes.is_some() {
                        let _ = write!(entries, " {},{size_bytes},{id:04x}", printable(name));
                    }
                }
                Ok(None) => break 0,
                Err(error) => break code(error),
            }
        };
        if self.outcomes.is_some() {
            let _ = write!(details, " n={files}{entries}");
        }
        result
    }

    /// Keeps what became of a call, if it is wanted.
    #[inline]
    fn ran<const COUNTED: bool>(
        &mut self,
        line: &'s Line,
        result: i64,
        details: String,
        flash: &Nor<COUNTED>,
        dead: bool,
    ) {
        if let Some(outcomes) = &mut self.outcomes {
            let trace = flash.trace.clone().unwrap_or_default();
            let endless = flash.is_endless();
            outcomes.push(Outcome { line, result, counts: flash.counts, details, trace, dead, endless });
        }
    }
}

/// Which descriptor a file uses. Handles do not tell, as nobody needs to know but who compares them with numbers; it is
/// the first number that they are hashed by.
fn descriptor_of(file: File) -> usize {
    #[derive(Default)]
    struct First(Option<u16>);

    impl Hasher for First {
        fn write(&mut self, _: &[u8]) {}

        fn write_u16(&mut self, number: u16) {
            self.0.get_or_insert(number);
        }

        fn finish(&self) -> u64 {
            0
        }
    }

    let mut first = First::default();
    file.hash(&mut first);
    first.0.unwrap_or_else(|| panic!("{file:?} is not hashed by 16 bits")).into()
}

/// Opens what a listing of the files found.
fn open_listed<const COUNTED: bool>(
    volume: &mut Volume<'_, COUNTED>,
    name: &[u8],
    flags: OpenFlags,
) -> Result<File, i64> {
    let mut listing = Listing::default();
    while let Some(file) = volume.next_file(&mut listing).map_err(code)? {
        if file.name == name {
            let page = file.page;
            return volume.open_page(page, flags).map_err(code);
        }
    }
    Err(NOT_FOUND)
}

/// The C code does not tell if a pass failed, only whether it could count the pages afterwards.
fn check<const COUNTED: bool>(volume: &mut Volume<'_, COUNTED>) -> i64 {
    let mut given_up = false;
    let result = volume.check(|_, finding| given_up |= finding == Finding::GivenUp);
    if given_up && !volume.flash().is_dead() { 0 } else { unit(result) }
}
