//! What a program sees.

use crate::device::Device;
use crate::error::FsError;

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)] // the flags of open(2)
pub struct OpenFlags {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Creates the file if there is none. Needs `write`, as do the following.
    pub create: bool,
    /// Empties the file.
    pub truncate: bool,
    /// Every write goes to the end.
    pub append: bool,
    /// With `create`: an error if the file exists.
    pub exclusive: bool,
}

impl OpenFlags {
    /// An existing file, for reading.
    pub const READ: Self =
        Self { read: true, write: false, create: false, truncate: false, append: false, exclusive: false };
    /// A new or emptied file, for writing: `O_WRONLY | O_CREAT | O_TRUNC`.
    pub const CREATE: Self =
        Self { read: false, write: true, create: true, truncate: true, append: false, exclusive: false };
    /// A new or existing file, for both.
    pub const UPDATE: Self =
        Self { read: true, write: true, create: true, truncate: false, append: false, exclusive: false };

    /// Whether the flags go together.
    pub(crate) fn check(self) -> Result<(), FsError> {
        let needs_write = self.create || self.truncate || self.append;
        if self.write || (self.read && !needs_write) { Ok(()) } else { Err(FsError::OpenFlags) }
    }
}

/// An open file of one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// What is known of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Whether it is a directory.
    pub is_directory: bool,
    /// The size of a file; 0 for a directory.
    pub size_bytes: u64,
    /// When it was changed, in seconds since 1970, where the file system was asked to keep that.
    pub mtime_s: Option<u64>,
}

/// An entry of a directory. `.` and `..` are never among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name, without a path.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// The size of a file; 0 for a directory.
    pub size_bytes: u64,
}

/// How full a file system is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// What files and directories can take altogether.
    pub total_bytes: u64,
    /// What is left.
    pub free_bytes: u64,
    /// What is given to a file at a time: a cluster or block.
    pub unit_bytes: u32,
}

/// A file system on its device.
///
/// Paths are separated by `/`, with or without one at the start. Dropping a file system writes nothing: what was not
/// synced or closed before is lost, as with a power cut.
pub trait FileSystem {
    /// The name in [`crate::FILE_SYSTEMS`].
    fn name(&self) -> &'static str;

    /// Makes an empty file system; everything on the device is lost. A mounted one is abandoned, with its open files.
    ///
    /// # Errors
    /// [`FsError`]: the device is too small, or fails, or the options do not fit it.
    fn format(&mut self) -> Result<(), FsError>;

    /// Mounts what is on the device. Mounting again is no error and does nothing.
    ///
    /// # Errors
    /// [`FsError`]: there is nothing to mount (see [`crate::ErrorKind::NoFileSystem`], `Corrupt`), or the device fails.
    fn mount(&mut self) -> Result<(), FsError>;

    /// Closes all open files and unmounts. It is unmounted then, also after an error.
    ///
    /// # Errors
    /// [`FsError`]: it was not mounted, or a file could not be closed.
    fn unmount(&mut self) -> Result<(), FsError>;

    /// Opens a file.
    ///
    /// # Errors
    /// [`FsError`]: no such path, flags without sense, a directory, a full device.
    fn open(&mut self, path: &str, how: OpenFlags) -> Result<FileId, FsError>;

    /// Writes what is left to write and closes. The id is of no open file then, also after an error.
    ///
    /// # Errors
    /// [`FsError`].
    fn close(&mut self, file: FileId) -> Result<(), FsError>;

    /// Reads at the position and moves it. Less than the buffer's size means that the file ends there.
    ///
    /// # Errors
    /// [`FsError`].
    fn read(&mut self, file: FileId, buffer: &mut [u8]) -> Result<usize, FsError>;

    /// Writes at the position and moves it. A full device is an error (littlefs, SPIFFS) or tells less than was given
    /// (FatFs), as the C code does.
    ///
    /// # Errors
    /// [`FsError`].
    fn write(&mut self, file: FileId, data: &[u8]) -> Result<usize, FsError>;

    /// Moves the position, counted from the start, and returns where it is then.
    ///
    /// Beyond the end: FatFs makes a file that is open for writing longer at once, with whatever the clusters held,
    /// and stops at the end of one that is not; littlefs lets the position stand there and fills the hole with zeros
    /// when something is written; SPIFFS moves to the end and refuses.
    ///
    /// # Errors
    /// [`FsError`].
    fn seek(&mut self, file: FileId, position: u64) -> Result<u64, FsError>;

    /// The position.
    ///
    /// # Errors
    /// [`FsError`].
    fn position(&mut self, file: FileId) -> Result<u64, FsError>;

    /// The size of an open file, unwritten data included.
    ///
    /// # Errors
    /// [`FsError`].
    fn size(&mut self, file: FileId) -> Result<u64, FsError>;

    /// Makes a file shorter, or longer with zeros, which SPIFFS refuses. The position stays; with FatFs and SPIFFS it
    /// moves to the end if that is before it then.
    ///
    /// # Errors
    /// [`FsError`].
    fn truncate(&mut self, file: FileId, size_bytes: u64) -> Result<(), FsError>;

    /// Stores everything of the file for good.
    ///
    /// # Errors
    /// [`FsError`].
    fn sync(&mut self, file: FileId) -> Result<(), FsError>;

    /// Gives an empty file its size in one piece of the device (FatFs's `f_expand`); the content is undefined.
    ///
    /// # Errors
    /// [`FsError`], where the file system has no such operation [`FsError::Unsupported`].
    fn preallocate(&mut self, file: FileId, size_bytes: u64) -> Result<(), FsError>;

    /// Removes a file or an empty directory.
    ///
    /// # Errors
    /// [`FsError`]; an open file is not removed.
    fn remove(&mut self, path: &str) -> Result<(), FsError>;

    /// Renames or moves. Where `to` exists FatFs and SPIFFS refuse, littlefs replaces it.
    ///
    /// # Errors
    /// [`FsError`]; an open file is not renamed.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), FsError>;

    /// What is known of a path. Of an open file the size is the last one that was synced.
    ///
    /// # Errors
    /// [`FsError`].
    fn stat(&mut self, path: &str) -> Result<Stat, FsError>;

    /// Makes a directory.
    ///
    /// # Errors
    /// [`FsError`]; with SPIFFS, where paths are names, [`FsError::Unsupported`].
    fn mkdir(&mut self, path: &str) -> Result<(), FsError>;

    /// The entries of a directory, in the order in which they are stored.
    ///
    /// # Errors
    /// [`FsError`].
    fn list(&mut self, path: &str) -> Result<Vec<DirectoryEntry>, FsError>;

    /// How full it is. May read much of the device.
    ///
    /// # Errors
    /// [`FsError`].
    fn usage(&mut self) -> Result<Usage, FsError>;

    /// Whether it programs places again that were programmed since their erase, to clear single bits.
    fn programs_again(&self) -> bool {
        false
    }

    /// RAM that the file system takes now: its structures, of 64-bit machines, and buffers, also of open files, of
    /// the sizes that a device with these options would use.
    fn ram_bytes(&self) -> usize;

    /// The device, also while mounted; what is changed there behind the file system's back is as good as corrupt.
    fn device(&mut self) -> &mut dyn Device;

    /// The device back, without writing anything.
    fn into_device(self: Box<Self>) -> Box<dyn Device>;
}
