//! A mounted volume: making, mounting and leaving it, and what it says of itself.

use crate::cache::{Cache, MOST_CACHE_PAGES};
use crate::config::{Config, Magic};
use crate::descriptors::{Descriptors, File};
use crate::error::Error;
use crate::flash::Flash;
use crate::layout::{BlockIndex, DELETED_ID, FREE_ID, INDEX_ID, Layout, Place};
use crate::medium::{Fetch, Medium, Store};
use crate::memory::{Buffers, Memory};
use crate::scan::Step;

/// A mounted volume on a flash `F`, in a memory `M`.
///
/// Dropping it writes nothing: writes that wait in the cache are lost, as with a power cut. [`Spiffs::unmount`] stores
/// them.
pub struct Spiffs<F: Flash, M: Memory> {
    pub(crate) medium: Medium<F, M>,
    pub(crate) config: Config,
    /// The index page that a call works on.
    pub(crate) work: M::Bytes,
    /// The lookup page that is being scanned.
    pub(crate) lookup: M::Bytes,
    /// The start of an object index header.
    pub(crate) header: M::Bytes,
    pub(crate) copy: M::Bytes,
    pub(crate) files: Descriptors<M::Descriptors>,
    /// Where the search for a free page goes on.
    pub(crate) free_cursor: Place,
    /// Where the last search ended, and the next begins.
    pub(crate) cursor: Place,
    pub(crate) free_blocks: u32,
    pub(crate) allocated_pages: u32,
    pub(crate) deleted_pages: u32,
    /// The block out of which pages are being moved: free pages are then taken down to the last, but not from it.
    pub(crate) cleaning: Option<BlockIndex>,
    /// Whether a collection was given up, so that indexes may list pages that are others by now.
    pub(crate) is_torn: bool,
    /// What becomes of the free blocks that garbage collection needs.
    pub(crate) spare: Spare,
    /// The erase count that the next erased block gets.
    pub(crate) next_erase_count: u16,
    pub(crate) gc_runs: u32,
}

/// What becomes of the free blocks that garbage collection needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spare {
    /// No page is taken that would use them up.
    Kept,
    /// A check takes pages of them if there are no others: it gives back as many, and may have nothing else to take.
    Last,
    /// A check takes any free page, and no block is erased: what the lookup has as deleted may be needed.
    Used,
}

/// How full a volume is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// What files can take altogether, with their indexes, in bytes (`SPIFFS_info`).
    pub total_bytes: u32,
    /// What is taken.
    pub used_bytes: u32,
    /// Pages that hold nothing any more, until their block is erased.
    pub deleted_pages: u32,
    /// Blocks in which nothing was written since the erase.
    pub free_blocks: u32,
    /// How often garbage collection has cleaned a block since mounting.
    pub gc_runs: u32,
    /// Pages of cache.
    pub cache_pages: u32,
    /// Files that can be open at a time.
    pub descriptors: u32,
}

/// A flash that could not be mounted, and why.
pub struct Refused<F: Flash> {
    /// The flash, to be formatted for example.
    pub flash: F,
    /// Why.
    pub error: Error<F::Error>,
}

impl<F: Flash> core::fmt::Debug for Refused<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Refused").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<F: Flash, M: Memory> core::fmt::Debug for Spiffs<F, M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Spiffs")
            .field("config", &self.config)
            .field("free_blocks", &self.free_blocks)
            .finish_non_exhaustive()
    }
}

/// Makes an empty volume; everything in it is lost. Every block is erased, and gets its erase count and magic.
///
/// # Errors
/// [`Error::Config`], [`Error::Flash`].
pub fn format<F: Flash>(flash: &mut F, config: &Config) -> Result<(), Error<F::Error>> {
    config.check().map_err(Error::Config)?;
    let layout = Layout::of(config);
    for block in 0..layout.blocks {
        erase(flash, config, &layout, block)?;
        flash.program(layout.erase_count_address(block), &0_u16.to_le_bytes()).map_err(Error::Flash)?;
        if let Some(magic) = config.magic_of(block) {
            flash.program(layout.magic_address(block), &magic.to_le_bytes()).map_err(Error::Flash)?;
        }
    }
    Ok(())
}

