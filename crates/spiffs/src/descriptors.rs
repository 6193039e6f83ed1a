//! File descriptors, and what closed ones remember (`spiffs_fd_find_new`).

use crate::layout::{DELETED_ID, ObjectId, PageIndex, Span};

bitflags::bitflags! {
    /// How a file is opened; the bits are those of the C implementation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct OpenFlags: u16 {
        /// Every write goes to the end.
        const APPEND = 1 << 0;
        /// An existing file is emptied.
        const TRUNCATE = 1 << 1;
        /// A missing file is created.
        const CREATE = 1 << 2;
        /// For reading.
        const READ = 1 << 3;
        /// For writing.
        const WRITE = 1 << 4;
        /// Writes do not wait in the cache.
        const DIRECT = 1 << 5;
        /// With `CREATE`: an error if the file exists.
        const EXCLUSIVE = 1 << 6;
    }
}

impl OpenFlags {
    /// For reading and writing.
    pub const READ_WRITE: Self = Self::READ.union(Self::WRITE);
}

/// The handle of an open file.
///
/// It is of no file any more when that was closed, or removed, or the volume was mounted again in the same memory; calls
/// answer [`crate::Error::FileClosed`] then. Of another volume it may be any file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct File {
    slot: u16,
    generation: u16,
}

/// Room for an open file.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    pub(crate) open: bool,
    generation: u16,
    /// The object, with [`crate::layout::INDEX_ID`].
    pub(crate) object: ObjectId,
    pub(crate) size: u32,
    /// Where the object index header is.
    pub(crate) header_page: PageIndex,
    /// The part of the index that was used last, and where it is.
    pub(crate) cursor_page: PageIndex,
    pub(crate) cursor_span: Span,
    pub(crate) position: u32,
    pub(crate) flags: OpenFlags,
    /// The page of cache in which writes wait.
    pub(crate) waiting: Option<u8>,
    /// Whether waiting writes could not be stored, and nobody was told yet.
    pub(crate) lost: bool,
    name_hash: u32,
    /// How well the name is remembered; 0: never used.
    score: u16,
}

/// What opening a remembered name adds to its score (`SPIFFS_TEMPORAL_CACHE_HIT_SCORE`).
const HIT_SCORE: u16 = 4;

impl Descriptor {
    /// Room for no file yet.
    pub const CLOSED: Self = Self {
        open: false,
        generation: 0,
        object: DELETED_ID,
        size: 0,
        header_page: 0,
        cursor_page: 0,
        cursor_span: 0,
        position: 0,
        flags: OpenFlags::empty(),
        waiting: None,
        lost: false,
        name_hash: 0,
        score: 0,
    };

    /// Whether what happens to an object matters to this descriptor.
    pub(crate) fn follows(&self, object: ObjectId, hints: bool) -> bool {
        use crate::layout::INDEX_ID;
        self.object & !INDEX_ID == object & !INDEX_ID && (self.open || (hints && self.score > 0))
    }

    /// Where the file ends, without what waits.
    pub(crate) const fn end(&self) -> u32 {
        if self.size == crate::layout::UNDEFINED_SIZE { 0 } else { self.size }
    }

    /// Closes it; handles of it are of no use any more.
    pub(crate) fn close(&mut self) {
        self.open = false;
        self.generation = self.generation.wrapping_add(1);
        self.waiting = None;
        self.lost = false;
    }
}

/// djb2, as the C code computes it.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, byte| hash.wrapping_mul(33) ^ u32::from(*byte))
}

/// A descriptor that was found for a file.
pub(crate) struct Claimed {
    pub slot: usize,
    /// Where a closed descriptor of the same name says that the file's header was.
    pub hint: Option<PageIndex>,
}

/// All descriptors.
#[derive(Debug)]
pub(crate) struct Descriptors<D> {
    all: D,
    hints: bool,
}

