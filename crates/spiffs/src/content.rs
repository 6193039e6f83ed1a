//! The content of files: reading, appending, changing (`spiffs_object_read`, `_append`, `_modify`).
//!
//! Each, and truncating, walks over the data pages with one part of the index loaded in the work buffer, and stores that part when the
//! walk leaves it.

use crate::error::Error;
use crate::flash::{Flash, Purpose};
use crate::index::Change;
use crate::layout::{INDEX_ID, ObjectId, PageHeader, PageIndex, Span, UNDEFINED_SIZE, flag};
use crate::medium::{Fetch, Store};
use crate::memory::Memory;
use crate::pages::{Piece, Source};
use crate::volume::Spiffs;

/// A part of an index that is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    pub span: Span,
    pub page: PageIndex,
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Reads from a file, all inside it.
    pub(crate) fn read_content(&mut self, fd: usize, offset: u32, into: &mut [u8]) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        let object = self.files[fd].object;
        let mut loaded = None;
        let (mut at, mut left) = (offset, into);
        while !left.is_empty() {
            let span = layout.span_of(at);
            let index_span = layout.index_span_of(span);
            if loaded != Some(index_span) {
                let page = if index_span == 0 { self.files[fd].header_page } else { self.find_index(fd, index_span)? };
                self.load_index(object, page, index_span)?;
                self.files[fd].cursor_page = page;
                self.files[fd].cursor_span = index_span;
                loaded = Some(index_span);
            }
            let page = self.listed(span);
            let in_page = at % layout.data_bytes;
            let in_file = self.files[fd].size.saturating_sub(at);
            let bytes = (layout.data_bytes - in_page).min(in_file) as usize;
            let bytes = bytes.min(left.len());
            if bytes == 0 {
                return Err(Error::EndOfFile);
            }
            let (now, later) = left.split_at_mut(bytes);
            // With a cache the check of the page's header reads the whole page.
            self.medium.flash.purpose(Purpose::Content);
            let read = self.living(object, page, span).and_then(|page| {
                let address = layout.data_address(page) + in_page;
                self.medium.read(Fetch::Page, address, now)
            });
            self.medium.flash.purpose(Purpose::Structure);
            read?;
            left = later;
            at = at.wrapping_add(bytes as u32);
        }
        Ok(())
    }

    /// A data page that an index lists; or, if that page is another one by now, the one that garbage collection moved it to
    /// before the power went, or the volume was full. The C code does not look for it.
    pub(crate) fn living(
        &mut self,
        object: ObjectId,
        page: PageIndex,
        span: Span,
    ) -> Result<PageIndex, Error<F::Error>> {
        match self.check_data_page(object, page, span) {
            Ok(()) => Ok(page),
            Err(
                error @ (Error::Deleted | Error::IsFree | Error::NotFinal | Error::IsIndex | Error::DataSpanMismatch),
            ) => match self.find_page(object & !INDEX_ID, span, None) {
                Err(Error::NotFound) => Err(error),
                found => found,
            },
            Err(error) => Err(error),
        }
    }

    /// Writes to a file at an offset, over what is there and beyond.
    pub(crate) fn write_content(&mut self, fd: usize, offset: u32, source: Source<'_>) -> Result<(), Error<F::Error>> {
        let bytes = source.len();
        let size = self.files[fd].size;
        let over = if size != UNDEFINED_SIZE && offset < size { bytes.min(size - offset) } else { 0 };
        if over > 0 {
            self.modify(fd, offset, Piece { source, from: 0, bytes: over })?;
        }
        if bytes > over {
            self.append(fd, offset.saturating_add(over), Piece { source, from: over, bytes: bytes - over })?;
        }
        Ok(())
    }

    /// Writes behind the end of a file.
    fn append(&mut self, fd: usize, offset: u32, data: Piece<'_>) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        let offset = offset.min(self.files[fd].end());
        self.reserve(data.bytes.saturating_add(layout.data_bytes))?;

        let object = self.files[fd].object;
        let mut loaded: Option<Loaded> = None;
        let mut result = Ok(());
        let mut written = 0;
        while written < data.bytes {
            let at = offset.wrapping_add(written);
            let (span, in_page) = (layout.span_of(at), at % layout.data_bytes);
            let index_span = layout.index_span_of(span);
            let index = match loaded {
                Some(index) if index.span == index_span => index,
                previous => {
                    if let Some(previous) = previous {
                        self.store_appended(fd, previous, offset, written, false)?;
                        self.files[fd].size = at;
                    }
                    let page = self.load_for_append(fd, index_span, written)?;
                    self.files[fd].cursor_page = page;
                    self.files[fd].cursor_span = index_span;
                    if index_span != 0 {
                        self.files[fd].size = at;
                    }
                    Loaded { span: index_span, page }
                }
            };
            loaded = Some(index);

            let piece = Piece {
                source: data.source,
                from: data.from + written,
                bytes: (data.bytes - written).min(layout.data_bytes - in_page),
            };
            let page = if in_page == 0 {
                // Final at once: what is added to the page later does not change what is there.
                let header = PageHeader { object: object & !INDEX_ID, span, flags: !flag::FINAL };
                self.allocate(header, Some(piece), true)
            } else {
                let page = self.living(object, self.listed(span), span)?;
                let address = layout.data_address(page) + in_page;
                self.write_piece(address, piece).map(|()| page)
            };
            match page {
                Ok(page) => self.list(span, page),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
            if index_span == 0 {
                // As in the C code, the size before this piece: storing sets the right one.
                self.set_size(at);
            }
            written += piece.bytes;
        }
        // Also after an error: what was written so far is kept.
        if let Some(index) = loaded {
            self.files[fd].size = offset.wrapping_add(written);
            self.files[fd].cursor_page = index.page;
            self.files[fd].cursor_span = index.span;
            self.store_appended(fd, index, offset, written, true)?;
        }
        result
    }

    /// Loads the part of the index that an append goes on with, or makes a new one.
    fn load_for_append(&mut self, fd: usize, span: Span, written: u32) -> Result<PageIndex, Error<F::Error>> {
        let layout = self.medium.layout;
        let object = self.files[fd].object;
        if span == 0 {
            let page = self.files[fd].header_page;
            self.load_index(object, page, 0)?;
            return Ok(page);
        }
        let last = layout.index_span_of(layout.span_of(self.files[fd].size.wrapping_sub(1)));
        if written > 0 || span > last {
            return self.new_index(fd, span);
        }
        let page = self.find_index(fd, span)?;
        self.load_index(object, page, span)?;
        Ok(page)
    }

    /// Stores the part of the index that an append leaves, or ends in if `is_last`, and the size so far.
    fn store_appended(
        &mut self,
        fd: usize,
        index: Loaded,
        offset: u32,
        written: u32,
        is_last: bool,
    ) -> Result<(), Error<F::Error>> {
        let size = offset.wrapping_add(written);
        let object = self.files[fd].object;
        if index.span != 0 {
            self.store_index(fd, index.page, index.span)?;
            self.index_moved(object, self.loaded_span(), index.page, None);
            return self.store_size(fd, size);
        }
        if offset == 0 {
            // An empty file's header has room for size and table: it stays where it is.
            self.set_size(size);
            self.store_index(fd, index.page, 0)?;
            if is_last {
                self.index_moved(object, self.loaded_span(), index.page, Some(size));
            }
            return Ok(());
        }
        let page = self.files[fd].header_page;
        self.replace_header(Some(fd), object, page, true, Change::size(size)).map(|_| ())
    }

    /// Writes over what is in a file.
    fn modify(&mut self, fd: usize, offset: u32, data: Piece<'_>) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        self.reserve(data.bytes.saturating_add(layout.data_bytes))?;

        let object = self.files[fd].object;
        let mut loaded: Option<Loaded> = None;
        let mut result = Ok(());
        let mut written = 0;
        while written < data.bytes {
            let at = offset + written;
            let (span, in_page) = (layout.span_of(at), at % layout.data_bytes);
            let index_span = layout.index_span_of(span);
            let index = match loaded {
                Some(index) if index.span == index_span => index,
                previous => {
                    if let Some(previous) = previous {
                        self.store_modified(fd, previous)?;
                    }
                    let page =
                        if index_span == 0 { self.files[fd].header_page } else { self.find_index(fd, index_span)? };
                    self.load_index(object, page, index_span)?;
                    self.files[fd].cursor_page = page;
                    self.files[fd].cursor_span = index_span;
                    Loaded { span: index_span, page }
                }
            };
            loaded = Some(index);

            let piece = Piece {
                source: data.source,
                from: data.from + written,
                bytes: (data.bytes - written).min(layout.data_bytes - in_page),
            };
            let mut old = self.listed(span);
            let header = PageHeader { object: object & !INDEX_ID, span, flags: 0xff };
            if self.is_torn {
                old = self.living(object, old, span)?;
            }
            let new = if piece.bytes == layout.data_bytes {
                self.allocate(header, Some(piece), true)
            } else {
                old = self.living(object, old, span)?;
                self.rewrite_page(header, old, in_page, piece)
            };
            let replaced = match new {
                Ok(new) => self.delete_listed(old).map(|()| new),
                Err(error) => Err(error),
            };
            match replaced {
                Ok(new) => self.list(span, new),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
            written += piece.bytes;
        }
        if let Some(index) = loaded {
            self.files[fd].cursor_page = index.page;
            self.files[fd].cursor_span = index.span;
            if index.span == 0 {
                self.store_modified(fd, index)?;
            } else {
                let page = self.replace_index(fd, index.page, index.span)?;
                self.files[fd].cursor_page = page;
            }
        }
        result
    }

    /// Deletes a data page that an index lists, if it lies in the volume.
    fn delete_listed(&mut self, page: PageIndex) -> Result<(), Error<F::Error>> {
        if self.is_possible(page) { self.delete(page) } else { Err(Error::IndexRefInvalid) }
    }

    /// Stores the part of the index that a change leaves.
    fn store_modified(&mut self, fd: usize, index: Loaded) -> Result<(), Error<F::Error>> {
        if index.span == 0 {
            let file = &self.files[fd];
            self.replace_header(Some(fd), file.object, file.header_page, true, Change::default()).map(|_| ())
        } else {
            self.replace_index(fd, index.page, index.span).map(|_| ())
        }
    }

    /// A new page with the data of an old one, of which a part is replaced.
    fn rewrite_page(
        &mut self,
        header: PageHeader,
        old: PageIndex,
        in_page: u32,
        piece: Piece<'_>,
    ) -> Result<PageIndex, Error<F::Error>> {
        let layout = self.medium.layout;
        let new = self.allocate(header, None, false)?;
        let to = layout.data_address(new);
        let from = layout.data_address(old);
        self.copy_data(to, from, in_page)?;
        let end = in_page + piece.bytes;
        self.copy_data(to + end, from + end, layout.data_bytes - end)?;
        self.write_piece(to + in_page, piece)?;
        self.medium.write_flags(Store::Update, new, header.flags & !(flag::FINAL | flag::USED))?;
        Ok(new)
    }
}
