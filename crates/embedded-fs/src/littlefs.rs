//! littlefs 2.9, with the options and the habits of `esp_littlefs`.
//!
//! Its assertions are on and end a call with an error, as they catch what a corrupt image leads to before it does
//! harm; every call is bounded in its work by the size of the device.
//!
//! **Purposes.** What a block is for is known from its erase: for content where littlefs erases it in a write, seek,
//! read or truncation of a file, or in a sync or close while the file has unwritten content; for metadata else. A
//! block that nothing was erased in since mounting counts as metadata until a file's content is read from it. Two
//! things are off by this: the first reads of a file's blocks by the search for free ones, and a repair after a power
//! cut, made at the start of a write, whose erases count as content. Reads of content blocks by the search for free
//! blocks, which looks at a few bytes of each, count as data like all accesses of these blocks.

mod ffi;
mod host;
mod result;
mod settings;
mod volume;

use std::ptr::NonNull;

use crate::device::Device;
use crate::error::FsError;
use crate::file_system::{DirectoryEntry, FileId, FileSystem, OpenFlags, Stat, Usage};
use crate::registry::Entry;
use settings::Mtime;
use volume::{
    LittleFs, MOST_AT_ONCE, MTIME_ATTRIBUTE, MTIME_S, OpenFile, c_path, components, flags, length, not_open_for_this,
    signed,
};

/// The line of the registry.
pub const ENTRY: Entry = Entry {
    name: NAME,
    label: "LittleFS",
    about: "littlefs 2.9 (Arm, the littlefs authors), as esp_littlefs uses it",
    keys: settings::KEYS,
    make: |device, options| Ok(Box::new(LittleFs::new(device, options)?)),
};

const NAME: &str = "littlefs";

