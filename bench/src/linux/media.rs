//! Files and devices to measure on; they are gone when dropped.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::linux::failure::Failure;
use crate::linux::program;

/// A file system in memory, to measure without a medium.
pub const IN_MEMORY: &str = "/dev/shm";

/// A directory in `parent` that is removed with all its files.
///
/// # Errors
/// The system's.
pub fn directory(parent: &Path) -> Result<TempDir, Failure> {
    tempfile::Builder::new()
        .prefix("flashmark-bench-")
        .tempdir_in(parent)
        .map_err(Failure::io(format!("making a directory in {}", parent.display())))
}

/// A file with content that no layer can leave out, on the medium before this returns.
///
/// # Errors
/// The system's.
pub fn filled_file(path: &Path, bytes: u64) -> Result<(), Failure> {
    let file = File::create_new(path).map_err(Failure::io(format!("making {}", path.display())))?;
    fill(file, path, bytes)
}

/// Marks a file whose access times are not kept (`chattr +A`), so that programs that open it with `O_NOATIME` have no advantage over
/// those that do not: it takes a tenth of a read from the page cache. Says whether the file system can.
///
/// # Errors
/// The system's.
pub fn without_access_times(path: &Path) -> Result<bool, Failure> {
    let doing = || Failure::io(format!("marking {}", path.display()));
    let file = File::open(path).map_err(doing())?;
    let Ok(flags) = rustix::fs::ioctl_getflags(&file) else { return Ok(false) };
    Ok(rustix::fs::ioctl_setflags(&file, flags | rustix::fs::IFlags::NOATIME).is_ok())
}

fn fill(mut file: File, path: &Path, bytes: u64) -> Result<(), Failure> {
    let doing = || Failure::io(format!("writing {}", path.display()));
    let mut block = vec![0_u8; 1 << 20];
    let mut state = 1_u64;
    let mut left = bytes;
    while left > 0 {
        for word in block.chunks_exact_mut(8) {
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        file.write_all(&block[..part]).map_err(doing())?;
        left -= part as u64;
    }
    file.sync_all().map_err(doing())
}

/// A file of that length without content.
///
/// # Errors
/// The system's.
pub fn sparse_file(path: &Path, bytes: u64) -> Result<(), Failure> {
    let file = File::create_new(path).and_then(|file| file.set_len(bytes));
    file.map_err(Failure::io(format!("making {} with {bytes} bytes", path.display())))
}

/// A loop device on a file. It needs root.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
}

impl LoopDevice {
    /// Attaches a loop device that passes the page cache of its file by, as direct I/O on the device should.
    ///
    /// # Errors
    /// What losetup says.
    pub fn on(file: &Path) -> Result<Self, Failure> {
        program::require("losetup", "mount")?;
        let output = program::run(Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(file))?;
        Ok(Self { path: PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()) })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Err(failure) = Command::new("losetup").arg("--detach").arg(&self.path).status() {
            eprintln!("flashmark-bench: {} is left behind: {failure}", self.path.display());
        }
    }
}

/// A block device in memory whose operations take place in the thread that asks for them: no medium, no other thread, so
/// that its latency is steady. It needs root and the kernel's zram.
#[derive(Debug)]
pub struct MemoryDevice {
    number: String,
    path: PathBuf,
}

const ZRAM: &str = "/sys/class/zram-control";

impl MemoryDevice {
    /// A new device of that many bytes, all of them written with what does not compress.
    ///
    /// # Errors
    /// [`Failure::Missing`] if the kernel has no zram; else the system's.
    pub fn filled(bytes: u64) -> Result<Self, Failure> {
        let add = Path::new(ZRAM).join("hot_add");
        if !add.exists() {
            // Where this fails the next line says so.
            let _ = Command::new("modprobe").arg("zram").output();
        }
        if !add.exists() {
            return Err(Failure::Missing { program: "the kernel module zram", package: "the kernel's own" });
        }
        // zram.rst: reading the file adds a device and tells its number.
        let number =
            fs::read_to_string(&add).map_err(Failure::io(format!("adding a zram device by {}", add.display())))?;
        let number = number.trim().to_owned();
        let device = Self { path: format!("/dev/zram{number}").into(), number };
        let size = device.setting("disksize");
        fs::write(&size, bytes.to_string()).map_err(Failure::io(format!("writing {}", size.display())))?;
        let opened = File::options().write(true).open(&device.path);
        fill(opened.map_err(Failure::io(format!("opening {}", device.path.display())))?, &device.path, bytes)?;
        Ok(device)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn setting(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(format!("zram{}", self.number)).join(name)
    }
}

impl Drop for MemoryDevice {
    fn drop(&mut self) {
        let reset = || {
            fs::write(self.setting("reset"), "1")?;
            fs::write(Path::new(ZRAM).join("hot_remove"), &self.number)
        };
        // Somebody who looks at every new device (udev) may have it open for a moment.
        let gone = (0..50).any(|_| {
            let gone = reset().is_ok();
            if !gone {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            gone
        });
        if !gone {
            eprintln!("flashmark-bench: {} is left behind", self.path.display());
        }
    }
}
