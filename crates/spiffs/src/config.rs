//! What a volume is made with.

use crate::layout::{BlockIndex, INDEX_FIXED_BYTES, Layout, PAGE_HEADER_BYTES};

/// How a block shows that it belongs to a SPIFFS volume (`SPIFFS_USE_MAGIC`, `SPIFFS_USE_MAGIC_LENGTH`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Magic {
    /// Not at all: any flash can be mounted, also one that holds something else.
    Off,
    /// By a number that depends on the page size.
    PageSize,
    /// By a number that depends on the page size and on the block's distance from the end, so that a volume of another
    /// size is refused. ESP-IDF's default.
    Length,
}

/// The parameters of a volume and of the code that uses it.
///
/// The first nine make the format: a volume has to be mounted with those that it was formatted with. [`Config::esp_idf`]
/// has ESP-IDF's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Where the volume begins in the flash, in bytes; at the start of a sector.
    pub address: u32,
    /// The volume's size; whole blocks, at least three, and at most 65535 pages.
    pub size_bytes: u32,
    /// What the flash erases at least; a block is a multiple of it.
    pub sector_bytes: u32,
    /// What SPIFFS erases: a multiple of the page, at least four pages.
    pub block_bytes: u32,
    /// The unit of allocation, 5 bytes of which are the header; from 64 bytes to 32 KiB, a multiple of 4.
    pub page_bytes: u32,
    /// The room for a name, with the 0 that ends it (`SPIFFS_OBJ_NAME_LEN`); from 2.
    pub name_bytes: u16,
    /// The room for an application's own data about a file (`SPIFFS_OBJ_META_LEN`); 0: none.
    pub meta_bytes: u16,
    /// How a block is marked.
    pub magic: Magic,
    /// Whether a page's header is read and compared before the page is used (`SPIFFS_PAGE_CHECK`).
    pub page_check: bool,
    /// Whether writes of less than a page are gathered in the cache (`SPIFFS_CACHE_WR`). Needs a cache.
    pub write_cache: bool,
    /// Whether closed descriptors remember where their file was (`SPIFFS_TEMPORAL_FD_CACHE`).
    pub open_hints: bool,
    /// How many times garbage collection runs at most for one call (`SPIFFS_GC_MAX_RUNS`); from 1.
    pub gc_runs: u16,
    /// The buffer for moving data within the flash (`SPIFFS_COPY_BUFFER_STACK`); from 1. What is larger is moved in
    /// pieces.
    pub copy_bytes: u16,
}

/// Why a [`Config`] makes no volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// `page_bytes`.
    #[error("a page has 64 to 32768 bytes, a multiple of 4")]
    Page,
    /// `block_bytes` against `page_bytes`.
    #[error(
        "a block is a whole number of pages, at least 4, and its page lookup fills whole pages if it needs several"
    )]
    Block,
    /// `sector_bytes` against `block_bytes`.
    #[error("a block is a whole number of the flash's sectors, and the volume begins with one")]
    Sector,
    /// `size_bytes` against `block_bytes`.
    #[error("a volume is a whole number of blocks, at least 3, inside the 4 GiB that addresses reach")]
    Size,
    /// `size_bytes` against `page_bytes`.
    #[error("a volume has at most 65535 pages, as pages are numbered in 16 bits: larger pages are needed")]
    TooManyPages,
    /// `name_bytes` and `meta_bytes` against `page_bytes`.
    #[error("a name has room for at least 2 bytes, and with the metadata leaves 29 bytes of the page to the index")]
    Name,
    /// `magic` against `block_bytes`.
    #[error("the page lookup of a block of this size has no room left for the magic and the erase count")]
    Magic,
    /// `gc_runs` or `copy_bytes`.
    #[error("garbage collection needs at least one run, and moving data a buffer of at least one byte")]
    Buffers,
}

/// Entries that an object index header has to have at least.
const LEAST_INDEX_ENTRIES: u32 = 8;

