//! A volume of SPIFFS and its open files: the calls that the file system is made of.

use ::spiffs::{Error, File, Owned, Spiffs};

use super::flash::DeviceFlash;
use super::result::told;
use super::settings::{MTIME_BYTES, Settings};
use crate::device::{Device, DeviceError, Work};
use crate::error::{ErrorKind, FsError};
use crate::file_system::{FileId, OpenFlags};
use crate::handles::Handles;
use crate::options::Options;

pub type Volume = Spiffs<DeviceFlash, Owned>;

/// 2024-01-01: one time for all, so that images repeat.
pub const MTIME_S: u32 = 1_704_067_200;

/// What metadata that were never written hold.
const NO_MTIME: u32 = u32::MAX;

pub struct OpenFile {
    pub file: File,
    pub name: String,
}

/// The device, with or without a volume on it.
pub enum State {
    Unmounted(DeviceFlash),
    Mounted(Box<Volume>),
}

pub struct SpiFfs {
    pub settings: Settings,
    pub state: State,
    pub files: Handles<OpenFile>,
}

pub fn flags(how: OpenFlags) -> ::spiffs::OpenFlags {
    use ::spiffs::OpenFlags as F;
    let pairs = [
        (how.read, F::READ),
        (how.write, F::WRITE),
        (how.create, F::CREATE),
        (how.create && how.exclusive, F::EXCLUSIVE),
        (how.truncate, F::TRUNCATE),
        (how.append, F::APPEND),
    ];
    pairs.iter().filter(|(is, _)| *is).fold(F::empty(), |flags, (_, flag)| flags | *flag)
}

/// The time that metadata tell.
pub fn mtime(meta: &[u8]) -> Option<u64> {
    let time = u32::from_le_bytes(*meta.first_chunk::<MTIME_BYTES>()?);
    (time != NO_MTIME).then_some(time.into())
}

impl SpiFfs {
    pub fn new(device: Box<dyn Device>, options: &Options) -> Result<Self, FsError> {
        let settings = Settings::new(options, device.geometry())?;
        Ok(Self { settings, state: State::Unmounted(DeviceFlash::new(device)), files: Handles::new() })
    }

    pub fn flash(&mut self) -> &mut DeviceFlash {
        match &mut self.state {
            State::Unmounted(flash) => flash,
            State::Mounted(volume) => volume.flash(),
        }
    }

    /// Takes the state out; without a device until another is put there.
    pub fn take_state(&mut self) -> State {
        std::mem::replace(&mut self.state, State::Unmounted(DeviceFlash::none()))
    }

    /// Gives up a mounted volume without writing anything.
    pub fn abandon(&mut self) {
        while self.files.take_any().is_some() {}
        let flash = match self.take_state() {
            State::Unmounted(flash) => flash,
            State::Mounted(volume) => volume.abandon(),
        };
        self.state = State::Unmounted(flash);
    }

    pub fn need_mount(&self) -> Result<(), FsError> {
        match self.state {
            State::Mounted(_) => Ok(()),
            State::Unmounted(_) => Err(FsError::NotMounted),
        }
    }

    /// Makes a call of a mounted volume.
    pub fn run<T>(
        &mut self,
        path: &str,
        call: impl FnOnce(&mut Volume) -> Result<T, Error<DeviceError>>,
    ) -> Result<T, FsError> {
        let State::Mounted(volume) = &mut self.state else { return Err(FsError::NotMounted) };
        call(volume).map_err(|error| told(error, volume.flash(), path))
    }

    /// Makes a call about an open file.
    pub fn with_file<T>(
        &mut self,
        id: FileId,
        call: impl FnOnce(&mut Volume, File) -> Result<T, Error<DeviceError>>,
    ) -> Result<T, FsError> {
        self.need_mount()?;
        let file = self.files.get(id)?.file;
        self.run("", |volume| call(volume, file))
    }

    /// Makes a call that moves content between a file and a buffer, which is told in memory by `buffer`, and tells the
    /// device what of it was copied.
    pub fn moving<B: AsRef<[u8]>>(
        &mut self,
        id: FileId,
        mut buffer: B,
        call: impl FnOnce(&mut Volume, File, &mut B) -> Result<usize, Error<DeviceError>>,
    ) -> Result<usize, FsError> {
        self.need_mount()?;
        self.files.get(id)?;
        self.flash().watch(buffer.as_ref());
        let moved = self.with_file(id, |volume, file| call(volume, file, &mut buffer));
        let flash = self.flash();
        let direct = flash.direct_bytes();
        let copied = moved.as_ref().map_or(0, |bytes| (*bytes as u64).saturating_sub(direct));
        if copied > 0 {
            flash.device().work(Work::CopiedBytes(copied));
        }
        moved
    }

    /// The name under which a path is stored.
    pub fn name(&self, path: &str) -> Result<String, FsError> {
        let name = path.trim_start_matches('/');
        if name.is_empty() || name.contains('\0') {
            return Err(FsError::InvalidName(path.into()));
        }
        Ok(if self.settings.esp_vfs { format!("/{name}") } else { name.into() })
    }

    pub fn refuse_open(&self, name: &str) -> Result<(), FsError> {
        if self.files.iter().any(|open| open.name == name) {
            return Err(FsError::Busy);
        }
        Ok(())
    }

    /// Closes a file, also after an error, which SPIFFS leaves it open after.
    pub fn close_file(&mut self, file: File) -> Result<(), FsError> {
        self.run("", |volume| {
            volume.close(file).inspect_err(|_| {
                // What waited in its cache is given up by now.
                let _ = volume.close(file);
            })
        })
    }

    /// What ESP-IDF does once a file is open (`vfs_spiffs_update_mtime`).
    pub fn after_open(&mut self, file: File, how: OpenFlags) -> Result<(), FsError> {
        if !self.settings.mtime || how.read {
            return Ok(());
        }
        let meta_bytes = usize::from(self.settings.config.meta_bytes);
        let set = self.run("", |volume| {
            let mut meta = vec![0; meta_bytes];
            if meta_bytes > MTIME_BYTES {
                meta.copy_from_slice(volume.stat_open(file)?.meta);
            }
            if let Some(time) = meta.first_chunk_mut::<MTIME_BYTES>() {
                *time = MTIME_S.to_le_bytes();
            }
            volume.set_meta_open(file, &meta)
        });
        // A full device is no reason not to open a file.
        set.or_else(|error| if error.kind() == ErrorKind::NoSpace { Ok(()) } else { Err(error) })
    }
}
