//! What a volume stands on.

use core::fmt::Debug;

use embedded_storage::nor_flash::NorFlash;

/// NOR flash as SPIFFS needs it: any byte can be read, and any byte can be programmed, also a second time as long as
/// that turns ones into zeros only.
///
/// Chips with error correction over larger units, which allow a unit to be programmed once only, cannot hold SPIFFS.
pub trait Flash {
    /// Why an operation failed.
    type Error: Debug;

    /// Reads from any address.
    ///
    /// # Errors
    /// The flash's own.
    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Turns ones into zeros: a bit is 1 afterwards where it was 1 and is 1 in `data`.
    ///
    /// # Errors
    /// The flash's own.
    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Self::Error>;

    /// Turns all bits of a sector ([`crate::Config::sector_bytes`]) into ones.
    ///
    /// # Errors
    /// The flash's own.
    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), Self::Error>;

    /// Told what the following accesses are for, when that changes; they begin as [`Purpose::Structure`]. For those who
    /// account for what a file system does.
    fn purpose(&mut self, purpose: Purpose) {
        let _ = purpose;
    }
}

/// What accesses of the flash are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The content of files, for a caller who reads or writes it.
    Content,
    /// All else: lookup, headers, indexes, and whatever is moved.
    Structure,
}

impl<F: Flash + ?Sized> Flash for &mut F {
    type Error = F::Error;

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), Self::Error> {
        (**self).read(address, into)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Self::Error> {
        (**self).program(address, data)
    }

    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), Self::Error> {
        (**self).erase(address, bytes)
    }

    fn purpose(&mut self, purpose: Purpose) {
        (**self).purpose(purpose);
    }
}

/// A driver of `embedded-storage` as [`Flash`]. It has to read and write single bytes; that is checked when this is
/// compiled.
#[derive(Debug)]
pub struct Nor<F>(pub F);

impl<F: NorFlash> Nor<F> {
    const SINGLE_BYTES: () = assert!(F::READ_SIZE == 1 && F::WRITE_SIZE == 1, "SPIFFS reads and writes single bytes");
}

impl<F: NorFlash> Flash for Nor<F> {
    type Error = F::Error;

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), Self::Error> {
        let () = Self::SINGLE_BYTES;
        self.0.read(address, into)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), Self::Error> {
        let () = Self::SINGLE_BYTES;
        self.0.write(address, data)
    }

    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), Self::Error> {
        self.0.erase(address, address.saturating_add(bytes))
    }
}
