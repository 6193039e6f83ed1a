//! Where things are on the flash (`spiffs_nucleus.h`, TECH_SPEC).
//!
//! A block begins with its lookup: for each of its other pages the id of the object that the page belongs to. The last
//! two entries of the lookup stand for no page; they hold the block's magic and erase count. A page holds 5 bytes of
//! header and then data of an object, or a part of an object's index: the table of the object's data pages. The first
//! part of the index, the object index header, also has the object's size, name and metadata.

use crate::config::Config;

/// A page, counted from the volume's start.
pub type PageIndex = u16;
/// A block, counted from the volume's start.
pub(crate) type BlockIndex = u16;
/// An object. The highest bit tells that a page is a part of the object's index.
pub(crate) type ObjectId = u16;
/// Which of an object's data pages, or which part of its index.
pub(crate) type Span = u16;

/// The bit of an [`ObjectId`] that tells a part of an index.
pub(crate) const INDEX_ID: ObjectId = 0x8000;
/// A lookup entry of a page that was deleted.
pub(crate) const DELETED_ID: ObjectId = 0;
/// A lookup entry of a page that was not used since the erase.
pub(crate) const FREE_ID: ObjectId = 0xffff;
/// No page, in a table of an index.
pub(crate) const NO_PAGE: PageIndex = 0xffff;
/// The size of an object that has no content yet.
pub(crate) const UNDEFINED_SIZE: u32 = u32::MAX;

/// Bytes of a page's header: object id, span, flags.
pub(crate) const PAGE_HEADER_BYTES: usize = 5;
/// Where the flags are in a page's header.
pub(crate) const FLAGS_AT: u32 = 4;
/// Bytes of an index page before its table: the header, aligned to 4.
pub(crate) const INDEX_BYTES: usize = 8;
/// Bytes of an object index header before the name: header, alignment, size, type.
pub(crate) const INDEX_FIXED_BYTES: u32 = 13;
/// Where the size is in an object index header.
pub(crate) const SIZE_AT: usize = 8;
/// Where the type is in an object index header.
pub(crate) const TYPE_AT: usize = 12;
/// Where the name is in an object index header.
pub(crate) const NAME_AT: usize = 13;

/// The flags of a page. A bit that is 0 says so; a bit that is 1 does not (yet), as in erased flash.
pub(crate) mod flag {
    /// The page is in use.
    pub const USED: u8 = 1 << 0;
    /// The page is written completely.
    pub const FINAL: u8 = 1 << 1;
    /// The page is a part of an index.
    pub const INDEX: u8 = 1 << 2;
    /// The object of this header is being removed.
    pub const REMOVED: u8 = 1 << 6;
    /// The page is deleted.
    pub const DELETED: u8 = 1 << 7;
}

/// What a page says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Aligned, it is kept in registers; else the compiler stores it in pieces and loads it across them, which takes a third of
// a check's time.
#[repr(align(4))]
pub(crate) struct PageHeader {
    pub object: ObjectId,
    pub span: Span,
    pub flags: u8,
}

impl PageHeader {
    #[inline]
    pub fn to_bytes(self) -> [u8; PAGE_HEADER_BYTES] {
        let [a, b] = self.object.to_le_bytes();
        let [c, d] = self.span.to_le_bytes();
        [a, b, c, d, self.flags]
    }

    #[inline]
    pub fn from_bytes(bytes: [u8; PAGE_HEADER_BYTES]) -> Self {
        let [a, b, c, d, flags] = bytes;
        Self { object: u16::from_le_bytes([a, b]), span: u16::from_le_bytes([c, d]), flags }
    }

    /// Of the first bytes of a page; an erased header where there are too few.
    #[inline]
    pub fn of(page: &[u8]) -> Self {
        Self::from_bytes(page.first_chunk().copied().unwrap_or([0xff; PAGE_HEADER_BYTES]))
    }

    /// Whether exactly those bits of `mask` are 1 that are in `ones`.
    pub fn is(self, mask: u8, ones: u8) -> bool {
        self.flags & mask == ones
    }

    /// Whether it is a complete, living object index header.
    pub fn is_object(self) -> bool {
        self.span == 0 && self.is(flag::DELETED | flag::FINAL | flag::REMOVED, flag::DELETED | flag::REMOVED)
    }
}

/// A 16-bit number in a page, `NO_PAGE` behind its end.
#[inline]
pub(crate) fn u16_at(page: &[u8], at: usize) -> u16 {
    page.get(at..).and_then(<[u8]>::first_chunk).map_or(NO_PAGE, |bytes| u16::from_le_bytes(*bytes))
}

/// A 32-bit number in a page.
#[inline]
pub(crate) fn u32_at(page: &[u8], at: usize) -> u32 {
    page.get(at..).and_then(<[u8]>::first_chunk).map_or(UNDEFINED_SIZE, |bytes| u32::from_le_bytes(*bytes))
}

/// Stores in a page; behind its end nothing is stored.
#[inline]
pub(crate) fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = page.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len())) {
        place.copy_from_slice(bytes);
    }
}

/// A name as it is stored: up to its 0.
#[inline]
pub(crate) fn until_zero(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == 0).next().unwrap_or(name)
}

/// A lookup entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub block: BlockIndex,
    /// Of the block's pages that are not lookup.
    pub entry: u16,
}

