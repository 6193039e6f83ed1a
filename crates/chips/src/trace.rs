//! Wrappers that watch what is done to a `NorFlash`.

use alloc::collections::VecDeque;

use embedded_storage::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};

/// What was done to a flash memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A read.
    Read {
        /// From where.
        offset: u32,
        /// How much.
        bytes: u32,
    },
    /// A write.
    Write {
        /// To where.
        offset: u32,
        /// How much.
        bytes: u32,
    },
    /// An erase.
    Erase {
        /// From where.
        from: u32,
        /// Up to where, exclusive.
        to: u32,
    },
}

/// Sums over events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Erases.
    pub erases: u64,
    /// Bytes erased.
    pub erase_bytes: u64,
}

/// Counts all that is asked of a flash memory, whether it succeeds or not, and keeps the last events.
#[derive(Debug)]
pub struct Trace<F> {
    flash: F,
    totals: Totals,
    events: VecDeque<Event>,
    kept: usize,
}

impl<F> Trace<F> {
    /// Watches `flash`, keeping the last `kept` events; with 0 it only counts, and allocates nothing.
    pub fn new(flash: F, kept: usize) -> Self {
        Self { flash, totals: Totals::default(), events: VecDeque::with_capacity(kept), kept }
    }

    /// Sums since the start or the last [`Trace::clear`].
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// The last events, the oldest first.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        self.events.iter().copied()
    }

    /// Forgets sums and events.
    pub fn clear(&mut self) {
        self.totals = Totals::default();
        self.events.clear();
    }

    /// What is watched.
    pub const fn get_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    /// Stops watching.
    pub fn into_inner(self) -> F {
        self.flash
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Read { bytes, .. } => {
                self.totals.reads += 1;
                self.totals.read_bytes += u64::from(bytes);
            }
            Event::Write { bytes, .. } => {
                self.totals.writes += 1;
                self.totals.write_bytes += u64::from(bytes);
            }
            Event::Erase { from, to } => {
                self.totals.erases += 1;
                self.totals.erase_bytes += u64::from(to.saturating_sub(from));
            }
        }
        if self.kept == 0 {
            return;
        }
        if self.events.len() == self.kept {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

impl<F: ErrorType> ErrorType for Trace<F> {
    type Error = F::Error;
}

impl<F: ReadNorFlash> ReadNorFlash for Trace<F> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.note(Event::Read { offset, bytes: length(bytes) });
        self.flash.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash> NorFlash for Trace<F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.note(Event::Erase { from, to });
        self.flash.erase(from, to)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.note(Event::Write { offset, bytes: length(bytes) });
        self.flash.write(offset, bytes)
    }
}

impl<F: MultiwriteNorFlash> MultiwriteNorFlash for Trace<F> {}
