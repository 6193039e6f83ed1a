//! Garbage collection (`spiffs_gc.c`): blocks are emptied of what is in use, and erased.

use crate::error::Error;
use crate::flash::Flash;
use crate::index::Change;
use crate::layout::{
    BlockIndex, DELETED_ID, FREE_ID, INDEX_ID, NO_PAGE, ObjectId, PageHeader, PageIndex, Place, Span, flag,
};
use crate::medium::Fetch;
use crate::memory::Memory;
use crate::pages::check_index;
use crate::scan::{is_index, is_used};
use crate::volume::Spiffs;

/// What a deleted page, a page in use, and an erase since the block's own count for its being collected
/// (`SPIFFS_GC_HEUR_W_DELET`, `_USED`, `_ERASE_AGE`).
const DELETED_WEIGHT: i32 = 5;
const USED_WEIGHT: i32 = -1;
const ERASE_AGE_WEIGHT: i32 = 50;

/// What a block's lookup says of its pages.
#[derive(Clone, Copy, Default)]
struct Pages {
    used: u32,
    deleted: u32,
    free: u32,
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Erases a block that has nothing but deleted pages, and at most `most_free` free ones (`SPIFFS_gc_quick`). What is
    /// in use is not touched.
    ///
    /// # Errors
    /// [`Error::NoDeletedBlocks`], [`Error::Flash`].
    pub fn erase_deleted(&mut self, most_free: u16) -> Result<(), Error<F::Error>> {
        let entries = u32::from(self.medium.layout.entries_per_block);
        let most_free = u32::from(most_free);
        for block in 0..self.medium.layout.blocks {
            let pages = self.count_pages(block, |pages| pages.used > 0 || pages.free > most_free)?;
            let erasable = pages.used == 0 && pages.free <= most_free && pages.deleted > 0;
            if erasable && pages.deleted + pages.free == entries {
                self.deleted_pages = self.deleted_pages.wrapping_sub(pages.deleted);
                return self.erase_collected(block);
            }
        }
        Err(Error::NoDeletedBlocks)
    }

    /// Collects garbage until there is room for `bytes`: blocks are emptied and erased, at most [`crate::Config::gc_runs`] of
    /// them (`SPIFFS_gc`). Nothing is done where more than three blocks are free and the room is there.
    ///
    /// # Errors
    /// [`Error::Full`]: there is not so much room, or not after so many blocks; what was collected is. [`Error::Flash`], and
    /// what a volume that contradicts itself leads to.
    pub fn collect_garbage(&mut self, bytes: u32) -> Result<(), Error<F::Error>> {
        let data_bytes = i64::from(self.medium.layout.data_bytes);
        let bytes = i64::from(bytes);
        let mut free = self.free_pages();
        if self.free_blocks > 3 && bytes < free * data_bytes {
            return Ok(());
        }
        if (bytes + data_bytes - 1) / data_bytes > free + i64::from(self.deleted_pages) {
            return Err(Error::Full);
        }
        for _ in 0..self.config.gc_runs {
            let before = free;
            // On a crammed volume the age of blocks does not matter.
            let block = self.candidate(free <= 0)?;
            self.gc_runs = self.gc_runs.wrapping_add(1);
            self.cleaning = Some(block);
            let cleaned = self.clean(block);
            self.cleaning = None;
            // Pages may have moved without the index that lists them.
            self.is_torn |= cleaned.is_err();
            cleaned?;
            let pages = self.count_pages(block, |_| false)?;
            self.allocated_pages = self.allocated_pages.wrapping_sub(pages.used);
            self.deleted_pages = self.deleted_pages.wrapping_sub(pages.deleted);
            self.erase_collected(block)?;
            free = self.free_pages();
            if before <= 0 && before == free {
                // Nothing gained: more of it would only wear the flash.
                break;
            }
            if self.free_blocks > 2 && bytes <= free * data_bytes {
                break;
            }
        }
        if bytes > free * data_bytes { Err(Error::Full) } else { Ok(()) }
    }

    /// Counts a block's pages, until `enough` is known.
    fn count_pages(&mut self, block: BlockIndex, enough: impl Fn(Pages) -> bool) -> Result<Pages, Error<F::Error>> {
        let layout = self.medium.layout;
        let mut pages = Pages::default();
        let mut at = Place { block, entry: 0 };
        while at.entry < layout.entries_per_block {
            self.load_lookup(at)?;
            let end = layout.entries_per_block.min(at.entry.saturating_add(layout.entries_per_page));
            let (entries, _) = self.lookup.as_chunks();
            for entry in entries.iter().take(usize::from(end - at.entry)) {
                match u16::from_le_bytes(*entry) {
                    FREE_ID => pages.free += 1,
                    DELETED_ID => pages.deleted += 1,
                    _ => pages.used += 1,
                }
                if enough(pages) {
                    return Ok(pages);
                }
            }
            at.entry = end;
        }
        Ok(pages)
    }

