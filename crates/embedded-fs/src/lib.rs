//! The file systems of embedded devices behind one trait: FatFs and littlefs as their own, unmodified C code, SPIFFS as
//! the crate `spiffs`, which makes the accesses that its C code makes.
//!
//! ```text
//! a program            FileSystem   open, read, write, ...                    (file_system.rs)
//! a file system        fatfs, littlefs: C, compiled by build.rs               (fatfs.rs, littlefs.rs)
//!                      spiffs: Rust                                           (spiffs.rs)
//! its device           Device       read, program, erase, overwrite, sync     (device.rs)
//! ```
//!
//! A [`Device`] sees every access that a file system makes, in order, and is told before each whether it is for file
//! content or for metadata. A [`FileSystem`] is made by name and options from [`FILE_SYSTEMS`]:
//!
//! ```
//! use flashmark_embedded_fs::{OpenFlags, Options, make, ram::RamDevice};
//!
//! let flash = RamDevice::nor_flash(2 << 20, 4096);
//! let options = Options::parse(["cluster=16k"])?;
//! let mut fs = make("fatfs", Box::new(flash.clone()), &options)?;
//! fs.format()?;
//! fs.mount()?;
//! let file = fs.open("/test.bin", OpenFlags::CREATE)?;
//! fs.write(file, &[1, 2, 3])?;
//! fs.close(file)?;
//! assert!(flash.counters().erases > 0);
//! # Ok::<(), flashmark_embedded_fs::FsError>(())
//! ```
//!
//! Any number of file systems can exist, in any threads; no two share state. Times that they store are constant, so
//! that equal operations make equal images. A corrupt image leads to errors: not to a panic, an abort or a call
//! without end.
//!
//! To add a file system: a file (or folder) beside `fatfs.rs` with an [`Entry`], and its line in [`FILE_SYSTEMS`].

mod below;
mod device;
mod error;
mod fatfs;
mod file_system;
mod handles;
mod littlefs;
mod options;
pub mod ram;
mod registry;
mod spiffs;

pub use device::{Device, DeviceError, Geometry, Purpose, Work};
pub use error::{Code, ErrorKind, FsError};
pub use file_system::{DirectoryEntry, FileId, FileSystem, OpenFlags, Stat, Usage};
pub use options::{Key, OptionError, Options};
pub use registry::{Entry, FILE_SYSTEMS, Make, entry, make};
