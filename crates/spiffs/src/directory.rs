//! What files there are, and what is known of them. SPIFFS has no directories: the names of files may contain slashes.

use crate::descriptors::File;
use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{INDEX_ID, NAME_AT, PageIndex, Place, SIZE_AT, TYPE_AT, UNDEFINED_SIZE, u32_at, until_zero};
use crate::medium::Fetch;
use crate::memory::Memory;
use crate::scan::{Step, is_index};
use crate::volume::Spiffs;

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo<'v> {
    /// Its number on the volume.
    pub id: u16,
    /// Its size, without what waits in the cache.
    pub size_bytes: u32,
    /// `SPIFFS_TYPE_...`: 1 for a file; nothing else is ever made.
    pub kind: u8,
    /// The page of its header now; [`Spiffs::open_page`] opens it without a search.
    pub page: PageIndex,
    /// Its name.
    pub name: &'v [u8],
    /// Its metadata.
    pub meta: &'v [u8],
}

/// How far a listing of the files is ([`Spiffs::next_file`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Listing {
    next: Place,
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// The next file of a listing that began as [`Listing::default`]; none at the end. Files that are made, changed or
    /// moved meanwhile may be missing or come twice.
    ///
    /// # Errors
    /// [`Error::Flash`].
    pub fn next_file(&mut self, listing: &mut Listing) -> Result<Option<FileInfo<'_>>, Error<F::Error>> {
        let mut id = 0;
        let found = self.scan(listing.next, false, is_index, |volume, entry, place| {
            id = entry & !INDEX_ID;
            Ok(if volume.glance(place)?.is_object() { Step::Stop } else { Step::Next })
        })?;
        let Some(place) = found else {
            return Ok(None);
        };
        listing.next = Place { entry: place.entry + 1, ..place };
        Ok(Some(self.info_of(id, self.medium.layout.page_of(place))))
    }

    /// What is known of a file.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NameTooLong`], [`Error::Flash`].
    pub fn stat(&mut self, name: impl AsRef<[u8]>) -> Result<FileInfo<'_>, Error<F::Error>> {
        let name = self.check_name(&name)?;
        let page = self.find_name(name)?;
        self.stat_page(page)
    }

    /// What is known of an open file. What waits in the cache is stored.
    ///
    /// # Errors
    /// [`Error::FileClosed`], [`Error::Flash`].
    pub fn stat_open(&mut self, file: File) -> Result<FileInfo<'_>, Error<F::Error>> {
        let fd = self.descriptor(file)?;
        self.store_waiting_quietly(fd);
        self.stat_page(self.files[fd].header_page)
    }

    fn stat_page(&mut self, page: PageIndex) -> Result<FileInfo<'_>, Error<F::Error>> {
        let layout = self.medium.layout;
        self.medium.read(Fetch::Page, layout.page_address(page), &mut self.header)?;
        let id = self.medium.read_u16(Fetch::Page, layout.entry_address(layout.place_of(page)))?;
        Ok(self.info_of(id & !INDEX_ID, page))
    }

    /// Of the header that was read last.
    fn info_of(&self, id: u16, page: PageIndex) -> FileInfo<'_> {
        let header = &self.header;
        let size = u32_at(header, SIZE_AT);
        let meta_at = NAME_AT + usize::from(self.config.name_bytes);
        FileInfo {
            id,
            size_bytes: if size == UNDEFINED_SIZE { 0 } else { size },
            kind: header.get(TYPE_AT).copied().unwrap_or_default(),
            page,
            name: until_zero(header.get(NAME_AT..meta_at).unwrap_or_default()),
            meta: header.get(meta_at..).unwrap_or_default(),
        }
    }
}
