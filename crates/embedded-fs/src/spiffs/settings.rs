//! The options of SPIFFS.

use ::spiffs::{Config, ConfigError, MOST_CACHE_PAGES, Magic, Owned};

use crate::device::Geometry;
use crate::options::{Key, OptionError, Options, Reader};

/// The options; the defaults are those of ESP-IDF (`components/spiffs`: `Kconfig`, `spiffs_config.h`,
/// `esp_spiffs_init`) and of its `perf_benchmark`, whose `max_files` most of its examples share.
pub const KEYS: &[Key] = &[
    Key {
        name: "page",
        about: "the unit of allocation, 5 bytes of which are its header (log_page_size)",
        values: "64 to 32768 bytes",
        default: "256",
    },
    Key {
        name: "block",
        about: "what is erased to have free pages again (log_block_size); ESP-IDF: a sector of the flash",
        values: "bytes: whole pages, at least 4, and whole sectors of the flash",
        default: "4096",
    },
    Key {
        name: "name",
        about: "the room for a name, with the 0 that ends it and the / that begins it (SPIFFS_OBJ_NAME_LEN)",
        values: "from 2 bytes",
        default: "32",
    },
    Key {
        name: "meta",
        about: "the room for the application's own data about a file (SPIFFS_OBJ_META_LEN)",
        values: "0: none, or bytes",
        default: "4",
    },
    Key {
        name: "magic",
        about: "how a block shows that it is of a volume (SPIFFS_USE_MAGIC, SPIFFS_USE_MAGIC_LENGTH): by a number made \
                of the size of the pages and of the volume, of that of the pages alone, or not at all, so that any \
                content can be mounted",
        values: "length, page-size, off",
        default: "length",
    },
    Key {
        name: "page-check",
        about: "whether a page's header is compared before the page is used (SPIFFS_PAGE_CHECK)",
        values: "true, false",
        default: "true",
    },
    Key { name: "files", about: "how many files can be open at a time (max_files)", values: "1 to 1000", default: "5" },
    Key {
        name: "cache",
        about: "the pages of the cache (SPIFFS_CACHE); auto: as many as files, at most 32, as ESP-IDF has it",
        values: "auto, off, or 1 to 32",
        default: "auto",
    },
    Key {
        name: "write-cache",
        about: "whether writes of less than a page wait in the cache (SPIFFS_CACHE_WR)",
        values: "true, false",
        default: "true",
    },
    Key {
        name: "open-hints",
        about: "whether closed files are remembered, so that opening them again begins where they were \
                (SPIFFS_TEMPORAL_FD_CACHE)",
        values: "true, false",
        default: "true",
    },
    Key {
        name: "gc-runs",
        about: "blocks that garbage collection cleans at most for one call (SPIFFS_GC_MAX_RUNS)",
        values: "1 to 10000",
        default: "10",
    },
    Key {
        name: "copy",
        about: "the buffer for moving data within the flash (SPIFFS_COPY_BUFFER_STACK)",
        values: "1 to 32768 bytes",
        default: "256",
    },
    Key {
        name: "mtime",
        about: "the time of the last change, as ESP-IDF keeps it: in the first four bytes of meta, written when a file \
                is opened for writing alone (O_WRONLY; not with O_RDWR, whose bits include those of O_RDONLY)",
        values: "on-open or true, off or false",
        default: "on-open",
    },
    Key {
        name: "vfs",
        about: "what ESP-IDF does around SPIFFS: names keep the / that begins their path, as its mount point is cut \
                off before it. Without: names begin behind it",
        values: "esp-idf, none",
        default: "esp-idf",
    },
];

/// The options by their meaning.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub config: Config,
    pub memory: Owned,
    pub mtime: bool,
    /// What ESP-IDF does around SPIFFS.
    pub esp_vfs: bool,
}

/// What the time of the last change takes of the metadata (`spiffs_time_t`).
pub const MTIME_BYTES: usize = 4;

/// The pages that a block has at least.
const LEAST_PAGES: u32 = 4;

