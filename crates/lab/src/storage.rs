//! Storages: what is measured on a board. A partition without a file system, or one of the file systems, on the
//! partition itself or on wear levelling.
//!
//! The file systems come from the registry of `flashmark-embedded-fs`: a new one there is a storage here, with no edit.

mod accounted;
mod flash;
mod partition;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use esp_wl::{Config, SmallSectorMode, SmallSectors, WearLevelling};
use flashmark_core::clock::Clock as _;
use flashmark_core::ledger::{Layer, Ledger};
use flashmark_core::simulation::PhaseTime;
use flashmark_embedded_fs::{Device, Entry, FILE_SYSTEMS, FileSystem, FsError, OptionError, Options};

use crate::board::{Board, BoardError};
use crate::driver::FlashDriver;
use accounted::Accounted;
pub use accounted::Costs;
use flash::{LevelledFlash, PlainFlash, SmallSectorFlash, reason_of};
pub use partition::{AppBuffer, Partition, PartitionFault};

/// The sector of the flash, the least that is erased.
pub const SECTOR_BYTES: u32 = 4096;

/// The sector of wear levelling where it is divided.
const SMALL_SECTOR_BYTES: u32 = 512;

/// The storage without a file system.
pub const RAW: &str = "raw";

/// All storages there are.
#[must_use]
pub fn names() -> Vec<&'static str> {
    std::iter::once(RAW).chain(FILE_SYSTEMS.iter().map(|entry| entry.name)).collect()
}

/// Why a storage could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The board does not fit together.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The file system refuses.
    #[error("{storage}: {what}: {error}; partition.size and the options of {storage} decide (flashmark boards keys)")]
    FileSystem {
        /// Which.
        storage: String,
        /// What was tried.
        what: &'static str,
        /// Its words.
        error: FsError,
    },
    /// Wear levelling refuses.
    #[error("{storage}: wear levelling: {reason}")]
    WearLevelling {
        /// On which storage.
        storage: String,
        /// Its words.
        reason: String,
    },
    /// The image does not fit the partition.
    #[error("the image has {image_bytes} bytes, but the storage partition has {partition_bytes}: set partition.size")]
    ImageSize {
        /// Its size.
        image_bytes: u64,
        /// The partition's.
        partition_bytes: u64,
    },
    /// The image holds nothing that can be mounted.
    #[error("the image cannot be mounted on {storage}: {reason}; without --image the storage is formatted")]
    Image {
        /// On which storage.
        storage: String,
        /// Why.
        reason: String,
    },
}

/// A storage that is ready: mounted.
pub(crate) enum Store {
    /// The partition.
    Raw(Box<dyn Device>),
    /// A file system on it.
    Files(Box<dyn FileSystem>),
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Raw(_) => "Store::Raw",
            Self::Files(_) => "Store::Files",
        })
    }
}

/// What a storage is made of.
pub(crate) struct Parts<'a> {
    pub(crate) board: &'a Board,
    pub(crate) ledger: &'a Rc<Ledger>,
    pub(crate) driver: &'a Rc<RefCell<Box<dyn FlashDriver>>>,
    pub(crate) app: &'a Rc<AppBuffer>,
    /// Counts the bytes of files' data that are programmed.
    pub(crate) data_bytes: &'a Rc<Cell<u64>>,
    /// Whether the flash holds an image that must be mounted as it is.
    pub(crate) keep: bool,
}

fn entry(storage: &str) -> Option<&'static Entry> {
    FILE_SYSTEMS.iter().find(|entry| entry.name == storage)
}

fn options(board: &Board, entry: &Entry) -> Result<Options, BoardError> {
    let mut options = Options::default();
    for (key, value) in board.section(entry.name) {
        let full = format!("{}.{key}", entry.name);
        options.set(&key, &value).map_err(|error| board.misfit(&full, error.to_string()))?;
    }
    Ok(options)
}

/// An option that the file system refuses, as a setting of the board.
fn misfit_of(board: &Board, entry: &Entry, error: &FsError) -> Option<BoardError> {
    match error {
        FsError::Option(OptionError::BadValue { key, reason, .. }) => {
            Some(board.misfit(&format!("{}.{key}", entry.name), reason.clone()))
        }
        _ => None,
    }
}

/// How an original's rows call the storage.
pub(crate) fn label(storage: &str) -> String {
    entry(storage).map_or_else(|| "SPI Flash".to_owned(), |entry| format!("SPI {}", entry.label))
}

