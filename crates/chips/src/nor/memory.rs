//! A chip's memory: costs what was written, not what the chip could hold.
//!
//! Two levels: chunks of 1 MiB, made when something in them is first written or erased, hold their sectors' erase counts and
//! the sectors that are not blank. A sector is there exactly if one of its bits is 0, so that blank is known without looking.
//!
//! A range can be full of old data, as on a chip that was in use before. Old sectors are computed when they are read, and
//! take memory from the first program on.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use super::SECTOR_BYTES;
use crate::random::draw;

const SECTOR: usize = SECTOR_BYTES as usize;
const CHUNK_SECTORS: usize = 256;
/// Erased sectors kept to be used again, so that a chip that is written over and over does not call the allocator.
const SPARES: usize = 32;

type Sector = [u8; SECTOR];

#[derive(Debug)]
struct Chunk {
    sectors: [Option<Box<Sector>>; CHUNK_SECTORS],
    erases: [u32; CHUNK_SECTORS],
    /// Sectors, a bit each, that no longer hold the data they had at first.
    touched: [u64; CHUNK_SECTORS / 64],
}

impl Chunk {
    const fn is_touched(&self, index: usize) -> bool {
        self.touched[index % CHUNK_SECTORS / 64] >> (index % 64) & 1 == 1
    }

    const fn touch(&mut self, index: usize) {
        self.touched[index % CHUNK_SECTORS / 64] |= 1 << (index % 64);
    }
}

/// What a program did to the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// From 1 to 0.
    pub changed: u32,
    /// Wanted 1, were and stayed 0.
    pub stuck: u32,
}

/// Sparse memory of a power of two bytes, at least one sector, with erase counters.
#[derive(Debug)]
pub struct Memory {
    chunks: Vec<Option<Box<Chunk>>>,
    spares: Vec<Box<Sector>>,
    sectors: u32,
    allocated: u32,
    /// Erases of everything; not in the sectors' own counts.
    whole_erases: u32,
    /// Sectors that hold old data until they are touched.
    old: Range<usize>,
    old_seed: u64,
}

impl Memory {
    pub(super) fn new(capacity_bytes: u64) -> Self {
        let sectors = u32::try_from(capacity_bytes / u64::from(SECTOR_BYTES)).unwrap_or(u32::MAX);
        let mut chunks = Vec::new();
        chunks.resize_with((sectors as usize).div_ceil(CHUNK_SECTORS), || None);
        Self { chunks, spares: Vec::new(), sectors, allocated: 0, whole_erases: 0, old: 0..0, old_seed: 0 }
    }

    /// Fills whole sectors with old data: random bits, half of them 0. What was there is gone.
    pub(super) fn age(&mut self, sectors: Range<usize>, seed: u64) {
        for index in sectors.clone() {
            if let Some(chunk) = &mut self.chunks[index / CHUNK_SECTORS] {
                chunk.touched[index % CHUNK_SECTORS / 64] &= !(1 << (index % 64));
                if let Some(sector) = chunk.sectors[index % CHUNK_SECTORS].take() {
                    self.release(sector);
                }
            }
        }
        self.old = sectors;
        self.old_seed = seed;
    }

    #[inline]
    fn is_old(&self, index: usize) -> bool {
        self.old.contains(&index)
            && self.chunks[index / CHUNK_SECTORS].as_ref().is_none_or(|chunk| !chunk.is_touched(index))
    }

    /// The old data from an address on.
    fn read_old(&self, address: usize, buf: &mut [u8]) {
        let word = |address: usize| draw(self.old_seed, (address / 8) as u64).to_le_bytes();
        let (head, rest) = buf.split_at_mut(buf.len().min(address.wrapping_neg() % 8));
        head.copy_from_slice(&word(address)[address % 8..][..head.len()]);
        let (words, tail) = rest.as_chunks_mut::<8>();
        let mut address = address + head.len();
        for chunk in words {
            *chunk = word(address);
            address += 8;
        }
        tail.copy_from_slice(&word(address)[..tail.len()]);
    }