/// Numbers that follow from a [`Config`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub address: u32,
    pub page_bytes: u32,
    /// The page's size as a power of two, if it is one: dividing takes most of the time of a cached read.
    page_shift: Option<u32>,
    pub block_bytes: u32,
    pub blocks: BlockIndex,
    pub pages: PageIndex,
    pub pages_per_block: u16,
    /// Pages at a block's start that hold its lookup.
    pub lookup_pages: u16,
    /// Pages of a block that are not lookup.
    pub entries_per_block: u16,
    /// Lookup entries in a page.
    pub entries_per_page: u16,
    /// What a page holds of an object.
    pub data_bytes: u32,
    /// Where the table of an object index header begins.
    pub header_bytes: u16,
    /// Entries of an object index header's table.
    pub header_entries: u16,
    /// Entries of another index page's table.
    pub index_entries: u16,
}

impl Layout {
    /// Of a configuration that was checked.
    #[allow(clippy::cast_possible_truncation)] // `Config::check` bounds the number of pages
    pub const fn of(config: &Config) -> Self {
        let page = config.page_bytes;
        let pages_per_block = config.block_bytes / page;
        let lookup_pages = if pages_per_block * 2 < page { 1 } else { pages_per_block * 2 / page };
        let header = config.header_bytes() as u32;
        Self {
            address: config.address,
            page_bytes: page,
            page_shift: if page.is_power_of_two() { Some(page.trailing_zeros()) } else { None },
            block_bytes: config.block_bytes,
            blocks: (config.size_bytes / config.block_bytes) as u16,
            pages: (config.size_bytes / page) as u16,
            pages_per_block: pages_per_block as u16,
            lookup_pages: lookup_pages as u16,
            entries_per_block: (pages_per_block - lookup_pages) as u16,
            entries_per_page: (page / 2) as u16,
            data_bytes: page - PAGE_HEADER_BYTES as u32,
            header_bytes: header as u16,
            header_entries: ((page - header) / 2) as u16,
            index_entries: ((page - INDEX_BYTES as u32) / 2) as u16,
        }
    }

    /// The page of an address, and the offset in it.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // a page of the volume
    pub const fn page_and_offset(&self, address: u32) -> (PageIndex, usize) {
        let offset = address - self.address;
        let page = match self.page_shift {
            Some(shift) => offset >> shift,
            None => offset / self.page_bytes,
        };
        (page as PageIndex, (offset - page * self.page_bytes) as usize)
    }

    /// The address of a block.
    pub const fn block_address(&self, block: BlockIndex) -> u32 {
        self.address + block as u32 * self.block_bytes
    }

    /// The address of a page.
    pub const fn page_address(&self, page: PageIndex) -> u32 {
        self.address + page as u32 * self.page_bytes
    }

    /// The address of what a page holds of an object.
    pub const fn data_address(&self, page: PageIndex) -> u32 {
        self.page_address(page) + PAGE_HEADER_BYTES as u32
    }

    /// The address of a page's flags.
    pub const fn flags_address(&self, page: PageIndex) -> u32 {
        self.page_address(page) + FLAGS_AT
    }

    /// The address of a lookup entry.
    #[inline]
    pub const fn entry_address(&self, place: Place) -> u32 {
        self.block_address(place.block) + place.entry as u32 * 2
    }

    /// The address of a block's erase count: the last entry of its lookup pages.
    pub const fn erase_count_address(&self, block: BlockIndex) -> u32 {
        self.block_address(block) + self.lookup_pages as u32 * self.page_bytes - 2
    }

    /// The address of a block's magic: the last entry but one of its lookup pages.
    pub const fn magic_address(&self, block: BlockIndex) -> u32 {
        self.erase_count_address(block) - 2
    }

    /// The page of a lookup entry.
    #[inline]
    pub const fn page_of(&self, place: Place) -> PageIndex {
        // Both factors together number no more pages than the volume has.
        (place.block as u32 * self.pages_per_block as u32 + self.lookup_pages as u32 + place.entry as u32) as PageIndex
    }

    /// The lookup entry of a page that is no lookup page.
    #[inline]
    pub const fn place_of(&self, page: PageIndex) -> Place {
        Place {
            block: page / self.pages_per_block,
            entry: (page % self.pages_per_block).saturating_sub(self.lookup_pages),
        }
    }

    /// Whether a page is a part of a block's lookup.
    pub const fn is_lookup(&self, page: PageIndex) -> bool {
        page % self.pages_per_block < self.lookup_pages
    }

    /// Which data page of an object an offset is in. Sizes that no volume has wrap, as in the C code.
    #[allow(clippy::cast_possible_truncation)]
    #[inline]
    pub const fn span_of(&self, offset: u32) -> Span {
        (offset / self.data_bytes) as Span
    }

    /// Which part of the index lists a data page.
    #[inline]
    pub const fn index_span_of(&self, data: Span) -> Span {
        if data < self.header_entries { 0 } else { 1 + (data - self.header_entries) / self.index_entries }
    }

    /// The entry of a data page in its part of the index.
    #[inline]
    pub const fn index_entry_of(&self, data: Span) -> u16 {
        if data < self.header_entries { data } else { (data - self.header_entries) % self.index_entries }
    }

    /// The first data page that a part of the index lists.
    pub const fn first_span_of(&self, index: Span) -> Span {
        if index == 0 { 0 } else { self.header_entries.wrapping_add((index - 1).wrapping_mul(self.index_entries)) }
    }

    /// Where the entry of a data page is in the page of its part of the index.
    #[inline]
    pub const fn table_at(&self, data: Span) -> usize {
        let table = if data < self.header_entries { self.header_bytes as usize } else { INDEX_BYTES };
        table + self.index_entry_of(data) as usize * 2
    }

    /// Pages that can be used: two blocks stay free for garbage collection.
    pub const fn usable_pages(&self) -> u32 {
        self.entries_per_block as u32 * (self.blocks as u32 - 2)
    }
}
