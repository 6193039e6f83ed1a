//! Sectors smaller than the flash's (`WL_Ext_Perf`, `WL_Ext_Safe`; ESP-IDF's `WL_SECTOR_SIZE_512`).

use embedded_storage::nor_flash::NorFlash;

use crate::config::Config;
use crate::error::Error;
use crate::levelling::WearLevelling;
use crate::observer::Observer;

/// Where the neighbours of an erased small sector are kept (`WL_SECTOR_MODE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallSectorMode {
    /// In memory only: a power cut between erase and rewrite loses the whole flash sector.
    Performance,
    /// Also in two sectors at the end of the volume, from which a mount restores them.
    Safety,
}

/// First word of a transaction record that is to be completed (`WL_EXT_SAFE_OK`).
const PENDING: u32 = 0x1234_5678;
const TRANSACTION_BYTES: usize = 16;

/// What a transaction record holds: which small sectors of which flash sector are being erased.
#[derive(Clone, Copy)]
struct Transaction {
    sector: u32,
    first: u32,
    count: u32,
}

impl Transaction {
    fn encode(self) -> [u8; TRANSACTION_BYTES] {
        let words = [PENDING, self.sector, self.first, self.count];
        core::array::from_fn(|byte| words[byte / 4].to_le_bytes()[byte % 4])
    }

    fn decode(bytes: &[u8; TRANSACTION_BYTES]) -> Option<Self> {
        let word = |index: usize| u32::from_le_bytes(core::array::from_fn(|byte| bytes[4 * index + byte]));
        (word(0) == PENDING).then(|| Self { sector: word(1), first: word(2), count: word(3) })
    }

    fn spares(&self, small: u32) -> bool {
        !(self.first..self.first.saturating_add(self.count)).contains(&small)
    }
}

/// A levelled volume with sectors smaller than those of the flash, usually of 512 bytes.
///
/// `B` holds one flash sector: an array, a vector or a borrowed slice.
#[derive(Debug)]
pub struct SmallSectors<F, B, O = ()> {
    inner: WearLevelling<F, O>,
    small_bytes: u32,
    mode: SmallSectorMode,
    buffer: B,
}

impl<F: NorFlash, B: AsMut<[u8]>, O: Observer> SmallSectors<F, B, O> {
    /// Mounts as [`WearLevelling::mount`] does and, in safety mode, completes an interrupted erase.
    ///
    /// # Errors
    /// Those of [`WearLevelling::mount`]; [`Error::Config`] if the sizes don't fit each other.
    pub fn mount(
        flash: F,
        config: Config,
        small_bytes: u32,
        mode: SmallSectorMode,
        buffer: B,
        observer: O,
    ) -> Result<Self, Error<F::Error>> {
        Self::new(WearLevelling::mount(flash, config, observer)?, small_bytes, mode, buffer)
    }

    /// Divides the sectors of a mounted volume and, in safety mode, completes an interrupted erase.
    ///
    /// # Errors
    /// [`Error::Config`] if the sizes don't fit each other or safety mode leaves no sector; [`Error::Flash`].
    pub fn new(
        inner: WearLevelling<F, O>,
        small_bytes: u32,
        mode: SmallSectorMode,
        mut buffer: B,
    ) -> Result<Self, Error<F::Error>> {
        let sector_bytes = inner.sector_bytes();
        let fits = |unit: usize| unit != 0 && small_bytes.is_multiple_of(unit as u32);
        if small_bytes == 0 || !sector_bytes.is_multiple_of(small_bytes) || !fits(F::WRITE_SIZE) || !fits(F::READ_SIZE)
        {
            return Err(Error::Config("small sectors must divide the flash's sectors"));
        }
        if buffer.as_mut().len() != sector_bytes as usize {
            return Err(Error::Config("the buffer must hold exactly one sector of the flash"));
        }
        if mode == SmallSectorMode::Safety && inner.size_bytes() <= 2 * sector_bytes {
            return Err(Error::Config("safety mode needs two sectors of its own, so at least seven in the partition"));
        }
        let mut this = Self { inner, small_bytes, mode, buffer };
        if mode == SmallSectorMode::Safety {
            this.as_own_work(Self::recover)?;
        }
        Ok(this)
    }

    /// Size of the volume; two sectors less in safety mode.
    pub const fn size_bytes(&self) -> u32 {
        let reserved = match self.mode {
            SmallSectorMode::Performance => 0,
            SmallSectorMode::Safety => 2,
        };
        self.inner.size_bytes() - reserved * self.inner.sector_bytes()
    }

    /// Size of a small sector, the unit of erasing.
    pub const fn sector_bytes(&self) -> u32 {
        self.small_bytes
    }

    /// Where neighbours are kept.
    pub const fn mode(&self) -> SmallSectorMode {
        self.mode
    }

    /// The levelled volume below.
    pub const fn inner(&self) -> &WearLevelling<F, O> {
        &self.inner
    }

    /// The levelled volume below, for its observer and flash.
    pub const fn inner_mut(&mut self) -> &mut WearLevelling<F, O> {
        &mut self.inner
    }

    /// Gives the flash back without a [`flush`](Self::flush), as a reset does.
    pub fn into_inner(self) -> F {
        self.inner.into_inner()
    }

