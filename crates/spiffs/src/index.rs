//! Indexes of objects: making, finding and changing them, and telling the descriptors of it.

use crate::descriptors::OpenFlags;
use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{
    DELETED_ID, INDEX_ID, NAME_AT, ObjectId, PageHeader, PageIndex, SIZE_AT, Span, TYPE_AT, UNDEFINED_SIZE, flag, put,
    u16_at, u32_at,
};
use crate::medium::{Fetch, Store};
use crate::memory::Memory;
use crate::pages::check_index;
use crate::volume::Spiffs;

/// The type of files (`SPIFFS_TYPE_FILE`).
const FILE_TYPE: u8 = 1;

/// What an object index header is changed to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Change<'a> {
    pub name: Option<&'a [u8]>,
    pub meta: Option<&'a [u8]>,
    pub size: Option<u32>,
}

impl Change<'_> {
    pub const fn size(size: u32) -> Self {
        Self { name: None, meta: None, size: Some(size) }
    }
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// The data page that the loaded part of an index lists.
    pub(crate) fn listed(&self, data: Span) -> PageIndex {
        u16_at(&self.work, self.medium.layout.table_at(data))
    }

    /// Lists a data page in the loaded part of an index.
    pub(crate) fn list(&mut self, data: Span, page: PageIndex) {
        let at = self.medium.layout.table_at(data);
        put(&mut self.work, at, &page.to_le_bytes());
    }

    /// Sets the size in the loaded object index header.
    pub(crate) fn set_size(&mut self, size: u32) {
        put(&mut self.work, SIZE_AT, &size.to_le_bytes());
    }

    /// The part of an index that is loaded.
    pub(crate) fn loaded_span(&self) -> Span {
        PageHeader::of(&self.work).span
    }

    /// Loads a part of an object's index.
    pub(crate) fn load_index(&mut self, object: ObjectId, page: PageIndex, span: Span) -> Result<(), Error<F::Error>> {
        self.medium.read(Fetch::Page, self.medium.layout.page_address(page), &mut self.work)?;
        check_index(PageHeader::of(&self.work), object, span)
    }

    /// Where a part of an open file's index is: the header, the part used last, or what the lookup says.
    pub(crate) fn find_index(&mut self, fd: usize, span: Span) -> Result<PageIndex, Error<F::Error>> {
        let file = &self.files[fd];
        if file.cursor_span == span {
            return Ok(file.cursor_page);
        }
        self.find_page(file.object | INDEX_ID, span, None)
    }

    /// Stores the loaded part of an index where it was, as its bits were all ones or do not change.
    pub(crate) fn store_index(&mut self, fd: usize, page: PageIndex, span: Span) -> Result<(), Error<F::Error>> {
        self.check_index_page(self.files[fd].object, page, span)?;
        self.medium.write(Store::Update, self.medium.layout.page_address(page), &self.work)
    }

    /// Stores the loaded part of an index, which is not the header, in a new page.
    pub(crate) fn replace_index(
        &mut self,
        fd: usize,
        page: PageIndex,
        span: Span,
    ) -> Result<PageIndex, Error<F::Error>> {
        let object = self.files[fd].object;
        self.check_index_page(object, page, span)?;
        let new = self.move_work(object, page)?;
        self.index_moved(object, self.loaded_span(), new, None);
        Ok(new)
    }

    /// An empty file: an object index header without size.
    pub(crate) fn create_object(&mut self, id: ObjectId, name: &[u8]) -> Result<PageIndex, Error<F::Error>> {
        self.reserve(self.medium.layout.data_bytes)?;
        let object = id | INDEX_ID;
        let place = self.take_free()?;
        self.medium.write_entry(place, object)?;
        self.allocated_pages = self.allocated_pages.wrapping_add(1);
        let flags = !(flag::FINAL | flag::INDEX | flag::USED);
        // Ones, so that the size and the table can be filled in later without another page.
        self.header.fill(0xff);
        put(&mut self.header, 0, &PageHeader { object, span: 0, flags }.to_bytes());
        put(&mut self.header, TYPE_AT, &[FILE_TYPE]);
        put_name(&mut self.header, name, self.config.name_bytes);
        let page = self.medium.layout.page_of(place);
        self.medium.write(Store::Update, self.medium.layout.page_address(page), &self.header)?;
        self.index_moved(object, 0, page, Some(UNDEFINED_SIZE));
        Ok(page)
    }

    /// Stores an object's header, changed, in a new page; with `loaded` as it is in the work buffer, else as it is on the
    /// flash.
    pub(crate) fn replace_header(
        &mut self,
        fd: Option<usize>,
        object: ObjectId,
        page: PageIndex,
        loaded: bool,
        change: Change<'_>,
    ) -> Result<PageIndex, Error<F::Error>> {
        let object = object | INDEX_ID;
        if !loaded {
            self.medium.read(Fetch::Page, self.medium.layout.page_address(page), &mut self.work)?;
        }
        check_index(PageHeader::of(&self.work), object, 0)?;
        if let Some(name) = change.name {
            put_name(&mut self.work, name, self.config.name_bytes);
        }
        if let Some(meta) = change.meta {
            let at = NAME_AT + usize::from(self.config.name_bytes);
            put(&mut self.work, at, meta);
        }
        if let Some(size) = change.size {
            self.set_size(size);
        }
        let new = self.move_work(object, page)?;
        self.index_moved(object, self.loaded_span(), new, Some(u32_at(&self.work, SIZE_AT)));
        if let Some(fd) = fd {
            self.files[fd].header_page = new;
        }
        Ok(new)
    }

    /// Sets the size of an open file in its header, in a new page.
    pub(crate) fn store_size(&mut self, fd: usize, size: u32) -> Result<(), Error<F::Error>> {
        let file = &self.files[fd];
        self.replace_header(Some(fd), file.object, file.header_page, false, Change::size(size)).map(|_| ())
    }

    /// Tells the descriptors where a part of an index is now, and with the header what the size is
    /// (`spiffs_cb_object_event`).
    pub(crate) fn index_moved(&mut self, object: ObjectId, span: Span, page: PageIndex, size: Option<u32>) {
        let mut dropped = 0_u32;
        for file in self.files.of_object(object) {
            if span == 0 {
                file.header_page = page;
                // A file that stays empty may have writes waiting, which the C code forgets about here.
                let stays_empty = size == Some(UNDEFINED_SIZE) && matches!(file.size, 0 | UNDEFINED_SIZE);
                if let Some(size) = size.filter(|size| *size != 0 && !stays_empty) {
                    file.size = size;
                    let mut end = if size == UNDEFINED_SIZE { 0 } else { size };
                    let waiting = file.waiting.and_then(|slot| self.medium.cache.waiting(slot));
                    if let (Some(waiting), true) = (waiting, end > 0) {
                        end = end.max(waiting.end());
                    }
                    file.position = file.position.min(end);
                    if let (Some(waiting), Some(slot)) = (waiting, file.waiting)
                        && waiting.offset > end.saturating_add(1)
                    {
                        // The file was truncated before it.
                        dropped |= 1 << slot;
                    }
                }
            }
            if file.cursor_span == span {
                file.cursor_page = page;
            }
        }
        self.release_all(dropped);
    }

    /// A file ends at `end` now: no position is behind that.
    pub(crate) fn clamp_positions(&mut self, object: ObjectId, end: u32) {
        for file in self.files.of_object(object) {
            file.position = file.position.min(end);
        }
    }

    /// Tells the descriptors that a part of an index is gone, and with the header the file: they are closed.
    pub(crate) fn index_deleted(&mut self, object: ObjectId, span: Span) {
        let mut dropped = 0_u32;
        let object = object & !INDEX_ID;
        for file in self.files.iter_mut().filter(|file| file.object & !INDEX_ID == object) {
            if span == 0 {
                if let (Some(slot), true) = (file.waiting, file.open) {
                    dropped |= 1 << slot;
                }
                file.close();
                file.object = DELETED_ID;
            }
            if file.cursor_span == span {
                file.cursor_page = 0;
            }
        }
        self.release_all(dropped);
    }

    fn release_all(&mut self, slots: u32) {
        for slot in (0..32).filter(|slot| slots & 1 << slot != 0) {
            self.release(slot);
        }
    }

    /// Frees a page of cache with waiting writes.
    pub(crate) fn release(&mut self, slot: u8) {
        for file in self.files.iter_mut().filter(|file| file.waiting == Some(slot)) {
            file.waiting = None;
        }
        self.medium.cache.free(slot);
    }

    /// Fills a claimed descriptor with the object whose header is in a page (`spiffs_object_open_by_page`).
    pub(crate) fn open_object(&mut self, fd: usize, page: PageIndex, flags: OpenFlags) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        if page >= layout.pages || layout.is_lookup(page) {
            return Err(Error::NotAFile);
        }
        self.medium.read(Fetch::Page, layout.page_address(page), &mut self.header)?;
        // The C code takes the object from the lookup. The header has it, too, and is right where the lookup's entry was
        // programmed in part when the power went.
        self.medium.read_u16(Fetch::Page, layout.entry_address(layout.place_of(page)))?;
        let header = PageHeader::of(&self.header);
        let file = &mut self.files[fd];
        file.header_page = page;
        file.size = u32_at(&self.header, SIZE_AT);
        file.cursor_page = page;
        file.cursor_span = 0;
        file.object = header.object;
        file.flags = flags;
        check_index(header, header.object, 0)
    }

    /// An empty part of an index, other than the header, in a new page, and in the work buffer.
    pub(crate) fn new_index(&mut self, fd: usize, span: Span) -> Result<PageIndex, Error<F::Error>> {
        let object = self.files[fd].object | INDEX_ID;
        let header = PageHeader { object, span, flags: !(flag::FINAL | flag::INDEX | flag::USED) };
        let page = self.allocate(header, None, true)?;
        self.work.fill(0xff);
        put(&mut self.work, 0, &header.to_bytes());
        self.index_moved(object, span, page, None);
        Ok(page)
    }
}

/// Stores a name with its zeros.
fn put_name(header: &mut [u8], name: &[u8], room: u16) {
    let end = NAME_AT + usize::from(room);
    if let Some(place) = header.get_mut(NAME_AT..end) {
        place.fill(0);
        put(place, 0, &name[..name.len().min(usize::from(room) - 1)]);
    }
}
