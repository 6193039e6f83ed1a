//! A NOR flash in memory: it tells programs that are against the rules, loses its power where a test wants it, and
//! counts accesses.
#![allow(dead_code)]

use spiffs::{Config, Flash};

/// How much of an operation happens before the power is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// The first so many thirds of the bytes.
    Start(usize),
    /// Some bits of all bytes, as chance has it.
    Bits(u64),
    Everything,
}

pub const EFFECTS: [Effect; 5] =
    [Effect::Nothing, Effect::Start(1), Effect::Start(2), Effect::Bits(1), Effect::Everything];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    OutOfPower,
    /// An access outside the volume.
    Outside,
    /// An erase of something else than a sector.
    NotAligned,
    /// A program that is to turn a 0 into a 1, where SPIFFS never does that.
    Overwrite {
        address: u32,
    },
    /// More accesses than the test expects.
    Endless,
}

/// What a flash has to know of the volume on it.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    start: u32,
    end: u32,
    sector_bytes: u32,
    page_bytes: u32,
}

impl Rules {
    pub fn of(config: &Config) -> Self {
        let (start, page_bytes) = (config.address, config.page_bytes);
        Self { start, end: start + config.size_bytes, sector_bytes: config.sector_bytes, page_bytes }
    }

    pub fn check_access(&self, address: u32, bytes: usize) -> Result<(), Fault> {
        let inside = address >= self.start && u64::from(address) + bytes as u64 <= u64::from(self.end);
        if inside { Ok(()) } else { Err(Fault::Outside) }
    }

    pub fn check_erase(&self, address: u32, bytes: u32) -> Result<(), Fault> {
        self.check_access(address, bytes as usize)?;
        let aligned = (address - self.start).is_multiple_of(self.sector_bytes) && bytes == self.sector_bytes;
        if aligned { Ok(()) } else { Err(Fault::NotAligned) }
    }

    /// A program must find ones where it wants ones.
    ///
    /// There is one exception, a page's flags (the byte 4 of each page). SPIFFS clears a flag by programming a byte in
    /// which all other bits are 1, whatever the flash has there, and a page that is stored again from the cache has the
    /// flags as the cache has them. Only zeros are meant, and only zeros arrive: NOR flash leaves a 0 as it is when a 1
    /// is programmed over it.
    pub fn check_program(&self, address: u32, data: &[u8], old: &[u8]) -> Result<(), Fault> {
        let mut addresses = (address..).zip(data.iter().zip(old));
        match addresses.find(|&(address, (new, old))| new & !old != 0 && (address - self.start) % self.page_bytes != 4)
        {
            Some((address, _)) => Err(Fault::Overwrite { address }),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Ram {
    /// From address 0 on.
    pub bytes: Vec<u8>,
    pub rules: Rules,
    /// The first breach of the rules.
    pub breach: Option<Fault>,
    /// Whether a breach by [`Fault::Overwrite`] matters: a broken volume leads to such.
    pub strict: bool,
    /// Programs and erases until now.
    pub changes: usize,
    pub accesses: u64,
    pub most_accesses: u64,
    /// The change, counted like `changes`, at which the power is lost.
    pub cut: Option<(usize, Effect)>,
}

impl Ram {
    /// A flash with a volume's place in it; what is around that is never read or written.
    pub fn new(config: &Config) -> Self {
        let bytes = vec![0xff; (config.address + config.size_bytes) as usize];
        Self {
            bytes,
            rules: Rules::of(config),
            breach: None,
            strict: true,
            changes: 0,
            accesses: 0,
            most_accesses: u64::MAX,
            cut: None,
        }
    }

    /// The same content with power.
    pub fn restarted(&self) -> Self {
        Self { cut: None, changes: 0, accesses: 0, ..self.clone() }
    }

    pub fn cut_at(&self, change: usize, effect: Effect) -> Self {
        Self { cut: Some((change, effect)), ..self.restarted() }
    }

    pub fn is_cut(&self) -> bool {
        self.cut.is_some_and(|(at, _)| self.changes > at)
    }

    fn admit(&mut self, checked: Result<(), Fault>) -> Result<(), Fault> {
        self.accesses += 1;
        let checked = if self.accesses > self.most_accesses { Err(Fault::Endless) } else { checked };
        match checked {
            Err(Fault::Overwrite { .. }) if !self.strict => Ok(()),
            Err(fault) => {
                self.breach.get_or_insert(fault);
                Err(fault)
            }
            Ok(()) if self.is_cut() => Err(Fault::OutOfPower),
            Ok(()) => Ok(()),
        }
    }

    /// Changes the bytes from `start` to what `new` says, as far as the power lasts.
    fn change(&mut self, start: usize, new: &[u8]) -> Result<(), Fault> {
        let number = self.changes;
        self.changes += 1;
        let old = &mut self.bytes[start..start + new.len()];
        let Some((_, effect)) = self.cut.filter(|&(at, _)| number == at) else {
            old.copy_from_slice(new);
            return Ok(());
        };
        match effect {
            Effect::Nothing => (),
            Effect::Start(thirds) => {
                let end = (new.len() * thirds).div_ceil(3).min(new.len());
                old[..end].copy_from_slice(&new[..end]);
            }
            Effect::Bits(seed) => {
                let mut random = Random(seed ^ number as u64);
                for (old, new) in old.iter_mut().zip(new) {
                    *old ^= (*old ^ new) & random.byte();
                }
            }
            Effect::Everything => old.copy_from_slice(new),
        }
        Err(Fault::OutOfPower)
    }
}

impl Flash for Ram {
    type Error = Fault;

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), Fault> {
        self.admit(self.rules.check_access(address, into.len()))?;
        into.copy_from_slice(&self.bytes[address as usize..][..into.len()]);
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        self.admit(self.rules.check_access(address, data.len()))?;
        let old = &self.bytes[address as usize..][..data.len()];
        let new: Vec<u8> = data.iter().zip(old).map(|(new, old)| new & old).collect();
        let checked = self.rules.check_program(address, data, old);
        self.admit(checked)?;
        self.change(address as usize, &new)
    }

    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), Fault> {
        self.admit(self.rules.check_erase(address, bytes))?;
        self.change(address as usize, &vec![0xff; bytes as usize])
    }
}

/// A generator after Knuth's MMIX constants.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 56) as u8
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte())) % bound
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }
}

/// Memory for a volume.
pub struct Room {
    pub bytes: Vec<u8>,
    pub descriptors: Vec<spiffs::Descriptor>,
    pub slots: Vec<spiffs::CacheSlot>,
}

impl Room {
    pub fn new(config: &Config, files: usize, cache_pages: usize) -> Self {
        Self {
            bytes: vec![0; config.buffer_bytes(cache_pages)],
            descriptors: vec![spiffs::Descriptor::CLOSED; files],
            slots: vec![spiffs::CacheSlot::FREE; cache_pages],
        }
    }

    pub fn lend(&mut self) -> spiffs::Borrowed<'_> {
        spiffs::Borrowed { bytes: &mut self.bytes, descriptors: &mut self.descriptors, slots: &mut self.slots }
    }
}

/// A mounted volume on a flash `F`.
pub type Volume<'m, F> = spiffs::Spiffs<F, spiffs::Borrowed<'m>>;
