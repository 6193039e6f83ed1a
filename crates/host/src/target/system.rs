//! Small questions to the system about a path.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

/// A path that leads to an open file itself, whatever has become of its name: proc(5). Opening it takes flags of one's own.
#[cfg(target_os = "linux")]
pub(super) fn same_file(file: &std::fs::File) -> PathBuf {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)).into()
}

/// How many bytes a file or device has now.
pub(super) fn len_bytes(path: &Path) -> std::io::Result<u64> {
    use std::io::{Seek as _, SeekFrom};
    // A device's metadata have no length, but its end can be sought.
    std::fs::File::open(path)?.seek(SeekFrom::End(0))
}

/// Bytes that this user can still write to the file system of `path`, where the system tells: root has the reserved
/// blocks too. Some file systems (ramfs, many in user space) report no sizes at all.
#[cfg(unix)]
pub(super) fn free_bytes(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok().filter(|stat| stat.f_blocks > 0)?;
    let blocks = if rustix::process::geteuid().is_root() { stat.f_bfree } else { stat.f_bavail };
    blocks.checked_mul(stat.f_frsize)
}

#[cfg(not(unix))]
pub(super) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(unix)]
pub(super) fn is_block_device(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type())
}

#[cfg(not(unix))]
pub(super) fn is_block_device(_: &std::fs::Metadata) -> bool {
    false
}
