//! Configuration and the places that follow from it.

use embedded_storage::nor_flash::NorFlash;

use crate::error::Error;
use crate::record::{CONFIG_BYTES, RECORD_BYTES, STATE_BYTES};

/// Most bytes that a sector is moved by at a time.
pub const COPY_BYTES_MAX: u32 = 512;

/// How a mount treats records that a power cut left behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Loses nothing: see the crate's documentation. A mount of a sound partition makes one read of 16 bytes more than
    /// the original, unless the last move of a round is due; all other calls make the original's operations.
    #[default]
    Complete,
    /// Operation for operation what `WL_Flash::init` does, with its losses.
    EspIdf,
}

/// How a partition is levelled. [`Config::esp_idf`] has the values of `wl_mount`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The partition's size, a multiple of `sector_bytes`. The partition starts at the flash's address 0.
    pub size_bytes: u32,
    /// Sector and page size (`wl_page_size`, `flash_sector_size`): what is erased and moved at once.
    pub sector_bytes: u32,
    /// Erases after which the dummy sector moves (`WL_DEFAULT_UPDATERATE`). Only used when formatting: a formatted
    /// partition keeps its own. 0 moves at every erase.
    pub update_rate: u32,
    /// Piece by which a sector is moved (`WL_DEFAULT_TEMP_BUFF_SIZE`): 16 to [`COPY_BYTES_MAX`], a divisor of
    /// `sector_bytes`.
    pub copy_bytes: u32,
    /// The identity that formatting gives the partition. The original draws it at random; it keeps move records of an
    /// earlier format from passing for current ones.
    pub device_id: u32,
    /// How a mount treats what a power cut left behind.
    pub recovery: Recovery,
}

impl Config {
    /// The values of ESP-IDF's `wl_mount` for a partition of `size_bytes`, with a fixed `device_id`.
    pub const fn esp_idf(size_bytes: u32) -> Self {
        Self {
            size_bytes,
            sector_bytes: 4096,
            update_rate: 16,
            copy_bytes: 32,
            device_id: 0x4C57_3233,
            recovery: Recovery::Complete,
        }
    }
}

/// Where everything is: data sectors and one dummy sector first, at the end both states and the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Sector size.
    pub sector_bytes: u32,
    /// All sectors of the partition.
    pub sectors: u32,
    /// Sectors for the user's data.
    pub data_sectors: u32,
    /// Size of each of the two states, with their move records.
    pub state_bytes: u32,
    /// Addresses of the two states.
    pub states: [u32; 2],
    /// Size of the configuration record's area.
    pub config_bytes: u32,
    /// Address of the configuration record.
    pub config: u32,
}

impl Layout {
    /// The layout of `WL_Flash::config`, or nothing if no data sector would be left.
    #[must_use]
    pub fn of(sectors: u32, sector_bytes: u32) -> Option<Self> {
        let whole = |bytes: u32| bytes.div_ceil(sector_bytes).checked_mul(sector_bytes);
        let size_bytes = sectors.checked_mul(sector_bytes)?;
        let state_bytes = whole(sectors.checked_mul(RECORD_BYTES as u32)?.checked_add(STATE_BYTES as u32)?)?;
        let config_bytes = whole(CONFIG_BYTES as u32)?;
        let overhead = state_bytes.checked_mul(2)?.checked_add(config_bytes)?;
        let data_sectors = (size_bytes.checked_sub(overhead)? / sector_bytes).checked_sub(1)?;
        let config = size_bytes - config_bytes;
        let states = [config - 2 * state_bytes, config - state_bytes];
        (data_sectors > 0).then_some(Self {
            sector_bytes,
            sectors,
            data_sectors,
            state_bytes,
            states,
            config_bytes,
            config,
        })
    }

    /// Checks `config` against itself and the flash.
    pub(crate) fn new<F: NorFlash>(config: &Config, flash: &F) -> Result<Self, Error<F::Error>> {
        let Config { size_bytes, sector_bytes, copy_bytes, .. } = *config;
        let fits = |bytes: usize, unit: usize| unit != 0 && bytes.is_multiple_of(unit);
        let contradiction = if !fits(sector_bytes as usize, F::ERASE_SIZE) || sector_bytes == 0 {
            "the sector size must be a multiple of the flash's erase size"
        } else if sector_bytes < STATE_BYTES as u32 {
            "sectors must have at least 64 bytes"
        } else if !fits(RECORD_BYTES, F::WRITE_SIZE) || !fits(RECORD_BYTES, F::READ_SIZE) {
            "the flash must read and write pieces of 16 bytes"
        } else if !size_bytes.is_multiple_of(sector_bytes) {
            "the partition's size must be a multiple of the sector size"
        } else if !(RECORD_BYTES as u32..=COPY_BYTES_MAX).contains(&copy_bytes)
            || !sector_bytes.is_multiple_of(copy_bytes)
            || !copy_bytes.is_multiple_of(RECORD_BYTES as u32)
        {
            "the copy size must be 16 to 512 bytes and divide the sector size"
        } else {
            ""
        };
        if !contradiction.is_empty() {
            return Err(Error::Config(contradiction));
        }
        if size_bytes as usize > flash.capacity() {
            return Err(Error::BeyondFlash { size_bytes, capacity_bytes: flash.capacity() });
        }
        Self::of(size_bytes / sector_bytes, sector_bytes)
            .ok_or_else(|| Error::TooSmall { size_bytes, least_bytes: least_bytes(sector_bytes) })
    }

    /// Sectors that take turns in being the dummy: the data sectors and one more.
    pub const fn positions(&self) -> u32 {
        self.data_sectors + 1
    }

    /// Size of the levelled volume.
    pub const fn data_bytes(&self) -> u32 {
        self.data_sectors * self.sector_bytes
    }

    /// Address of move record `index` in state `copy` (0 or 1).
    pub(crate) const fn record(&self, copy: usize, index: u32) -> u32 {
        self.states[copy] + STATE_BYTES as u32 + index * RECORD_BYTES as u32
    }
}

fn least_bytes(sector_bytes: u32) -> u32 {
    let most = u32::MAX / sector_bytes;
    (1..=most).find(|&sectors| Layout::of(sectors, sector_bytes).is_some()).unwrap_or(most) * sector_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_grow_with_the_partition() {
        let state_sectors = |sectors| Layout::of(sectors, 4096).unwrap().state_bytes / 4096;
        assert_eq!([252, 253, 512, 768].map(state_sectors), [1, 2, 3, 4]);
        let layout = Layout::of(512, 4096).unwrap();
        assert_eq!((layout.data_sectors, layout.states, layout.config), (504, [505 << 12, 508 << 12], 511 << 12));
    }

    #[test]
    fn least_sizes() {
        assert_eq!(least_bytes(4096), 5 * 4096);
        assert!(Layout::of(4, 4096).is_none());
        for sector_bytes in [256, 512, 4096, 65536] {
            let least = least_bytes(sector_bytes) / sector_bytes;
            assert!(Layout::of(least - 1, sector_bytes).is_none());
            assert_eq!(Layout::of(least, sector_bytes).unwrap().data_sectors, 1);
        }
    }
}
