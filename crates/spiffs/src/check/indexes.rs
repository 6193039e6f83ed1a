//! The second pass: parts of indexes whose header is missing, and headers whose file was being removed.
//!
//! The C code passes over the parts that are as they should be but for the missing header, and so leaves them and the
//! data that they list where they are.

use crate::check::{Finding, Pass, Report};
use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{INDEX_ID, NO_PAGE, ObjectId, PageHeader, PageIndex, Place, flag, put, u16_at};
use crate::medium::Fetch;
use crate::memory::Memory;
use crate::scan::{Step, is_index};
use crate::volume::Spiffs;

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// The work buffer remembers objects, [`INDEX_ID`] marking those that were not found; the oldest are overwritten.
    pub(super) fn check_indexes(&mut self, report: Report<'_>) -> Result<(), Error<F::Error>> {
        self.work.fill(0);
        let mut next = 0;
        self.scan(
            Place::default(),
            true,
            |_| true,
            |volume, id, place| {
                let done = u32::from(place.block) * 256 / u32::from(volume.medium.layout.blocks);
                report(Pass::Indexes, Finding::Progress(done));
                if is_index(id) { volume.check_part(id, place, &mut next, report) } else { Ok(Step::Next) }
            },
        )?;
        Ok(())
    }

    fn check_part(
        &mut self,
        id: ObjectId,
        place: Place,
        next: &mut usize,
        report: Report<'_>,
    ) -> Result<Step, Error<F::Error>> {
        let page = self.medium.layout.page_of(place);
        let header: PageHeader = self.medium.header(Fetch::Part, page)?;
        let flags = flag::INDEX | flag::FINAL | flag::DELETED | flag::REMOVED;
        if header.span == 0 && header.is(flags, flag::DELETED) {
            // The file's removal was interrupted.
            report(Pass::Indexes, Finding::DeletedPage { page });
            self.delete(page)?;
            return Ok(Step::Next);
        }
        let object = id & !INDEX_ID;
        let known = self.remembered(object);
        if header.span == 0 {
            if known.is_none() {
                self.remember(object, next);
                return Ok(Step::Next);
            }
            if let Some(other) = self.look_for(id, 0, Some(page))? {
                let stale = self.stale_of(page, other)?;
                report(Pass::Indexes, Finding::DeletedIndex { page: stale, object });
                self.delete(stale)?;
            }
            return Ok(Step::Reload);
        }
        let (orphan, step) = match known {
            Some(known) => (known & INDEX_ID != 0, Step::Next),
            None => {
                let found = self.look_for(id, 0, None)?.is_some();
                self.remember(if found { object } else { id }, next);
                (!found, Step::Reload)
            }
        };
        if orphan {
            report(Pass::Indexes, Finding::DeletedIndex { page, object });
            self.delete(page)?;
        }
        Ok(step)
    }

    /// Of two headers of an object, whose change was interrupted, the one that can go: it lists pages that are not what
    /// they should be, or else less.
    fn stale_of(&mut self, one: PageIndex, other: PageIndex) -> Result<PageIndex, Error<F::Error>> {
        let (one_listed, other_listed) = (self.sound_pages(one)?, self.sound_pages(other)?);
        Ok(if one_listed > other_listed { other } else { one })
    }

    /// How many pages a header lists; nothing if one of them is not what it should be. Uses the buffer of the lookup.
    fn sound_pages(&mut self, page: PageIndex) -> Result<Option<u16>, Error<F::Error>> {
        let layout = self.medium.layout;
        self.medium.read(Fetch::Part, layout.page_address(page), &mut self.lookup)?;
        let object = PageHeader::of(&self.lookup).object & !INDEX_ID;
        let mut listed = 0;
        for span in 0..layout.header_entries {
            let data = u16_at(&self.lookup, layout.table_at(span));
            if data == NO_PAGE {
                continue;
            }
            if !self.is_possible(data) {
                return Ok(None);
            }
            let header = self.medium.header(Fetch::Part, data)?;
            let living = header.is(flag::DELETED | flag::INDEX | flag::USED, flag::DELETED | flag::INDEX);
            if header.object != object || header.span != span || !living {
                return Ok(None);
            }
            listed += 1;
        }
        Ok(Some(listed))
    }

    fn remembered(&self, object: ObjectId) -> Option<ObjectId> {
        let entries = (0..self.work.len() / 2).map(|entry| u16_at(&self.work, entry * 2));
        entries.into_iter().find(|entry| entry & !INDEX_ID == object)
    }

    fn remember(&mut self, entry: ObjectId, next: &mut usize) {
        put(&mut self.work, *next * 2, &entry.to_le_bytes());
        *next = (*next + 1) % (self.work.len() / 2);
    }
}