impl Parts<'_> {
    /// Mounts the storage, formatting it where it does not mount, and tells how long each step took.
    pub(crate) fn ready(&self, storage: &str) -> Result<(Store, Vec<PhaseTime>), LabError> {
        let mut phases = Phases { ledger: self.ledger, phases: Vec::new() };
        let costs = Costs::of(self.board, storage)?;
        self.leave_over(storage)?;
        let device = self.device(storage, &mut phases)?;
        let device: Box<dyn Device> =
            Box::new(Accounted::new(device, costs, Rc::clone(self.ledger), Rc::clone(self.data_bytes)));
        let Some(entry) = entry(storage) else { return Ok((Store::Raw(device), phases.phases)) };
        let refused = |what| move |error| LabError::FileSystem { storage: storage.to_owned(), what, error };
        let options = options(self.board, entry)?;
        let mut files = (entry.make)(device, &options).map_err(|error| match misfit_of(self.board, entry, &error) {
            Some(misfit) => LabError::Board(misfit),
            None => refused("setting up")(error),
        })?;
        let mounted = phases.time("mount", || self.ledger.within(Layer::Metadata, || files.mount()));
        if let Err(error) = mounted {
            if self.keep {
                return Err(LabError::Image { storage: storage.to_owned(), reason: error.to_string() });
            }
            phases.time("format", || self.ledger.within(Layer::Metadata, || files.format())).map_err(|error| {
                let reason = format!("{storage} cannot be made on it with the options of [{storage}]: {error}");
                LabError::Board(self.board.misfit("partition.size", reason))
            })?;
            phases
                .time("mount again", || self.ledger.within(Layer::Metadata, || files.mount()))
                .map_err(refused("mount after formatting"))?;
        }
        Ok((Store::Files(files), phases.phases))
    }

    /// Fills the start of the partition with what was there before, unless all of it was in use, or it holds an image.
    fn leave_over(&self, storage: &str) -> Result<(), BoardError> {
        let key = format!("{storage}.left-over");
        let is_used = self.board.text_of(&format!("{storage}.start"))? == "used";
        if self.keep || is_used || self.board.text_or(&key, "").is_empty() {
            return Ok(());
        }
        let (offset, size_bytes) = (self.board.bytes("partition.offset")?, self.board.bytes("partition.size")?);
        // A smaller partition than the profile's is full of it.
        let bytes = self.board.bytes(&key)?.min(size_bytes);
        if !bytes.is_multiple_of(u64::from(SECTOR_BYTES)) {
            return Err(self.board.misfit(&key, format!("it has to be whole sectors of {SECTOR_BYTES} bytes")));
        }
        let seed = self.board.count("board.seed")?;
        let aged = self.driver.borrow_mut().chip_mut().age(offset..offset + bytes, seed);
        aged.map_err(|violation| self.board.misfit(&key, violation.to_string()))
    }

    /// What the storage stands on: the partition, or wear levelling on it.
    fn device(&self, storage: &str, phases: &mut Phases<'_>) -> Result<Box<dyn Device>, LabError> {
        let board = self.board;
        let size_bytes = board.bytes("partition.size")?;
        let partition = Partition::new(
            Rc::clone(self.driver),
            board.bytes("partition.offset")?,
            size_bytes,
            Rc::clone(self.app),
            board.text_of("app.buffer")? == "external",
        );
        if !board.flag(&format!("{storage}.wear-levelling"))? {
            return Ok(Box::new(PlainFlash::new(partition)));
        }
        let size_bytes = u32::try_from(size_bytes)
            .map_err(|_| board.misfit("partition.size", "wear levelling manages less than 4 GiB".into()))?;
        let config = Config {
            update_rate: u32::try_from(board.count("wl.update-rate")?)
                .map_err(|_| board.misfit("wl.update-rate", "it is too large".into()))?,
            copy_bytes: match board.bytes_u32("wl.copy-buffer", 16)? {
                bytes if bytes <= esp_wl::COPY_BYTES_MAX && SECTOR_BYTES.is_multiple_of(bytes) => bytes,
                _ => return Err(board.misfit("wl.copy-buffer", "16, 32, 64, 128, 256 or 512 bytes".to_owned()).into()),
            },
            recovery: esp_wl::Recovery::EspIdf,
            ..Config::esp_idf(size_bytes)
        };
        let refused = |error: &esp_wl::Error<PartitionFault>| match error {
            esp_wl::Error::TooSmall { .. } => board.misfit("partition.size", reason_of(error)).into(),
            _ => LabError::WearLevelling { storage: storage.to_owned(), reason: reason_of(error) },
        };
        let booking = Booking::new(Rc::clone(self.ledger));
        let levelled = phases.time("mount wear levelling", || {
            if self.keep {
                WearLevelling::open(partition, config, booking)
            } else {
                WearLevelling::mount(partition, config, booking)
            }
        });
        let levelled = levelled.map_err(|error| match self.keep {
            true => LabError::Image { storage: storage.to_owned(), reason: reason_of(&error) },
            false => refused(&error),
        })?;
        match board.text_of("wl.sector")? {
            "512" => {
                let mode = match board.text_of("wl.mode")? {
                    "safe" => SmallSectorMode::Safety,
                    _ => SmallSectorMode::Performance,
                };
                let buffer = vec![0; SECTOR_BYTES as usize];
                let small =
                    SmallSectors::new(levelled, SMALL_SECTOR_BYTES, mode, buffer).map_err(|error| refused(&error))?;
                Ok(Box::new(SmallSectorFlash::new(small)))
            }
            _ => Ok(Box::new(LevelledFlash::new(levelled))),
        }
    }
}

/// Steps with their times.
struct Phases<'a> {
    ledger: &'a Rc<Ledger>,
    phases: Vec<PhaseTime>,
}

impl Phases<'_> {
    fn time<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start_ns = self.ledger.now_ns();
        let result = work();
        self.phases.push(PhaseTime { name: name.to_owned(), elapsed_ns: self.ledger.now_ns() - start_ns });
        result
    }
}

/// Books wear levelling's own work for [`Layer::Translation`].
pub(crate) struct Booking {
    ledger: Rc<Ledger>,
    before: Layer,
}

impl Booking {
    fn new(ledger: Rc<Ledger>) -> Self {
        Self { ledger, before: Layer::Runtime }
    }
}

impl esp_wl::Observer for Booking {
    fn housekeeping(&mut self, begins: bool) {
        if begins {
            self.before = self.ledger.enter(Layer::Translation);
        } else {
            self.ledger.enter(self.before);
        }
    }
}