    /// Pages that can be taken, of those that are not kept for garbage collection; negative when these are in use.
    #[allow(clippy::cast_possible_wrap)] // the volume has at most 65535 pages
    fn free_pages(&self) -> i64 {
        let usable = self.medium.layout.usable_pages();
        i64::from(usable.wrapping_sub(self.allocated_pages).wrapping_sub(self.deleted_pages) as i32)
    }

    /// Makes room for a call that writes `bytes` and parts of indexes, and sees that its first page will not be refused.
    ///
    /// The C code makes room only. If that leaves too few free blocks it finds out in the middle, and the file is
    /// damaged: its index lists pages that are deleted, or that its size does not tell of.
    pub(crate) fn reserve(&mut self, bytes: u32) -> Result<(), Error<F::Error>> {
        self.collect_garbage(bytes)?;
        self.keep_spare_blocks()
    }

    /// Sees that there are two free blocks, which garbage collection needs.
    pub(crate) fn keep_spare_blocks(&mut self) -> Result<(), Error<F::Error>> {
        if self.free_blocks < 2 {
            match self.erase_deleted(0) {
                Ok(()) | Err(Error::NoDeletedBlocks) => {}
                Err(error) => return Err(error),
            }
            if self.free_blocks < 2 {
                return Err(Error::Full);
            }
        }
        Ok(())
    }

