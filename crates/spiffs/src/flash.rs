//! What a volume stands on.

use core::fmt::Debug;

use embedded_storage::nor_flash::MultiwriteNorFlash;

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

/// A driver of `embedded-storage` as [`Flash`].
///
/// It has to allow several writes to the same place ([`MultiwriteNorFlash`]), as SPIFFS marks pages by them, and to read and
/// write words of at most 16 bytes, which is checked when this is compiled. Larger words than a byte are read and programmed
/// as a whole, padded with ones, which change nothing. Its sectors have to be those of the configuration.
#[derive(Debug)]
pub struct Nor<F>(pub F);

/// The largest word that [`Nor`] reads or writes.
const MOST_WORD_BYTES: usize = 16;

/// Of `bytes` at an address, those that lie in the address's word, and where in it they begin.
fn in_word(address: u32, bytes: usize, word_bytes: usize) -> (usize, usize) {
    let offset = address as usize % word_bytes;
    (offset, bytes.min(word_bytes - offset))
}

impl<F: MultiwriteNorFlash> Nor<F> {
    const SMALL_WORDS: () = assert!(
        F::READ_SIZE > 0 && F::READ_SIZE <= MOST_WORD_BYTES && F::WRITE_SIZE > 0 && F::WRITE_SIZE <= MOST_WORD_BYTES,
        "SPIFFS needs a flash with words of at most 16 bytes"
    );
}

impl<F: MultiwriteNorFlash> Flash for Nor<F> {
    type Error = F::Error;

    fn read(&mut self, mut address: u32, mut into: &mut [u8]) -> Result<(), Self::Error> {
        let () = Self::SMALL_WORDS;
        while !into.is_empty() {
            let (offset, part) = in_word(address, into.len(), F::READ_SIZE);
            let whole = into.len() - into.len() % F::READ_SIZE;
            let bytes = if offset == 0 && whole > 0 {
                self.0.read(address, &mut into[..whole])?;
                whole
            } else {
                let mut word = [0; MOST_WORD_BYTES];
                self.0.read(address - offset as u32, &mut word[..F::READ_SIZE])?;
                into[..part].copy_from_slice(&word[offset..offset + part]);
                part
            };
            into = &mut into[bytes..];
            address += bytes as u32;
        }
        Ok(())
    }

    fn program(&mut self, mut address: u32, mut data: &[u8]) -> Result<(), Self::Error> {
        let () = Self::SMALL_WORDS;
        while !data.is_empty() {
            let (offset, part) = in_word(address, data.len(), F::WRITE_SIZE);
            let whole = data.len() - data.len() % F::WRITE_SIZE;
            let bytes = if offset == 0 && whole > 0 {
                self.0.write(address, &data[..whole])?;
                whole
            } else {
                let mut word = [0xff; MOST_WORD_BYTES];
                word[offset..offset + part].copy_from_slice(&data[..part]);
                self.0.write(address - offset as u32, &word[..F::WRITE_SIZE])?;
                part
            };
            data = &data[bytes..];
            address += bytes as u32;
        }
        Ok(())
    }

    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), Self::Error> {
        self.0.erase(address, address.saturating_add(bytes))
    }
}