impl Config {
    /// ESP-IDF's defaults (`components/spiffs/Kconfig`, `esp_spiffs.c`): pages of 256 bytes, blocks of one sector of
    /// 4096, names of 31 bytes, 4 bytes of metadata, magic with length.
    #[must_use]
    pub const fn esp_idf(size_bytes: u32) -> Self {
        Self {
            address: 0,
            size_bytes,
            sector_bytes: 4096,
            block_bytes: 4096,
            page_bytes: 256,
            name_bytes: 32,
            meta_bytes: 4,
            magic: Magic::Length,
            page_check: true,
            write_cache: true,
            open_hints: true,
            gc_runs: 10,
            copy_bytes: 256,
        }
    }

    /// Whether a volume can be made with these parameters.
    ///
    /// # Errors
    /// [`ConfigError`] names the first that does not fit.
    pub const fn check(&self) -> Result<(), ConfigError> {
        if self.page_bytes < 64 || self.page_bytes > 1 << 15 || !self.page_bytes.is_multiple_of(4) {
            return Err(ConfigError::Page);
        }
        if self.block_bytes == 0 || !self.block_bytes.is_multiple_of(self.page_bytes) {
            return Err(ConfigError::Block);
        }
        let lookup_bytes = self.block_bytes / self.page_bytes * 2;
        if lookup_bytes < 8 || (lookup_bytes > self.page_bytes && !lookup_bytes.is_multiple_of(self.page_bytes)) {
            return Err(ConfigError::Block);
        }
        if self.sector_bytes == 0
            || !self.block_bytes.is_multiple_of(self.sector_bytes)
            || !self.address.is_multiple_of(self.sector_bytes)
        {
            return Err(ConfigError::Sector);
        }
        if !self.size_bytes.is_multiple_of(self.block_bytes)
            || self.size_bytes / self.block_bytes < 3
            || self.address.checked_add(self.size_bytes).is_none()
        {
            return Err(ConfigError::Size);
        }
        if self.size_bytes / self.page_bytes > u16::MAX as u32 {
            return Err(ConfigError::TooManyPages);
        }
        let named = INDEX_FIXED_BYTES + self.name_bytes as u32 + self.meta_bytes as u32;
        if self.name_bytes < 2 || named + LEAST_INDEX_ENTRIES * 2 > self.page_bytes {
            return Err(ConfigError::Name);
        }
        if self.gc_runs == 0 || self.copy_bytes == 0 {
            return Err(ConfigError::Buffers);
        }
        if !matches!(self.magic, Magic::Off) && !self.has_room_for_magic() {
            return Err(ConfigError::Magic);
        }
        Ok(())
    }

    /// `SPIFFS_CHECK_MAGIC_POSSIBLE`: the last two entries of a block's last lookup page stand for no page.
    const fn has_room_for_magic(&self) -> bool {
        let layout = Layout::of(self);
        let in_page = self.page_bytes / 2;
        (layout.entries_per_block as u32 % in_page) * 2 <= self.page_bytes - 4
    }

    /// Bytes of RAM that [`crate::Borrowed`] needs for buffers with this many pages of cache: two pages, an object
    /// index header, the buffer for moving data, and the cache. A [`crate::Descriptor`] for each file that is open at
    /// a time and a [`crate::CacheSlot`] for each page of cache come on top.
    #[must_use]
    pub const fn buffer_bytes(&self, cache_pages: usize) -> usize {
        2 * self.page_bytes as usize
            + self.header_bytes()
            + self.copy_bytes as usize
            + cache_pages * self.page_bytes as usize
    }

    /// The bytes of an object index header before its table.
    pub(crate) const fn header_bytes(&self) -> usize {
        INDEX_FIXED_BYTES as usize + self.name_bytes as usize + self.meta_bytes as usize
    }

    /// The magic of a block.
    pub(crate) const fn magic_of(&self, block: BlockIndex) -> Option<u16> {
        let page_size = 0x2014_0529 ^ self.page_bytes;
        match self.magic {
            Magic::Off => None,
            Magic::PageSize => Some(page_size as u16),
            Magic::Length => Some((page_size ^ (self.size_bytes / self.block_bytes - block as u32)) as u16),
        }
    }

    /// What a file's content takes of a page.
    #[must_use]
    pub const fn data_page_bytes(&self) -> u32 {
        self.page_bytes - PAGE_HEADER_BYTES as u32
    }
}
