//! A NOR flash in memory that records its operations and loses its power where a test wants it.
#![allow(dead_code)]

use std::fmt::Write as _;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

pub const SECTOR: usize = 4096;

/// How much of an operation happens before the power is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// The first so many thirds of the bytes.
    Start(usize),
    /// All but the first bytes: 64, as many as a state's header has, or half if there are fewer than 128.
    End,
    /// Each bit by chance.
    Bits(u64),
    Everything,
}

pub const EFFECTS: [Effect; 7] = [
    Effect::Nothing,
    Effect::Start(1),
    Effect::Start(2),
    Effect::End,
    Effect::Bits(1),
    Effect::Bits(77),
    Effect::Everything,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    OutOfPower,
    OutOfBounds,
    NotAligned,
}

impl NorFlashError for Fault {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::OutOfPower => NorFlashErrorKind::Other,
            Self::OutOfBounds => NorFlashErrorKind::OutOfBounds,
            Self::NotAligned => NorFlashErrorKind::NotAligned,
        }
    }
}

#[derive(Clone)]
pub struct Nor {
    pub bytes: Vec<u8>,
    /// Erases of each sector.
    pub erases: Vec<u32>,
    /// One line for each operation, if it is wanted.
    pub trace: Option<Vec<String>>,
    /// Programs and erases until now.
    pub changes: usize,
    /// The change, counted like `changes`, at which the power is lost.
    pub cut: Option<(usize, Effect)>,
}

impl Nor {
    pub fn blank(sectors: usize) -> Self {
        Self::with(vec![0xFF; sectors * SECTOR])
    }

    pub fn with(bytes: Vec<u8>) -> Self {
        let erases = vec![0; bytes.len() / SECTOR];
        Self { bytes, erases, trace: None, changes: 0, cut: None }
    }

    /// The same content with power.
    pub fn restarted(&self) -> Self {
        Self { trace: None, changes: 0, cut: None, ..self.clone() }
    }

    pub fn cut_at(&self, change: usize, effect: Effect) -> Self {
        Self { cut: Some((change, effect)), ..self.restarted() }
    }

    pub fn is_cut(&self) -> bool {
        self.cut.is_some_and(|(at, _)| self.changes > at)
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(line());
        }
    }

    /// Changes the bytes from `start` to what `new` says, as far as the power lasts.
    fn change(&mut self, start: usize, new: &[u8]) -> Result<(), Fault> {
        let number = self.changes;
        self.changes += 1;
        let old = &mut self.bytes[start..start + new.len()];
        let Some((at, effect)) = self.cut.filter(|&(at, _)| number >= at) else {
            old.copy_from_slice(new);
            return Ok(());
        };
        let third = new.len().div_ceil(3);
        let head = (new.len() / 2).min(64);
        match effect {
            _ if number > at => (),
            Effect::Nothing => (),
            Effect::Start(thirds) => {
                let end = (third * thirds).min(new.len());
                old[..end].copy_from_slice(&new[..end]);
            }
            Effect::End => old[head..].copy_from_slice(&new[head..]),
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

    fn check(&self, start: usize, length: usize) -> Result<(), Fault> {
        if self.is_cut() {
            Err(Fault::OutOfPower)
        } else if start + length > self.bytes.len() {
            Err(Fault::OutOfBounds)
        } else {
            Ok(())
        }
    }
}

impl ErrorType for Nor {
    type Error = Fault;
}

impl ReadNorFlash for Nor {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Fault> {
        self.check(offset as usize, bytes.len())?;
        self.note(|| format!("r {offset:x} {:x}", bytes.len()));
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Nor {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Fault> {
        let (start, length) = (from as usize, (to - from) as usize);
        self.check(start, length)?;
        if start % SECTOR != 0 || length % SECTOR != 0 {
            return Err(Fault::NotAligned);
        }
        self.note(|| format!("e {start:x} {length:x}"));
        for sector in start / SECTOR..(start + length) / SECTOR {
            self.erases[sector] += 1;
        }
        self.change(start, &vec![0xFF; length])
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Fault> {
        let start = offset as usize;
        self.check(start, bytes.len())?;
        self.note(|| format!("w {start:x} {:x} {:08x}", bytes.len(), fnv(FNV, bytes)));
        let new: Vec<u8> = bytes.iter().zip(&self.bytes[start..]).map(|(new, old)| new & old).collect();
        self.change(start, &new)
    }
}

/// A generator after Knuth's MMIX constants.
pub struct Random(pub u64);

impl Random {
    pub fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 56) as u8
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte())) % bound
    }
}

/// The bytes that the recordings of the original were written with.
pub fn pattern(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

pub const FNV: u32 = 0x811C_9DC5;

/// FNV-1a of 32 bits, continued from `hash`.
pub fn fnv(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Operations as the recordings show them: one a line, or their number and hash if there are many.
pub fn render(trace: &[String]) -> String {
    let mut text = String::new();
    if trace.len() <= 24 {
        trace.iter().for_each(|line| writeln!(text, "  {line}").unwrap());
    } else {
        let hash = trace.iter().fold(FNV, |hash, line| fnv(fnv(hash, line.as_bytes()), b"\n"));
        writeln!(text, "  {} operations {hash:08x}", trace.len()).unwrap();
    }
    text
}
