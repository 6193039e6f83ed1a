#![no_std]
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

#[cfg(feature = "alloc")]
extern crate alloc;

mod cache;
mod check;
mod config;
mod content;
mod descriptors;
mod directory;
mod error;
mod files;
mod flash;
mod gc;
mod ids;
mod index;
mod layout;
mod medium;
mod memory;
mod pages;
mod scan;
mod truncate;
mod volume;
mod waiting;

pub use cache::{CacheSlot, MOST_CACHE_PAGES};
pub use check::{Finding, Pass};
pub use config::{Config, ConfigError, Magic};
pub use descriptors::{Descriptor, File, OpenFlags};
pub use directory::{FileInfo, Listing};
pub use error::Error;
pub use files::SeekFrom;
pub use flash::{Flash, Nor, Purpose};
pub use layout::PageIndex;
#[cfg(feature = "alloc")]
pub use memory::Owned;
pub use memory::{Borrowed, Buffers, Memory};
pub use volume::{Info, Refused, Spiffs, format, probe};
