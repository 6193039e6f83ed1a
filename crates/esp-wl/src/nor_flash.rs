//! A levelled volume as a flash of its own.

use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};

use crate::{Error, Observer, WearLevelling};

impl<F: NorFlash, O: Observer> ErrorType for WearLevelling<F, O> {
    type Error = Error<F::Error>;
}

impl<F: NorFlash, O: Observer> ReadNorFlash for WearLevelling<F, O> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        WearLevelling::read(self, offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.size_bytes() as usize
    }
}

/// For partitions with the usual sectors of 4096 bytes; with others, erases must be multiples of their size.
impl<F: NorFlash, O: Observer> NorFlash for WearLevelling<F, O> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        let Some(length) = to.checked_sub(from) else {
            return Err(Error::OutOfRange { address: from, length: 0, size_bytes: self.size_bytes() });
        };
        self.erase_range(from, length)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        WearLevelling::write(self, offset, bytes)
    }
}
