//! The first pass: lookup entries against the headers of their pages.

use crate::check::{Finding, Pass, Report, Rewritten};
use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{DELETED_ID, FREE_ID, INDEX_ID, ObjectId, PageHeader, PageIndex, Place, flag};
use crate::medium::{Fetch, Store};
use crate::memory::Memory;
use crate::scan::{Step, is_used};
use crate::volume::Spiffs;

/// A lookup entry and the page that it is of.
#[derive(Clone, Copy)]
struct Entry {
    id: ObjectId,
    page: PageIndex,
    header: PageHeader,
}

/// What becomes of a page.
struct Verdict {
    delete: bool,
    step: Step,
}

impl Verdict {
    const KEEP: Self = Self { delete: false, step: Step::Next };
    const DELETE: Self = Self { delete: true, step: Step::Next };
    const DELETE_RELOAD: Self = Self { delete: true, step: Step::Reload };
}

const LIVING_INDEX: u8 = !(flag::USED | flag::FINAL | flag::INDEX);
const LIVING_DATA: u8 = !(flag::USED | flag::FINAL);

impl<F: Flash, M: Memory> Spiffs<F, M> {
    pub(super) fn check_lookup(&mut self, report: Report<'_>) -> Result<(), Error<F::Error>> {
        self.scan(
            Place::default(),
            true,
            |_| true,
            |volume, id, place| {
                let done = u32::from(place.block) * 256 / u32::from(volume.medium.layout.blocks);
                report(Pass::Lookup, Finding::Progress(done));
                let page = volume.medium.layout.page_of(place);
                let header = volume.medium.header(Fetch::Part, page)?;
                let verdict = volume.judge(Entry { id, page, header }, report)?;
                if verdict.delete {
                    report(Pass::Lookup, Finding::DeletedPage { page });
                    volume.delete(page)?;
                }
                Ok(verdict.step)
            },
        )?;
        Ok(())
    }

    fn judge(&mut self, entry: Entry, report: Report<'_>) -> Result<Verdict, Error<F::Error>> {
        let Entry { id, header, .. } = entry;
        if (id == DELETED_ID && header.flags & flag::DELETED != 0) || (id == FREE_ID && header.flags & flag::USED == 0)
        {
            self.judge_unlisted(entry, report)
        } else if !is_used(id) {
            Ok(Verdict::KEEP)
        } else if header.object | INDEX_ID != id | INDEX_ID {
            self.judge_other_object(entry, report)
        } else if (id & INDEX_ID != 0) == (header.flags & flag::INDEX != 0) {
            self.judge_other_kind(entry, report)
        } else if header.flags & flag::DELETED == 0 {
            Ok(Verdict::DELETE)
        } else if header.flags & flag::FINAL != 0 {
            self.judge_unfinished(entry, report)
        } else {
            Ok(Verdict::KEEP)
        }
    }

    /// In use by its header, free or deleted by the lookup: it is written again, if it is needed.
    fn judge_unlisted(&mut self, entry: Entry, report: Report<'_>) -> Result<Verdict, Error<F::Error>> {
        let Entry { page, header, .. } = entry;
        if header.flags & flag::INDEX != 0 {
            self.save_data(entry, report)?;
            return Ok(Verdict::DELETE_RELOAD);
        }
        // A part of an index is needed if there is no other like it, and data.
        let object = header.object | INDEX_ID;
        if self.look_for(object, header.span, Some(page))?.is_none() {
            match self.find_page_by_header(object, 0) {
                Ok(_) => {
                    self.rewrite(page, header)?;
                    report(Pass::Lookup, Finding::FixedLookup { object: header.object & !INDEX_ID, span: header.span });
                }
                Err(Error::Flash(error)) => return Err(Error::Flash(error)),
                Err(_) => {}
            }
        }
        Ok(Verdict::DELETE_RELOAD)
    }

    /// Writes a data page again, if its object's index lists it.
    fn save_data(&mut self, entry: Entry, report: Report<'_>) -> Result<(), Error<F::Error>> {
        let Entry { page, header, .. } = entry;
        let Some((listed, index)) = self.reference(header.object, header.span)? else { return Ok(()) };
        // A copy that garbage collection made is found by the third pass.
        if listed != page || self.look_for(header.object & !INDEX_ID, header.span, Some(page))?.is_some() {
            return Ok(());
        }
        let new = self.rewrite(page, header)?;
        if self.relist(Pass::Lookup, header.object, header.span, new, index, report)? == Rewritten::Mismatch {
            self.delete(new)?;
            self.delete_lazily(header.object)?;
        }
        Ok(())
    }

