//! What can go wrong.

use crate::device::DeviceError;
use crate::options::OptionError;

/// What an error is about, whichever file system it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// There is no such file or directory.
    NotFound,
    /// It exists already.
    Exists,
    /// A directory is needed here.
    NotADirectory,
    /// A file is needed here.
    IsADirectory,
    /// The directory is not empty.
    NotEmpty,
    /// The name or path is not one that the file system takes.
    InvalidName,
    /// The name is too long.
    NameTooLong,
    /// The file was not opened for this, or what is there does not permit it; with FatFs also a full directory or
    /// volume.
    Denied,
    /// The file is in use in a way that forbids this.
    Busy,
    /// More files are open than the file system manages.
    TooManyOpenFiles,
    /// There is no room left.
    NoSpace,
    /// A file would become larger than the file system permits.
    TooLarge,
    /// An argument has no meaning here.
    InvalidParameter,
    /// The id is of no open file.
    UnknownFile,
    /// What is stored there contradicts itself.
    Corrupt,
    /// There is no file system that this one could mount.
    NoFileSystem,
    /// The file system is not mounted.
    NotMounted,
    /// The device failed.
    Device,
    /// The options contradict each other or the device.
    Options,
    /// There is not enough memory.
    NoMemory,
    /// The file system has no such operation.
    Unsupported,
    /// Anything else.
    Other,
}

/// A result code of a file system's C code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} ({number}): {meaning}")]
pub struct Code {
    /// The number in the C code.
    pub number: i32,
    /// The name in the C code.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What it is about.
    pub kind: ErrorKind,
}

/// Why an operation of a file system failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// The options are at fault.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The device failed, and the file system gave up.
    #[error("{source}; the file system answered {code}")]
    Device {
        /// The device's first error during the operation.
        source: DeviceError,
        /// What the file system made of it.
        code: Code,
    },
    /// The file system refused.
    #[error("{0}")]
    Code(Code),
    /// The call made more accesses than the device's size accounts for, and was ended.
    #[error("what is stored on the device leads the file system in a circle")]
    Endless,
    /// The operation needs a mounted file system.
    #[error("the file system is not mounted")]
    NotMounted,
    /// The file was closed, or belongs to another file system.
    #[error("the file is not open")]
    UnknownFile,
    /// The file is open, and stays where it is until it is closed.
    #[error("the file is open")]
    Busy,
    /// The flags do not go together.
    #[error("a file can be opened for reading, writing or both; creating, truncating and appending need writing")]
    OpenFlags,
    /// A path with a byte 0, or with characters that the file system cannot store.
    #[error("`{0}` cannot be stored as a name")]
    InvalidName(String),
    /// The image holds more than the device.
    #[error("the image tells of {image_bytes} bytes, the device has {device_bytes}")]
    ImageLargerThanDevice {
        /// What the image tells.
        image_bytes: u64,
        /// What the device has.
        device_bytes: u64,
    },
    /// There is no such operation.
    #[error("{file_system} cannot {what}")]
    Unsupported {
        /// The file system's name.
        file_system: &'static str,
        /// The operation.
        what: &'static str,
    },
    /// The size or position is more than the file system's numbers hold.
    #[error("{0} is more than the file system's numbers hold")]
    TooLarge(u64),
    /// The C code found no memory.
    #[error("there is not enough memory")]
    NoMemory,
}

impl FsError {
    /// What the error is about.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Option(_) => ErrorKind::Options,
            Self::Device { .. } => ErrorKind::Device,
            Self::Code(code) => code.kind,
            Self::NotMounted => ErrorKind::NotMounted,
            Self::UnknownFile => ErrorKind::UnknownFile,
            Self::Busy => ErrorKind::Busy,
            Self::OpenFlags => ErrorKind::InvalidParameter,
            Self::InvalidName(_) => ErrorKind::InvalidName,
            Self::ImageLargerThanDevice { .. } | Self::Endless => ErrorKind::Corrupt,
            Self::Unsupported { .. } => ErrorKind::Unsupported,
            Self::TooLarge(_) => ErrorKind::TooLarge,
            Self::NoMemory => ErrorKind::NoMemory,
        }
    }
}