impl Settings {
    /// Reads options and holds them against each other and the device.
    pub fn new(options: &Options, geometry: Geometry) -> Result<Self, OptionError> {
        let reader = Reader::new("spiffs", KEYS, options)?;
        let page = page(&reader, geometry)?;
        let block = block(&reader, page, geometry)?;
        // Below the number of pages in 16 bits, each of at most 32 KiB.
        let size_bytes =
            u32::try_from(geometry.size_bytes / u64::from(block)).unwrap_or(u32::MAX).saturating_mul(block);
        let files = reader.number_in("files", 1, 1000)? as usize;
        let config = Config {
            address: 0,
            size_bytes,
            sector_bytes: geometry.erase_bytes,
            block_bytes: block,
            page_bytes: page,
            name_bytes: small(&reader, "name", 2)?,
            meta_bytes: small(&reader, "meta", 0)?,
            magic: reader
                .choice("magic", &[("length", Magic::Length), ("page-size", Magic::PageSize), ("off", Magic::Off)])?,
            page_check: reader.flag("page-check")?,
            write_cache: reader.flag("write-cache")?,
            open_hints: reader.flag("open-hints")?,
            gc_runs: u16::try_from(reader.number_in("gc-runs", 1, 10_000)?).unwrap_or(u16::MAX),
            copy_bytes: small(&reader, "copy", 1)?,
        };
        config.check().map_err(|error| refusal(&reader, &config, error, geometry))?;
        let mtime = reader.choice("mtime", &[("on-open", true), ("true", true), ("off", false), ("false", false)])?;
        if mtime && usize::from(config.meta_bytes) < MTIME_BYTES {
            let why = format!("the time of the last change takes {MTIME_BYTES} bytes of it; or set mtime=off");
            return Err(reader.bad("meta", why));
        }
        Ok(Self {
            config,
            memory: Owned { files, cache_pages: cache_pages(&reader, files)? },
            mtime,
            esp_vfs: reader.choice("vfs", &[("esp-idf", true), ("none", false)])?,
        })
    }
}

fn page(reader: &Reader<'_>, geometry: Geometry) -> Result<u32, OptionError> {
    let page = reader.bytes("page")?;
    if !(64..=1 << 15).contains(&page) {
        return Err(reader.bad("page", "it has to be from 64 to 32768 bytes"));
    }
    if geometry.read_bytes != 1 || geometry.program_bytes != 1 {
        let why = format!(
            "SPIFFS reads and programs single bytes; the device reads {} and programs {} at least",
            geometry.read_bytes, geometry.program_bytes
        );
        return Err(reader.bad("page", why));
    }
    let pages = geometry.size_bytes / u64::from(page);
    if pages > u64::from(u16::MAX) {
        let larger = (geometry.size_bytes / u64::from(u16::MAX) + 1).next_power_of_two();
        let why = format!(
            "the device of {} bytes has {pages} such pages, and SPIFFS numbers at most {}: take page={larger} or a \
             smaller device",
            geometry.size_bytes,
            u16::MAX
        );
        return Err(reader.bad("page", why));
    }
    Ok(page)
}

fn block(reader: &Reader<'_>, page: u32, geometry: Geometry) -> Result<u32, OptionError> {
    let block = reader.bytes("block")?;
    if block == 0 || geometry.erase_bytes == 0 || !block.is_multiple_of(geometry.erase_bytes) {
        let why = format!("it has to be a multiple of what the device erases, {} bytes", geometry.erase_bytes);
        return Err(reader.bad("block", why));
    }
    if !block.is_multiple_of(page) || block / page < LEAST_PAGES {
        return Err(
            reader.bad("block", format!("it has to be whole pages of {page} bytes, at least {LEAST_PAGES} of them"))
        );
    }
    if u64::from(block) > geometry.size_bytes {
        return Err(reader.bad("block", format!("it is larger than the device, {} bytes", geometry.size_bytes)));
    }
    Ok(block)
}

fn cache_pages(reader: &Reader<'_>, files: usize) -> Result<usize, OptionError> {
    match reader.text("cache") {
        "auto" => Ok(files.min(MOST_CACHE_PAGES)),
        "off" => Ok(0),
        _ => Ok(reader.number_in("cache", 1, MOST_CACHE_PAGES as u32)? as usize),
    }
}

/// A size of 16 bits.
fn small(reader: &Reader<'_>, name: &'static str, least: u16) -> Result<u16, OptionError> {
    let bytes = u16::try_from(reader.bytes(name)?).ok().filter(|bytes| (least..=1 << 15).contains(bytes));
    bytes.ok_or_else(|| reader.bad(name, format!("it has to be from {least} to 32768 bytes")))
}

/// What the configuration's own check refuses, as the option that is to be changed.
fn refusal(reader: &Reader<'_>, config: &Config, error: ConfigError, geometry: Geometry) -> OptionError {
    match error {
        ConfigError::Page | ConfigError::TooManyPages => reader.bad("page", error.to_string()),
        ConfigError::Size => {
            let blocks = config.size_bytes / config.block_bytes;
            let size_bytes = geometry.size_bytes;
            let why = format!("the device of {size_bytes} bytes has {blocks} such blocks; a volume has at least 3");
            reader.bad("block", why)
        }
        ConfigError::Block | ConfigError::Sector => reader.bad("block", error.to_string()),
        ConfigError::Name if config.name_bytes >= config.meta_bytes => reader.bad("name", error.to_string()),
        ConfigError::Name => reader.bad("meta", error.to_string()),
        ConfigError::Magic => reader.bad("magic", format!("{error}: another block size, or magic=off")),
        ConfigError::Buffers => reader.bad("copy", error.to_string()),
    }
}
