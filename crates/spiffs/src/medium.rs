//! Flash accesses, through the cache.

use core::ops::Range;

use crate::cache::Cache;
use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{Layout, PAGE_HEADER_BYTES, PageHeader, PageIndex, Place};
use crate::memory::Memory;

/// How a read uses the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetch {
    /// The whole page is read and stays.
    Page,
    /// Only what is asked for is read, if the page is not cached already: for scans, which would clear the cache
    /// (`SPIFFS_OP_T_OBJ_LU2`).
    Part,
}

/// How a write uses the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// A cached page is updated.
    Update,
    /// A cached page is dropped: it is being deleted.
    Drop,
    /// The cache is left as it is.
    Around,
}

/// The flash with its cache.
pub(crate) struct Medium<F, M: Memory> {
    pub flash: F,
    pub cache: Cache<M::Slots, M::Bytes>,
    pub layout: Layout,
}

impl<F: Flash, M: Memory> Medium<F, M> {
    /// Reads within a page.
    pub fn read(&mut self, how: Fetch, address: u32, into: &mut [u8]) -> Result<(), Error<F::Error>> {
        if self.cache.is_off() {
            return self.flash.read(address, into).map_err(Error::Flash);
        }
        let (page, offset) = self.layout.page_and_offset(address);
        let cached = self.cache.find_page(page);
        self.cache.access(cached);
        let slot = match cached {
            Some(slot) => slot,
            None if how == Fetch::Part => return self.flash.read(address, into).map_err(Error::Flash),
            None => match self.cache.take_for_page(page) {
                Some(slot) => {
                    let page_address = self.layout.page_address(page);
                    if let Err(error) = self.flash.read(page_address, self.cache.page_mut(slot)) {
                        self.cache.free(slot);
                        return Err(Error::Flash(error));
                    }
                    slot
                }
                None => return self.flash.read(address, into).map_err(Error::Flash),
            },
        };
        let content = self.cache.page(slot).get(offset..offset + into.len()).ok_or(Error::Corrupt)?;
        into.copy_from_slice(content);
        Ok(())
    }

    /// Writes within a page.
    pub fn write(&mut self, how: Store, address: u32, data: &[u8]) -> Result<(), Error<F::Error>> {
        if !self.cache.is_off() {
            let (page, offset) = self.layout.page_and_offset(address);
            if let Some(slot) = self.cache.find_page(page) {
                match how {
                    Store::Update => {
                        // As the flash does it. The C code copies, so that flags that are written blindly (ones for
                        // what stays) look different in the cache, and misled its check.
                        let cached = self.cache.page_mut(slot).get_mut(offset..).unwrap_or_default();
                        cached.iter_mut().zip(data).for_each(|(old, new)| *old &= new);
                        self.cache.access(Some(slot));
                    }
                    Store::Drop => self.cache.free(slot),
                    Store::Around => {}
                }
            }
        }
        match self.flash.program(address, data) {
            Ok(()) => Ok(()),
            Err(error) => self.failed(address, error),
        }
    }

    /// After a program that failed: what is in the page is not known.
    fn failed(&mut self, address: u32, error: F::Error) -> Result<(), Error<F::Error>> {
        self.cache.drop_page(self.layout.page_and_offset(address).0);
        Err(Error::Flash(error))
    }

    /// Writes, within a page, what waits in a page of cache.
    pub fn write_waiting(&mut self, address: u32, slot: u8, range: Range<usize>) -> Result<(), Error<F::Error>> {
        let (page, offset) = self.layout.page_and_offset(address);
        if let Some(cached) = self.cache.find_page(page) {
            self.cache.copy_between(slot, range.clone(), cached, offset);
            self.cache.access(Some(cached));
        }
        let data = self.cache.page(slot).get(range).ok_or(Error::Corrupt)?;
        match self.flash.program(address, data) {
            Ok(()) => Ok(()),
            Err(error) => self.failed(address, error),
        }
    }

    /// Reads a page's header.
    // Else the header goes through memory, written in pieces and read as a whole, which takes a quarter of a small read.
    #[inline(always)]
    pub fn header(&mut self, how: Fetch, page: PageIndex) -> Result<PageHeader, Error<F::Error>> {
        let mut bytes = [0; PAGE_HEADER_BYTES];
        self.read(how, self.layout.page_address(page), &mut bytes)?;
        Ok(PageHeader::from_bytes(bytes))
    }

    /// Reads a 16-bit number.
    pub fn read_u16(&mut self, how: Fetch, address: u32) -> Result<u16, Error<F::Error>> {
        let mut bytes = [0; 2];
        self.read(how, address, &mut bytes)?;
        Ok(u16::from_le_bytes(bytes))
    }

    /// Writes a 16-bit number.
    pub fn write_u16(&mut self, how: Store, address: u32, value: u16) -> Result<(), Error<F::Error>> {
        self.write(how, address, &value.to_le_bytes())
    }

    /// Writes a page's flags.
    pub fn write_flags(&mut self, how: Store, page: PageIndex, flags: u8) -> Result<(), Error<F::Error>> {
        self.write(how, self.layout.flags_address(page), &[flags])
    }

    /// Writes a lookup entry.
    pub fn write_entry(&mut self, place: Place, id: u16) -> Result<(), Error<F::Error>> {
        self.write_u16(Store::Update, self.layout.entry_address(place), id)
    }

    /// Copies within the flash, through `buffer`; neither the source nor the destination crosses a page.
    pub fn copy(&mut self, buffer: &mut [u8], to: u32, from: u32, bytes: u32) -> Result<(), Error<F::Error>> {
        let (mut to, mut from, mut left) = (to, from, bytes as usize);
        while left > 0 {
            let piece = left.min(buffer.len());
            let buffer = &mut buffer[..piece];
            self.read(Fetch::Page, from, buffer)?;
            self.write(Store::Update, to, buffer)?;
            left -= piece;
            to += piece as u32;
            from += piece as u32;
        }
        Ok(())
    }
}
