//! The options of littlefs.

use super::ffi::Parameters;
use crate::device::Geometry;
use crate::options::{Key, OptionError, Options, Reader};

/// The options; the defaults are those of `esp_littlefs` (`Kconfig`, `esp_littlefs_init_efs`).
pub const KEYS: &[Key] = &[
    Key { name: "read", about: "the smallest read (read_size)", values: "bytes", default: "128" },
    Key { name: "program", about: "the smallest program (prog_size)", values: "bytes", default: "128" },
    Key { name: "block", about: "the unit of erases (block_size)", values: "bytes, at least 128", default: "4096" },
    Key {
        name: "blocks",
        about: "how many blocks are formatted; all: what the device has",
        values: "all, or a number",
        default: "all",
    },
    Key {
        name: "block-cycles",
        about: "erases of a metadata block before it moves (block_cycles); -1: never",
        values: "-1, or from 1",
        default: "512",
    },
    Key {
        name: "cache",
        about: "each of the caches: read, program, and one for each open file (cache_size)",
        values: "a multiple of read and program, a factor of block",
        default: "512",
    },
    Key {
        name: "lookahead",
        about: "the map of free blocks, a bit for each (lookahead_size)",
        values: "a multiple of 8 bytes",
        default: "128",
    },
    Key {
        name: "compact-threshold",
        about: "at what fill garbage collection compacts metadata (compact_thresh); auto: block - block/8",
        values: "auto, off, or from half a block to a block",
        default: "auto",
    },
    Key { name: "name-max", about: "the longest name", values: "auto (255), or 1 to 255", default: "auto" },
    Key { name: "file-max", about: "the largest file", values: "auto (2147483647), or bytes", default: "auto" },
    Key { name: "attr-max", about: "the largest attribute", values: "auto (1022), or 1 to 1022", default: "auto" },
    Key {
        name: "metadata-max",
        about: "how much of a metadata block is used",
        values: "auto (a block), or bytes",
        default: "auto",
    },
    Key {
        name: "inline-max",
        about: "the largest file that is kept inside its directory",
        values: "auto (the largest possible), off, or bytes",
        default: "auto",
    },
    Key { name: "disk-version", about: "the version that is written", values: "latest, 2.0, 2.1", default: "latest" },
    Key {
        name: "mtime",
        about: "the time of the last change, as esp_littlefs keeps it: on-open: with a commit of its own when a file \
                is opened for writing (up to 1.17, and so in the published benchmark); on-commit: as an attribute of \
                the file, with every commit of it (from 1.18)",
        values: "on-open or true, on-commit, off or false",
        default: "on-open",
    },
    Key {
        name: "vfs",
        about: "what esp_littlefs does around littlefs: syncs a file that was opened for writing at once, looks at a \
                path before it is removed, and refuses to remove or rename open files (that in any case)",
        values: "esp-idf, none",
        default: "esp-idf",
    },
];

/// When the time of the last change is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mtime {
    Off,
    OnOpen,
    OnCommit,
}

/// The options by their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// With a `block_count` of 0, which the image tells, as in `esp_littlefs`.
    pub parameters: Parameters,
    /// How many blocks are formatted.
    pub blocks: u32,
    /// How many the device has.
    pub device_blocks: u32,
    pub mtime: Mtime,
    /// What esp_littlefs does around littlefs.
    pub esp_vfs: bool,
}

/// `LFS_FILE_MAX`, `LFS_ATTR_MAX`.
const FILE_MAX: u32 = 2_147_483_647;
const ATTR_MAX: u32 = 1022;

/// A superblock pair and a block for content.
const LEAST_BLOCKS: u32 = 3;

impl Settings {
    /// Reads options and holds them against each other (what `lfs_init` asserts) and the device.
    pub fn new(options: &Options, geometry: Geometry) -> Result<Self, OptionError> {
        let reader = Reader::new("littlefs", KEYS, options)?;
        let block = block(&reader, geometry)?;
        let read = unit(&reader, "read", geometry.read_bytes, "read")?;
        let program = unit(&reader, "program", geometry.program_bytes, "program")?;
        let cache = cache(&reader, read, program, block)?;
        let (blocks, device_blocks) = blocks(&reader, block, geometry)?;
        let lookahead = reader.bytes("lookahead")?;
        if lookahead == 0 || !lookahead.is_multiple_of(8) || lookahead > 1 << 20 {
            return Err(reader.bad("lookahead", "it has to be a multiple of 8 bytes, from 8 bytes to 1 MiB"));
        }
        let metadata_max = within(&reader, "metadata-max", 128, block)?;
        if !metadata_max.is_multiple_of(program) {
            return Err(reader.bad("metadata-max", format!("it has to be a multiple of program, {program} bytes")));
        }
        let attr_max = within(&reader, "attr-max", 1, ATTR_MAX)?;
        Ok(Self {
            parameters: Parameters {
                read_size: read,
                prog_size: program,
                block_size: block,
                block_count: 0,
                block_cycles: block_cycles(&reader)?,
                cache_size: cache,
                lookahead_size: lookahead,
                compact_thresh: compact_threshold(&reader, block)?,
                name_max: within(&reader, "name-max", 1, 255)?,
                file_max: within(&reader, "file-max", 1, FILE_MAX)?,
                attr_max,
                metadata_max,
                inline_max: inline_max(&reader, cache, attr_max, if metadata_max == 0 { block } else { metadata_max })?,
                disk_version: reader
                    .choice("disk-version", &[("latest", 0), ("2.0", 0x0002_0000), ("2.1", 0x0002_0001)])?,
            },
            blocks,
            device_blocks,
            mtime: reader.choice(
                "mtime",
                &[
                    ("on-open", Mtime::OnOpen),
                    ("true", Mtime::OnOpen),
                    ("on-commit", Mtime::OnCommit),
                    ("off", Mtime::Off),
                    ("false", Mtime::Off),
                ],
            )?,
            esp_vfs: reader.choice("vfs", &[("esp-idf", true), ("none", false)])?,
        })
    }
}

