//! The third pass: which page is listed by which index.
//!
//! The work buffer holds four bits for each page of a range; the pass is made for one range after another. Where
//! something is mended, the range is begun again.

use crate::check::{Finding, Pass, Report, Rewritten};
use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{INDEX_BYTES, INDEX_ID, NO_PAGE, PageHeader, PageIndex, SIZE_AT, UNDEFINED_SIZE, flag, u16_at};
use crate::medium::Fetch;
use crate::memory::Memory;
use crate::volume::Spiffs;

/// What is known of a page.
mod known {
    pub const USED: u8 = 1;
    pub const LISTED: u8 = 2;
    pub const INDEX: u8 = 4;
}

/// A range of pages is begun again so often for each of its pages at most; each time something was mended. The C code
/// has no limit, and some images keep it busy for ever.
const MOST_RESTARTS_PER_PAGE: u32 = 1;

/// How the walk over a range goes on.
#[derive(PartialEq, Eq)]
enum Walk {
    On,
    /// The rest of this index is of no interest.
    Leave,
    /// Something was mended: begin the range again.
    Again,
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    pub(super) fn check_pages(&mut self, report: Report<'_>) -> Result<(), Error<F::Error>> {
        let pages = u32::from(self.medium.layout.pages);
        let mut from = 0;
        let mut restarts = pages * MOST_RESTARTS_PER_PAGE;
        while from < pages {
            if self.check_range(from, report)? == Walk::On {
                from += self.pages_per_range();
            } else {
                restarts = restarts.checked_sub(1).ok_or(Error::Corrupt)?;
            }
        }
        Ok(())
    }

    fn pages_per_range(&self) -> u32 {
        self.medium.layout.page_bytes * 2
    }

    /// Where a page's bits are in the work buffer, if it is in the range.
    fn bits_at(&self, from: u32, page: PageIndex) -> Option<(usize, u32)> {
        let offset = u32::from(page).checked_sub(from).filter(|offset| *offset < self.pages_per_range())?;
        Some((offset as usize / 2, offset % 2 * 4))
    }

    fn mark(&mut self, from: u32, page: PageIndex, what: u8) {
        if let Some((byte, shift)) = self.bits_at(from, page)
            && let Some(byte) = self.work.get_mut(byte)
        {
            *byte |= what << shift;
        }
    }

    fn marks(&self, from: u32, page: PageIndex) -> u8 {
        let Some((byte, shift)) = self.bits_at(from, page) else { return 0 };
        self.work.get(byte).map_or(0, |byte| byte >> shift & 7)
    }

    fn check_range(&mut self, from: u32, report: Report<'_>) -> Result<Walk, Error<F::Error>> {
        let layout = self.medium.layout;
        self.work.fill(0);
        for block in 0..layout.blocks {
            let all = u32::from(layout.pages);
            let range = self.pages_per_range().min(all - from);
            let done = (from + u32::from(block) * range / u32::from(layout.blocks)) * 256 / all;
            report(Pass::Pages, Finding::Progress(done));
            let first = block * layout.pages_per_block;
            for page in first + layout.lookup_pages..first + layout.pages_per_block {
                if self.survey(from, page, report)? == Walk::Again {
                    return Ok(Walk::Again);
                }
            }
        }
        for page in from..u32::from(layout.pages).min(from + self.pages_per_range()) {
            let page = page as PageIndex;
            if self.marks(from, page) == known::USED && self.check_unlisted(page, report)? == Walk::Again {
                return Ok(Walk::Again);
            }
        }
        Ok(Walk::On)
    }

    /// Marks a page, and the pages that it lists if it is a part of an index.
    fn survey(&mut self, from: u32, page: PageIndex, report: Report<'_>) -> Result<Walk, Error<F::Error>> {
        let layout = self.medium.layout;
        let header = self.medium.header(Fetch::Part, page)?;
        if header.is(flag::DELETED | flag::USED, flag::DELETED) {
            self.mark(from, page, known::USED);
        }
        if !header.is(flag::DELETED | flag::REMOVED | flag::INDEX | flag::USED, flag::DELETED | flag::REMOVED) {
            return Ok(Walk::On);
        }
        self.mark(from, page, known::INDEX);
        self.medium.read(Fetch::Part, layout.page_address(page), &mut self.lookup)?;
        let (table, entries) = if header.span == 0 {
            (usize::from(layout.header_bytes), layout.header_entries)
        } else {
            (INDEX_BYTES, layout.index_entries)
        };
        for entry in 0..entries {
            let listed = u16_at(&self.lookup, table + usize::from(entry) * 2);
            if listed == NO_PAGE {
                continue;
            }
            match self.check_listed(from, page, header, entry, listed, report)? {
                Walk::On => {}
                Walk::Leave => break,
                Walk::Again => return Ok(Walk::Again),
            }
        }
        Ok(Walk::On)
    }