    /// As [`WearLevelling::read`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Flash`].
    pub fn read(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), Error<F::Error>> {
        self.check_range(address, bytes.len())?;
        self.inner.read(address, bytes)
    }

    /// As [`WearLevelling::write`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Flash`].
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), Error<F::Error>> {
        self.check_range(address, bytes.len())?;
        self.inner.write(address, bytes)
    }

    /// Erases small sectors. Where that is part of a flash sector only, its other small sectors are read, and written
    /// again after the erase. Power cut: in performance mode these can be lost too.
    ///
    /// # Errors
    /// [`Error::Unaligned`], [`Error::OutOfRange`], [`Error::Flash`].
    pub fn erase_range(&mut self, address: u32, length: u32) -> Result<(), Error<F::Error>> {
        let small_bytes = self.small_bytes;
        if !address.is_multiple_of(small_bytes) || !length.is_multiple_of(small_bytes) {
            return Err(Error::Unaligned { address, length, sector_bytes: small_bytes });
        }
        self.check_range(address, length as usize)?;
        let factor = self.factor();
        let (mut next, end) = (address / small_bytes, (address + length) / small_bytes);
        while next < end {
            let (sector, first) = (next / factor, next % factor);
            let count = (factor - first).min(end - next);
            if count == factor {
                self.inner.erase_sector(sector)?;
            } else {
                self.erase_part(Transaction { sector, first, count })?;
            }
            next += count;
        }
        Ok(())
    }

    /// As [`WearLevelling::flush`].
    ///
    /// # Errors
    /// [`Error::Flash`].
    pub fn flush(&mut self) -> Result<(), Error<F::Error>> {
        self.inner.flush()
    }

    const fn factor(&self) -> u32 {
        self.inner.sector_bytes() / self.small_bytes
    }

    fn check_range(&self, address: u32, length: usize) -> Result<(), Error<F::Error>> {
        let size_bytes = self.size_bytes();
        if address <= size_bytes && length <= (size_bytes - address) as usize {
            return Ok(());
        }
        Err(Error::OutOfRange { address, length: u32::try_from(length).unwrap_or(u32::MAX), size_bytes })
    }

    /// Addresses of the transaction record and of the saved sector.
    const fn reserved(&self) -> (u32, u32) {
        let (size_bytes, sector_bytes) = (self.inner.size_bytes(), self.inner.sector_bytes());
        (size_bytes - 2 * sector_bytes, size_bytes - sector_bytes)
    }

    fn erase_part(&mut self, part: Transaction) -> Result<(), Error<F::Error>> {
        self.as_own_work(|this| {
            this.for_spared(part, WearLevelling::read)?;
            if this.mode == SmallSectorMode::Safety { this.save(part) } else { Ok(()) }
        })?;
        self.inner.erase_sector(part.sector)?;
        self.as_own_work(|this| {
            this.for_spared(part, |inner, address, bytes| inner.write(address, bytes))?;
            if this.mode == SmallSectorMode::Safety { this.clear() } else { Ok(()) }
        })
    }

    /// Transfers the small sectors that `part` does not erase between the volume and the buffer.
    fn for_spared(
        &mut self,
        part: Transaction,
        mut transfer: impl FnMut(&mut WearLevelling<F, O>, u32, &mut [u8]) -> Result<(), Error<F::Error>>,
    ) -> Result<(), Error<F::Error>> {
        let start = part.sector * self.inner.sector_bytes();
        let buffer = self.buffer.as_mut();
        for (small, bytes) in (0..).zip(buffer.chunks_exact_mut(self.small_bytes as usize)) {
            if part.spares(small) {
                transfer(&mut self.inner, start + small * self.small_bytes, bytes)?;
            }
        }
        Ok(())
    }

    fn save(&mut self, part: Transaction) -> Result<(), Error<F::Error>> {
        let (record, saved) = self.reserved();
        self.inner.erase_sector(saved / self.inner.sector_bytes())?;
        self.inner.write(saved, self.buffer.as_mut())?;
        self.clear()?;
        self.inner.write(record, &part.encode())
    }

    /// Erases the transaction record.
    fn clear(&mut self) -> Result<(), Error<F::Error>> {
        let (record, _) = self.reserved();
        self.inner.erase_sector(record / self.inner.sector_bytes())
    }

    /// Completes an interrupted erase. A record that names what no erase can is torn and says that its sector was not
    /// yet, or is no longer, in danger; the original erases some sector then.
    fn recover(&mut self) -> Result<(), Error<F::Error>> {
        let (record, saved) = self.reserved();
        let mut bytes = [0; TRANSACTION_BYTES];
        self.inner.read(record, &mut bytes)?;
        let sectors = self.size_bytes() / self.inner.sector_bytes();
        let factor = self.factor();
        let plausible = |part: &Transaction| {
            part.sector < sectors && (1..factor).contains(&part.count) && part.first <= factor - part.count
        };
        let Some(part) = Transaction::decode(&bytes).filter(plausible) else { return Ok(()) };
        self.inner.read(saved, self.buffer.as_mut())?;
        self.inner.erase_sector(part.sector)?;
        self.for_spared(part, |inner, address, bytes| inner.write(address, bytes))?;
        self.clear()
    }

    fn as_own_work<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.inner.begin_own_work();
        let result = work(self);
        self.inner.end_own_work();
        result
    }
}
