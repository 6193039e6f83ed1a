//! Pages: taking free ones, moving, deleting, and holding them against what their object says of them.

use crate::error::Error;
use crate::flash::{Flash, Purpose};
use crate::layout::{
    DELETED_ID, FREE_ID, INDEX_ID, NO_PAGE, ObjectId, PAGE_HEADER_BYTES, PageHeader, PageIndex, Place, Span, flag, put,
};
use crate::medium::{Fetch, Store};
use crate::memory::Memory;
use crate::scan::Step;
use crate::volume::{Spare, Spiffs};

/// Whether a page is the part of an index that it should be (`SPIFFS_VALIDATE_OBJIX`).
pub(crate) fn check_index<E>(header: PageHeader, object: ObjectId, span: Span) -> Result<(), Error<E>> {
    check_living(header)?;
    if header.flags & flag::INDEX != 0 || object & INDEX_ID == 0 {
        return Err(Error::NotIndex);
    }
    if header.span == span { Ok(()) } else { Err(Error::IndexSpanMismatch) }
}

/// Whether a page is the data that it should be (`SPIFFS_VALIDATE_DATA`).
fn check_data<E>(header: PageHeader, object: ObjectId, span: Span) -> Result<(), Error<E>> {
    check_living(header)?;
    if header.flags & flag::INDEX == 0 || object & INDEX_ID != 0 {
        return Err(Error::IsIndex);
    }
    // The C code does not compare the object, and may read another file's page of the same place.
    let is = header.span == span && header.object == object;
    if is { Ok(()) } else { Err(Error::DataSpanMismatch) }
}

fn check_living<E>(header: PageHeader) -> Result<(), Error<E>> {
    if header.flags & flag::USED != 0 {
        return Err(Error::IsFree);
    }
    if header.flags & flag::DELETED == 0 {
        return Err(Error::Deleted);
    }
    if header.flags & flag::FINAL != 0 {
        return Err(Error::NotFinal);
    }
    Ok(())
}

/// Data to be written: given by the caller, or waiting in a page of cache.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Given(&'a [u8]),
    /// A page of cache, and how many of its bytes.
    Waiting(u8, u32),
}

impl Source<'_> {
    /// What it has, as far as 32 bits count.
    pub fn len(&self) -> u32 {
        match self {
            Self::Given(data) => u32::try_from(data.len()).unwrap_or(u32::MAX),
            Self::Waiting(_, bytes) => *bytes,
        }
    }
}