/// The size of the volume that begins at `config.address`, in bytes, whatever `config.size_bytes` says
/// (`SPIFFS_probe_fs`). Needs [`crate::Magic::Length`] and the right sizes of page and block; one of the first three
/// blocks may be in the middle of an erase.
///
/// # Errors
/// [`Error::Config`], [`Error::TooFewBlocks`], [`Error::NotAVolume`], [`Error::Flash`].
pub fn probe<F: Flash>(flash: &mut F, config: &Config) -> Result<u32, Error<F::Error>> {
    let least = Config { size_bytes: config.block_bytes.saturating_mul(3), magic: Magic::Length, ..*config };
    least.check().map_err(Error::Config)?;
    let layout = Layout::of(&least);
    let mut magics = [0; 3];
    let mut blocks = [0_u16; 3];
    for ((block, magic), count) in (0..).zip(&mut magics).zip(&mut blocks) {
        let mut bytes = [0; 2];
        flash.read(layout.magic_address(block), &mut bytes).map_err(Error::Flash)?;
        *magic = u16::from_le_bytes(bytes);
        *count = *magic ^ ((0x2014_0529 ^ config.page_bytes) & 0xffff) as u16;
    }
    let [first, second, third] = blocks.map(i32::from);
    if first < 3 {
        return Err(Error::TooFewBlocks);
    }
    let [a, b, c] = magics.map(|magic| magic == FREE_ID);
    let blocks = if a && second - third == 1 {
        second + 1
    } else if (b && first - third == 2) || (c && first - second == 1) || (first - second == 1 && second - third == 1) {
        first
    } else {
        return Err(Error::NotAVolume);
    };
    u32::try_from(blocks).ok().and_then(|blocks| blocks.checked_mul(config.block_bytes)).ok_or(Error::NotAVolume)
}

/// Erases a block's sectors.
fn erase<F: Flash>(flash: &mut F, config: &Config, layout: &Layout, block: BlockIndex) -> Result<(), Error<F::Error>> {
    let address = layout.block_address(block);
    for sector in 0..config.block_bytes / config.sector_bytes {
        flash.erase(address + sector * config.sector_bytes, config.sector_bytes).map_err(Error::Flash)?;
    }
    Ok(())
}

impl<F: Flash, M: Memory> Spiffs<F, M> {
    /// Mounts a volume. One block without the magic that it should have is taken for one that was being erased when the power
    /// went, and is erased now: also if the configuration is of another volume that differs in one block only. Nothing else
    /// is checked; after a crash [`Spiffs::check`] should run before anything is written.
    ///
    /// # Errors
    /// [`Refused`] with [`Error::Config`], [`Error::Memory`], [`Error::NotAVolume`] or [`Error::Flash`], and the
    /// flash.
    pub fn mount(flash: F, config: Config, memory: M) -> Result<Self, Refused<F>> {
        if let Err(error) = config.check() {
            return Err(Refused { flash, error: Error::Config(error) });
        }
        let Some(Buffers { work, lookup, header, copy, cache, slots, descriptors }) = memory.divide(&config) else {
            return Err(Refused { flash, error: Error::Memory });
        };
        if descriptors.is_empty() || descriptors.len() > usize::from(u16::MAX) || slots.len() > MOST_CACHE_PAGES {
            return Err(Refused { flash, error: Error::Memory });
        }
        let layout = Layout::of(&config);
        let cache = Cache::new(slots, cache, config.page_bytes);
        let mut volume = Self {
            medium: Medium { flash, cache, layout },
            config,
            work,
            lookup,
            header,
            copy,
            files: Descriptors::new(descriptors, config.open_hints),
            free_cursor: Place::default(),
            cursor: Place::default(),
            free_blocks: 0,
            allocated_pages: 0,
            deleted_pages: 0,
            cleaning: None,
            is_torn: false,
            spare: Spare::Kept,
            next_erase_count: 0,
            gc_runs: 0,
        };
        match volume.take_stock() {
            Ok(()) => Ok(volume),
            Err(error) => Err(Refused { flash: volume.medium.flash, error }),
        }
    }

