//! The records on flash: state, configuration, moves (`WL_State.h`, `WL_Config.h`). All words are little-endian.

use crate::config::Config;
use crate::crc32::checksum;

/// The version of the on-flash format (`WL_CURRENT_VERSION`).
pub const VERSION: u32 = 2;
/// Size of a state record.
pub const STATE_BYTES: usize = 64;
/// Size of the configuration record, with 12 bytes of padding.
pub const CONFIG_BYTES: usize = 48;
/// Size of a move record (`WL_DEFAULT_WRITE_SIZE`).
pub const RECORD_BYTES: usize = 16;

/// Where the words of a state are. Words 8 to 14 are reserved.
const POSITION: usize = 0;
const POSITIONS: usize = 1;
const ROUNDS: usize = 2;
const ERASES: usize = 3;
const UPDATE_RATE: usize = 4;
const SECTOR_BYTES: usize = 5;
const VERSION_WORD: usize = 6;
const DEVICE_ID: usize = 7;
const CHECKSUM: usize = 15;

/// A state record (`wl_state_t`) as it is on flash, or as it is kept while mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The physical sector that is the dummy (`wl_dummy_sec_pos`). On flash always 0: the move records tell it.
    pub dummy_sector: u32,
    /// Sectors that take turns in being the dummy (`wl_part_max_sec_pos`).
    pub positions: u32,
    /// By how many sectors all data is rotated: full rounds of the dummy, modulo the number of data sectors
    /// (`wl_dummy_sec_move_count`).
    pub rotation: u32,
    /// Erases since the last move (`wl_sec_erase_cycle_count`). On flash always 0: a reset forgets it.
    pub erases: u32,
    /// Erases after which the dummy moves (`wl_max_sec_erase_cycle_count`).
    pub update_rate: u32,
    /// Sector size (`wl_block_size`).
    pub sector_bytes: u32,
    /// Version of the format.
    pub version: u32,
    /// Identity of the partition; the move records depend on it.
    pub device_id: u32,
    /// Reserved words; formatting writes zeros.
    pub reserved: [u32; 7],
    /// The checksum as it was read, or as it was last written.
    pub checksum: u32,
}

impl State {
    /// The record's words, whether or not they are a valid state.
    pub fn decode(bytes: &[u8; STATE_BYTES]) -> Self {
        let word = |index: usize| u32::from_le_bytes(core::array::from_fn(|byte| bytes[4 * index + byte]));
        Self {
            dummy_sector: word(POSITION),
            positions: word(POSITIONS),
            rotation: word(ROUNDS),
            erases: word(ERASES),
            update_rate: word(UPDATE_RATE),
            sector_bytes: word(SECTOR_BYTES),
            version: word(VERSION_WORD),
            device_id: word(DEVICE_ID),
            reserved: core::array::from_fn(|index| word(DEVICE_ID + 1 + index)),
            checksum: word(CHECKSUM),
        }
    }

    /// The record's bytes.
    pub fn encode(&self) -> [u8; STATE_BYTES] {
        let mut words = [0; STATE_BYTES / 4];
        words[POSITION] = self.dummy_sector;
        words[POSITIONS] = self.positions;
        words[ROUNDS] = self.rotation;
        words[ERASES] = self.erases;
        words[UPDATE_RATE] = self.update_rate;
        words[SECTOR_BYTES] = self.sector_bytes;
        words[VERSION_WORD] = self.version;
        words[DEVICE_ID] = self.device_id;
        words[DEVICE_ID + 1..CHECKSUM].copy_from_slice(&self.reserved);
        words[CHECKSUM] = self.checksum;
        bytes_of(words)
    }

    /// The checksum that the record should have.
    pub fn right_checksum(&self) -> u32 {
        checksum(&self.encode()[..4 * CHECKSUM])
    }

    /// Whether the record has the checksum that it should have.
    pub fn is_valid(&self) -> bool {
        self.checksum == self.right_checksum()
    }

    /// The version 1 checksum that the record should have; it takes the place of `device_id`.
    pub(crate) fn version_1_checksum(&self) -> u32 {
        checksum(&self.encode()[..4 * DEVICE_ID])
    }

    /// Whether the record is a valid one of version 1.
    pub(crate) fn is_valid_version_1(&self) -> bool {
        self.version == 1 && self.device_id == self.version_1_checksum()
    }

    /// The record that says that the dummy has left sector `index`: the checksums of four successive numbers.
    pub fn move_record(&self, index: u32) -> [u8; RECORD_BYTES] {
        let first = self.device_id.wrapping_add(index.wrapping_mul(4));
        bytes_of(core::array::from_fn::<u32, 4, _>(|word| checksum(&first.wrapping_add(word as u32).to_le_bytes())))
    }
}

/// The configuration record (`wl_config_t`). The original never reads it; its padding is what was on the stack, here 0.
pub(crate) fn config_record(config: &Config) -> [u8; CONFIG_BYTES] {
    let mut words = [0; CONFIG_BYTES / 4];
    words[1] = config.size_bytes;
    words[2] = config.sector_bytes;
    words[3] = config.sector_bytes;
    words[4] = config.update_rate;
    words[5] = RECORD_BYTES as u32;
    words[6] = VERSION;
    words[7] = config.copy_bytes;
    let unsigned: [u8; CONFIG_BYTES] = bytes_of(words);
    words[8] = checksum(&unsigned[..32]);
    bytes_of(words)
}

fn bytes_of<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    core::array::from_fn(|byte| words[byte / 4].to_le_bytes()[byte % 4])
}