    /// From now on the sector is an ordinary one; with its old data, if `keep`.
    fn touch(&mut self, index: usize, keep: bool) {
        if !self.is_old(index) {
            return;
        }
        let data = keep.then(|| {
            let mut sector = self.spares.pop().unwrap_or_else(|| Box::new([0xff; SECTOR]));
            self.read_old(index * SECTOR, &mut sector[..]);
            sector
        });
        self.allocated += u32::from(keep);
        let chunk = chunk_mut(&mut self.chunks, index);
        chunk.touch(index);
        chunk.sectors[index % CHUNK_SECTORS] = data;
    }

    pub(super) const fn sectors(&self) -> u32 {
        self.sectors
    }

    /// Sectors that hold something, and so take memory.
    pub(super) const fn allocated(&self) -> u32 {
        self.allocated
    }

    pub(super) fn erases(&self, sector: u32) -> u32 {
        let own = self.chunks[sector as usize / CHUNK_SECTORS]
            .as_ref()
            .map_or(0, |chunk| chunk.erases[sector as usize % CHUNK_SECTORS]);
        self.whole_erases.saturating_add(own)
    }

    /// Reads inside the memory.
    #[inline]
    pub(super) fn read(&self, address: u64, buf: &mut [u8]) {
        let mut address = address as usize;
        let mut rest = buf;
        while !rest.is_empty() {
            let offset = address % SECTOR;
            let (part, more) = rest.split_at_mut(rest.len().min(SECTOR - offset));
            match self.sector(address / SECTOR) {
                Some(sector) => part.copy_from_slice(&sector[offset..offset + part.len()]),
                None if self.is_old(address / SECTOR) => self.read_old(address, part),
                None => part.fill(0xff),
            }
            address += part.len();
            rest = more;
        }
    }

    #[inline]
    fn sector(&self, index: usize) -> Option<&Sector> {
        self.chunks[index / CHUNK_SECTORS].as_ref()?.sectors[index % CHUNK_SECTORS].as_deref()
    }

    /// Clears the bits that are 0 in `data`; inside one sector.
    #[inline]
    pub(super) fn program(&mut self, address: u64, data: &[u8]) -> Changes {
        let index = address as usize / SECTOR;
        let offset = address as usize % SECTOR;
        self.touch(index, true);
        let chunk = chunk_mut(&mut self.chunks, index);
        let slot = &mut chunk.sectors[index % CHUNK_SECTORS];
        if let Some(sector) = slot {
            return clear(&mut sector[offset..offset + data.len()], data);
        }
        let changed = zeros(data);
        if changed > 0 {
            let mut sector = self.spares.pop().unwrap_or_else(|| Box::new([0xff; SECTOR]));
            sector[offset..offset + data.len()].copy_from_slice(data);
            *slot = Some(sector);
            self.allocated += 1;
        }
        Changes { changed, stuck: 0 }
    }

    /// Sets `bytes` from `address` to ones and counts an erase of each sector concerned. Tells whether all was blank.
    pub(super) fn erase(&mut self, address: u64, bytes: u64) -> bool {
        let mut blank = true;
        if bytes < u64::from(SECTOR_BYTES) {
            let index = address as usize / SECTOR;
            let offset = address as usize % SECTOR;
            self.touch(index, true);
            let chunk = chunk_mut(&mut self.chunks, index);
            chunk.erases[index % CHUNK_SECTORS] = chunk.erases[index % CHUNK_SECTORS].saturating_add(1);
            if let Some(sector) = &mut chunk.sectors[index % CHUNK_SECTORS] {
                let unit = &mut sector[offset..offset + bytes as usize];
                blank = zeros(unit) == 0;
                unit.fill(0xff);
            }
            self.settle(index);
            return blank;
        }
        for index in address as usize / SECTOR..(address + bytes) as usize / SECTOR {
            blank &= !self.is_old(index);
            self.touch(index, false);
            let chunk = chunk_mut(&mut self.chunks, index);
            chunk.erases[index % CHUNK_SECTORS] = chunk.erases[index % CHUNK_SECTORS].saturating_add(1);
            if let Some(sector) = chunk.sectors[index % CHUNK_SECTORS].take() {
                blank = false;
                self.release(sector);
            }
        }
        blank
    }