    /// Stores the writes that wait in the cache, closes all files, and gives the flash back, with the first error.
    pub fn unmount(mut self) -> (F, Result<(), Error<F::Error>>) {
        let mut result = Ok(());
        for slot in 0..self.files.len() {
            if self.files[slot].open {
                let flushed = self.flush_slot(slot);
                self.files[slot].close();
                result = result.and(flushed);
            }
        }
        (self.medium.flash, result)
    }

    /// The flash back, without writing anything: what waits in the cache is lost.
    pub fn abandon(self) -> F {
        self.medium.flash
    }

    /// The flash below the volume. What is changed there behind the volume's back is as good as corrupt.
    pub fn flash(&mut self) -> &mut F {
        &mut self.medium.flash
    }

    /// The configuration that it was mounted with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How full it is; needs no access of the flash.
    pub fn info(&self) -> Info {
        let layout = &self.medium.layout;
        Info {
            // One page more than what is free of the spare blocks, "for emergencies".
            total_bytes: (layout.usable_pages() + 1) * layout.data_bytes,
            used_bytes: self.allocated_pages.wrapping_mul(layout.data_bytes),
            deleted_pages: self.deleted_pages,
            free_blocks: self.free_blocks,
            gc_runs: self.gc_runs,
            cache_pages: self.medium.cache.len() as u32,
            descriptors: self.files.len() as u32,
        }
    }

    /// Counts pages and erase counts, and erases a block that lacks its magic (`spiffs_obj_lu_scan`).
    pub(crate) fn take_stock(&mut self) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        let (mut least, mut most) = (FREE_ID, 0);
        let mut unerased = None;
        for block in 0..layout.blocks {
            if let Some(expected) = self.config.magic_of(block) {
                let magic = self.medium.read_u16(Fetch::Part, layout.magic_address(block))?;
                if magic != expected && unerased.replace(block).is_some() {
                    return Err(Error::NotAVolume);
                }
            }
            let count = self.medium.read_u16(Fetch::Part, layout.erase_count_address(block))?;
            if count != FREE_ID {
                least = least.min(count);
                most = most.max(count);
            }
        }
        // Counts that lie far apart have wrapped.
        let wrapped = i32::from(most) - i32::from(least) > i32::from(FREE_ID / 2);
        self.next_erase_count = if wrapped { least } else { most }.wrapping_add(1);
        if let Some(block) = unerased {
            self.erase_block(block)?;
        }
        self.free_blocks = 0;
        self.allocated_pages = 0;
        self.deleted_pages = 0;
        self.scan(
            Place::default(),
            true,
            |_| true,
            |volume, id, place| {
                match id {
                    FREE_ID => volume.free_blocks += u32::from(place.entry == 0),
                    DELETED_ID => volume.deleted_pages += 1,
                    _ => volume.allocated_pages += 1,
                }
                Ok(Step::Next)
            },
        )?;
        Ok(())
    }

    /// Erases a block and marks it.
    pub(crate) fn erase_block(&mut self, block: BlockIndex) -> Result<(), Error<F::Error>> {
        let layout = self.medium.layout;
        erase(&mut self.medium.flash, &self.config, &layout, block)?;
        self.free_blocks += 1;
        self.medium.write_u16(Store::Around, layout.erase_count_address(block), self.next_erase_count)?;
        // Last, as a block without its magic is erased again when mounted.
        if let Some(magic) = self.config.magic_of(block) {
            self.medium.write_u16(Store::Around, layout.magic_address(block), magic)?;
        }
        self.next_erase_count = self.next_erase_count.wrapping_add(1);
        if self.next_erase_count == INDEX_ID {
            self.next_erase_count = 0;
        }
        Ok(())
    }

    /// The descriptor of a handle.
    pub(crate) fn descriptor(&self, file: File) -> Result<usize, Error<F::Error>> {
        self.files.slot_of(file).ok_or(Error::BadHandle)?.ok_or(Error::FileClosed)
    }
}
