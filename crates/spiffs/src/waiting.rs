//! Writes of less than a page, which wait in the cache until something needs them stored.

use crate::cache::Waiting;
use crate::descriptors::OpenFlags;
use crate::error::Error;
use crate::flash::Flash;
use crate::memory::Memory;
use crate::pages::Source;
use crate::volume::Spiffs;

impl<F: Flash, M: Memory> Spiffs<F, M> {
    pub(crate) fn caches_writes(&self) -> bool {
        self.config.write_cache && !self.medium.cache.is_off()
    }

    /// Where a write goes.
    pub(crate) fn write_offset(&mut self, fd: usize) -> u32 {
        let caching = self.caches_writes();
        let file = &mut self.files[fd];
        if caching && file.waiting.is_none() {
            // Another descriptor of the same file may have writes waiting.
            file.waiting = self.medium.cache.find_writes(file.object);
        }
        if file.flags.contains(OpenFlags::APPEND) {
            let size = file.end();
            let waiting = file.waiting.and_then(|slot| self.medium.cache.waiting(slot));
            // The C code leaves out of the position what waits for another descriptor, though it writes behind it.
            file.position = waiting.map_or(size, |waiting| size.max(waiting.end()));
        }
        file.position
    }

    /// Lets a write wait in the cache, if there is room for it.
    pub(crate) fn wait(&mut self, fd: usize, offset: u32, data: &[u8]) -> Result<bool, Error<F::Error>> {
        let bytes = data.len() as u32;
        let page = self.config.page_bytes;
        let fits = |waiting: Waiting| {
            offset >= waiting.offset
                && offset <= waiting.end()
                && u64::from(offset) + u64::from(bytes) <= u64::from(waiting.offset) + u64::from(page)
        };
        let mut slot = self.files[fd].waiting;
        let mut waiting = slot.and_then(|slot| self.medium.cache.waiting(slot)).filter(|waiting| fits(*waiting));
        if waiting.is_none() {
            self.store_waiting(fd)?;
            let file = &mut self.files[fd];
            slot = self.medium.cache.take_for_writes(file.object);
            file.waiting = slot;
            waiting = slot.map(|_| Waiting { offset, bytes: 0 });
        }
        let (Some(slot), Some(waiting)) = (slot, waiting) else { return Ok(false) };
        let from = offset - waiting.offset;
        crate::layout::put(self.medium.cache.page_mut(slot), from as usize, data);
        self.medium.cache.set_waiting(slot, Waiting { bytes: waiting.bytes.max(from + bytes), ..waiting });
        Ok(true)
    }

    /// Stores the writes that wait for a descriptor.
    pub(crate) fn store_waiting(&mut self, fd: usize) -> Result<(), Error<F::Error>> {
        let Some(slot) = self.files[fd].waiting else { return Ok(()) };
        let Some(waiting) = self.medium.cache.waiting(slot) else { return Ok(()) };
        let stored = self.write_content(fd, waiting.offset, Source::Waiting(slot, waiting.bytes));
        self.release(slot);
        if stored.is_err() {
            // It is lost, and whoever wrote it may have another descriptor.
            let (object, end) = (self.files[fd].object, self.files[fd].end());
            let lost = self.files[fd].lost;
            for file in self.files.of_object(object).filter(|file| file.open) {
                file.lost = true;
            }
            self.files[fd].lost = lost;
            self.clamp_positions(object, end);
        }
        stored
    }

    /// Stores the writes that wait for a descriptor's file (`spiffs_fflush_cache`). The C code passes over descriptors
    /// with [`OpenFlags::DIRECT`], which then do not see what others wrote.
    pub(crate) fn flush_descriptor(&mut self, fd: usize) -> Result<(), Error<F::Error>> {
        if !self.caches_writes() {
            return Ok(());
        }
        if self.files[fd].waiting.is_none() {
            self.files[fd].waiting = self.medium.cache.find_writes(self.files[fd].object);
        }
        self.store_waiting(fd)
    }

    /// As [`Self::flush_descriptor`], but an error is kept for the next flush or close.
    pub(crate) fn store_waiting_quietly(&mut self, fd: usize) {
        if self.flush_descriptor(fd).is_err() {
            self.files[fd].lost = true;
        }
    }

    /// [`Spiffs::flush`] by the descriptor.
    pub(crate) fn flush_slot(&mut self, fd: usize) -> Result<(), Error<F::Error>> {
        self.flush_descriptor(fd)?;
        if core::mem::take(&mut self.files[fd].lost) { Err(Error::DataLost) } else { Ok(()) }
    }
}