    /// Erases everything. Tells whether all was blank.
    pub(super) fn erase_all(&mut self) -> bool {
        let blank = self.allocated == 0 && !self.old.clone().any(|index| self.is_old(index));
        self.old = 0..0;
        self.whole_erases = self.whole_erases.saturating_add(1);
        if !blank {
            for chunk in self.chunks.iter_mut().flatten() {
                for slot in &mut chunk.sectors {
                    *slot = None;
                }
            }
            self.allocated = 0;
        }
        blank
    }

    /// Writes bytes as they are, whatever was there.
    pub(super) fn load(&mut self, address: u64, data: &[u8]) {
        let mut address = address as usize;
        let mut rest = data;
        while !rest.is_empty() {
            let (index, offset) = (address / SECTOR, address % SECTOR);
            let (part, more) = rest.split_at(rest.len().min(SECTOR - offset));
            self.touch(index, true);
            let slot = &mut chunk_mut(&mut self.chunks, index).sectors[index % CHUNK_SECTORS];
            if slot.is_none() {
                self.allocated += 1;
            }
            slot.get_or_insert_with(|| Box::new([0xff; SECTOR]))[offset..offset + part.len()].copy_from_slice(part);
            self.settle(index);
            address += part.len();
            rest = more;
        }
    }

    /// Forgets a sector that has become blank.
    fn settle(&mut self, index: usize) {
        if self.sector(index).is_some_and(|sector| zeros(sector) == 0)
            && let Some(sector) = chunk_mut(&mut self.chunks, index).sectors[index % CHUNK_SECTORS].take()
        {
            self.release(sector);
        }
    }

    fn release(&mut self, mut sector: Box<Sector>) {
        self.allocated -= 1;
        if self.spares.len() < SPARES {
            sector.fill(0xff);
            self.spares.push(sector);
        }
    }
}

#[inline]
fn chunk_mut(chunks: &mut [Option<Box<Chunk>>], sector: usize) -> &mut Chunk {
    chunks[sector / CHUNK_SECTORS].get_or_insert_with(|| {
        Box::new(Chunk {
            sectors: [const { None }; CHUNK_SECTORS],
            erases: [0; CHUNK_SECTORS],
            touched: [0; CHUNK_SECTORS / 64],
        })
    })
}

/// Bits that are 0.
fn zeros(data: &[u8]) -> u32 {
    let (words, rest) = data.as_chunks::<8>();
    words.iter().map(|word| (!u64::from_ne_bytes(*word)).count_ones()).sum::<u32>()
        + rest.iter().map(|byte| byte.count_zeros()).sum::<u32>()
}

