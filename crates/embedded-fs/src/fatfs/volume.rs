//! A volume of FatFs and its open files: the calls that the file system is made of.

#![allow(unsafe_code)]

use core::ffi::CStr;
use std::ffi::CString;
use std::ptr::NonNull;

use super::settings::{FatType, Settings};
use super::{ffi, host, names, result};
use crate::below::Below;
use crate::device::{Device, Purpose};
use crate::error::{ErrorKind, FsError};
use crate::file_system::{FileId, FileSystem, OpenFlags};
use crate::handles::Handles;
use crate::options::{OptionError, Options};

/// Zeros are written in pieces of this size when a file is made longer (`vfs_fat.c`).
const ZEROS: [u8; 512] = [0; 512];

pub struct OpenFile {
    pub file: NonNull<ffi::File>,
    /// FatFs keeps the address of its entries; it is neither changed nor looked at here as long as the file is open.
    pub link_map: Option<Vec<u32>>,
    pub how: OpenFlags,
}

pub struct FatFs {
    pub calls: &'static ffi::Calls,
    pub settings: Settings,
    pub volume: NonNull<ffi::Volume>,
    pub mounted: bool,
    pub files: Handles<OpenFile>,
    pub below: Below,
}

impl FatFs {
    pub fn new(mut device: Box<dyn Device>, options: &Options) -> Result<Self, FsError> {
        let settings = Settings::new(options, device.geometry())?;
        device.purpose(Purpose::Metadata);
        let calls = ffi::calls(settings.long_names, settings.per_file_buffers);
        let below = Below::new(device, settings.sector_bytes);
        let host = host::calls(&below, &settings);
        // SAFETY: C copies the host; its context lives as long as the volume, which `drop` frees first.
        let volume = NonNull::new(unsafe { (calls.volume_new)(&raw const host) }).ok_or(FsError::NoMemory)?;
        Ok(Self { calls, settings, volume, mounted: false, files: Handles::new(), below })
    }

    pub fn volume(&self) -> *mut ffi::Volume {
        self.volume.as_ptr()
    }

    pub fn path(&self, path: &str) -> Result<CString, FsError> {
        names::path(path, self.settings.long_names)
    }

    pub fn need_mount(&self) -> Result<(), FsError> {
        if self.mounted { Ok(()) } else { Err(FsError::NotMounted) }
    }

