//! Ids for new files (`spiffs_obj_lu_find_free_obj_id`).

use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{FREE_ID, INDEX_ID, ObjectId, flag};
use crate::memory::Memory;
use crate::scan::{Step, is_index, is_used};
use crate::volume::Spiffs;

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// The lowest id that no file has, or one of a range in which no file is. On the way, a name that must be new can be
    /// looked for.
    ///
    /// A page of RAM is a map of 8 ids a byte. Where there can be more ids than that, it first counts how many files
    /// there are in each of as many ranges as a page has bytes; that reads the header of every file.
    pub(crate) fn free_id(&mut self, new_name: Option<&[u8]>) -> Result<ObjectId, Error<F::Error>> {
        let layout = self.medium.layout;
        let mapped = layout.page_bytes * 8;
        let most = u32::from(layout.blocks) * u32::from(layout.entries_per_block) / 2;
        let (mut low, mut high) = (1, (most + 1).min(u32::from(!INDEX_ID)));
        let mut new_name = new_name;
        let mut range = 0;
        while high - low > mapped {
            if range != 0 {
                // The first range without a file, or the one with the fewest.
                let counts = self.work.iter().copied().enumerate();
                let (first, count) = counts.min_by_key(|(_, count)| *count).unwrap_or_default();
                let start = low + first as u32 * range;
                if count == 0 {
                    return ObjectId::try_from(start).map_err(|_| Error::Full);
                }
                if u32::from(count) == range {
                    return Err(Error::Full);
                }
                (low, high) = (start, start + range);
                if high - low <= mapped {
                    break;
                }
            }
            range = (high - low) / layout.page_bytes;
            self.count_ids(low, high, range, new_name.take())?;
        }
        self.map_ids(low, new_name)?;
        let byte = self.work.iter().position(|byte| *byte != 0xff).ok_or(Error::Full)?;
        let bit = self.work.get(byte).copied().unwrap_or(0xff).trailing_ones();
        let id = low + byte as u32 * 8 + bit;
        // The highest number, with the index's bit, stands for a free page.
        ObjectId::try_from(id).ok().filter(|id| *id < !INDEX_ID).ok_or(Error::Full)
    }

    /// Marks the ids that are taken, from `low` on.
    fn map_ids(&mut self, low: u32, new_name: Option<&[u8]>) -> Result<(), Error<F::Error>> {
        self.work.fill(0);
        self.scan(Default::default(), true, is_used, |volume, id, place| {
            if let (Some(name), true) = (new_name, is_index(id))
                && volume.glance(place)?.is_object()
                && volume.glanced_name() == name
            {
                return Err(Error::NameTaken);
            }
            if let Some(bit) = u32::from(id & !INDEX_ID).checked_sub(low)
                && let Some(byte) = volume.work.get_mut(bit as usize / 8)
            {
                *byte |= 1 << (bit % 8);
            }
            Ok(Step::Next)
        })?;
        Ok(())
    }

    /// Counts the files in ranges of ids.
    fn count_ids(&mut self, low: u32, high: u32, range: u32, new_name: Option<&[u8]>) -> Result<(), Error<F::Error>> {
        self.work.fill(0);
        self.scan(
            Default::default(),
            true,
            |id| id != FREE_ID && is_index(id),
            |volume, id, place| {
                let header = volume.glance(place)?;
                if header.span == 0 && header.is(flag::INDEX | flag::FINAL | flag::DELETED, flag::DELETED) {
                    if new_name.is_some_and(|name| volume.glanced_name() == name) {
                        return Err(Error::NameTaken);
                    }
                    let id = u32::from(id & !INDEX_ID);
                    if (low..=high).contains(&id)
                        && let Some(count) = volume.work.get_mut(((id - low) / range) as usize)
                    {
                        *count = count.saturating_add(1);
                    }
                }
                Ok(Step::Next)
            },
        )?;
        Ok(())
    }
}
