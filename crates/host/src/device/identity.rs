//! What a path leads to, whatever it is called.

#[cfg(unix)]
use std::fs::Metadata;
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use super::number::DeviceNumber;

/// What makes two paths the same thing to write to: the device number of a block device, device and inode of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A block device.
    #[cfg(target_os = "linux")]
    Device(DeviceNumber),
    /// A regular file.
    #[cfg(unix)]
    File {
        /// `st_dev`.
        device: u64,
        /// `st_ino`.
        inode: u64,
    },
    /// Where the system has no inodes: the path without symlinks.
    #[cfg(not(unix))]
    Path(std::path::PathBuf),
}

impl Identity {
    /// What `path` leads to after all symlinks; `None` for what is neither a block device nor a regular file.
    ///
    /// # Errors
    /// As of `stat`.
    pub fn of_path(path: &Path) -> io::Result<Option<Self>> {
        let meta = std::fs::metadata(path)?;
        #[cfg(unix)]
        return Ok(Self::of(&meta));
        #[cfg(not(unix))]
        return if meta.is_file() { std::fs::canonicalize(path).map(|path| Some(Self::Path(path))) } else { Ok(None) };
    }

    /// What an open file is; `None` for what is neither a block device nor a regular file.
    #[cfg(unix)]
    #[must_use]
    pub fn of(meta: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        #[cfg(target_os = "linux")]
        if std::os::unix::fs::FileTypeExt::is_block_device(&meta.file_type()) {
            return Some(Self::Device(DeviceNumber::from_raw(meta.rdev())));
        }
        meta.is_file().then(|| Self::File { device: meta.dev(), inode: meta.ino() })
    }
}
