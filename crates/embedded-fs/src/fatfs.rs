//! FatFs R0.15, ChaN's FAT and exFAT file system, configured as ESP-IDF has it.
//!
//! Four variants are compiled: with and without long names and exFAT, with and without a buffer in each file. The
//! device calls are those of ESP-IDF's `diskio_wl.c`: one [`Device::read`] or [`Device::overwrite`] for a run of
//! sectors, and no erase block size. What opening, appending, truncating do around FatFs is as in
//! `components/fatfs/vfs/vfs_fat.c`.
//!
//! Content is told from metadata by the buffer: FatFs moves content through a file's buffer or the caller's, and all
//! else through the volume's window. Without per-file buffers the window is for both; then content is what `f_read`
//! and `f_write` load into it from the data area, until it is written back. This is exact in both.
//!
//! FatFs's own lock of open files (`FF_FS_LOCK`, 32 of them) is on, which ESP-IDF's default is not: it makes no
//! accesses and keeps a removed file from being written to.

mod ffi;
mod host;
mod names;
mod result;
mod settings;
mod volume;

use core::ffi::c_void;
use std::ptr::NonNull;

use crate::device::Device;
use crate::error::FsError;
use crate::file_system::{DirectoryEntry, FileId, FileSystem, OpenFlags, Stat, Usage};
use crate::registry::Entry;
use settings::FatType;
use volume::{FatFs, MOST_AT_ONCE, OpenFile, blank_entry, full, length};

/// The line of the registry.
pub const ENTRY: Entry = Entry {
    name: NAME,
    label: "FATFS",
    about: "FatFs R0.15 (ChaN): FAT12, FAT16, FAT32 and exFAT, as configured in ESP-IDF",
    keys: settings::KEYS,
    make: |device, options| Ok(Box::new(FatFs::new(device, options)?)),
};

const NAME: &str = "fatfs";