impl<D: core::ops::DerefMut<Target = [Descriptor]>> Descriptors<D> {
    pub fn new(mut all: D, hints: bool) -> Self {
        for descriptor in all.iter_mut() {
            // Handles of a volume that was mounted in the same memory before are of no file of this one.
            let generation = descriptor.generation.wrapping_add(1);
            *descriptor = Descriptor { generation, ..Descriptor::CLOSED };
        }
        Self { all, hints }
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Descriptor> {
        self.all.iter_mut()
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The descriptors that follow an object.
    pub fn of_object(&mut self, object: ObjectId) -> impl Iterator<Item = &mut Descriptor> {
        let hints = self.hints;
        self.all.iter_mut().filter(move |descriptor| descriptor.follows(object, hints))
    }

    /// A descriptor for a file: for a name the one that remembers it, else the free one that is least remembered.
    pub fn claim(&mut self, name: Option<&[u8]>) -> Option<Claimed> {
        let slot = if self.hints { self.least_remembered(name)? } else { self.first_closed()? };
        let mut hint = None;
        let descriptor = self.all.get_mut(slot)?;
        if let (Some(name), true) = (name, self.hints) {
            let name_hash = hash(name);
            if descriptor.name_hash == name_hash && descriptor.score > 0 {
                // Most likely the same file; if not, the search goes on from there.
                hint = Some(descriptor.header_page);
                descriptor.score = descriptor.score.saturating_add(HIT_SCORE);
            } else {
                descriptor.score = HIT_SCORE;
                descriptor.name_hash = name_hash;
            }
        }
        descriptor.open = true;
        descriptor.waiting = None;
        descriptor.lost = false;
        Some(Claimed { slot, hint })
    }

    fn first_closed(&self) -> Option<usize> {
        self.all.iter().position(|descriptor| !descriptor.open)
    }

    fn least_remembered(&mut self, name: Option<&[u8]>) -> Option<usize> {
        if let Some(name) = name {
            for descriptor in self.all.iter_mut().filter(|descriptor| !descriptor.open && descriptor.score > 1) {
                descriptor.score -= 1;
            }
            let name_hash = hash(name);
            let mut closed = self.all.iter().enumerate().filter(|(_, descriptor)| !descriptor.open);
            if let Some((slot, _)) = closed.find(|(_, descriptor)| descriptor.name_hash == name_hash) {
                return Some(slot);
            }
        }
        let closed = self.all.iter().enumerate().filter(|(_, descriptor)| !descriptor.open);
        closed.min_by_key(|(_, descriptor)| descriptor.score).map(|(slot, _)| slot)
    }

    /// A file was renamed: what remembers it does so by the new name.
    pub fn rename(&mut self, from: &[u8], to: &[u8]) {
        let (from, to) = (hash(from), hash(to));
        for descriptor in self.all.iter_mut().filter(|descriptor| descriptor.score > 0) {
            if descriptor.name_hash == from {
                descriptor.name_hash = to;
            }
        }
    }

    /// The handle of an open descriptor.
    pub fn handle(&self, slot: usize) -> File {
        // `Spiffs::mount` takes no more descriptors than a handle can number.
        File { slot: slot as u16, generation: self.all.get(slot).map_or(0, |descriptor| descriptor.generation) }
    }

    /// The slot of a handle, `None` inside if the file is not open any more.
    pub fn slot_of(&self, file: File) -> Option<Option<usize>> {
        let slot = usize::from(file.slot);
        let descriptor = self.all.get(slot)?;
        Some((descriptor.open && descriptor.generation == file.generation).then_some(slot))
    }
}

impl<D: core::ops::DerefMut<Target = [Descriptor]>> core::ops::Index<usize> for Descriptors<D> {
    type Output = Descriptor;

    fn index(&self, slot: usize) -> &Descriptor {
        &self.all[slot]
    }
}

impl<D: core::ops::DerefMut<Target = [Descriptor]>> core::ops::IndexMut<usize> for Descriptors<D> {
    fn index_mut(&mut self, slot: usize) -> &mut Descriptor {
        &mut self.all[slot]
    }
}
