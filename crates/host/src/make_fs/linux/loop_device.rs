//! Loop devices: loop(4).

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::super::error::MakeError;
use super::{image, syscalls};

/// A loop device that is taken down with its last use: by this value while nothing is mounted, by the mount afterwards.
#[derive(Debug)]
pub(super) struct LoopDevice {
    /// `loop0`.
    pub(super) name: String,
    /// `/dev/loop0`.
    pub(super) node: PathBuf,
    /// Keeps it up until it is mounted.
    _open: File,
}

/// How often another program may snatch a free device.
const TRIES: usize = 64;

impl LoopDevice {
    /// Puts a file behind a free device, past the page cache of its file system where that can be.
    pub(super) fn attach(backing: &File, path: &Path) -> Result<Self, MakeError> {
        let failed = |source: io::Error| MakeError::Loop { source };
        let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control").map_err(failed)?;
        let block_bytes = image::direct_block_bytes(backing);
        let mut last = io::Error::from(io::ErrorKind::ResourceBusy);
        for _ in 0..TRIES {
            let name = format!("loop{}", syscalls::free_loop(&control).map_err(failed)?);
            let node = PathBuf::from("/dev").join(&name);
            let open = open_node(&node).map_err(failed)?;
            match syscalls::configure_loop(&open, backing, block_bytes, path.as_os_str().as_encoded_bytes()) {
                Ok(()) => return Ok(Self { name, node, _open: open }),
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => last = error,
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(last))
    }
}

/// A new device's node can take a moment where udev makes it.
fn open_node(node: &Path) -> io::Result<File> {
    let start = Instant::now();
    loop {
        match OpenOptions::new().read(true).write(true).open(node) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && start.elapsed() < Duration::from_secs(2) => {
                thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// How long the kernel, and programs that look at every device that changes, may take to let one go.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until the device of this name has the file no more. Gives up silently: it takes itself down as soon as it can.
pub(super) fn until_detached(name: &str, backing: &Path) {
    let attribute = Path::new("/sys/block").join(name).join("loop/backing_file");
    let start = Instant::now();
    let has_it =
        || std::fs::read_to_string(&attribute).is_ok_and(|file| Path::new(file.trim_end_matches('\n')) == backing);
    while has_it() && start.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(2));
    }
}
