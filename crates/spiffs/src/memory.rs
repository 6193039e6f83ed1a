//! The RAM that a volume works in.

use core::ops::DerefMut;

use crate::cache::CacheSlot;
use crate::config::Config;
use crate::descriptors::Descriptor;

/// Where a volume's RAM comes from: [`Borrowed`], or with the feature `alloc` `Owned`.
pub trait Memory {
    /// Bytes.
    type Bytes: DerefMut<Target = [u8]>;
    /// A descriptor for each file that can be open at a time.
    type Descriptors: DerefMut<Target = [Descriptor]>;
    /// What is known of each page of cache.
    type Slots: DerefMut<Target = [CacheSlot]>;

    /// The buffers, or nothing if there is too little memory.
    fn divide(self, config: &Config) -> Option<Buffers<Self>>
    where
        Self: Sized;
}

/// A volume's buffers.
#[derive(Debug)]
pub struct Buffers<M: Memory> {
    /// A page: the index that a call works on.
    pub(crate) work: M::Bytes,
    /// A page: the lookup that is being scanned.
    pub(crate) lookup: M::Bytes,
    /// The start of an object index header.
    pub(crate) header: M::Bytes,
    /// For moving data.
    pub(crate) copy: M::Bytes,
    /// The cache's pages.
    pub(crate) cache: M::Bytes,
    pub(crate) slots: M::Slots,
    pub(crate) descriptors: M::Descriptors,
}

/// Memory that is lent.
///
/// ```
/// use spiffs::{Borrowed, CacheSlot, Config, Descriptor};
///
/// const CONFIG: Config = Config::esp_idf(64 * 1024);
/// let mut bytes = [0; CONFIG.buffer_bytes(4)];
/// let mut descriptors = [Descriptor::CLOSED; 4];
/// let mut slots = [CacheSlot::FREE; 4];
/// let memory = Borrowed { bytes: &mut bytes, descriptors: &mut descriptors, slots: &mut slots };
/// ```
#[derive(Debug)]
pub struct Borrowed<'m> {
    /// As many as [`Config::buffer_bytes`] says.
    pub bytes: &'m mut [u8],
    /// One for each file that can be open at a time; at least one, as removing and renaming need one for themselves.
    pub descriptors: &'m mut [Descriptor],
    /// One for each page of cache, at most 32; none: there is no cache.
    pub slots: &'m mut [CacheSlot],
}

impl<'m> Memory for Borrowed<'m> {
    type Bytes = &'m mut [u8];
    type Descriptors = &'m mut [Descriptor];
    type Slots = &'m mut [CacheSlot];

    fn divide(self, config: &Config) -> Option<Buffers<Self>> {
        let page = config.page_bytes as usize;
        let (work, rest) = self.bytes.split_at_mut_checked(page)?;
        let (lookup, rest) = rest.split_at_mut_checked(page)?;
        let (header, rest) = rest.split_at_mut_checked(config.header_bytes())?;
        let (copy, rest) = rest.split_at_mut_checked(config.copy_bytes.into())?;
        let (cache, _) = rest.split_at_mut_checked(page.checked_mul(self.slots.len())?)?;
        let Self { slots, descriptors, .. } = self;
        Some(Buffers { work, lookup, header, copy, cache, slots, descriptors })
    }
}

/// Memory from the heap.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owned {
    /// How many files can be open at a time, at least one.
    pub files: usize,
    /// Pages of cache, at most 32.
    pub cache_pages: usize,
}

#[cfg(feature = "alloc")]
impl Memory for Owned {
    type Bytes = alloc::boxed::Box<[u8]>;
    type Descriptors = alloc::boxed::Box<[Descriptor]>;
    type Slots = alloc::boxed::Box<[CacheSlot]>;

    fn divide(self, config: &Config) -> Option<Buffers<Self>> {
        use alloc::vec;
        if self.files > usize::from(u16::MAX) || self.cache_pages > crate::MOST_CACHE_PAGES {
            return None;
        }
        let page = config.page_bytes as usize;
        Some(Buffers {
            work: vec![0; page].into(),
            lookup: vec![0; page].into(),
            header: vec![0; config.header_bytes()].into(),
            copy: vec![0; config.copy_bytes.into()].into(),
            cache: vec![0; page.checked_mul(self.cache_pages)?].into(),
            slots: vec![CacheSlot::FREE; self.cache_pages].into(),
            descriptors: vec![Descriptor::CLOSED; self.files].into(),
        })
    }
}
