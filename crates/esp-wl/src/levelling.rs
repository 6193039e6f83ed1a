//! Access to the levelled volume, and the moves that level it.

use embedded_storage::nor_flash::NorFlash;

use crate::config::{COPY_BYTES_MAX, Config, Layout, Recovery};
use crate::error::Error;
use crate::observer::Observer;
use crate::record::State;

/// What has happened since the mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sectors erased for the user.
    pub erases: u64,
    /// Moves of the dummy sector.
    pub moves: u64,
    /// Rounds of the dummy through the whole partition; each rewrites both states.
    pub rounds: u64,
}

/// A volume whose sectors change places so that they wear evenly.
///
/// Writing is as on the flash below: erase first, then only change ones to zeros. Nothing is buffered; [`flush`] is
/// what the original does at unmounting.
///
/// After an error of the flash the volume must be mounted anew.
///
/// [`flush`]: Self::flush
#[derive(Debug)]
pub struct WearLevelling<F, O = ()> {
    pub(crate) flash: F,
    observer: O,
    /// How many pieces of own work are under way, one inside the other.
    own_work: u32,
    pub(crate) config: Config,
    pub(crate) layout: Layout,
    pub(crate) state: State,
    stats: Stats,
}

impl<F: NorFlash, O: Observer> WearLevelling<F, O> {
    pub(crate) fn unmounted(flash: F, config: Config, observer: O) -> Result<Self, Error<F::Error>> {
        let layout = Layout::new(&config, &flash)?;
        let state = State::decode(&[0; _]);
        Ok(Self { flash, observer, own_work: 0, config, layout, state, stats: Stats::default() })
    }

    /// Size of the levelled volume.
    pub const fn size_bytes(&self) -> u32 {
        self.layout.data_bytes()
    }

    /// Size of a sector, the unit of erasing.
    pub const fn sector_bytes(&self) -> u32 {
        self.layout.sector_bytes
    }

    /// Where everything is.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The state as it is kept while mounted; on flash, position and erases are 0.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// What has happened since the mount.
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// How a mount treats what a power cut left behind.
    pub const fn recovery(&self) -> Recovery {
        self.config.recovery
    }

    /// The flash below.
    pub const fn flash(&self) -> &F {
        &self.flash
    }

    /// The flash below, for reading and for its own settings; writing to it can destroy the volume.
    pub const fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    /// The observer.
    pub const fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Gives the flash back without a [`flush`](Self::flush), as a reset does.
    pub fn into_inner(self) -> F {
        self.flash
    }

    /// Where on the flash the volume's byte `address` is now (`calcAddr`).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] beyond the volume.
    pub fn physical_address(&self, address: u32) -> Result<u32, Error<F::Error>> {
        self.check_range(address, 1)?;
        Ok(self.map(address))
    }

    /// Reads, one read of the flash for each `sector_bytes` of `bytes`, counted from `address`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] (the original starts over at the volume's beginning), [`Error::Flash`].
    pub fn read(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), Error<F::Error>> {
        self.check_range(address, bytes.len())?;
        let mut done = 0;
        while done < bytes.len() {
            let (physical, run) = self.next_run(address, done, bytes.len());
            self.flash.read(physical, &mut bytes[done..done + run]).map_err(Error::Flash)?;
            done += run;
        }
        Ok(())
    }