/// `memory &= data`, counting.
#[inline]
fn clear(memory: &mut [u8], data: &[u8]) -> Changes {
    let (memory_words, memory_rest) = memory.as_chunks_mut::<8>();
    let (data_words, data_rest) = data.as_chunks::<8>();
    let mut changed = 0;
    let mut wanted = 0;
    for (word, data) in memory_words.iter_mut().zip(data_words) {
        let (old, new) = (u64::from_ne_bytes(*word), u64::from_ne_bytes(*data));
        changed += (old & !new).count_ones();
        wanted |= !old & new;
        *word = (old & new).to_ne_bytes();
    }
    for (byte, data) in memory_rest.iter_mut().zip(data_rest) {
        changed += (*byte & !data).count_ones();
        wanted |= u64::from(!*byte & data);
        *byte &= data;
    }
    // What is 0 in the data is 0 in the memory now; what is 0 there beside that is stuck. Seldom, so not counted above.
    let stuck = if wanted == 0 { 0 } else { zeros(memory) - zeros(data) };
    Changes { changed, stuck }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_costs_what_is_not_blank() {
        let mut memory = Memory::new(128 << 20);
        assert_eq!((memory.sectors(), memory.allocated()), (32768, 0));
        assert_eq!(memory.program(5, &[0xff; 40]), Changes::default());
        assert_eq!(memory.allocated(), 0);
        assert_eq!(memory.program(100 << 20, &[0x0f; 9]), Changes { changed: 36, stuck: 0 });
        assert_eq!(memory.allocated(), 1);
        assert_eq!(memory.program(100 << 20, &[0xf8; 9]), Changes { changed: 27, stuck: 36 });
        assert!(!memory.erase(100 << 20, 65536));
        assert!(memory.erase(100 << 20, 65536));
        assert_eq!((memory.allocated(), memory.erases(100 * 256 + 15), memory.erases(100 * 256 + 16)), (0, 2, 0));
        memory.load(4090, &[0; 10]);
        assert_eq!(memory.allocated(), 2);
        memory.load(4090, &[0xff; 10]);
        assert_eq!(memory.allocated(), 0);
        assert!(memory.erase_all());
        assert_eq!((memory.erases(0), memory.erases(100 * 256)), (1, 3));
    }

    #[test]
    fn a_unit_below_a_sector_is_erased_alone() {
        let mut memory = Memory::new(1 << 20);
        memory.program(0, &[0; 512]);
        assert!(!memory.erase(256, 256));
        let mut buf = [0; 512];
        memory.read(0, &mut buf);
        assert_eq!((buf[255], buf[256]), (0, 0xff));
        assert!(memory.erase(256, 256));
        assert!(!memory.erase(0, 256));
        assert_eq!((memory.allocated(), memory.erases(0)), (0, 3));
    }

    #[test]
    fn old_data_is_there_until_it_is_touched() {
        let mut memory = Memory::new(1 << 20);
        memory.program(3 * 4096, &[0]);
        memory.age(2..5, 7);
        assert_eq!(memory.allocated(), 0);
        let content = |memory: &Memory, at: u64| {
            let mut buf = [0; 64];
            memory.read(at, &mut buf);
            buf
        };
        let old = content(&memory, 3 * 4096 - 32);
        assert_ne!(old[..32], [0xff; 32]);
        assert_ne!(old[32..], [0xff; 32]);
        assert_eq!((content(&memory, 2 * 4096 - 64), content(&memory, 5 * 4096)), ([0xff; 64], [0xff; 64]));
        // Reads of any size and place agree.
        let mut sector = [0; 4096];
        memory.read(3 * 4096, &mut sector);
        for (at, bytes) in [(0, 32), (3, 5), (5, 64), (9, 1), (4091, 5), (8, 8), (7, 1)] {
            let mut part = [0; 64];
            memory.read(3 * 4096 + at as u64, &mut part[..bytes]);
            assert_eq!(part[..bytes], sector[at..at + bytes], "{bytes} at {at}");
        }
        // A program changes what it changes and keeps the rest; bits that were 0 stay so.
        let stuck = memory.program(3 * 4096, &[0xff; 8]).stuck;
        assert!((1..64).contains(&stuck), "{stuck}");
        assert_eq!((content(&memory, 3 * 4096 - 32), memory.allocated()), (old, 1));
        assert!(!memory.erase(2 * 4096, 4096));
        assert!(memory.erase(2 * 4096, 4096));
        assert_eq!(content(&memory, 2 * 4096), [0xff; 64]);
        assert!(!memory.erase_all());
        assert_eq!((memory.erase_all(), content(&memory, 4 * 4096)), (true, [0xff; 64]));
    }
}
