//! Consistency check and repair (`spiffs_check.c`), in three passes: the lookup against the headers of pages, parts of
//! indexes whose header is missing, and which page is listed by which index.

mod indexes;
mod lookup;
mod pages;

use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{INDEX_ID, NO_PAGE, ObjectId, PageHeader, PageIndex, Span, flag, put};
use crate::medium::{Fetch, Store};
use crate::memory::Memory;
use crate::volume::{Spare, Spiffs};

/// A pass of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// Lookup entries against headers of pages.
    Lookup,
    /// Parts of indexes against their object's header.
    Indexes,
    /// Pages against the indexes that list them.
    Pages,
}

/// What a check found, and did about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finding {
    /// Nothing yet; so much of the pass is done, in 1/256.
    Progress(u32),
    /// The pass was given up; what the other passes can do is done.
    GivenUp,
    /// A part of an object's index was written again.
    FixedIndex {
        /// The object.
        object: u16,
        /// Which part, or which data page.
        span: u16,
    },
    /// A page was written again, as its lookup entry was wrong.
    FixedLookup {
        /// The object.
        object: u16,
        /// Which part, or which data page.
        span: u16,
    },
    /// A part of an index was deleted: its header was missing, or it was there twice.
    DeletedIndex {
        /// The page.
        page: u16,
        /// The object.
        object: u16,
    },
    /// A page was deleted.
    DeletedPage {
        /// The page.
        page: u16,
    },
    /// A file that cannot be mended was deleted.
    DeletedFile {
        /// The object.
        object: u16,
    },
}

/// Where a check tells what it finds.
pub(crate) type Report<'r> = &'r mut dyn FnMut(Pass, Finding);

/// Whether a part of an index could be written again.
#[derive(PartialEq, Eq)]
enum Rewritten {
    Done,
    /// The page is not the part that it should be (`SPIFFS_ERR_CHECK_...`).
    Mismatch,
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Checks the whole volume, and mends what it can; what it cannot mend it deletes. Open files should be closed
    /// before.
    ///
    /// All three passes are made, also if one fails. What a pass mends may need a second check to be found sound.
    ///
    /// # Errors
    /// The first pass's that failed: [`Error::Full`] (no room to write a page again),
    /// [`Error::Corrupt`], [`Error::Flash`].
    pub fn check(&mut self, mut report: impl FnMut(Pass, Finding)) -> Result<(), Error<F::Error>> {
        let report: Report<'_> = &mut report;
        // Pages that the lookup has as deleted are looked at in the first pass.
        self.spare = Spare::Used;
        let lookup = self.pass(Pass::Lookup, report, Self::check_lookup);
        self.spare = Spare::Last;
        let indexes = self.pass(Pass::Indexes, report, Self::check_indexes);
        let pages = self.pass(Pass::Pages, report, Self::check_pages);
        self.spare = Spare::Kept;
        self.take_stock()?;
        lookup.and(indexes).and(pages)
    }

    fn pass(
        &mut self,
        pass: Pass,
        report: Report<'_>,
        run: impl FnOnce(&mut Self, Report<'_>) -> Result<(), Error<F::Error>>,
    ) -> Result<(), Error<F::Error>> {
        report(pass, Finding::Progress(0));
        let result = run(self, report);
        if result.is_err() {
            report(pass, Finding::GivenUp);
        }
        report(pass, Finding::Progress(256));
        result
    }

    /// A page, if there is one of the object and span.
    fn look_for(
        &mut self,
        object: ObjectId,
        span: Span,
        excluding: Option<PageIndex>,
    ) -> Result<Option<PageIndex>, Error<F::Error>> {
        match self.find_page(object, span, excluding) {
            Ok(page) => Ok(Some(page)),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The page that an object's index lists as a data page, and the page of that part of the index; nothing if there is
    /// no such part. Uses the buffer of the lookup.
    fn reference(&mut self, object: ObjectId, data: Span) -> Result<Option<(PageIndex, PageIndex)>, Error<F::Error>> {
        let layout = self.medium.layout;
        let Some(index) = self.look_for(object | INDEX_ID, layout.index_span_of(data), None)? else { return Ok(None) };
        let address = layout.page_address(index) + layout.table_at(data) as u32;
        Ok(Some((self.medium.read_u16(Fetch::Part, address)?, index)))
    }

    /// Writes a page's data again, under another header.
    fn rewrite(&mut self, page: PageIndex, header: PageHeader) -> Result<PageIndex, Error<F::Error>> {
        let layout = self.medium.layout;
        let new = self.allocate(header, None, false)?;
        self.copy_data(layout.data_address(new), layout.data_address(page), layout.data_bytes)?;
        Ok(new)
    }

    /// Writes a part of an index again, with one entry changed. Uses the buffer of the lookup.
    fn rewrite_index(
        &mut self,
        object: ObjectId,
        data: Span,
        page: PageIndex,
        index: PageIndex,
    ) -> Result<Rewritten, Error<F::Error>> {
        let layout = self.medium.layout;
        let object = object | INDEX_ID;
        let place = self.take_free()?;
        let new = layout.page_of(place);
        self.medium.read(Fetch::Part, layout.page_address(index), &mut self.lookup)?;
        let header = PageHeader::of(&self.lookup);
        let living = header
            .is(flag::USED | flag::REMOVED | flag::INDEX | flag::FINAL | flag::DELETED, flag::REMOVED | flag::DELETED);
        if header.object != object || header.span != layout.index_span_of(data) || !living {
            // The C code leaves it at that if this fails, too.
            let _ = self.delete(new);
            return Ok(Rewritten::Mismatch);
        }
        put(&mut self.lookup, layout.table_at(data), &page.to_le_bytes());
        self.medium.write(Store::Update, layout.page_address(new), &self.lookup)?;
        self.medium.write_entry(place, object)?;
        self.delete(index)?;
        Ok(Rewritten::Done)
    }

    /// Lists a page in a part of an index that is rewritten; or, where that part is none, deletes the file.
    fn relist(
        &mut self,
        pass: Pass,
        object: ObjectId,
        data: Span,
        page: PageIndex,
        index: PageIndex,
        report: Report<'_>,
    ) -> Result<Rewritten, Error<F::Error>> {
        let done = self.rewrite_index(object, data, page, index)?;
        let object = object & !INDEX_ID;
        if done == Rewritten::Done {
            report(pass, Finding::FixedIndex { object, span: data });
        } else {
            report(pass, Finding::DeletedFile { object });
        }
        Ok(done)
    }

    /// Deletes a file by marking its header.
    fn delete_lazily(&mut self, object: ObjectId) -> Result<(), Error<F::Error>> {
        match self.look_for(object | INDEX_ID, 0, None)? {
            Some(header) => self.medium.write_flags(Store::Update, header, !flag::REMOVED),
            None => Ok(()),
        }
    }

    /// Whether a page can hold anything of an object.
    pub(crate) fn is_possible(&self, page: PageIndex) -> bool {
        page != NO_PAGE && page < self.medium.layout.pages && !self.medium.layout.is_lookup(page)
    }
}