fn block(reader: &Reader<'_>, geometry: Geometry) -> Result<u32, OptionError> {
    let block = reader.bytes("block")?;
    if !(128..=1 << 28).contains(&block) {
        return Err(reader.bad("block", "it has to be from 128 bytes to 256 MiB"));
    }
    if geometry.erase_bytes == 0 || !block.is_multiple_of(geometry.erase_bytes) {
        let why = format!("it has to be a multiple of what the device erases, {} bytes", geometry.erase_bytes);
        return Err(reader.bad("block", why));
    }
    if u64::from(block) > geometry.size_bytes {
        return Err(reader.bad("block", format!("it is larger than the device, {} bytes", geometry.size_bytes)));
    }
    Ok(block)
}

fn blocks(reader: &Reader<'_>, block: u32, geometry: Geometry) -> Result<(u32, u32), OptionError> {
    // littlefs counts blocks in 32 bits, and keeps the last numbers for itself; esp_littlefs takes 8388607 on cards.
    let device = u32::try_from(geometry.size_bytes / u64::from(block)).unwrap_or(u32::MAX).min(i32::MAX as u32);
    if device < LEAST_BLOCKS {
        let why = format!(
            "the device of {} bytes has {device} such blocks; the least that can be formatted is {LEAST_BLOCKS}",
            geometry.size_bytes
        );
        return Err(reader.bad("block", why));
    }
    let blocks =
        if reader.text("blocks") == "all" { device } else { reader.number_in("blocks", LEAST_BLOCKS, device)? };
    Ok((blocks, device))
}

fn unit(reader: &Reader<'_>, name: &'static str, device: u32, what: &str) -> Result<u32, OptionError> {
    let bytes = reader.bytes(name)?;
    if device == 0 || bytes == 0 || !bytes.is_multiple_of(device) {
        return Err(reader.bad(name, format!("it has to be a multiple of what the device can {what}, {device} bytes")));
    }
    Ok(bytes)
}

fn cache(reader: &Reader<'_>, read: u32, program: u32, block: u32) -> Result<u32, OptionError> {
    let cache = reader.bytes("cache")?;
    if cache == 0 || !cache.is_multiple_of(read) || !cache.is_multiple_of(program) {
        let why = format!("it has to be a multiple of read and program, {read} and {program} bytes");
        return Err(reader.bad("cache", why));
    }
    if !block.is_multiple_of(cache) {
        return Err(reader.bad("cache", format!("it has to be a factor of the block, {block} bytes")));
    }
    Ok(cache)
}

fn block_cycles(reader: &Reader<'_>) -> Result<i32, OptionError> {
    let cycles = i32::try_from(reader.number("block-cycles")?).ok().filter(|cycles| *cycles == -1 || *cycles > 0);
    cycles.ok_or_else(|| reader.bad("block-cycles", "it has to be -1 or more than 0"))
}

fn compact_threshold(reader: &Reader<'_>, block: u32) -> Result<u32, OptionError> {
    match reader.text("compact-threshold") {
        "auto" => Ok(0),
        "off" => Ok(u32::MAX),
        _ => {
            let threshold = reader.bytes("compact-threshold")?;
            if (block.div_ceil(2)..=block).contains(&threshold) {
                Ok(threshold)
            } else {
                let why = format!("it has to be from half a block to a block of {block} bytes");
                Err(reader.bad("compact-threshold", why))
            }
        }
    }
}

fn inline_max(reader: &Reader<'_>, cache: u32, attr_max: u32, metadata_max: u32) -> Result<u32, OptionError> {
    match reader.text("inline-max") {
        "auto" => Ok(0),
        "off" => Ok(u32::MAX),
        _ => {
            let bytes = reader.bytes("inline-max")?;
            let most = cache.min(if attr_max == 0 { ATTR_MAX } else { attr_max }).min(metadata_max / 8);
            if (1..=most).contains(&bytes) {
                Ok(bytes)
            } else {
                let why = format!(
                    "it has to be from 1 to {most} bytes: no more than cache, attr-max and an eighth of metadata-max"
                );
                Err(reader.bad("inline-max", why))
            }
        }
    }
}

/// A number of bytes, 0 for `auto`.
fn within(reader: &Reader<'_>, name: &'static str, low: u32, high: u32) -> Result<u32, OptionError> {
    match reader.bytes_or(name, "auto")? {
        None => Ok(0),
        Some(bytes) if (low..=high).contains(&bytes) => Ok(bytes),
        Some(_) => Err(reader.bad(name, format!("it has to be auto, or from {low} to {high}"))),
    }
}