/// A part of a [`Source`].
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub source: Source<'a>,
    pub from: u32,
    pub bytes: u32,
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Takes a free page; what garbage collection needs is kept.
    pub(crate) fn take_free(&mut self) -> Result<Place, Error<F::Error>> {
        if self.cleaning.is_none() && self.spare != Spare::Used {
            match self.keep_spare_blocks() {
                Err(Error::Full) if self.spare == Spare::Last => {}
                kept => kept?,
            }
        }
        // The C code also takes pages of the block that it is emptying, and then erases them with it.
        let free = self.scan(
            self.free_cursor,
            true,
            |id| id == FREE_ID,
            |volume, _, place| Ok(if volume.cleaning == Some(place.block) { Step::Next } else { Step::Stop }),
        )?;
        let place = free.ok_or(Error::Full)?;
        self.free_cursor = Place { entry: place.entry + 1, ..place };
        if place.entry == 0 {
            self.free_blocks = self.free_blocks.saturating_sub(1);
        }
        Ok(place)
    }

    /// Takes a page for an object: its lookup entry, its header, and with `data` its content from the start. With
    /// `finish` it is then marked as final, if the header did not say so at once.
    pub(crate) fn allocate(
        &mut self,
        header: PageHeader,
        data: Option<Piece<'_>>,
        finish: bool,
    ) -> Result<PageIndex, Error<F::Error>> {
        let place = self.take_free()?;
        self.medium.write_entry(place, header.object)?;
        self.allocated_pages = self.allocated_pages.wrapping_add(1);
        let page = self.medium.layout.page_of(place);
        let header = PageHeader { flags: header.flags & !flag::USED, ..header };
        let address = self.medium.layout.page_address(page);
        self.medium.write(Store::Update, address, &header.to_bytes())?;
        if let Some(piece) = data {
            self.write_piece(address + PAGE_HEADER_BYTES as u32, piece)?;
        }
        if finish && header.flags & flag::FINAL != 0 {
            self.medium.write_flags(Store::Update, page, header.flags & !flag::FINAL)?;
        }
        Ok(page)
    }

    /// Moves the index page in the work buffer to a free page, and deletes it where it was. It is final then, if it was
    /// so before.
    pub(crate) fn move_work(&mut self, object: ObjectId, from: PageIndex) -> Result<PageIndex, Error<F::Error>> {
        let place = self.take_free()?;
        let page = self.medium.layout.page_of(place);
        let header = PageHeader::of(&self.work);
        let was_final = header.flags & flag::FINAL == 0;
        let unfinished = (header.flags | flag::FINAL) & !flag::USED;
        put(&mut self.work, PAGE_HEADER_BYTES - 1, &[unfinished]);
        self.medium.write(Store::Update, self.medium.layout.page_address(page), &self.work)?;
        self.medium.write_entry(place, object)?;
        self.allocated_pages = self.allocated_pages.wrapping_add(1);
        if was_final {
            let finished = unfinished & !flag::FINAL;
            put(&mut self.work, PAGE_HEADER_BYTES - 1, &[finished]);
            self.medium.write_flags(Store::Update, page, finished)?;
        }
        self.delete(from)?;
        Ok(page)
    }

    /// Moves a page as it is to a free page, and deletes it where it was.
    pub(crate) fn move_page(&mut self, object: ObjectId, from: PageIndex) -> Result<PageIndex, Error<F::Error>> {
        let place = self.take_free()?;
        let layout = self.medium.layout;
        let page = layout.page_of(place);
        let bytes = layout.page_bytes;
        self.medium.copy(&mut self.copy, layout.page_address(page), layout.page_address(from), bytes)?;
        self.medium.write_entry(place, object)?;
        self.allocated_pages = self.allocated_pages.wrapping_add(1);
        self.delete(from)?;
        Ok(page)
    }

    /// Deletes a page, first in the lookup.
    pub(crate) fn delete(&mut self, page: PageIndex) -> Result<(), Error<F::Error>> {
        self.medium.write_entry(self.medium.layout.place_of(page), DELETED_ID)?;
        self.deleted_pages = self.deleted_pages.wrapping_add(1);
        self.allocated_pages = self.allocated_pages.wrapping_sub(1);
        self.medium.write_flags(Store::Drop, page, !(flag::DELETED | flag::USED))
    }

    /// Copies data between pages, by addresses.
    pub(crate) fn copy_data(&mut self, to: u32, from: u32, bytes: u32) -> Result<(), Error<F::Error>> {
        self.medium.copy(&mut self.copy, to, from, bytes)
    }

    /// Writes a part of the source, within a page.
    pub(crate) fn write_piece(&mut self, address: u32, piece: Piece<'_>) -> Result<(), Error<F::Error>> {
        let range = piece.from as usize..(piece.from + piece.bytes) as usize;
        self.medium.flash.purpose(Purpose::Content);
        let written = match piece.source {
            Source::Given(data) => self.medium.write(Store::Update, address, data.get(range).unwrap_or_default()),
            Source::Waiting(slot, _) => self.medium.write_waiting(address, slot, range),
        };
        self.medium.flash.purpose(Purpose::Structure);
        written
    }

    /// Whether a page can be an object's data page (`spiffs_page_data_check`).
    pub(crate) fn check_data_page(
        &mut self,
        object: ObjectId,
        page: PageIndex,
        span: Span,
    ) -> Result<(), Error<F::Error>> {
        if page == NO_PAGE {
            return Err(Error::IndexRefFree);
        }
        if self.medium.layout.is_lookup(page) {
            return Err(Error::IndexRefLookup);
        }
        if page >= self.medium.layout.pages {
            return Err(Error::IndexRefInvalid);
        }
        if !self.config.page_check {
            return Ok(());
        }
        check_data(self.medium.header(Fetch::Page, page)?, object & !INDEX_ID, span)
    }

    /// Whether a page can be a part of an object's index (`spiffs_page_index_check`).
    pub(crate) fn check_index_page(
        &mut self,
        object: ObjectId,
        page: PageIndex,
        span: Span,
    ) -> Result<(), Error<F::Error>> {
        if page == NO_PAGE {
            return Err(Error::IndexFree);
        }
        if self.medium.layout.is_lookup(page) {
            return Err(Error::IndexLookup);
        }
        if page >= self.medium.layout.pages {
            return Err(Error::IndexInvalid);
        }
        if !self.config.page_check {
            return Ok(());
        }
        check_index(self.medium.header(Fetch::Page, page)?, object, span)
    }
}
