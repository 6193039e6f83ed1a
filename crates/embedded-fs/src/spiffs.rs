//! SPIFFS, with the options and the habits of ESP-IDF: the crate `spiffs`, which makes the accesses of the C code.
//!
//! **Names.** SPIFFS has no directories: a path is a name, of any slashes, with the one at its start as ESP-IDF's VFS
//! hands it over (option `vfs`). Making a directory is an error; a listing of one tells the names that begin with it,
//! compared without regard to case, as `vfs_spiffs_readdir_r` does, with the slashes behind it in them.
//!
//! **Flags** mean what they say. ESP-IDF (`spiffs_mode_conv`) passes `O_CREAT` on only with `O_TRUNC`, `O_EXCL` or
//! `O_APPEND`, and `O_TRUNC` only with `O_CREAT`, so that some ways to open a file do not work there.
//!
//! **Ends.** A file can be made shorter, not longer, and a position beyond the end is an error, after which the position
//! is at the end.
//!
//! **Purposes.** Content is what is read and written for the caller; what garbage collection moves is metadata.

mod flash;
mod result;
mod settings;
mod volume;

use ::spiffs::{CacheSlot, Descriptor, Listing, SeekFrom, Spiffs};

use crate::device::Device;
use crate::error::FsError;
use crate::file_system::{DirectoryEntry, FileId, FileSystem, OpenFlags, Stat, Usage};
use crate::registry::Entry;
use volume::{OpenFile, SpiFfs, State, Volume, flags, mtime};

/// The line of the registry.
pub const ENTRY: Entry = Entry {
    name: NAME,
    label: "SPIFFS",
    about: "SPIFFS 0.3.7 (Peter Andersson) in Rust, as configured in ESP-IDF",
    keys: settings::KEYS,
    make: |device, options| Ok(Box::new(SpiFfs::new(device, options)?)),
};

const NAME: &str = "spiffs";

/// A position or size as SPIFFS counts it.
fn narrow(bytes: u64) -> Result<u32, FsError> {
    u32::try_from(bytes).map_err(|_| FsError::TooLarge(bytes))
}