    /// The lookup has it as another object's than the header.
    fn judge_other_object(&mut self, entry: Entry, report: Report<'_>) -> Result<Verdict, Error<F::Error>> {
        let Entry { id, page, header } = entry;
        let unfinished = header.flags & flag::DELETED == 0
            || header.flags & flag::FINAL != 0
            || header.flags & (flag::INDEX | flag::REMOVED) == 0;
        if unfinished {
            return Ok(Verdict::DELETE);
        }
        if header.flags & flag::INDEX != 0 {
            self.save_data(entry, report)?;
            return Ok(Verdict::DELETE_RELOAD);
        }
        // A part of an index: is there another one of either object, and which object has data without an index?
        let mut index_by_lookup = self.look_for(id | INDEX_ID, header.span, None)?;
        let mut index_by_header = self.look_for(header.object | INDEX_ID, header.span, None)?;
        if index_by_header.is_some() && index_by_lookup.is_some() {
            return Ok(Verdict::DELETE_RELOAD);
        }
        let data_by_lookup = self.look_for(id & !INDEX_ID, 0, None)?;
        if data_by_lookup.is_none() {
            index_by_lookup = None;
        }
        let data_by_header = self.look_for(header.object & !INDEX_ID, 0, None)?;
        if data_by_header.is_none() {
            index_by_header = None;
        }
        let by_header = data_by_header.is_some() && index_by_header.is_none();
        let by_lookup = data_by_lookup.is_some() && index_by_lookup.is_none();
        let object = if by_header && (index_by_lookup.is_none() || data_by_lookup.is_some()) {
            header.object
        } else if by_lookup && (index_by_header.is_none() || data_by_header.is_some()) {
            id
        } else {
            return Ok(Verdict::DELETE_RELOAD);
        };
        report(Pass::Lookup, Finding::FixedLookup { object: header.object & !INDEX_ID, span: header.span });
        self.rewrite(page, PageHeader { object: object | INDEX_ID, span: header.span, flags: LIVING_INDEX })?;
        Ok(Verdict::DELETE_RELOAD)
    }

    /// The lookup has it as index, the header as data, or the other way round: it becomes what is missing.
    fn judge_other_kind(&mut self, entry: Entry, report: Report<'_>) -> Result<Verdict, Error<F::Error>> {
        let Entry { id, page, header } = entry;
        let data = self.look_for(id & !INDEX_ID, header.span, Some(page))?;
        let index = self.look_for(id | INDEX_ID, header.span, Some(page))?;
        let (object, flags, finding) = match (data, index) {
            (Some(_), None) => {
                (id | INDEX_ID, LIVING_INDEX, Finding::FixedIndex { object: id & !INDEX_ID, span: header.span })
            }
            (None, Some(_)) => {
                (id & !INDEX_ID, LIVING_DATA, Finding::FixedLookup { object: id & !INDEX_ID, span: header.span })
            }
            // Neither is missing, or it cannot be told which.
            _ => return Ok(Verdict::DELETE_RELOAD),
        };
        report(Pass::Lookup, finding);
        self.rewrite(page, PageHeader { object, span: header.span, flags })?;
        Ok(Verdict::DELETE_RELOAD)
    }

    /// Not written completely: it is kept, and marked as final, if its object's index lists it.
    fn judge_unfinished(&mut self, entry: Entry, report: Report<'_>) -> Result<Verdict, Error<F::Error>> {
        let Entry { id, page, header } = entry;
        match self.reference(id, header.span)? {
            Some((listed, _)) if listed == page => {
                report(Pass::Lookup, Finding::FixedLookup { object: header.object & !INDEX_ID, span: header.span });
                self.medium.write_flags(Store::Update, page, !flag::FINAL)?;
                Ok(Verdict { delete: false, step: Step::Reload })
            }
            _ => Ok(Verdict::DELETE_RELOAD),
        }
    }
}
