//! The storage partition: a part of the chip behind the driver.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

use super::SECTOR_BYTES;
use crate::driver::{DriverFault, FlashDriver, Memory};

/// Where the application's buffer is at the moment, so that an access can be told to go to it directly.
///
/// Addresses are compared inside one call only, while the caller's buffer is borrowed: no other buffer can have them then, and
/// no result depends on where buffers are.
#[derive(Debug, Default)]
pub struct AppBuffer(Cell<(usize, usize)>);

impl AppBuffer {
    /// From now on the application's buffer is this one.
    pub fn is(&self, buffer: &[u8]) {
        let Range { start, end } = buffer.as_ptr_range();
        self.0.set((start.addr(), end.addr()));
    }

    /// The application has no buffer in use.
    pub fn forget(&self) {
        self.0.set((0, 0));
    }

    fn holds(&self, buffer: &[u8]) -> bool {
        let (start, end) = self.0.get();
        (start..end).contains(&buffer.as_ptr().addr())
    }
}

/// An access to the partition that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionFault {
    /// Beyond its end.
    #[error("{address:#x} + {bytes} bytes is outside the partition of {size_bytes} bytes")]
    Outside {
        /// The address in the partition.
        address: u64,
        /// How much.
        bytes: u64,
        /// The partition's size.
        size_bytes: u64,
    },
    /// An erase of parts of sectors.
    #[error("an erase of {bytes} bytes at {address:#x} is not of whole sectors of 4096 bytes")]
    NotSectors {
        /// The address in the partition.
        address: u64,
        /// How much.
        bytes: u64,
    },
    /// The chip did not take it.
    #[error(transparent)]
    Driver(#[from] DriverFault),
}

impl NorFlashError for PartitionFault {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Outside { .. } => NorFlashErrorKind::OutOfBounds,
            Self::NotSectors { .. } => NorFlashErrorKind::NotAligned,
            Self::Driver(_) => NorFlashErrorKind::Other,
        }
    }
}

/// A part of the chip, with addresses of its own.
#[derive(Clone)]
pub struct Partition {
    driver: Rc<RefCell<Box<dyn FlashDriver>>>,
    offset: u64,
    size_bytes: u64,
    app: Rc<AppBuffer>,
    app_is_external: bool,
}

impl std::fmt::Debug for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partition")
            .field("offset", &self.offset)
            .field("size_bytes", &self.size_bytes)
            .finish_non_exhaustive()
    }
}

impl Partition {
    /// The part of the driver's chip that starts at `offset`.
    #[must_use]
    pub const fn new(
        driver: Rc<RefCell<Box<dyn FlashDriver>>>,
        offset: u64,
        size_bytes: u64,
        app: Rc<AppBuffer>,
        app_is_external: bool,
    ) -> Self {
        Self { driver, offset, size_bytes, app, app_is_external }
    }

    /// Its size.
    #[must_use]
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn check(&self, address: u64, bytes: u64) -> Result<u64, PartitionFault> {
        match address.checked_add(bytes) {
            Some(end) if end <= self.size_bytes => Ok(self.offset + address),
            _ => Err(PartitionFault::Outside { address, bytes, size_bytes: self.size_bytes }),
        }
    }

    fn memory_of(&self, buffer: &[u8]) -> Memory {
        if self.app_is_external && self.app.holds(buffer) { Memory::External } else { Memory::Internal }
    }

    /// Reads all of `buf`.
    ///
    /// # Errors
    /// [`PartitionFault`].
    pub fn read_at(&self, address: u64, buf: &mut [u8]) -> Result<(), PartitionFault> {
        let at = self.check(address, buf.len() as u64)?;
        let memory = self.memory_of(buf);
        Ok(self.driver.borrow_mut().read(at, buf, memory)?)
    }

    /// Programs `data`.
    ///
    /// # Errors
    /// [`PartitionFault`].
    pub fn program_at(&self, address: u64, data: &[u8]) -> Result<(), PartitionFault> {
        let at = self.check(address, data.len() as u64)?;
        let memory = self.memory_of(data);
        Ok(self.driver.borrow_mut().write(at, data, memory)?)
    }

    /// Erases whole sectors.
    ///
    /// # Errors
    /// [`PartitionFault`].
    pub fn erase_at(&self, address: u64, bytes: u64) -> Result<(), PartitionFault> {
        let at = self.check(address, bytes)?;
        if !address.is_multiple_of(u64::from(SECTOR_BYTES)) || !bytes.is_multiple_of(u64::from(SECTOR_BYTES)) {
            return Err(PartitionFault::NotSectors { address, bytes });
        }
        Ok(self.driver.borrow_mut().erase(at, bytes)?)
    }
}

impl ErrorType for Partition {
    type Error = PartitionFault;
}

impl ReadNorFlash for Partition {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), PartitionFault> {
        self.read_at(u64::from(offset), bytes)
    }

    fn capacity(&self) -> usize {
        usize::try_from(self.size_bytes).unwrap_or(usize::MAX)
    }
}

impl NorFlash for Partition {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = SECTOR_BYTES as usize;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), PartitionFault> {
        self.erase_at(u64::from(from), u64::from(to.saturating_sub(from)))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), PartitionFault> {
        self.program_at(u64::from(offset), bytes)
    }
}