#[allow(unsafe_code)]
impl FileSystem for LittleFs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn format(&mut self) -> Result<(), FsError> {
        self.abandon();
        self.host.forget();
        let blocks = self.settings.blocks;
        // SAFETY: the volume is alive and, with its files gone, begun anew.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_format(volume, blocks) }).map(|_| ())
    }

    fn mount(&mut self) -> Result<(), FsError> {
        if self.mounted {
            return Ok(());
        }
        self.host.forget();
        let device_blocks = self.settings.device_blocks;
        // SAFETY: as in `format`. The image tells how many blocks it has.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_mount(volume, 0, device_blocks) })?;
        // SAFETY: the volume is alive.
        let blocks = unsafe { ffi::flashmark_littlefs_block_count(self.volume.as_ptr()) };
        if blocks > device_blocks {
            // SAFETY: the volume is mounted.
            self.run(|volume| unsafe { ffi::flashmark_littlefs_unmount(volume) })?;
            let block = u64::from(self.settings.parameters.block_size);
            return Err(FsError::ImageLargerThanDevice {
                image_bytes: u64::from(blocks) * block,
                device_bytes: self.host.device().geometry().size_bytes,
            });
        }
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
        self.mounted = false;
        // SAFETY: the volume is mounted.
        let unmounted = self.run(|volume| unsafe { ffi::flashmark_littlefs_unmount(volume) });
        result.and(unmounted.map(|_| ()))
    }

    fn open(&mut self, path: &str, how: OpenFlags) -> Result<FileId, FsError> {
        self.need_mount()?;
        how.check()?;
        let in_c = c_path(path)?;
        // SAFETY: the volume is alive.
        let file = unsafe { ffi::flashmark_littlefs_file_new(self.volume.as_ptr()) };
        let open = OpenFile { file: NonNull::new(file).ok_or(FsError::NoMemory)?, path: components(path), how };
        let attribute = if self.settings.mtime == Mtime::OnCommit { MTIME_ATTRIBUTE } else { 0 };
        // SAFETY: a fresh file; the path ends with 0.
        let opened = self.run(|volume| unsafe {
            ffi::flashmark_littlefs_open(volume, file, in_c.as_ptr(), flags(how), attribute, MTIME_S)
        });
        if let Err(error) = opened {
            // SAFETY: littlefs has let go of it.
            unsafe { ffi::flashmark_littlefs_file_free(file) };
            return Err(error);
        }
        if let Err(error) = self.after_open(&in_c, &open) {
            // The first error is the one to tell.
            let _ = self.close_file(&open);
            return Err(error);
        }
        Ok(self.files.insert(open))
    }

    fn close(&mut self, file: FileId) -> Result<(), FsError> {
        let open = self.files.take(file)?;
        // SAFETY: the file is open. The attribute was read when it was opened for reading as well.
        unsafe { ffi::flashmark_littlefs_set_mtime(open.file.as_ptr(), MTIME_S) };
        self.close_file(&open)
    }

    fn read(&mut self, file: FileId, buffer: &mut [u8]) -> Result<usize, FsError> {
        let (file, how) = self.file(file)?;
        if !how.read {
            return Err(not_open_for_this());
        }
        let mut read = 0;
        for piece in buffer.chunks_mut(MOST_AT_ONCE) {
            let (start, bytes) = (piece.as_mut_ptr(), length(piece));
            // SAFETY: an open file of this volume; the piece is writable and that long.
            let done = self.run(|volume| unsafe { ffi::flashmark_littlefs_read(volume, file, start.cast(), bytes) })?;
            read += done as usize;
            if done < bytes {
                break;
            }
        }
        Ok(read)
    }

    fn write(&mut self, file: FileId, data: &[u8]) -> Result<usize, FsError> {
        let (file, how) = self.file(file)?;
        if !how.write {
            return Err(not_open_for_this());
        }
        let mut written = 0;
        for piece in data.chunks(MOST_AT_ONCE) {
            let (start, bytes) = (piece.as_ptr(), length(piece));
            // SAFETY: an open file of this volume; the piece is readable and that long.
            let done =
                self.run(|volume| unsafe { ffi::flashmark_littlefs_write(volume, file, start.cast(), bytes) })?;
            written += done as usize;
        }
        Ok(written)
    }

    fn seek(&mut self, file: FileId, position: u64) -> Result<u64, FsError> {
        let (file, _) = self.file(file)?;
        let position = signed(position)?;
        // SAFETY: an open file of this volume.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_seek(volume, file, position) }).map(u64::from)
    }

    fn position(&mut self, file: FileId) -> Result<u64, FsError> {
        let (file, _) = self.file(file)?;
        // SAFETY: an open file of this volume.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_position(volume, file) }).map(u64::from)
    }

    fn size(&mut self, file: FileId) -> Result<u64, FsError> {
        let (file, _) = self.file(file)?;
        // SAFETY: an open file of this volume.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_size(volume, file) }).map(u64::from)
    }

    fn truncate(&mut self, file: FileId, size_bytes: u64) -> Result<(), FsError> {
        let (file, how) = self.file(file)?;
        if !how.write {
            return Err(not_open_for_this());
        }
        let bytes = signed(size_bytes)?.unsigned_abs();
        // SAFETY: an open file of this volume.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_truncate(volume, file, bytes) }).map(|_| ())
    }

    fn sync(&mut self, file: FileId) -> Result<(), FsError> {
        let (file, _) = self.file(file)?;
        // SAFETY: an open file of this volume.
        self.run(|volume| unsafe {
            ffi::flashmark_littlefs_set_mtime(file, MTIME_S);
            ffi::flashmark_littlefs_sync(volume, file)
        })
        .map(|_| ())
    }

    fn preallocate(&mut self, file: FileId, _size_bytes: u64) -> Result<(), FsError> {
        self.file(file)?;
        Err(FsError::Unsupported { file_system: NAME, what: "give a file its room before it is written" })
    }

    fn remove(&mut self, path: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let in_c = c_path(path)?;
        if self.settings.esp_vfs {
            self.lfs_stat(&in_c)?;
        }
        self.refuse_open(&components(path))?;
        // SAFETY: the path ends with 0.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_remove(volume, in_c.as_ptr()) }).map(|_| ())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let (old, new) = (components(from), components(to));
        self.refuse_open(&old)?;
        self.refuse_open(&new)?;
        let (from, to) = (c_path(from)?, c_path(to)?);
        // SAFETY: both paths end with 0.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_rename(volume, from.as_ptr(), to.as_ptr()) })?;
        // Files inside a directory that was renamed stay open.
        for open in self.files.iter_mut().filter(|open| open.path.starts_with(&old)) {
            open.path.splice(..old.len(), new.iter().cloned());
        }
        Ok(())
    }

    fn stat(&mut self, path: &str) -> Result<Stat, FsError> {
        self.need_mount()?;
        let in_c = c_path(path)?;
        let entry = self.lfs_stat(&in_c)?;
        let mtime_s = if self.settings.mtime == Mtime::Off { None } else { self.mtime(&in_c)? };
        let is_directory = entry.type_ == ffi::LFS_TYPE_DIR;
        Ok(Stat { is_directory, size_bytes: if is_directory { 0 } else { entry.size_bytes.into() }, mtime_s })
    }

    fn mkdir(&mut self, path: &str) -> Result<(), FsError> {
        self.need_mount()?;
        let path = c_path(path)?;
        // SAFETY: the path ends with 0.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_mkdir(volume, path.as_ptr()) }).map(|_| ())
    }

    fn list(&mut self, path: &str) -> Result<Vec<DirectoryEntry>, FsError> {
        self.need_mount()?;
        let path = c_path(if path.is_empty() { "/" } else { path })?;
        // SAFETY: no arguments.
        let directory = NonNull::new(unsafe { ffi::flashmark_littlefs_directory_new() }).ok_or(FsError::NoMemory)?;
        let directory = directory.as_ptr();
        // SAFETY: a fresh directory; the path ends with 0.
        let opened =
            self.run(|volume| unsafe { ffi::flashmark_littlefs_directory_open(volume, directory, path.as_ptr()) });
        let mut entries = Vec::new();
        let mut result = opened.clone();
        // Each block of metadata has 1023 ids at most; a circle has no end.
        let most = 1023 * (u64::from(self.settings.device_blocks) + 1);
        while result.is_ok() {
            let mut entry = ffi::Entry { type_: 0, size_bytes: 0, name: [0; ffi::NAME_BYTES] };
            // SAFETY: the directory is open; the entry is written only.
            result =
                self.run(|volume| unsafe { ffi::flashmark_littlefs_directory_read(volume, directory, &raw mut entry) });
            if !matches!(result, Ok(1..)) {
                break;
            }
            let end = entry.name.iter().position(|byte| *byte == 0).unwrap_or(ffi::NAME_BYTES);
            let name = String::from_utf8_lossy(&entry.name[..end]).into_owned();
            let is_directory = entry.type_ != ffi::LFS_TYPE_REG;
            if name != "." && name != ".." {
                let size_bytes = if is_directory { 0 } else { entry.size_bytes.into() };
                entries.push(DirectoryEntry { name, is_directory, size_bytes });
            }
            if entries.len() as u64 > most {
                result = Err(FsError::Endless);
            }
        }
        if opened.is_ok() {
            // SAFETY: the directory is open.
            let closed = self.run(|volume| unsafe { ffi::flashmark_littlefs_directory_close(volume, directory) });
            result = result.and(closed);
        }
        // SAFETY: from `directory_new`; littlefs has let go of it, or is broken and refuses to be used.
        unsafe { ffi::flashmark_littlefs_directory_free(directory) };
        result.map(|_| entries)
    }

    fn usage(&mut self) -> Result<Usage, FsError> {
        self.need_mount()?;
        // SAFETY: the volume is mounted.
        let used = self.run(|volume| unsafe { ffi::flashmark_littlefs_used_blocks(volume) })?;
        // SAFETY: as above.
        let blocks = unsafe { ffi::flashmark_littlefs_block_count(self.volume.as_ptr()) };
        let unit_bytes = self.settings.parameters.block_size;
        let unit = u64::from(unit_bytes);
        // Blocks that files share are counted more than once.
        let free = u64::from(blocks.saturating_sub(used));
        Ok(Usage { total_bytes: u64::from(blocks) * unit, free_bytes: free * unit, unit_bytes })
    }

    fn ram_bytes(&self) -> usize {
        let parameters = &self.settings.parameters;
        let cache = parameters.cache_size as usize;
        // SAFETY: no arguments.
        let (volume, file) = unsafe { (ffi::flashmark_littlefs_volume_bytes(), ffi::flashmark_littlefs_file_bytes()) };
        volume + 2 * cache + parameters.lookahead_size as usize + self.files.iter().count() * (file + cache)
    }

    fn device(&mut self) -> &mut dyn Device {
        self.host.device()
    }

    fn into_device(mut self: Box<Self>) -> Box<dyn Device> {
        self.host.take_device()
    }
}