impl FileSystem for SpiFfs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn format(&mut self) -> Result<(), FsError> {
        self.abandon();
        let config = self.settings.config;
        let flash = self.flash();
        ::spiffs::format(flash, &config).map_err(|error| result::told(error, flash, ""))
    }

    fn mount(&mut self) -> Result<(), FsError> {
        let flash = match self.take_state() {
            State::Unmounted(flash) => flash,
            mounted => {
                self.state = mounted;
                return Ok(());
            }
        };
        match Spiffs::mount(flash, self.settings.config, self.settings.memory) {
            Ok(volume) => {
                self.state = State::Mounted(Box::new(volume));
                Ok(())
            }
            Err(refused) => {
                self.state = State::Unmounted(refused.flash);
                Err(result::told(refused.error, self.flash(), ""))
            }
        }
    }

    fn unmount(&mut self) -> Result<(), FsError> {
        self.need_mount()?;
        let mut result = Ok(());
        while let Some(open) = self.files.take_any() {
            let closed = self.close_file(open.file);
            result = result.and(closed);
        }
        // Nothing is open: there is nothing left to write.
        self.abandon();
        result
    }

    fn open(&mut self, path: &str, how: OpenFlags) -> Result<FileId, FsError> {
        self.need_mount()?;
        how.check()?;
        let name = self.name(path)?;
        let file = self.run(path, |volume| volume.open(&name, flags(how)))?;
        if let Err(error) = self.after_open(file, how) {
            // The first error is the one to tell.
            let _ = self.close_file(file);
            return Err(error);
        }
        Ok(self.files.insert(OpenFile { file, name }))
    }

    fn close(&mut self, file: FileId) -> Result<(), FsError> {
        self.need_mount()?;
        let open = self.files.take(file)?;
        self.close_file(open.file)
    }

    fn read(&mut self, file: FileId, buffer: &mut [u8]) -> Result<usize, FsError> {
        self.moving(file, buffer, |volume, file, buffer| volume.read(file, buffer))
    }

    fn write(&mut self, file: FileId, data: &[u8]) -> Result<usize, FsError> {
        self.moving(file, data, |volume, file, data| volume.write(file, data))
    }

    fn seek(&mut self, file: FileId, position: u64) -> Result<u64, FsError> {
        self.need_mount()?;
        let to = narrow(position)?;
        self.with_file(file, |volume, file| volume.seek(file, SeekFrom::Start(to))).map(u64::from)
    }

    fn position(&mut self, file: FileId) -> Result<u64, FsError> {
        self.with_file(file, Volume::position).map(u64::from)
    }

    fn size(&mut self, file: FileId) -> Result<u64, FsError> {
        self.with_file(file, |volume, file| Ok(volume.stat_open(file)?.size_bytes)).map(u64::from)
    }

    fn truncate(&mut self, file: FileId, size_bytes: u64) -> Result<(), FsError> {
        self.need_mount()?;
        let bytes = narrow(size_bytes)?;
        self.with_file(file, |volume, file| volume.truncate(file, bytes))
    }

    fn sync(&mut self, file: FileId) -> Result<(), FsError> {
        self.with_file(file, Volume::flush)
    }

    fn preallocate(&mut self, file: FileId, _size_bytes: u64) -> Result<(), FsError> {
        self.need_mount()?;
        self.files.get(file)?;
        Err(FsError::Unsupported { file_system: NAME, what: "give a file its room before it is written" })
    }

    fn remove(&mut self, path: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let name = self.name(path)?;
        self.refuse_open(&name)?;
        self.run(path, |volume| volume.remove(&name))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let (old, new) = (self.name(from)?, self.name(to)?);
        self.refuse_open(&old)?;
        self.refuse_open(&new)?;
        self.run(to, |volume| volume.rename(&old, &new))
    }

    fn stat(&mut self, path: &str) -> Result<Stat, FsError> {
        self.need_mount()?;
        if path.trim_matches('/').is_empty() {
            return Ok(Stat { is_directory: true, size_bytes: 0, mtime_s: None });
        }
        let name = self.name(path)?;
        let keeps_time = self.settings.mtime;
        self.run(path, |volume| {
            let info = volume.stat(&name)?;
            let mtime_s = mtime(info.meta).filter(|_| keeps_time);
            Ok(Stat { is_directory: false, size_bytes: info.size_bytes.into(), mtime_s })
        })
    }

    fn mkdir(&mut self, _path: &str) -> Result<(), FsError> {
        self.need_mount()?;
        Err(FsError::Unsupported { file_system: NAME, what: "make directories" })
    }

    fn list(&mut self, path: &str) -> Result<Vec<DirectoryEntry>, FsError> {
        self.need_mount()?;
        let directory = path.trim_matches('/');
        let start = match directory {
            "" => String::new(),
            directory => format!("{}/", self.name(directory)?),
        };
        let slash = if self.settings.esp_vfs { "/" } else { "" };
        let start = if start.is_empty() { slash } else { &start };
        self.run(path, |volume| {
            let mut entries = Vec::new();
            let mut listing = Listing::default();
            while let Some(file) = volume.next_file(&mut listing)? {
                let name = String::from_utf8_lossy(file.name);
                let inside = match name.split_at_checked(start.len()) {
                    Some((before, inside)) if before.eq_ignore_ascii_case(start) => inside,
                    // A name without a slash at its start, which others may have stored.
                    _ if start == slash => &name,
                    _ => continue,
                };
                if !inside.is_empty() {
                    let size_bytes = file.size_bytes.into();
                    entries.push(DirectoryEntry { name: inside.into(), is_directory: false, size_bytes });
                }
            }
            Ok(entries)
        })
    }

    fn usage(&mut self) -> Result<Usage, FsError> {
        let unit_bytes = self.settings.config.data_page_bytes();
        self.run("", |volume| {
            let info = volume.info();
            Ok(Usage {
                total_bytes: info.total_bytes.into(),
                free_bytes: info.total_bytes.saturating_sub(info.used_bytes).into(),
                unit_bytes,
            })
        })
    }

    /// The flags of pages, and their entries in the lookup.
    fn programs_again(&self) -> bool {
        true
    }

    /// Also of the files that are not open: SPIFFS has its memory from mounting on.
    fn ram_bytes(&self) -> usize {
        let memory = self.settings.memory;
        size_of::<Volume>()
            + self.settings.config.buffer_bytes(memory.cache_pages)
            + memory.files * size_of::<Descriptor>()
            + memory.cache_pages * size_of::<CacheSlot>()
    }

    fn device(&mut self) -> &mut dyn Device {
        self.flash().device()
    }

    fn into_device(mut self: Box<Self>) -> Box<dyn Device> {
        self.abandon();
        match self.take_state() {
            State::Unmounted(flash) => flash.into_device(),
            State::Mounted(volume) => volume.abandon().into_device(),
        }
    }
}
