//! Making files shorter, and removing them (`spiffs_object_truncate`).

use crate::content::Loaded;
use crate::error::Error;
use crate::flash::Flash;
use crate::index::Change;
use crate::layout::{INDEX_ID, NO_PAGE, ObjectId, PageHeader, PageIndex, Span, UNDEFINED_SIZE, flag};
use crate::medium::Store;
use crate::memory::Memory;
use crate::volume::Spiffs;

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Makes a file shorter; with `remove` it is removed, whatever `new_size` says.
    pub(crate) fn truncate_content(&mut self, fd: usize, new_size: u32, remove: bool) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        let size = self.files[fd].size;
        if (size == UNDEFINED_SIZE || size == 0) && !remove {
            return Ok(());
        }
        if !remove {
            // A part of the index, and perhaps the last data page, in new pages.
            self.reserve(layout.data_bytes * 2)?;
        }
        let object = self.files[fd].object;
        if remove {
            // First of all, so that a check finishes what is interrupted.
            let flags = !(flag::USED | flag::INDEX | flag::FINAL | flag::REMOVED);
            self.medium.write_flags(Store::Update, self.files[fd].header_page, flags)?;
        }

        let mut left = self.files[fd].end();
        let mut span = layout.span_of(left.saturating_sub(1));
        let mut loaded: Option<Loaded> = None;
        let mut result = Ok(());
        while left > new_size {
            let index_span = layout.index_span_of(span);
            if loaded.is_none_or(|index| index.span != index_span) {
                if let Some(index) = loaded {
                    self.check_index_page(object, index.page, index.span)?;
                    self.delete(index.page)?;
                    let span = self.loaded_span();
                    self.index_deleted(object, span);
                    if index.span > 0 {
                        if !remove {
                            self.store_size(fd, left)?;
                        }
                        self.files[fd].size = left;
                    }
                }
                let page = if index_span == 0 {
                    self.files[fd].header_page
                } else {
                    self.find_page(object | INDEX_ID, index_span, None)?
                };
                self.load_index(object, page, index_span)?;
                self.files[fd].cursor_page = page;
                self.files[fd].cursor_span = index_span;
                loaded = Some(Loaded { span: index_span, page });
            }
            let page = self.listed(span);
            self.list(span, NO_PAGE);
            // The C code compares how much is left to cut with a page, and so shortens the wrong page where the cut crosses
            // the border of pages: what is appended later is then programmed over old data.
            if remove || new_size <= u32::from(span) * layout.data_bytes {
                let deleted = match self.living(object, page, span) {
                    Ok(page) => self.delete(page),
                    Err(Error::Deleted | Error::IndexRefFree) => Ok(()),
                    Err(error) => Err(error),
                };
                if deleted.is_err() {
                    self.list(span, page);
                    result = deleted;
                    break;
                }
                let over = left % layout.data_bytes;
                left -= if over == 0 { layout.data_bytes } else { over };
                self.files[fd].size = left;
            } else {
                match self.shorten_page(object, page, span, new_size % layout.data_bytes) {
                    Ok(new) => self.list(span, new),
                    Err(error) => {
                        // The C code forgets both the page and the error here.
                        self.list(span, page);
                        result = Err(error);
                        break;
                    }
                }
                left = new_size;
                self.files[fd].size = left;
                break;
            }
            span = span.wrapping_sub(1);
        }
        self.finish_truncate(fd, loaded, left, remove)?;
        result
    }

    /// A new page with the first bytes of an old one.
    fn shorten_page(
        &mut self,
        object: ObjectId,
        old: PageIndex,
        span: Span,
        bytes: u32,
    ) -> Result<PageIndex, Error<F::Error>> {
        let layout = self.medium.layout;
        let old = self.living(object, old, span)?;
        let header = PageHeader { object: object & !INDEX_ID, span, flags: 0xff };
        let new = self.allocate(header, None, false)?;
        let to = layout.data_address(new);
        let from = layout.data_address(old);
        self.copy_data(to, from, bytes)?;
        self.delete(old)?;
        self.medium.write_flags(Store::Update, new, header.flags & !(flag::FINAL | flag::USED))?;
        Ok(new)
    }

    /// Stores the part of the index that a truncation ends in, and the size; or removes the header.
    fn finish_truncate(
        &mut self,
        fd: usize,
        loaded: Option<Loaded>,
        left: u32,
        remove: bool,
    ) -> Result<(), Error<F::Error>> {
        let object = self.files[fd].object;
        let index = loaded.unwrap_or(Loaded { span: 0, page: self.files[fd].header_page });
        if index.span != 0 {
            let page = self.replace_index(fd, index.page, index.span)?;
            self.files[fd].cursor_page = page;
            self.files[fd].cursor_span = index.span;
            self.store_size(fd, left)?;
        } else if left == 0 && remove {
            self.check_index_page(object, index.page, 0)?;
            self.delete(index.page)?;
            self.index_deleted(object, 0);
        } else {
            if left == 0 {
                // As new: the table can be filled in again.
                let from = usize::from(self.medium.layout.header_bytes);
                self.work.get_mut(from..).unwrap_or_default().fill(0xff);
            }
            let size = if left == 0 { UNDEFINED_SIZE } else { left };
            self.replace_header(Some(fd), object, index.page, true, Change::size(size))?;
        }
        self.files[fd].size = left;
        self.clamp_positions(object, left);
        Ok(())
    }
}