#[allow(unsafe_code)]
impl FileSystem for FatFs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn format(&mut self) -> Result<(), FsError> {
        self.abandon();
        let settings = self.settings;
        let format = match settings.fat_type {
            FatType::Auto => ffi::FM_FAT | ffi::FM_FAT32,
            FatType::Fat12 | FatType::Fat16 => ffi::FM_FAT,
            FatType::Fat32 => ffi::FM_FAT32,
            FatType::ExFat => ffi::FM_EXFAT,
        };
        let parameters = ffi::Format {
            format: format | if settings.partition_table { 0 } else { ffi::FM_SFD },
            fats: settings.fats,
            align_sectors: settings.align_sectors,
            root_entries: settings.root_entries,
            cluster_bytes: settings.cluster_bytes,
        };
        // Of words, since C code may access it by them.
        let mut buffer = vec![0_u64; settings.format_buffer_bytes as usize / 8];
        let work: *mut c_void = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer has that many bytes; sizes of sectors and so of the part that is used are multiples of 8.
        self.run(|calls, volume| unsafe {
            (calls.format)(volume, &raw const parameters, work, settings.format_buffer_bytes & !7)
        })?;
        self.check_type()
    }

    fn mount(&mut self) -> Result<(), FsError> {
        if self.mounted {
            return Ok(());
        }
        // SAFETY: the volume is alive and not mounted.
        self.run(|calls, volume| unsafe { (calls.mount)(volume) })?;
        self.mounted = true;
        Ok(())
    }

    fn unmount(&mut self) -> Result<(), FsError> {
        self.need_mount()?;
        let mut result = Ok(());
        while let Some(open) = self.files.take_any() {
            let closed = self.close_file(&open);
            result = result.and(closed);
        }
        self.abandon();
        result
    }

    fn open(&mut self, path: &str, how: OpenFlags) -> Result<FileId, FsError> {
        self.need_mount()?;
        how.check()?;
        let path = self.path(path)?;
        // SAFETY: no arguments.
        let file = NonNull::new(unsafe { (self.calls.file_new)() }).ok_or(FsError::NoMemory)?;
        let mut open = OpenFile { file, link_map: None, how };
        match self.open_into(&mut open, &path, how) {
            Ok(()) => Ok(self.files.insert(open)),
            Err(error) => {
                self.free_file(&open);
                Err(error)
            }
        }
    }

    fn close(&mut self, file: FileId) -> Result<(), FsError> {
        let open = self.files.take(file)?;
        self.close_file(&open)
    }

    fn read(&mut self, file: FileId, buffer: &mut [u8]) -> Result<usize, FsError> {
        let file = self.file(file)?;
        let mut read = 0;
        for piece in buffer.chunks_mut(MOST_AT_ONCE) {
            let mut done = 0;
            // SAFETY: an open file of this volume; the piece is writable and at most u32::MAX long.
            let result = self.call(piece.len(), |calls, volume| unsafe {
                (calls.read)(volume, file, piece.as_mut_ptr().cast(), length(piece), &raw mut done)
            });
            self.check(result)?;
            read += done as usize;
            if (done as usize) < piece.len() {
                break;
            }
        }
        Ok(read)
    }

    fn write(&mut self, file: FileId, data: &[u8]) -> Result<usize, FsError> {
        self.need_mount()?;
        if self.files.get(file)?.how.append {
            let end = self.size(file)?;
            self.seek(file, end)?;
        }
        self.write_at_position(file, data)
    }

    fn seek(&mut self, file: FileId, position: u64) -> Result<u64, FsError> {
        // Larger ones FatFs would wrap, or take for an order to make a link map.
        let most = if self.info().type_ == 4 { u64::MAX >> 1 } else { u64::from(u32::MAX) - 1 };
        if position > most {
            return Err(FsError::TooLarge(position));
        }
        let open = self.file(file)?;
        // SAFETY: an open file of this volume.
        self.run(|calls, volume| unsafe { (calls.seek)(volume, open, position) })?;
        self.position(file)
    }

    fn position(&mut self, file: FileId) -> Result<u64, FsError> {
        let file = self.file(file)?;
        // SAFETY: an open file.
        Ok(unsafe { (self.calls.position)(file) })
    }

    fn size(&mut self, file: FileId) -> Result<u64, FsError> {
        let file = self.file(file)?;
        // SAFETY: an open file.
        Ok(unsafe { (self.calls.size)(file) })
    }

    fn truncate(&mut self, file: FileId, size_bytes: u64) -> Result<(), FsError> {
        let position = self.position(file)?;
        let size = self.size(file)?;
        let open = self.file(file)?;
        if !self.files.get(file)?.how.write {
            return Err(FsError::Code(result::code(7)));
        }
        let truncate = |fs: &mut Self| {
            // SAFETY: an open file of this volume.
            fs.run(|calls, volume| unsafe { (calls.truncate)(volume, open) })
        };
        if self.seek(file, size_bytes)? != size_bytes {
            // The volume is full: back to where it was.
            if self.size(file)? > size {
                self.seek(file, size)?;
                truncate(self)?;
            }
            self.seek(file, position.min(size))?;
            return Err(full());
        }
        if size_bytes > size {
            self.extend(file, size, size_bytes)?;
        } else {
            truncate(self)?;
        }
        self.seek(file, position.min(size_bytes)).map(|_| ())
    }

    fn sync(&mut self, file: FileId) -> Result<(), FsError> {
        let file = self.file(file)?;
        // SAFETY: an open file of this volume.
        self.run(|calls, volume| unsafe { (calls.sync)(volume, file) })
    }

    fn preallocate(&mut self, file: FileId, size_bytes: u64) -> Result<(), FsError> {
        let most = if self.info().type_ == 4 { u64::MAX >> 1 } else { u64::from(u32::MAX) };
        if size_bytes > most {
            return Err(FsError::TooLarge(size_bytes));
        }
        let file = self.file(file)?;
        // SAFETY: an open file of this volume.
        self.run(|calls, volume| unsafe { (calls.expand)(volume, file, size_bytes) })
    }

    fn remove(&mut self, path: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let path = self.path(path)?;
        // SAFETY: the path ends with 0.
        self.run(|calls, volume| unsafe { (calls.remove)(volume, path.as_ptr()) })
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let (from, to) = (self.path(from)?, self.path(to)?);
        // SAFETY: both paths end with 0.
        self.run(|calls, volume| unsafe { (calls.rename)(volume, from.as_ptr(), to.as_ptr()) })
    }

    fn stat(&mut self, path: &str) -> Result<Stat, FsError> {
        self.need_mount()?;
        if path.trim_matches('/').is_empty() {
            return Ok(Stat { is_directory: true, size_bytes: 0, mtime_s: None });
        }
        let path = self.path(path)?;
        let mut entry = blank_entry();
        // SAFETY: the path ends with 0; the entry is written only.
        self.run(|calls, volume| unsafe { (calls.stat)(volume, path.as_ptr(), &raw mut entry) })?;
        let is_directory = entry.attributes & ffi::AM_DIR != 0;
        Ok(Stat { is_directory, size_bytes: if is_directory { 0 } else { entry.size_bytes }, mtime_s: None })
    }

    fn mkdir(&mut self, path: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let path = self.path(path)?;
        // SAFETY: the path ends with 0.
        self.run(|calls, volume| unsafe { (calls.mkdir)(volume, path.as_ptr()) })
    }

    fn list(&mut self, path: &str) -> Result<Vec<DirectoryEntry>, FsError> {
        self.need_mount()?;
        let path = self.path(path.trim_end_matches('/'))?;
        // SAFETY: no arguments.
        let directory = NonNull::new(unsafe { (self.calls.directory_new)() }).ok_or(FsError::NoMemory)?;
        let directory = directory.as_ptr();
        // SAFETY: a fresh directory; the path ends with 0.
        let opened = self.run(|calls, volume| unsafe { (calls.directory_open)(volume, directory, path.as_ptr()) });
        let mut entries = Vec::new();
        let mut result = opened.clone();
        while result.is_ok() {
            let mut entry = blank_entry();
            // SAFETY: the directory is open; the entry is written only.
            result = self.run(|calls, volume| unsafe { (calls.directory_read)(volume, directory, &raw mut entry) });
            let name = names::name(&entry.name, self.settings.long_names);
            if result.is_err() || name.is_empty() {
                break;
            }
            let is_directory = entry.attributes & ffi::AM_DIR != 0;
            let size_bytes = if is_directory { 0 } else { entry.size_bytes };
            entries.push(DirectoryEntry { name, is_directory, size_bytes });
            // A directory has 65536 entries of 32 bytes at most, one of exFAT 2^23; a circle has no end.
            if entries.len() > 1 << 23 {
                result = Err(FsError::Endless);
            }
        }
        if opened.is_ok() {
            // SAFETY: the directory is open.
            let closed = self.run(|calls, volume| unsafe { (calls.directory_close)(volume, directory) });
            result = result.and(closed);
        }
        // SAFETY: from `directory_new` of the same variant.
        unsafe { (self.calls.directory_free)(directory) };
        result.map(|()| entries)
    }

    fn usage(&mut self) -> Result<Usage, FsError> {
        self.need_mount()?;
        let mut free = 0;
        // SAFETY: the number is written only.
        self.run(|calls, volume| unsafe { (calls.free_clusters)(volume, &raw mut free) })?;
        let info = self.info();
        let unit_bytes = info.cluster_sectors * self.settings.sector_bytes;
        let unit = u64::from(unit_bytes);
        // An image's count of free clusters (FSINFO) can be of any size.
        let free = free.min(info.clusters);
        Ok(Usage { total_bytes: u64::from(info.clusters) * unit, free_bytes: u64::from(free) * unit, unit_bytes })
    }

    fn ram_bytes(&self) -> usize {
        let sector = self.settings.sector_bytes as usize;
        let in_file = if self.settings.per_file_buffers { sector } else { 0 };
        let maps = self.files.iter().map(|open| open.link_map.as_ref().map_or(0, |map| map.len() * size_of::<u32>()));
        self.calls.volume_bytes + sector + maps.map(|map| self.calls.file_bytes + in_file + map).sum::<usize>()
    }

    fn device(&mut self) -> &mut dyn Device {
        self.below.device()
    }

    fn into_device(mut self: Box<Self>) -> Box<dyn Device> {
        self.below.take_device()
    }
}
