//! The directory that is measured.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

use super::super::error::MakeError;
use super::super::recipe::DirectoryStep;
use super::syscalls::{self, KEY_BYTES};

/// Its name: a file system's root has things of its own in it (`lost+found`), and cannot be encrypted.
const NAME: &str = "measured";

/// Makes the directory below a mount, and does to it what is to be done.
pub(super) fn make(point: &Path, steps: &[DirectoryStep]) -> Result<PathBuf, MakeError> {
    let failed = |what: &'static str| move |source: io::Error| MakeError::Directory { what, source };
    let path = point.join(NAME);
    std::fs::create_dir(&path).map_err(failed("making the directory to be measured"))?;
    let directory = File::open(&path).map_err(failed("opening the directory to be measured"))?;
    for step in steps {
        match step {
            DirectoryStep::Encrypt => encrypt(&directory).map_err(failed("encrypting the directory"))?,
            DirectoryStep::Compress => compress(&directory).map_err(failed("chattr +c on the directory"))?,
        }
    }
    Ok(path)
}

/// The key is known to the kernel alone, and forgotten with the mount.
fn encrypt(directory: &File) -> io::Result<()> {
    let mut key = [0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let identifier = syscalls::add_key(directory, &key)?;
    syscalls::set_policy(directory, identifier)
}

fn compress(directory: &File) -> io::Result<()> {
    let flags = ioctl_getflags(directory)?;
    Ok(ioctl_setflags(directory, flags | IFlags::COMPRESSED)?)
}