    /// The block that is collected best: the first of those with the highest score.
    fn candidate(&mut self, crammed: bool) -> Result<BlockIndex, Error<F::Error>> {
        let layout = self.medium.layout;
        let mut best: Option<(i32, BlockIndex)> = None;
        for block in 0..layout.blocks {
            // Behind a free page there are free ones only.
            let pages = self.count_pages(block, |pages| pages.free > 0)?;
            let count = self.medium.read_u16(Fetch::Part, layout.erase_count_address(block))?;
            let next = self.next_erase_count;
            let age = if next > count { next - count } else { FREE_ID - (count - next) };
            let age_weight = if crammed { 0 } else { ERASE_AGE_WEIGHT };
            // No block has more than 65535 pages.
            let score =
                pages.deleted as i32 * DELETED_WEIGHT + pages.used as i32 * USED_WEIGHT + i32::from(age) * age_weight;
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, block));
            }
        }
        best.map(|(_, block)| block).ok_or(Error::Corrupt)
    }

    /// Erases a block, and forgets what the cache holds of it.
    fn erase_collected(&mut self, block: BlockIndex) -> Result<(), Error<F::Error>> {
        self.erase_block(block)?;
        if !self.medium.cache.is_off() {
            let pages = self.medium.layout.pages_per_block;
            for page in 0..pages {
                self.medium.cache.drop_page(block * pages + page);
            }
        }
        Ok(())
    }

    /// Moves everything in use out of a block (`spiffs_gc_clean`): for each data page found, all data pages that the same
    /// part of an index lists, and then that part; at the end the parts of indexes that are in the block.
    fn clean(&mut self, block: BlockIndex) -> Result<(), Error<F::Error>> {
        if self.free_cursor.block == block {
            self.free_cursor = Place { block: (block + 1) % self.medium.layout.blocks, entry: 0 };
        }
        let mut from = 0;
        while let Some((object, entry)) = self.find_data_in(block, from)? {
            from = entry + 1;
            self.clean_object(Place { block, entry }, object)?;
        }
        self.clean_indexes(block)
    }

    /// The next data page of a block.
    fn find_data_in(&mut self, block: BlockIndex, from: u16) -> Result<Option<(ObjectId, u16)>, Error<F::Error>> {
        let mut found = None;
        self.visit_block(block, from, |_, id, entry| {
            if is_used(id) && id & INDEX_ID == 0 {
                found = Some((id, entry));
            }
            Ok(if found.is_some() { Visit::Stop } else { Visit::Next })
        })?;
        Ok(found)
    }

    /// Moves the data pages out of a block that the same part of an index lists as the page at `place`.
    fn clean_object(&mut self, place: Place, object: ObjectId) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        let page = layout.page_of(place);
        let span = self.medium.header(Fetch::Part, page)?.span;
        let index_span = layout.index_span_of(span);
        let index = match self.find_page(object | INDEX_ID, index_span, None) {
            // No index lists it, so nothing is lost.
            Err(Error::NotFound) => return self.delete(page),
            found => found?,
        };
        self.medium.read(Fetch::Part, layout.page_address(index), &mut self.work)?;
        // A part of an index that is none must not be moved: much might be lost that a check can mend.
        check_index(PageHeader::of(&self.work), object | INDEX_ID, index_span)?;
        self.visit_block(place.block, 0, |volume, id, entry| {
            if id != object {
                return Ok(Visit::Next);
            }
            volume.clean_data(Place { entry, ..place }, object, index_span)
        })?;
        if index_span == 0 {
            self.replace_header(None, object, index, true, Change::default())?;
        } else {
            let new = self.move_work(object | INDEX_ID, index)?;
            self.index_moved(object, self.loaded_span(), new, None);
        }
        Ok(())
    }

    /// Moves a data page, if the loaded part of the index lists it.
    fn clean_data(&mut self, place: Place, object: ObjectId, index_span: Span) -> Result<Visit, Error<F::Error>> {
        let page = self.medium.layout.page_of(place);
        let header = self.medium.header(Fetch::Part, page)?;
        if self.medium.layout.index_span_of(header.span) != index_span {
            return Ok(Visit::Next);
        }
        let listed = self.listed(header.span);
        if header.flags & flag::DELETED == 0 {
            // Deleted, but not in the lookup; done with, in case that the erase does not come.
            self.delete(page)?;
            if listed == page {
                self.list(header.span, NO_PAGE);
            }
            return Ok(Visit::Next);
        }
        if listed != page && self.is_data(object, listed, header.span)? {
            // Left behind when the power went; the C code lists it instead of the page that is listed.
            self.delete(page)?;
            return Ok(Visit::Next);
        }
        let new = self.move_page(object, page)?;
        self.list(header.span, new);
        Ok(Visit::Reload)
    }

    /// Whether a page holds a data page of an object, complete and living.
    fn is_data(&mut self, object: ObjectId, page: PageIndex, span: Span) -> Result<bool, Error<F::Error>> {
        if !self.is_possible(page) {
            return Ok(false);
        }
        let header = self.medium.header(Fetch::Part, page)?;
        let flags = flag::DELETED | flag::INDEX | flag::USED | flag::FINAL;
        Ok(header.object == object && header.span == span && header.is(flags, flag::DELETED | flag::INDEX))
    }

    /// Moves the parts of indexes out of a block.
    fn clean_indexes(&mut self, block: BlockIndex) -> Result<(), Error<F::Error>> {
        self.visit_block(block, 0, |volume, id, entry| {
            if !is_index(id) {
                return Ok(Visit::Next);
            }
            let page = volume.medium.layout.page_of(Place { block, entry });
            let header = volume.medium.header(Fetch::Part, page)?;
            if header.flags & flag::DELETED == 0 {
                volume.delete(page)?;
                volume.index_deleted(id, header.span);
                return Ok(Visit::Next);
            }
            let new = volume.move_page(id, page)?;
            volume.index_moved(id, header.span, new, None);
            Ok(Visit::Reload)
        })
    }

    /// Visits all entries of a block from one on. A visitor that searches loads the lookup of another block into the
    /// buffer, and has it loaded again by [`Visit::Reload`].
    fn visit_block(
        &mut self,
        block: BlockIndex,
        from: u16,
        mut visit: impl FnMut(&mut Self, ObjectId, u16) -> Result<Visit, Error<F::Error>>,
    ) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        let mut at = Place { block, entry: from };
        // A page of the lookup is loaded also if no entry of it is left, as in the C code.
        for page in from / layout.entries_per_page..layout.lookup_pages {
            let end = layout.entries_per_block.min((page + 1).saturating_mul(layout.entries_per_page));
            let loaded = Place { block, entry: page * layout.entries_per_page };
            self.load_lookup(loaded)?;
            while at.entry < end {
                match visit(self, self.loaded_entry(at), at.entry)? {
                    Visit::Next => {}
                    Visit::Reload => self.load_lookup(loaded)?,
                    Visit::Stop => return Ok(()),
                }
                at.entry += 1;
            }
        }
        Ok(())
    }
}

/// How a visit of a block goes on.
enum Visit {
    Next,
    Reload,
    Stop,
}