    /// Programs, one program of the flash for each `sector_bytes` of `bytes`, counted from `address`. Power cut: as the
    /// flash below, for these bytes only.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Flash`].
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), Error<F::Error>> {
        self.check_range(address, bytes.len())?;
        let mut done = 0;
        while done < bytes.len() {
            let (physical, run) = self.next_run(address, done, bytes.len());
            self.flash.write(physical, &bytes[done..done + run]).map_err(Error::Flash)?;
            done += run;
        }
        Ok(())
    }

    /// Erases a sector, after a move of the dummy sector if that is due. Power cut: only this sector is lost.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Flash`].
    pub fn erase_sector(&mut self, sector: u32) -> Result<(), Error<F::Error>> {
        let sector_bytes = self.layout.sector_bytes;
        if sector >= self.layout.data_sectors {
            let (address, size_bytes) = (sector.saturating_mul(sector_bytes), self.size_bytes());
            return Err(Error::OutOfRange { address, length: sector_bytes, size_bytes });
        }
        self.level()?;
        self.stats.erases += 1;
        let physical = self.map(sector * sector_bytes);
        self.flash.erase(physical, physical + sector_bytes).map_err(Error::Flash)
    }

    /// Erases whole sectors one by one.
    ///
    /// # Errors
    /// [`Error::Unaligned`] (the original rounds down the start and rounds up the length), [`Error::OutOfRange`],
    /// [`Error::Flash`].
    pub fn erase_range(&mut self, address: u32, length: u32) -> Result<(), Error<F::Error>> {
        let sector_bytes = self.layout.sector_bytes;
        if !address.is_multiple_of(sector_bytes) || !length.is_multiple_of(sector_bytes) {
            return Err(Error::Unaligned { address, length, sector_bytes });
        }
        self.check_range(address, length as usize)?;
        let first = address / sector_bytes;
        (first..first + length / sector_bytes).try_for_each(|sector| self.erase_sector(sector))
    }

    /// Moves the dummy sector, as `wl_unmount` does so that many short mounts level too: the erases since the last move
    /// are only counted in memory.
    ///
    /// # Errors
    /// [`Error::Flash`].
    pub fn flush(&mut self) -> Result<(), Error<F::Error>> {
        self.state.erases = self.state.update_rate.wrapping_sub(1);
        self.level()
    }

    /// Does own work, telling the observer of its begin and end unless it is part of other own work.
    pub(crate) fn as_own_work<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.begin_own_work();
        let result = work(self);
        self.end_own_work();
        result
    }

    pub(crate) fn begin_own_work(&mut self) {
        self.own_work += 1;
        if self.own_work == 1 {
            self.observer.housekeeping(true);
        }
    }

    pub(crate) fn end_own_work(&mut self) {
        self.own_work -= 1;
        if self.own_work == 0 {
            self.observer.housekeeping(false);
        }
    }

    fn check_range(&self, address: u32, length: usize) -> Result<(), Error<F::Error>> {
        let size_bytes = self.size_bytes();
        if address as usize <= size_bytes as usize && length <= (size_bytes - address) as usize {
            return Ok(());
        }
        Err(Error::OutOfRange { address, length: u32::try_from(length).unwrap_or(u32::MAX), size_bytes })
    }

    fn map(&self, address: u32) -> u32 {
        let Layout { sector_bytes, data_sectors, .. } = self.layout;
        let turned = (data_sectors - self.state.rotation + address / sector_bytes) % data_sectors;
        let sector = if turned < self.state.dummy_sector { turned } else { turned + 1 };
        sector * sector_bytes + address % sector_bytes
    }

    /// The physical address after `done` of `length` bytes from `address`, and how many bytes to transfer there at once.
    ///
    /// Like the original, transfers go in pieces of `sector_bytes` from the start, aligned or not. Where an unaligned
    /// piece reaches into a sector that is not the physical neighbour, it is divided; the original goes on in the dummy
    /// sector or another sector's data.
    fn next_run(&self, address: u32, done: usize, length: usize) -> (u32, usize) {
        let sector_bytes = self.layout.sector_bytes as usize;
        let piece = (sector_bytes - done % sector_bytes).min(length - done);
        let at = address + done as u32;
        let physical = self.map(at);
        let in_sector = sector_bytes - at as usize % sector_bytes;
        let neighbours = || self.map(at + in_sector as u32) == physical + in_sector as u32;
        (physical, if piece <= in_sector || neighbours() { piece } else { in_sector })
    }

    /// Counts an erase and moves the dummy sector if it is due (`updateWL`).
    fn level(&mut self) -> Result<(), Error<F::Error>> {
        self.state.erases = self.state.erases.wrapping_add(1);
        if self.state.erases < self.state.update_rate {
            return Ok(());
        }
        self.as_own_work(|this| {
            this.state.erases = 0;
            this.move_dummy().inspect_err(|_| this.state.erases = this.state.update_rate.wrapping_sub(1))?;
            this.stats.moves += 1;
            this.state.dummy_sector += 1;
            if this.state.dummy_sector < this.state.positions { Ok(()) } else { this.end_round() }
        })
    }

    /// Copies the sector after the dummy into the dummy and records that in both states.
    fn move_dummy(&mut self) -> Result<(), Error<F::Error>> {
        let Layout { sector_bytes, .. } = self.layout;
        let dummy_sector = self.state.dummy_sector;
        let source = (dummy_sector + 1) % self.state.positions * sector_bytes;
        let dummy = dummy_sector * sector_bytes;
        self.flash.erase(dummy, dummy + sector_bytes).map_err(Error::Flash)?;
        let mut buffer = [0; COPY_BYTES_MAX as usize];
        let piece = &mut buffer[..self.config.copy_bytes as usize];
        for offset in (0..sector_bytes).step_by(piece.len()) {
            self.flash.read(source + offset, piece).map_err(Error::Flash)?;
            self.flash.write(dummy + offset, piece).map_err(Error::Flash)?;
        }
        let record = self.state.move_record(dummy_sector);
        [0, 1].into_iter().try_for_each(|copy| {
            self.flash.write(self.layout.record(copy, dummy_sector), &record).map_err(Error::Flash)
        })
    }

    /// The dummy is behind the last sector: all data is rotated by one sector more, which both states record.
    fn end_round(&mut self) -> Result<(), Error<F::Error>> {
        self.stats.rounds += 1;
        self.state.dummy_sector = 0;
        self.state.rotation = (self.state.rotation + 1) % self.layout.data_sectors;
        self.state.checksum = self.state.right_checksum();
        [0, 1].into_iter().try_for_each(|copy| self.write_state(copy))
    }

    /// Erases a state with its move records, and writes it without any.
    pub(crate) fn write_state(&mut self, copy: usize) -> Result<(), Error<F::Error>> {
        self.erase_state(copy)?;
        self.flash.write(self.layout.states[copy], &self.state.encode()).map_err(Error::Flash)
    }

    pub(crate) fn erase_state(&mut self, copy: usize) -> Result<(), Error<F::Error>> {
        let start = self.layout.states[copy];
        self.flash.erase(start, start + self.layout.state_bytes).map_err(Error::Flash)
    }
}
