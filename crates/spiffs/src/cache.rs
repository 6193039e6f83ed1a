//! The cache: whole pages that were read, and writes of less than a page that wait (`spiffs_cache.c`).
//!
//! A read page is replaced when it is the least recently used. A page of waiting writes belongs to an object, and stays
//! until it is stored.

use core::ops::Range;

use crate::layout::{ObjectId, PageIndex};

/// The most pages of cache that can be managed.
pub const MOST_CACHE_PAGES: usize = 32;

/// What is known of a page of cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheSlot {
    last_access: u32,
    content: Content,
}

impl CacheSlot {
    /// A page of cache that holds nothing.
    pub const FREE: Self = Self { last_access: 0, content: Content::Nothing };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    /// A page of the volume.
    Page(PageIndex),
    /// Writes to an object.
    Writes {
        object: ObjectId,
        waiting: Waiting,
    },
}

/// Writes to an object that wait in a page of cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Where in the object they begin.
    pub offset: u32,
    pub bytes: u32,
}

impl Waiting {
    pub const fn end(self) -> u32 {
        self.offset.saturating_add(self.bytes)
    }
}

/// The cache over its memory: slots of type `S`, pages of bytes of type `B`.
#[derive(Debug)]
pub(crate) struct Cache<S, B> {
    slots: S,
    pages: B,
    page_bytes: usize,
    last_access: u32,
}

impl<S, B> Cache<S, B>
where
    S: core::ops::DerefMut<Target = [CacheSlot]>,
    B: core::ops::DerefMut<Target = [u8]>,
{
    pub fn new(mut slots: S, pages: B, page_bytes: u32) -> Self {
        slots.fill(CacheSlot::FREE);
        Self { slots, pages, page_bytes: page_bytes as usize, last_access: 0 }
    }

    pub fn is_off(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The bytes of a slot.
    pub fn page(&self, slot: u8) -> &[u8] {
        let from = usize::from(slot) * self.page_bytes;
        self.pages.get(from..from + self.page_bytes).unwrap_or_default()
    }

    pub fn page_mut(&mut self, slot: u8) -> &mut [u8] {
        let from = usize::from(slot) * self.page_bytes;
        self.pages.get_mut(from..from + self.page_bytes).unwrap_or_default()
    }

    /// Copies a part of a slot's bytes into another slot.
    pub fn copy_between(&mut self, from: u8, range: Range<usize>, to: u8, at: usize) {
        let base = usize::from(from) * self.page_bytes;
        let source = base + range.start..base + range.end;
        let destination = usize::from(to) * self.page_bytes + at;
        if source.end <= self.pages.len() && destination + range.len() <= self.pages.len() {
            self.pages.copy_within(source, destination);
        }
    }

    fn position(&self, is: impl Fn(&CacheSlot) -> bool) -> Option<u8> {
        // There are at most 32.
        self.slots.iter().position(is).map(|slot| slot as u8)
    }

    fn slot_mut(&mut self, slot: u8) -> Option<&mut CacheSlot> {
        self.slots.get_mut(usize::from(slot))
    }

    /// Counts an access, to which `slot` belongs.
    pub fn access(&mut self, slot: Option<u8>) {
        self.last_access = self.last_access.wrapping_add(1);
        let now = self.last_access;
        if let Some(slot) = slot.and_then(|slot| self.slot_mut(slot)) {
            slot.last_access = now;
        }
    }

    /// The slot that holds a page of the volume. Looking for it makes it recent.
    pub fn find_page(&mut self, page: PageIndex) -> Option<u8> {
        let found = self.position(|slot| slot.content == Content::Page(page))?;
        let now = self.last_access;
        if let Some(slot) = self.slot_mut(found) {
            slot.last_access = now;
        }
        Some(found)
    }

    /// The slot that holds writes to an object.
    pub fn find_writes(&self, object: ObjectId) -> Option<u8> {
        self.position(|slot| matches!(slot.content, Content::Writes { object: of, .. } if of == object))
    }

    /// What waits in a slot.
    pub fn waiting(&self, slot: u8) -> Option<Waiting> {
        match self.slots.get(usize::from(slot))?.content {
            Content::Writes { waiting, .. } => Some(waiting),
            _ => None,
        }
    }

    pub fn set_waiting(&mut self, slot: u8, waiting: Waiting) {
        if let Some(CacheSlot { content: Content::Writes { waiting: old, .. }, .. }) = self.slot_mut(slot) {
            *old = waiting;
        }
    }

    pub fn free(&mut self, slot: u8) {
        if let Some(slot) = self.slot_mut(slot) {
            slot.content = Content::Nothing;
        }
    }

    /// Forgets a page of the volume.
    pub fn drop_page(&mut self, page: PageIndex) {
        if let Some(slot) = self.find_page(page) {
            self.free(slot);
        }
    }

    /// A slot for a page of the volume; none if all hold waiting writes.
    pub fn take_for_page(&mut self, page: PageIndex) -> Option<u8> {
        self.take(Content::Page(page))
    }

    /// A slot for writes to an object; none if all hold waiting writes.
    pub fn take_for_writes(&mut self, object: ObjectId) -> Option<u8> {
        self.take(Content::Writes { object, waiting: Waiting::default() })
    }

    fn take(&mut self, content: Content) -> Option<u8> {
        self.make_room();
        let slot = self.position(|slot| slot.content == Content::Nothing)?;
        let last_access = self.last_access;
        *self.slot_mut(slot)? = CacheSlot { last_access, content };
        Some(slot)
    }

    /// Frees the read page that was not used for longest, if no slot is free. One that was used by the latest access
    /// stays, as in the C code.
    fn make_room(&mut self) {
        if self.slots.iter().any(|slot| slot.content == Content::Nothing) {
            return;
        }
        let now = self.last_access;
        let mut oldest = 0;
        let mut found = None;
        for slot in self.slots.iter_mut() {
            let age = now.wrapping_sub(slot.last_access);
            if age > oldest && matches!(slot.content, Content::Page(_)) {
                oldest = age;
                found = Some(slot);
            }
        }
        if let Some(slot) = found {
            slot.content = Content::Nothing;
        }
    }
}
