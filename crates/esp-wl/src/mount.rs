//! Mounting: finding the state, mending what a power cut left, formatting (`WL_Flash::init`).

use embedded_storage::nor_flash::NorFlash;

use crate::config::{Config, Recovery};
use crate::error::Error;
use crate::levelling::WearLevelling;
use crate::observer::Observer;
use crate::record::{RECORD_BYTES, STATE_BYTES, State, VERSION, config_record};

/// What to do with a partition that has no usable state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Formatting {
    Allowed,
    Forbidden,
}

impl<F: NorFlash, O: Observer> WearLevelling<F, O> {
    /// Mounts the partition, formatting it if it has no valid state, as `wl_mount` does.
    ///
    /// Formatting writes the records only: what the data sectors hold stays, so that a volume written to the flash from
    /// sector 1 on becomes the volume's content. It also takes the place of states that are both corrupt; then the
    /// sectors' order is lost, if they had moved. [`open`](Self::open) never formats.
    ///
    /// # Errors
    /// [`Error::TooSmall`], [`Error::BeyondFlash`], [`Error::Config`]; [`Error::OtherGeometry`] for a valid state that
    /// contradicts `config`; [`Error::Flash`].
    pub fn mount(flash: F, config: Config, observer: O) -> Result<Self, Error<F::Error>> {
        Self::mount_with(flash, config, observer, Formatting::Allowed)
    }

    /// Mounts a formatted partition; it mends what a power cut left, but never formats.
    ///
    /// # Errors
    /// Those of [`mount`](Self::mount), and [`Error::Blank`], [`Error::Corrupt`], [`Error::Version`].
    pub fn open(flash: F, config: Config, observer: O) -> Result<Self, Error<F::Error>> {
        Self::mount_with(flash, config, observer, Formatting::Forbidden)
    }

    fn mount_with(flash: F, config: Config, observer: O, formatting: Formatting) -> Result<Self, Error<F::Error>> {
        let mut this = Self::unmounted(flash, config, observer)?;
        this.as_own_work(|this| this.find_state(formatting))?;
        Ok(this)
    }

    fn find_state(&mut self, formatting: Formatting) -> Result<(), Error<F::Error>> {
        self.state = self.read_state(0)?;
        let second = self.read_state(1)?;
        match (self.state.is_valid(), second.is_valid()) {
            (true, true) if self.state.version != VERSION => self.replace_version(formatting)?,
            (true, true) => {
                self.check_geometry()?;
                if self.state.checksum != second.checksum {
                    self.mend(0, 1)?;
                }
                self.find_position()?;
                if self.config.recovery == Recovery::Complete {
                    self.finish_torn_round()?;
                }
            }
            (false, false) => {
                let second = self.read_state(1)?;
                if !self.update_version_1(&second)? {
                    self.replace_invalid(&second, formatting)?;
                }
                self.find_position()?;
            }
            (first, _) => {
                let (good, bad) = if first { (0, 1) } else { (1, 0) };
                self.mend_invalid(good, bad, second, formatting)?;
            }
        }
        self.check_geometry()
    }

    fn read_state(&mut self, copy: usize) -> Result<State, Error<F::Error>> {
        let mut bytes = [0; STATE_BYTES];
        self.flash.read(self.layout.states[copy], &mut bytes).map_err(Error::Flash)?;
        Ok(State::decode(&bytes))
    }

    /// Whether move record `index` of a state is set.
    fn is_moved(&mut self, copy: usize, index: u32) -> Result<bool, Error<F::Error>> {
        let mut bytes = [0; RECORD_BYTES];
        self.flash.read(self.layout.record(copy, index), &mut bytes).map_err(Error::Flash)?;
        Ok(bytes == self.state.move_record(index))
    }

    fn write_move(&mut self, copy: usize, index: u32) -> Result<(), Error<F::Error>> {
        let record = self.state.move_record(index);
        self.flash.write(self.layout.record(copy, index), &record).map_err(Error::Flash)
    }

    /// The dummy is where the first state's first unset record is. If all are set, the round's end was interrupted: the
    /// last move is done again, which is harmless as its source, sector 0, is still untouched.
    fn find_position(&mut self) -> Result<(), Error<F::Error>> {
        let mut position = 0;
        while position + 1 < self.state.positions && self.is_moved(0, position)? {
            position += 1;
        }
        // The original also reads the last record, though nothing depends on it.
        if position + 1 == self.state.positions {
            self.is_moved(0, position)?;
        }
        self.state.dummy_sector = position;
        Ok(())
    }

    fn check_geometry(&self) -> Result<(), Error<F::Error>> {
        let State { dummy_sector, positions, sector_bytes, rotation, .. } = self.state;
        let (expected, expected_sector_bytes) = (self.layout.positions(), self.layout.sector_bytes);
        let same = (positions, sector_bytes) == (expected, expected_sector_bytes);
        if same && rotation < self.layout.data_sectors && dummy_sector < positions {
            return Ok(());
        }
        Err(Error::OtherGeometry {
            found: positions,
            found_sector_bytes: sector_bytes,
            rotation,
            dummy_sector,
            expected,
            expected_sector_bytes,
        })
    }

    fn replace_version(&mut self, formatting: Formatting) -> Result<(), Error<F::Error>> {
        if formatting == Formatting::Forbidden {
            return Err(Error::Version(self.state.version));
        }
        self.format()?;
        self.find_position()
    }

    fn replace_invalid(&mut self, second: &State, formatting: Formatting) -> Result<(), Error<F::Error>> {
        let blank = |state: &State| state.encode() == [0xFF; STATE_BYTES];
        match formatting {
            Formatting::Allowed => self.format(),
            Formatting::Forbidden if blank(&self.state) && blank(second) => Err(Error::Blank),
            Formatting::Forbidden => Err(Error::Corrupt),
        }
    }