    /// Makes a call of C code that moves `bytes` of content at most, and gives its FRESULT.
    ///
    /// The accesses it may make: what looking at every sector eight times takes, as one call looks at no FAT sector
    /// more often unless it alternates with directory sectors, which a directory has 65536 of at most.
    pub fn call(&mut self, bytes: usize, call: impl FnOnce(&'static ffi::Calls, *mut ffi::Volume) -> i32) -> i32 {
        let content = bytes as u64 / u64::from(self.settings.sector_bytes);
        self.below.begin(8 * u64::from(self.settings.sectors) + 200_000 + 8 * content);
        let result = call(self.calls, self.volume());
        self.below.end();
        result
    }

    pub fn check(&mut self, result: i32) -> Result<(), FsError> {
        if result == 0 { Ok(()) } else { Err(self.below.error(result::code(result))) }
    }

    /// A call that is checked and moves no content.
    pub fn run(&mut self, call: impl FnOnce(&'static ffi::Calls, *mut ffi::Volume) -> i32) -> Result<(), FsError> {
        let result = self.call(0, call);
        self.check(result)
    }

    pub fn file(&self, id: FileId) -> Result<*mut ffi::File, FsError> {
        self.need_mount()?;
        Ok(self.files.get(id)?.file.as_ptr())
    }

    pub fn free_file(&self, file: &OpenFile) {
        // SAFETY: from `file_new` of the same variant, and taken out of the handles.
        unsafe { (self.calls.file_free)(file.file.as_ptr()) };
    }

    pub fn close_file(&mut self, open: &OpenFile) -> Result<(), FsError> {
        let file = open.file.as_ptr();
        // SAFETY: an open file of this volume.
        let result = self.run(|calls, volume| unsafe { (calls.close)(volume, file) });
        self.free_file(open);
        result
    }

    pub fn abandon(&mut self) {
        while let Some(open) = self.files.take_any() {
            self.free_file(&open);
        }
        if self.mounted {
            // SAFETY: the volume is alive. No accesses are made.
            unsafe { (self.calls.unmount)(self.volume()) };
            self.mounted = false;
        }
    }

    pub fn info(&self) -> ffi::Info {
        let mut info = ffi::Info::default();
        // SAFETY: the volume is alive; it only writes the info.
        unsafe { (self.calls.info)(self.volume(), &raw mut info) };
        info
    }

    /// How `vfs_fat.c` opens, plus truncating without creating, which it leaves out.
    pub fn mode(how: OpenFlags) -> u32 {
        let access = if how.read { ffi::FA_READ } else { 0 } | if how.write { ffi::FA_WRITE } else { 0 };
        let method = if how.create && how.exclusive {
            ffi::FA_CREATE_NEW
        } else if how.create && how.truncate {
            ffi::FA_CREATE_ALWAYS
        } else if how.create {
            ffi::FA_OPEN_ALWAYS
        } else {
            0
        };
        access | method
    }

    pub fn open_into(&mut self, open: &mut OpenFile, path: &CStr, how: OpenFlags) -> Result<(), FsError> {
        let file = open.file.as_ptr();
        let mode = Self::mode(how);
        // SAFETY: a fresh file; the path ends with 0.
        self.run(|calls, volume| unsafe { (calls.open)(volume, file, path.as_ptr(), mode) })?;
        // SAFETY: the file is open from here on.
        let empty = unsafe { (self.calls.size)(file) } == 0;
        if how.truncate && !how.create && !empty {
            // SAFETY: the file is open.
            if let Err(error) = self.run(|calls, volume| unsafe { (calls.truncate)(volume, file) }) {
                // SAFETY: the file is open; the first error is the one to tell.
                let _ = self.run(|calls, volume| unsafe { (calls.close)(volume, file) });
                return Err(error);
            }
        }
        if self.settings.link_map_entries > 0 && !how.write {
            let entries = self.settings.link_map_entries;
            let mut table = vec![0; entries as usize];
            let start = table.as_mut_ptr();
            // SAFETY: the table has that many entries, and stays where it is as long as the file is open.
            let made = self.call(0, |calls, volume| unsafe { (calls.link_map)(volume, file, start, entries) });
            // As in vfs_fat.c: without a map the file seeks in the ordinary way.
            open.link_map = (made == 0).then_some(table);
        }
        Ok(())
    }

    /// Makes a file longer with zeros, from `size` on; the position is undefined then.
    pub fn extend(&mut self, id: FileId, size: u64, to: u64) -> Result<(), FsError> {
        self.seek(id, size)?;
        let mut left = to - size;
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
            let written = self.write_at_position(id, &ZEROS[..piece])?;
            if written < piece {
                return Err(full());
            }
            left -= piece as u64;
        }
        Ok(())
    }

    pub fn write_at_position(&mut self, id: FileId, data: &[u8]) -> Result<usize, FsError> {
        let file = self.file(id)?;
        let mut written = 0;
        for piece in data.chunks(MOST_AT_ONCE) {
            let mut done = 0;
            // SAFETY: an open file of this volume; the piece is readable and at most u32::MAX long.
            let result = self.call(piece.len(), |calls, volume| unsafe {
                (calls.write)(volume, file, piece.as_ptr().cast(), length(piece), &raw mut done)
            });
            self.check(result)?;
            written += done as usize;
            if (done as usize) < piece.len() {
                break;
            }
        }
        Ok(written)
    }

    /// Makes sure that formatting made what was asked for, where `f_mkfs` cannot be told to.
    pub fn check_type(&mut self) -> Result<(), FsError> {
        let (name, number) = match self.settings.fat_type {
            FatType::Fat12 => ("fat12", 1),
            FatType::Fat16 => ("fat16", 2),
            _ => return Ok(()),
        };
        // SAFETY: the volume is alive and not mounted.
        self.run(|calls, volume| unsafe { (calls.mount)(volume) })?;
        let info = self.info();
        // SAFETY: as above. No accesses are made.
        unsafe { (self.calls.unmount)(self.volume()) };
        if info.type_ == number {
            return Ok(());
        }
        let reason = format!(
            "the device gives {} clusters of {} bytes; FAT12 has up to 4085 of them, FAT16 from 4086 to 65525: choose \
             another cluster",
            info.clusters,
            info.cluster_sectors * self.settings.sector_bytes
        );
        Err(OptionError::BadValue { key: "type", value: name.into(), reason }.into())
    }
}

/// What one call of `f_read` or `f_write` takes at most: a multiple of every sector size, so that runs of sectors are
/// not cut in ways that FatFs would not.
pub const MOST_AT_ONCE: usize = 1 << 30;

pub fn length(piece: &[u8]) -> u32 {
    u32::try_from(piece.len()).unwrap_or(0)
}

pub fn full() -> FsError {
    let mut code = result::code(7);
    code.meaning = "the volume is full";
    code.kind = ErrorKind::NoSpace;
    FsError::Code(code)
}

impl Drop for FatFs {
    fn drop(&mut self) {
        self.abandon();
        // SAFETY: from `volume_new` of the same variant, and never used again.
        unsafe { (self.calls.volume_free)(self.volume()) };
    }
}

pub fn blank_entry() -> ffi::Entry {
    ffi::Entry { size_bytes: 0, attributes: 0, name: [0; ffi::NAME_BYTES] }
}
