//! A volume of littlefs and its open files: the calls that the file system is made of.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::ptr::NonNull;

use super::host::Host;
use super::settings::{Mtime, Settings};
use super::{ffi, result};
use crate::device::{Device, Purpose};
use crate::error::{ErrorKind, FsError};
use crate::file_system::{FileId, OpenFlags};
use crate::handles::Handles;
use crate::options::Options;

/// `ESP_LITTLEFS_ATTR_MTIME`.
pub const MTIME_ATTRIBUTE: u8 = b't';

/// 2024-01-01: one time for all, so that images repeat.
pub const MTIME_S: u64 = 1_704_067_200;

/// What one call moves at most: sizes are signed numbers of 32 bits.
pub const MOST_AT_ONCE: usize = 1 << 30;

pub struct OpenFile {
    pub file: NonNull<ffi::File>,
    pub path: Vec<String>,
    pub how: OpenFlags,
}

pub struct LittleFs {
    pub settings: Settings,
    pub volume: NonNull<ffi::Volume>,
    pub mounted: bool,
    pub files: Handles<OpenFile>,
    pub host: Host,
}

/// A path without what does not matter in it.
pub fn components(path: &str) -> Vec<String> {
    let mut components = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop();
            }
            name => components.push(name.into()),
        }
    }
    components
}

pub fn c_path(path: &str) -> Result<CString, FsError> {
    CString::new(path).map_err(|_| FsError::InvalidName(path.into()))
}

pub fn flags(how: OpenFlags) -> i32 {
    let pairs = [
        (how.read, ffi::LFS_O_RDONLY),
        (how.write, ffi::LFS_O_WRONLY),
        (how.create, ffi::LFS_O_CREAT),
        (how.create && how.exclusive, ffi::LFS_O_EXCL),
        (how.truncate, ffi::LFS_O_TRUNC),
        (how.append, ffi::LFS_O_APPEND),
    ];
    pairs.iter().filter(|(is, _)| *is).fold(0, |flags, (_, flag)| flags | flag)
}

pub fn length(piece: &[u8]) -> u32 {
    u32::try_from(piece.len()).unwrap_or(0)
}

impl LittleFs {
    pub fn new(mut device: Box<dyn Device>, options: &Options) -> Result<Self, FsError> {
        let settings = Settings::new(options, device.geometry())?;
        device.purpose(Purpose::Metadata);
        let host = Host::new(device, settings.parameters.block_size, settings.device_blocks);
        let calls = host.calls();
        // SAFETY: C copies both; the host's context lives as long as the volume, which `drop` frees first.
        let volume = unsafe { ffi::flashmark_littlefs_new(&raw const calls, &raw const settings.parameters) };
        let volume = NonNull::new(volume).ok_or(FsError::NoMemory)?;
        Ok(Self { settings, volume, mounted: false, files: Handles::new(), host })
    }

    pub fn need_mount(&self) -> Result<(), FsError> {
        if self.mounted { Ok(()) } else { Err(FsError::NotMounted) }
    }

    /// Makes a call of C code; a negative result is an error.
    pub fn run(&mut self, call: impl FnOnce(*mut ffi::Volume) -> i32) -> Result<u32, FsError> {
        let volume = self.volume.as_ptr();
        let result = self.host.call(|| call(volume));
        u32::try_from(result).map_err(|_| self.host.error(result::code(result)))
    }

    pub fn file(&self, id: FileId) -> Result<(*mut ffi::File, OpenFlags), FsError> {
        self.need_mount()?;
        let open = self.files.get(id)?;
        Ok((open.file.as_ptr(), open.how))
    }

    pub fn abandon(&mut self) {
        while let Some(open) = self.files.take_any() {
            // SAFETY: from `file_new`; littlefs is not called again before it forgets its files, in mount or format.
            unsafe { ffi::flashmark_littlefs_file_free(open.file.as_ptr()) };
        }
        self.mounted = false;
    }

    pub fn close_file(&mut self, open: &OpenFile) -> Result<(), FsError> {
        let file = open.file.as_ptr();
        // SAFETY: an open file of this volume. Whatever the result, littlefs has no pointer to it any more, unless
        // the volume is broken and refuses to be used.
        let result = self.run(|volume| unsafe { ffi::flashmark_littlefs_close(volume, file) });
        // SAFETY: from `file_new`, and taken out of the handles.
        unsafe { ffi::flashmark_littlefs_file_free(file) };
        result.map(|_| ())
    }

    /// What esp_littlefs does once a file is open.
    pub fn after_open(&mut self, path: &CString, open: &OpenFile) -> Result<(), FsError> {
        if !open.how.write {
            return Ok(());
        }
        if self.settings.esp_vfs {
            let file = open.file.as_ptr();
            // SAFETY: an open file of this volume.
            self.run(|volume| unsafe { ffi::flashmark_littlefs_sync(volume, file) })?;
        }
        if self.settings.mtime == Mtime::OnOpen {
            let time = MTIME_S.to_le_bytes();
            // SAFETY: the path ends with 0; eight bytes are read.
            let set = self.run(|volume| unsafe {
                ffi::flashmark_littlefs_set_attribute(volume, path.as_ptr(), MTIME_ATTRIBUTE, time.as_ptr().cast(), 8)
            });
            // A full device is no reason not to open a file.
            set.map(|_| ()).or_else(|error| if error.kind() == ErrorKind::NoSpace { Ok(()) } else { Err(error) })?;
        }
        Ok(())
    }

    pub fn refuse_open(&self, path: &[String]) -> Result<(), FsError> {
        if self.files.iter().any(|open| open.path == path) {
            return Err(FsError::Busy);
        }
        Ok(())
    }

    pub fn lfs_stat(&mut self, path: &CString) -> Result<ffi::Entry, FsError> {
        let mut entry = ffi::Entry { type_: 0, size_bytes: 0, name: [0; ffi::NAME_BYTES] };
        // SAFETY: the path ends with 0; the entry is written only.
        self.run(|volume| unsafe { ffi::flashmark_littlefs_stat(volume, path.as_ptr(), &raw mut entry) })?;
        Ok(entry)
    }

    pub fn mtime(&mut self, path: &CString) -> Result<Option<u64>, FsError> {
        let mut time = [0; 8];
        // SAFETY: the path ends with 0; eight bytes are written.
        let got = self.run(|volume| unsafe {
            ffi::flashmark_littlefs_get_attribute(volume, path.as_ptr(), MTIME_ATTRIBUTE, time.as_mut_ptr().cast(), 8)
        });
        match got {
            Ok(_) => Ok(Some(u64::from_le_bytes(time))),
            Err(FsError::Code(code)) if code.number == ffi::LFS_ERR_NOATTR => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The error of an operation that the file was not opened for; littlefs would assert.
pub fn not_open_for_this() -> FsError {
    FsError::Code(result::code(-9))
}

pub fn signed(number: u64) -> Result<i32, FsError> {
    i32::try_from(number).map_err(|_| FsError::TooLarge(number))
}

impl Drop for LittleFs {
    fn drop(&mut self) {
        self.abandon();
        // SAFETY: from `new`, and never used again.
        unsafe { ffi::flashmark_littlefs_free(self.volume.as_ptr()) };
    }
}