    /// Checks a page that a part of an index lists.
    fn check_listed(
        &mut self,
        from: u32,
        index: PageIndex,
        header: PageHeader,
        entry: u16,
        listed: PageIndex,
        report: Report<'_>,
    ) -> Result<Walk, Error<F::Error>> {
        let layout = self.medium.layout;
        let data = layout.first_span_of(header.span).wrapping_add(entry);
        let in_range = self.bits_at(from, listed).is_some();
        let object = header.object & !INDEX_ID;
        if listed >= layout.pages || (in_range && layout.is_lookup(listed)) {
            // No page at all: the data is found elsewhere, or lost.
            let new = match self.look_for(object, data, None)? {
                Some(page) => page,
                None => {
                    let flags = !(flag::USED | flag::FINAL);
                    self.allocate(PageHeader { object, span: data, flags }, None, true)?
                }
            };
            if self.relist(Pass::Pages, header.object, data, new, index, report)? == Rewritten::Mismatch {
                self.delete(index)?;
            }
            return Ok(Walk::Again);
        }
        if !in_range {
            return Ok(Walk::On);
        }
        let other = self.medium.header(Fetch::Part, listed)?;
        let fits = other.object == object
            && other.span == data
            && other.is(flag::DELETED | flag::INDEX | flag::USED, flag::DELETED | flag::INDEX);
        if !fits {
            // Another page: the right one is found elsewhere, or the file is lost.
            let Some(right) = self.look_for(object, data, Some(listed))? else {
                report(Pass::Pages, Finding::DeletedFile { object });
                self.delete_lazily(header.object)?;
                return Ok(Walk::Leave);
            };
            if self.relist(Pass::Pages, header.object, data, right, index, report)? == Rewritten::Mismatch {
                self.delete_lazily(header.object)?;
            }
            return Ok(Walk::Again);
        }
        if self.marks(from, listed) & known::LISTED != 0 {
            // Twice listed, though all is as it should be. If this part of the index is there twice, as its moving was
            // interrupted, either will do; the C code deletes both, and the file. Else there are two files of the same
            // id.
            if self.look_for(header.object | INDEX_ID, header.span, Some(index))?.is_none() {
                report(Pass::Pages, Finding::DeletedFile { object });
                self.delete_lazily(header.object)?;
            }
            report(Pass::Pages, Finding::DeletedIndex { page: index, object });
            self.delete(index)?;
            return Ok(Walk::Again);
        }
        self.mark(from, listed, known::LISTED);
        Ok(Walk::On)
    }

    /// Checks a data page that no index lists.
    fn check_unlisted(&mut self, page: PageIndex, report: Report<'_>) -> Result<Walk, Error<F::Error>> {
        let header = self.medium.header(Fetch::Part, page)?;
        if let Some((listed, index)) = self.reference(header.object, header.span)? {
            if self.is_possible(listed) {
                let other = self.medium.header(Fetch::Part, listed)?;
                let flags = flag::INDEX | flag::DELETED | flag::USED | flag::FINAL;
                let fits = header.object & !INDEX_ID == other.object && other.is(flags, flag::INDEX | flag::DELETED);
                if !fits && listed == page {
                    return Ok(Walk::On);
                }
                if fits {
                    return self.delete_unlisted(page, report);
                }
            }
            // What lies behind the end of the file was being appended. The C code lists it, and the next append then
            // programs over its entry.
            if self.is_inside(header)? {
                if self.relist(Pass::Pages, header.object, header.span, page, index, report)? == Rewritten::Mismatch {
                    self.delete(page)?;
                    self.delete_lazily(header.object)?;
                }
                return Ok(Walk::Again);
            }
        }
        self.delete_unlisted(page, report)
    }

    /// Whether a data page is one of those that its file's size tells of.
    fn is_inside(&mut self, data: PageHeader) -> Result<bool, Error<F::Error>> {
        let layout = self.medium.layout;
        let Some(header) = self.look_for(data.object | INDEX_ID, 0, None)? else { return Ok(false) };
        let mut size = [0; 4];
        self.medium.read(Fetch::Part, layout.page_address(header) + SIZE_AT as u32, &mut size)?;
        let size = u32::from_le_bytes(size);
        Ok(size != UNDEFINED_SIZE && u32::from(data.span) * layout.data_bytes < size)
    }

    fn delete_unlisted(&mut self, page: PageIndex, report: Report<'_>) -> Result<Walk, Error<F::Error>> {
        report(Pass::Pages, Finding::DeletedPage { page });
        self.delete(page)?;
        Ok(Walk::On)
    }
}
