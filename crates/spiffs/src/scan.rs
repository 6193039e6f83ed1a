//! Scans of the lookup: everything that SPIFFS finds, it finds so (`spiffs_obj_lu_find_entry_visitor`).

use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{
    DELETED_ID, FREE_ID, INDEX_ID, NAME_AT, ObjectId, PageHeader, PageIndex, Place, Span, flag, u16_at, until_zero,
};
use crate::medium::Fetch;
use crate::memory::Memory;
use crate::volume::Spiffs;

/// How a scan goes on.
pub(crate) enum Step {
    Next,
    /// The visitor used the buffer of the lookup: it is loaded again.
    Reload,
    Stop,
}

/// Whether an entry is of a page in use.
pub(crate) fn is_used(id: ObjectId) -> bool {
    id != FREE_ID && id != DELETED_ID
}

/// Whether an entry is of a part of an index.
pub(crate) fn is_index(id: ObjectId) -> bool {
    is_used(id) && id & INDEX_ID != 0
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Reads a page of a block's lookup.
    pub(crate) fn load_lookup(&mut self, place: Place) -> Result<(), Error<F::Error>> {
        let layout = &self.medium.layout;
        let page = u32::from(place.entry / layout.entries_per_page);
        let address = layout.block_address(place.block) + page * layout.page_bytes;
        self.medium.read(Fetch::Page, address, &mut self.lookup)
    }

    /// The entry of a loaded lookup page.
    pub(crate) fn loaded_entry(&self, place: Place) -> ObjectId {
        u16_at(&self.lookup, usize::from(place.entry % self.medium.layout.entries_per_page) * 2)
    }

    /// Visits the entries whose id is wanted, from a place on, and around to the block that it began in, whole; or,
    /// without `wrap`, to the end of the volume. Tells where it stopped.
    pub(crate) fn scan(
        &mut self,
        from: Place,
        wrap: bool,
        wanted: impl Fn(ObjectId) -> bool,
        mut visit: impl FnMut(&mut Self, ObjectId, Place) -> Result<Step, Error<F::Error>>,
    ) -> Result<Option<Place>, Error<F::Error>> {
        let layout = self.medium.layout;
        let mut at = from;
        if at.entry >= layout.entries_per_block {
            at = Place { block: at.block + 1, entry: 0 };
        }
        if at.block >= layout.blocks {
            if !wrap {
                return Ok(None);
            }
            at.block = 0;
        }
        let mut left = i32::from(layout.blocks) * i32::from(layout.entries_per_block);
        while left > 0 {
            while at.entry < layout.entries_per_block {
                self.load_lookup(at)?;
                let first = at.entry - at.entry % layout.entries_per_page;
                let end = layout.entries_per_block.min(first.saturating_add(layout.entries_per_page));
                while at.entry < end {
                    let from = usize::from(at.entry - first) * 2;
                    let entries = self.lookup.get(from..usize::from(end - first) * 2).unwrap_or_default();
                    let (entries, _) = entries.as_chunks();
                    let found = entries.iter().position(|entry| wanted(u16::from_le_bytes(*entry)));
                    // No more than a block's entries.
                    let skipped = found.map_or(end - at.entry, |skipped| skipped as u16);
                    at.entry += skipped;
                    left -= i32::from(skipped);
                    if found.is_some() {
                        let id = self.loaded_entry(at);
                        match visit(self, id, at)? {
                            Step::Next => {}
                            Step::Reload => self.load_lookup(at)?,
                            Step::Stop => return Ok(Some(at)),
                        }
                        at.entry += 1;
                        left -= 1;
                    }
                }
            }
            at = Place { block: at.block + 1, entry: 0 };
            if at.block >= layout.blocks {
                if !wrap {
                    return Ok(None);
                }
                at.block = 0;
            }
        }
        Ok(None)
    }

    /// A living page by its object and span.
    pub(crate) fn find_page(
        &mut self,
        object: ObjectId,
        span: Span,
        excluding: Option<PageIndex>,
    ) -> Result<PageIndex, Error<F::Error>> {
        let found = self.scan(
            self.cursor,
            true,
            |entry| entry == object,
            |volume, _, place| volume.is_page(object, span, excluding, place),
        )?;
        self.found(found)
    }

    /// As [`Self::find_page`], but by the headers of pages alone, whatever the lookup says.
    pub(crate) fn find_page_by_header(&mut self, object: ObjectId, span: Span) -> Result<PageIndex, Error<F::Error>> {
        let found =
            self.scan(self.cursor, true, |_| true, |volume, _, place| volume.is_page(object, span, None, place))?;
        self.found(found)
    }

    /// Lets the next search begin where this one ended.
    fn found(&mut self, place: Option<Place>) -> Result<PageIndex, Error<F::Error>> {
        self.cursor = place.ok_or(Error::NotFound)?;
        Ok(self.medium.layout.page_of(self.cursor))
    }

    fn is_page(
        &mut self,
        object: ObjectId,
        span: Span,
        excluding: Option<PageIndex>,
        place: Place,
    ) -> Result<Step, Error<F::Error>> {
        let page = self.medium.layout.page_of(place);
        let header = self.medium.header(Fetch::Page, page)?;
        let removed = object & INDEX_ID != 0 && header.flags & flag::REMOVED == 0 && span == 0;
        let is = header.object == object
            && header.span == span
            && header.is(flag::FINAL | flag::DELETED | flag::USED, flag::DELETED)
            && !removed
            && excluding != Some(page);
        Ok(if is { Step::Stop } else { Step::Next })
    }

    /// Reads the start of a page that may be an object index header, for a scan.
    pub(crate) fn glance(&mut self, place: Place) -> Result<PageHeader, Error<F::Error>> {
        let address = self.medium.layout.page_address(self.medium.layout.page_of(place));
        self.medium.read(Fetch::Part, address, &mut self.header)?;
        Ok(PageHeader::of(&self.header))
    }

    /// The name in the header that was read last.
    pub(crate) fn glanced_name(&self) -> &[u8] {
        let end = NAME_AT + usize::from(self.config.name_bytes);
        until_zero(self.header.get(NAME_AT..end).unwrap_or_default())
    }

    /// The page of the header of a file.
    pub(crate) fn find_name(&mut self, name: &[u8]) -> Result<PageIndex, Error<F::Error>> {
        let found = self.scan(self.cursor, true, is_index, |volume, _, place| {
            let is = volume.glance(place)?.is_object() && volume.glanced_name() == name;
            Ok(if is { Step::Stop } else { Step::Next })
        })?;
        self.found(found)
    }
}
