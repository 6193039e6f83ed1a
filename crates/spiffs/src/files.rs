//! Files: making, opening, reading, writing and removing them (`spiffs_hydrogen.c`).

use crate::descriptors::{File, OpenFlags};
use crate::error::Error;
use crate::flash::Flash;
use crate::index::Change;
use crate::layout::{PageIndex, UNDEFINED_SIZE};
use crate::memory::Memory;
use crate::pages::Source;
use crate::volume::Spiffs;

/// Where a position is counted from, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekFrom {
    /// From the start of the file.
    Start(u32),
    /// From where it is.
    Current(i32),
    /// From the end of the file.
    End(i32),
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Whether a name can be stored.
    pub(crate) fn check_name<'n>(&self, name: &'n (impl AsRef<[u8]> + ?Sized)) -> Result<&'n [u8], Error<F::Error>> {
        let name = name.as_ref();
        if name.len() >= usize::from(self.config.name_bytes) {
            return Err(Error::NameTooLong);
        }
        if name.contains(&0) {
            return Err(Error::NameHasZero);
        }
        Ok(name)
    }

    /// Makes an empty file, without opening it.
    ///
    /// # Errors
    /// [`Error::NameTaken`], [`Error::NameTooLong`], [`Error::Full`], [`Error::Flash`], ...
    pub fn create(&mut self, name: impl AsRef<[u8]>) -> Result<(), Error<F::Error>> {
        let name = self.check_name(&name)?;
        let id = self.free_id(Some(name))?;
        self.create_object(id, name).map(|_| ())
    }

    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::FileExists`], [`Error::TooManyOpenFiles`], [`Error::NameTooLong`],
    /// [`Error::Full`], [`Error::Flash`], ...
    pub fn open(&mut self, name: impl AsRef<[u8]>, flags: OpenFlags) -> Result<File, Error<F::Error>> {
        let name = self.check_name(&name)?;
        let fd = self.claim(Some(name))?;
        let opened = self.open_claimed(fd, name, flags);
        self.opened(fd, opened)
    }

    fn open_claimed(&mut self, fd: usize, name: &[u8], flags: OpenFlags) -> Result<(), Error<F::Error>> {
        let (page, flags) = match self.find_name(name) {
            Ok(_) if flags.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE) => return Err(Error::FileExists),
            Ok(page) => (page, flags),
            Err(Error::NotFound) if flags.contains(OpenFlags::CREATE) => {
                let id = self.free_id(None)?;
                (self.create_object(id, name)?, flags - OpenFlags::TRUNCATE)
            }
            Err(error) => return Err(error),
        };
        self.open_object(fd, page, flags)?;
        self.begin(fd, flags)
    }

    /// Opens the file whose header is in a page, as [`crate::FileInfo::page`] tells it.
    ///
    /// # Errors
    /// [`Error::NotAFile`] if the file is somewhere else by now, or gone.
    pub fn open_page(&mut self, page: PageIndex, flags: OpenFlags) -> Result<File, Error<F::Error>> {
        let fd = self.claim(None)?;
        let opened = self.open_object(fd, page, flags).map_err(|error| match error {
            Error::IsFree | Error::Deleted | Error::NotFinal | Error::NotIndex | Error::IndexSpanMismatch => {
                Error::NotAFile
            }
            error => error,
        });
        let ready = opened.and_then(|()| self.begin(fd, flags));
        self.opened(fd, ready)
    }

    /// Makes an opened file ready for use.
    fn begin(&mut self, fd: usize, flags: OpenFlags) -> Result<(), Error<F::Error>> {
        if flags.contains(OpenFlags::TRUNCATE) {
            // What waits in another descriptor was written before.
            if let Some(slot) = self.medium.cache.find_writes(self.files[fd].object) {
                self.release(slot);
            }
            self.truncate_content(fd, 0, false)?;
            self.clamp_positions(self.files[fd].object, 0);
        }
        self.files[fd].position = 0;
        Ok(())
    }

    /// The handle of a descriptor that was opened, or a descriptor given back.
    fn opened(&mut self, fd: usize, opened: Result<(), Error<F::Error>>) -> Result<File, Error<F::Error>> {
        match opened {
            Ok(()) => Ok(self.files.handle(fd)),
            Err(error) => {
                self.files[fd].close();
                Err(error)
            }
        }
    }

    /// A descriptor. If one remembers the name, the next search begins at its file.
    fn claim(&mut self, name: Option<&[u8]>) -> Result<usize, Error<F::Error>> {
        let claimed = self.files.claim(name).ok_or(Error::TooManyOpenFiles)?;
        if let Some(page) = claimed.hint {
            self.cursor = self.medium.layout.place_of(page);
        }
        Ok(claimed.slot)
    }

    /// Reads at the position and moves it. Less than asked for, or nothing, is the end of the file.
    ///
    /// # Errors
    /// [`Error::NotReadable`], [`Error::FileClosed`], [`Error::Flash`], and what a broken file leads to.
    pub fn read(&mut self, file: File, into: &mut [u8]) -> Result<usize, Error<F::Error>> {
        let fd = self.descriptor(file)?;
        if !self.files[fd].flags.contains(OpenFlags::READ) {
            return Err(Error::NotReadable);
        }
        let file = &self.files[fd];
        let slot = file.waiting.or_else(|| self.medium.cache.find_writes(file.object));
        if let Some(waiting) = slot.and_then(|slot| self.medium.cache.waiting(slot)) {
            // Of a file without content, what waits is stored only if it can be read here.
            if file.size == UNDEFINED_SIZE && waiting.end() <= file.position {
                return Ok(0);
            }
            self.store_waiting_quietly(fd);
        }
        if self.files[fd].size == UNDEFINED_SIZE {
            return Ok(0);
        }
        let Some(left) = self.files[fd].size.checked_sub(self.files[fd].position) else { return Ok(0) };
        let bytes = into.len().min(left as usize);
        let position = self.files[fd].position;
        match self.read_content(fd, position, &mut into[..bytes]) {
            Ok(()) => {}
            Err(Error::EndOfFile) => return Ok(0),
            Err(error) => return Err(error),
        }
        self.files[fd].position = position.saturating_add(bytes as u32);
        Ok(bytes)
    }

    /// Writes at the position, or with [`OpenFlags::APPEND`] at the end, and moves the position. Less than a page waits
    /// in the cache, if there is one, until [`Spiffs::flush`], a read, a seek or the like.
    ///
    /// # Errors
    /// [`Error::Full`]: some of it may have been written. [`Error::NotWritable`], [`Error::FileClosed`],
    /// [`Error::Flash`], ...
    pub fn write(&mut self, file: File, data: &[u8]) -> Result<usize, Error<F::Error>> {
        let fd = self.descriptor(file)?;
        if !self.files[fd].flags.contains(OpenFlags::WRITE) {
            return Err(Error::NotWritable);
        }
        // Bytes are counted in 32 bits, and no volume holds so many.
        let bytes = u32::try_from(data.len()).map_err(|_| Error::Full)?;
        if bytes == 0 {
            return Ok(0);
        }
        let offset = self.write_offset(fd);
        let waits = !self.files[fd].flags.contains(OpenFlags::DIRECT) && bytes < self.config.page_bytes;
        if self.caches_writes() && waits {
            if self.wait(fd, offset, data)? {
                self.advance(fd, bytes);
                return Ok(data.len());
            }
        } else {
            self.store_waiting(fd)?;
        }
        self.write_content(fd, offset, Source::Given(data))?;
        self.advance(fd, bytes);
        Ok(data.len())
    }

    fn advance(&mut self, fd: usize, bytes: u32) {
        let file = &mut self.files[fd];
        file.position = file.position.saturating_add(bytes);
    }

    /// Stores what waits in the cache for a file. After an error it does not wait any more: it is lost, and positions behind
    /// the end of the file are at its end.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Flash`], ...; [`Error::DataLost`] if an earlier call had to store what waited, and
    /// could not.
    pub fn flush(&mut self, file: File) -> Result<(), Error<F::Error>> {
        let fd = self.descriptor(file)?;
        self.flush_slot(fd)
    }

    /// Stores what waits in the cache for a file, and closes it. After an error it is still open.
    ///
    /// # Errors
    /// As [`Spiffs::flush`].
    pub fn close(&mut self, file: File) -> Result<(), Error<F::Error>> {
        self.flush(file)?;
        let fd = self.descriptor(file)?;
        self.files[fd].close();
        Ok(())
    }

    /// Moves the position, and returns it. What waits in the cache is stored.
    ///
    /// # Errors
    /// [`Error::SeekBounds`]: it would be before the start. [`Error::EndOfFile`]: it would be behind the end, and is at
    /// the end now.
    pub fn seek(&mut self, file: File, to: SeekFrom) -> Result<u32, Error<F::Error>> {
        let fd = self.descriptor(file)?;
        self.store_waiting_quietly(fd);
        let layout = self.medium.layout;
        let descriptor = &mut self.files[fd];
        let size = descriptor.end();
        let to = match to {
            SeekFrom::Start(offset) => i64::from(offset),
            SeekFrom::Current(offset) => i64::from(descriptor.position) + i64::from(offset),
            SeekFrom::End(offset) => i64::from(size) + i64::from(offset),
        };
        if to < 0 {
            return Err(Error::SeekBounds);
        }
        let Some(to) = u32::try_from(to).ok().filter(|to| *to <= size) else {
            descriptor.position = size;
            return Err(Error::EndOfFile);
        };
        let span = layout.index_span_of(layout.span_of(to.saturating_sub(1)));
        if descriptor.cursor_span != span {
            let object = descriptor.object;
            let page = self.find_page(object | crate::layout::INDEX_ID, span, None)?;
            self.files[fd].cursor_span = span;
            self.files[fd].cursor_page = page;
        }
        self.files[fd].position = to;
        Ok(to)
    }

    /// The position. What waits in the cache is stored.
    ///
    /// # Errors
    /// As [`Spiffs::flush`].
    pub fn position(&mut self, file: File) -> Result<u32, Error<F::Error>> {
        let fd = self.descriptor(file)?;
        self.flush_descriptor(fd)?;
        Ok(self.files[fd].position)
    }

    /// Whether the position is at the end of the file. What waits in the cache is stored.
    ///
    /// # Errors
    /// As [`Spiffs::flush`].
    pub fn is_at_end(&mut self, file: File) -> Result<bool, Error<F::Error>> {
        let fd = self.descriptor(file)?;
        self.flush_descriptor(fd)?;
        let descriptor = &self.files[fd];
        Ok(descriptor.size == UNDEFINED_SIZE || descriptor.position >= descriptor.size)
    }

    /// Makes a file shorter.
    ///
    /// # Errors
    /// [`Error::EndOfFile`]: it is shorter already. [`Error::NotWritable`], [`Error::Full`], [`Error::Flash`], ...
    pub fn truncate(&mut self, file: File, size: u32) -> Result<(), Error<F::Error>> {
        let fd = self.descriptor(file)?;
        if !self.files[fd].flags.contains(OpenFlags::WRITE) {
            return Err(Error::NotWritable);
        }
        self.store_waiting_quietly(fd);
        let old = self.files[fd].end();
        match size.cmp(&old) {
            core::cmp::Ordering::Equal => Ok(()),
            core::cmp::Ordering::Greater => Err(Error::EndOfFile),
            core::cmp::Ordering::Less => self.truncate_content(fd, size, false),
        }
    }

    /// Removes a file. If it is open, its handles are of no file any more.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::TooManyOpenFiles`], [`Error::NameTooLong`], [`Error::Flash`], ...
    pub fn remove(&mut self, name: impl AsRef<[u8]>) -> Result<(), Error<F::Error>> {
        let name = self.check_name(&name)?;
        let fd = self.claim(None)?;
        let removed = self.find_name(name).and_then(|page| {
            self.open_object(fd, page, OpenFlags::empty())?;
            self.truncate_content(fd, 0, true)
        });
        if removed.is_err() {
            self.files[fd].close();
        }
        removed
    }

    /// Removes an open file.
    ///
    /// # Errors
    /// [`Error::NotWritable`], [`Error::FileClosed`], [`Error::Flash`], ...
    pub fn remove_open(&mut self, file: File) -> Result<(), Error<F::Error>> {
        let fd = self.descriptor(file)?;
        if !self.files[fd].flags.contains(OpenFlags::WRITE) {
            return Err(Error::NotWritable);
        }
        if let Some(slot) = self.files[fd].waiting {
            self.release(slot);
        }
        self.truncate_content(fd, 0, true)
    }

    /// Renames a file.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NameTaken`], [`Error::TooManyOpenFiles`], [`Error::NameTooLong`],
    /// [`Error::Full`], [`Error::Flash`], ...
    pub fn rename(&mut self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Result<(), Error<F::Error>> {
        let from = self.check_name(&from)?;
        let to = self.check_name(&to)?;
        let page = self.find_name(from)?;
        match self.find_name(to) {
            Err(Error::NotFound) => {}
            Ok(_) => return Err(Error::NameTaken),
            Err(error) => return Err(error),
        }
        self.change_header(page, Change { name: Some(to), ..Change::default() })?;
        if self.config.open_hints {
            self.files.rename(from, to);
        }
        Ok(())
    }

    /// Sets a file's metadata.
    ///
    /// # Errors
    /// [`Error::MetaLength`]: it is not as long as [`crate::Config::meta_bytes`] says. [`Error::NotFound`],
    /// [`Error::TooManyOpenFiles`], [`Error::Full`], [`Error::Flash`], ...
    pub fn set_meta(&mut self, name: impl AsRef<[u8]>, meta: &[u8]) -> Result<(), Error<F::Error>> {
        let name = self.check_name(&name)?;
        self.check_meta(meta)?;
        let page = self.find_name(name)?;
        self.change_header(page, Change { meta: Some(meta), ..Change::default() })
    }

    /// Sets an open file's metadata.
    ///
    /// # Errors
    /// As [`Spiffs::set_meta`], and [`Error::NotWritable`].
    pub fn set_meta_open(&mut self, file: File, meta: &[u8]) -> Result<(), Error<F::Error>> {
        let fd = self.descriptor(file)?;
        self.check_meta(meta)?;
        if !self.files[fd].flags.contains(OpenFlags::WRITE) {
            return Err(Error::NotWritable);
        }
        let (object, page) = (self.files[fd].object, self.files[fd].header_page);
        let change = Change { meta: Some(meta), ..Change::default() };
        self.replace_header(Some(fd), object, page, false, change).map(|_| ())
    }

    fn check_meta(&self, meta: &[u8]) -> Result<(), Error<F::Error>> {
        let right = !meta.is_empty() && meta.len() == usize::from(self.config.meta_bytes);
        if right { Ok(()) } else { Err(Error::MetaLength) }
    }

    /// Changes the header of a file that need not be open.
    fn change_header(&mut self, page: PageIndex, change: Change<'_>) -> Result<(), Error<F::Error>> {
        let fd = self.claim(None)?;
        let changed = self.open_object(fd, page, OpenFlags::empty()).and_then(|()| {
            let (object, page) = (self.files[fd].object, self.files[fd].header_page);
            self.replace_header(Some(fd), object, page, false, change)
        });
        self.files[fd].close();
        changed.map(|_| ())
    }
}
