//! A NOR flash in RAM. It counts operations, tells of programs that would turn a 0 into a 1, and can lose its power.

use std::fmt::Write as _;

use spiffs::Flash;

use super::crc::{Crc, crc32};

/// After so many operations within one call, the call is taken for one that never ends.
const MOST_OPERATIONS: u64 = 30_000_000;

/// Why an operation failed, with the numbers that the recordings have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The power is gone.
    Dead,
    /// The address is outside the flash.
    Outside,
    /// The call needs more operations than any call that ends.
    Endless,
}

impl Failure {
    pub fn code(self) -> i32 {
        match self {
            Self::Dead | Self::Endless => -10100,
            Self::Outside => -1,
        }
    }
}

/// How much of the last operation happens when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    None,
    /// The first half of its bytes.
    Half,
    Whole,
}

impl Extent {
    fn of(self, bytes: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Half => bytes / 2,
            Self::Whole => bytes,
        }
    }
}

/// What was done to the flash during a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub reads: u64,
    pub read_bytes: u64,
    pub programs: u64,
    pub programmed_bytes: u64,
    pub erases: u64,
    /// Programs that wanted to turn a 0 into a 1.
    pub overwrites: u64,
    /// Over all operations in order: kind, address, length, and what was programmed.
    pub operations: Crc,
}

/// The flash. Unless `COUNTED` it does nothing but to read, program and erase: it keeps no counts, and has its power
/// always.
pub struct Nor<const COUNTED: bool> {
    pub bytes: Vec<u8>,
    pub counts: Counts,
    /// A line for each operation, if wanted.
    pub trace: Option<String>,
    /// Programs and erases that are left until the power goes, and how it goes.
    cut: Option<(u32, Extent)>,
    dead: bool,
    endless: bool,
}

impl<const COUNTED: bool> Nor<COUNTED> {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, counts: Counts::default(), trace: None, cut: None, dead: false, endless: false }
    }

    /// A call begins.
    pub fn begin(&mut self) {
        if !COUNTED {
            return;
        }
        self.counts = Counts::default();
        if let Some(trace) = &mut self.trace {
            trace.clear();
        }
    }

    /// The power goes at the program or erase after the next `after`.
    pub fn cut_after(&mut self, after: u32, extent: Extent) {
        self.cut = Some((after, extent));
    }

    /// The power is back, and stays.
    pub fn restore(&mut self) {
        self.cut = None;
        self.dead = false;
    }

    pub fn is_dead(&self) -> bool {
        COUNTED && self.dead
    }

    /// Whether a call took more operations than any call that ends.
    pub fn is_endless(&self) -> bool {
        COUNTED && self.endless
    }

    fn count(&mut self, kind: u8, address: u32, bytes: usize, data: Option<&[u8]>) -> Result<(), Failure> {
        let counts = &mut self.counts;
        match kind {
            b'r' => {
                counts.reads += 1;
                counts.read_bytes += bytes as u64;
            }
            b'p' => {
                counts.programs += 1;
                counts.programmed_bytes += bytes as u64;
            }
            _ => counts.erases += 1,
        }
        counts.operations.add(&[kind]);
        counts.operations.add(&address.to_le_bytes());
        counts.operations.add(&(bytes as u32).to_le_bytes());
        counts.operations.add(data.unwrap_or_default());
        if let Some(trace) = &mut self.trace {
            let kind = char::from(kind);
            let _ = match data {
                Some(data) => writeln!(trace, "  {kind} {address:08x} {bytes} {:08x}", crc32(data)),
                None => writeln!(trace, "  {kind} {address:08x} {bytes}"),
            };
        }
        if counts.reads + counts.programs + counts.erases > MOST_OPERATIONS {
            self.endless = true;
            return Err(Failure::Endless);
        }
        Ok(())
    }

    /// How many of an operation's bytes have an effect; whether the power goes with it.
    fn strike(&mut self, bytes: usize) -> (usize, bool) {
        match &mut self.cut {
            None => (bytes, false),
            Some((0, extent)) => {
                self.dead = true;
                (extent.of(bytes), true)
            }
            Some((left, _)) => {
                *left -= 1;
                (bytes, false)
            }
        }
    }

    fn range(&mut self, address: u32, bytes: usize) -> Result<&mut [u8], Failure> {
        self.bytes.get_mut(address as usize..).and_then(|rest| rest.get_mut(..bytes)).ok_or(Failure::Outside)
    }
}

impl<const COUNTED: bool> Flash for Nor<COUNTED> {
    type Error = Failure;

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), Failure> {
        if self.is_dead() {
            return Err(Failure::Dead);
        }
        if COUNTED {
            self.count(b'r', address, into.len(), None)?;
        }
        into.copy_from_slice(self.range(address, into.len())?);
        Ok(())
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Failure> {
        if !COUNTED {
            program(self.range(address, data.len())?, data);
            return Ok(());
        }
        if self.dead {
            return Err(Failure::Dead);
        }
        self.count(b'p', address, data.len(), Some(data))?;
        let old = self.range(address, data.len())?;
        let overwrites = old.iter().zip(data).any(|(old, new)| new & !old != 0);
        self.counts.overwrites += u64::from(overwrites);
        let (bytes, cut) = self.strike(data.len());
        program(self.range(address, bytes)?, data);
        if cut { Err(Failure::Dead) } else { Ok(()) }
    }

    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), Failure> {
        let bytes = bytes as usize;
        if !COUNTED {
            self.range(address, bytes)?.fill(0xff);
            return Ok(());
        }
        if self.dead {
            return Err(Failure::Dead);
        }
        self.count(b'e', address, bytes, None)?;
        self.range(address, bytes)?;
        let (bytes, cut) = self.strike(bytes);
        self.range(address, bytes)?.fill(0xff);
        if cut { Err(Failure::Dead) } else { Ok(()) }
    }
}

/// Turns ones into zeros, as many bytes as `old` has; eight at a time, as most programs are small.
fn program(old: &mut [u8], data: &[u8]) {
    let data = &data[..old.len()];
    let (words, bytes) = old.as_chunks_mut::<8>();
    let (new_words, new_bytes) = data.as_chunks::<8>();
    for (old, new) in words.iter_mut().zip(new_words) {
        *old = (u64::from_ne_bytes(*old) & u64::from_ne_bytes(*new)).to_ne_bytes();
    }
    for (old, new) in bytes.iter_mut().zip(new_bytes) {
        *old &= new;
    }
}