    /// Writes fresh records for data that is in order from sector 1 on (`initSections`).
    fn format(&mut self) -> Result<(), Error<F::Error>> {
        self.state = State {
            dummy_sector: 0,
            positions: self.layout.positions(),
            rotation: 0,
            erases: 0,
            update_rate: self.config.update_rate,
            sector_bytes: self.layout.sector_bytes,
            version: VERSION,
            device_id: self.config.device_id,
            reserved: [0; _],
            checksum: 0,
        };
        self.state.checksum = self.state.right_checksum();
        self.write_state(0)?;
        self.write_state(1)?;
        let config = self.layout.config;
        self.flash.erase(config, config + self.layout.config_bytes).map_err(Error::Flash)?;
        self.flash.write(config, &config_record(&self.config)).map_err(Error::Flash)
    }

    /// One state is valid, the other not.
    fn mend_invalid(
        &mut self,
        good: usize,
        bad: usize,
        second: State,
        formatting: Formatting,
    ) -> Result<(), Error<F::Error>> {
        // The original takes the move records for those of the first state's device, valid or not.
        let first_device_id = self.state.device_id;
        if good == 1 {
            self.state = second;
        }
        if self.state.version != VERSION && formatting == Formatting::Forbidden {
            return Err(Error::Version(self.state.version));
        }
        if self.state.version == VERSION {
            self.check_geometry()?;
        }
        match self.config.recovery {
            Recovery::Complete => {
                self.mend(good, bad)?;
            }
            Recovery::EspIdf => {
                let device_id = core::mem::replace(&mut self.state.device_id, first_device_id);
                let header = State { device_id, ..self.state };
                self.mend_as_original(good, bad, &header)?;
                self.state = self.read_state(bad)?;
                if good == 1 {
                    self.state.dummy_sector = self.state.positions.saturating_sub(1);
                }
            }
        }
        if self.state.version == VERSION { Ok(()) } else { self.format() }
    }

    /// Makes state `bad` a copy of `good`, whose header is `self.state`, and takes over its position.
    fn mend(&mut self, good: usize, bad: usize) -> Result<(), Error<F::Error>> {
        if self.config.recovery == Recovery::EspIdf {
            let header = self.state;
            return self.mend_as_original(good, bad, &header);
        }
        // In the second state a record can be missing before others: a cut between the two copies of a move record.
        let mut position = 0;
        for index in 0..self.layout.positions() {
            if self.is_moved(good, index)? {
                position = index + 1;
            } else if good == 0 {
                break;
            }
        }
        self.rewrite_state(bad, position)
    }

    /// Writes the header last, so that a cut leaves the state invalid until its records are complete.
    fn rewrite_state(&mut self, copy: usize, moved: u32) -> Result<(), Error<F::Error>> {
        self.erase_state(copy)?;
        (0..moved).try_for_each(|index| self.write_move(copy, index))?;
        self.flash.write(self.layout.states[copy], &self.state.encode()).map_err(Error::Flash)?;
        self.state.dummy_sector = moved.min(self.layout.data_sectors);
        Ok(())
    }

    fn mend_as_original(&mut self, good: usize, bad: usize, header: &State) -> Result<(), Error<F::Error>> {
        self.erase_state(bad)?;
        self.flash.write(self.layout.states[bad], &header.encode()).map_err(Error::Flash)?;
        for index in 0..self.layout.sectors {
            if self.is_moved(good, index)? {
                self.write_move(bad, index)?;
            }
        }
        Ok(())
    }

    /// An erase of the first state that was cut short can leave its header and take its move records. The second state
    /// still has the last record of the round then, and at no other time while both headers agree.
    fn finish_torn_round(&mut self) -> Result<(), Error<F::Error>> {
        let last = self.layout.data_sectors;
        if self.state.dummy_sector == last || !self.is_moved(1, last)? {
            return Ok(());
        }
        self.rewrite_state(0, self.layout.positions())
    }

    /// Turns states of version 1 into version 2 (`updateV1_V2`). Returns whether they were such.
    fn update_version_1(&mut self, second: &State) -> Result<bool, Error<F::Error>> {
        let valid = [self.state.is_valid_version_1(), second.is_valid_version_1()];
        let complete = self.config.recovery == Recovery::Complete;
        match valid {
            [true, true] if self.state.device_id == second.device_id => (),
            [true, false] if complete => (),
            // The first state was being replaced when the power went.
            [false, true] if complete => self.state = *second,
            _ => return Ok(false),
        }
        self.check_geometry()?;
        let mut position = 0;
        for copy in (0..2).filter(|&copy| valid[copy] && (copy == 0 || complete)) {
            position = self.position_of_version_1(copy)?.max(position);
        }
        self.state.version = VERSION;
        self.state.dummy_sector = 0;
        self.state.device_id = self.config.device_id;
        self.state.reserved = [0; _];
        self.state.checksum = self.state.right_checksum();
        for copy in [0, 1] {
            if complete {
                self.rewrite_state(copy, position + 1)?;
                self.state.dummy_sector = 0;
            } else {
                self.write_state(copy)?;
                (0..=position).try_for_each(|index| self.write_move(copy, index))?;
            }
        }
        Ok(true)
    }

    /// In version 1 any first byte but 0xFF sets a record, and records are one behind those of version 2.
    fn position_of_version_1(&mut self, copy: usize) -> Result<u32, Error<F::Error>> {
        for index in 0..self.state.positions {
            let mut first_byte = [0];
            self.flash.read(self.layout.record(copy, index), &mut first_byte).map_err(Error::Flash)?;
            if first_byte == [0xFF] {
                return Ok(index);
            }
        }
        Ok(self.state.positions - 1)
    }
}
