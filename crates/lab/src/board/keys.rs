//! Every setting that a board can have, gathered from the parts that read them.

use std::sync::OnceLock;

use flashmark_embedded_fs::FILE_SYSTEMS;

use super::value::Kind;
use crate::driver::DRIVERS;

/// A setting of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardKey {
    /// As it is written in `--set` and, with its section as a table, in a profile.
    pub name: String,
    /// What it sets.
    pub about: String,
    /// What it takes.
    pub values: String,
    /// For checking.
    pub(crate) kind: Kind,
}

/// A setting as a part of the lab declares it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its full name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it sets.
    pub about: &'static str,
}

impl Key {
    /// A setting.
    pub const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, about }
    }
}

/// Settings of the board as a whole.
static BOARD_KEYS: &[Key] = &[
    Key::new("chip", Kind::Text, "the flash chip: a built-in one (flashmark chips), a .toml profile or an SFDP dump"),
    Key::new("board.seed", Kind::Count, "seed of what varies from one erase to the next"),
    Key::new("cpu.clock", Kind::Frequency, "the processor's clock"),
    Key::new("rtos.tick", Kind::Frequency, "ticks of the RTOS, the unit of its waiting"),
    Key::new("bus.clock", Kind::Frequency, "the clock of the flash's SPI bus"),
    Key::new(
        "bus.mode",
        Kind::Choice(crate::bus::MODES),
        "how data is read: qio, qout, dio, dout (lines for address and data), fast, slow",
    ),
    Key::new("partition.offset", Kind::Bytes, "where the storage partition starts on the chip"),
    Key::new("partition.size", Kind::Bytes, "the storage partition's size"),
    Key::new("wl.sector", Kind::Choice(&["4096", "512"]), "sector size that wear levelling shows to the file system"),
    Key::new("wl.mode", Kind::Choice(&["perf", "safe"]), "how wear levelling writes 512-byte sectors"),
    Key::new("wl.update-rate", Kind::Count, "erases between two moves of the dummy sector"),
    Key::new("wl.copy-buffer", Kind::Bytes, "bytes that wear levelling copies at once when it moves a sector"),
    Key::new(
        "app.buffer",
        Kind::Choice(&["internal", "external"]),
        "the memory of the application's buffer: internal RAM, or external (PSRAM, flash), which a flash driver copies",
    ),
    Key::new(
        "app.open",
        Kind::Choice(&["read-write", "write-only"]),
        "how the application opens a new file: for reading and writing (O_RDWR), or for writing alone (fopen with \"wb\")",
    ),
    Key::new(
        "app.replace",
        Kind::Choice(&["remove", "truncate"]),
        "what becomes of the application's file when one of another size is written: it is removed, or truncated",
    ),
    Key::new("code.vfs-call", Kind::Work, "work of one call through the virtual file system: locks, tables"),
    Key::new("code.copy-byte", Kind::Work, "work of copying one byte in memory"),
];

/// Work of a file system's own code, one set of keys for each file system.
const CODE_KEYS: [(&str, &str); 3] = [
    ("code-call", "work of the file system's code in each call of it"),
    ("code-access", "work of the file system's code for each access to its device"),
    ("code-byte", "work of the file system's code for each byte read from its device or written to it"),
];

/// Settings of the lab in each storage's section.
const STORAGE_KEYS: [(&str, Kind, &str); 4] = [
    ("wear-levelling", Kind::Flag, "whether it stands on wear levelling, or on the partition itself"),
    (
        "start",
        Kind::Choice(&["erased", "used"]),
        "what the partition holds at power-on: nothing, or old data as on a chip that was in use before",
    ),
    (
        "left-over",
        Kind::Bytes,
        "how much of the partition, from its start, holds old data though the rest is erased (whole sectors)",
    ),
    (
        "tries",
        Kind::Count,
        "how often a workload is repeated on this storage at most, in the board's own suite; 0: as often as the suite says",
    ),
];

/// All settings there are.
#[must_use]
pub fn all_keys() -> &'static [BoardKey] {
    static KEYS: OnceLock<Vec<BoardKey>> = OnceLock::new();
    KEYS.get_or_init(gather)
}

/// The setting of this name.
pub(crate) fn find(name: &str) -> Option<&'static BoardKey> {
    all_keys().iter().find(|key| key.name == name)
}

fn gather() -> Vec<BoardKey> {
    let own = BOARD_KEYS.iter().chain(DRIVERS.iter().flat_map(|driver| driver.keys));
    let mut keys: Vec<BoardKey> = own
        .map(|key| BoardKey {
            name: key.name.to_owned(),
            about: key.about.to_owned(),
            values: key.kind.describe(),
            kind: key.kind,
        })
        .collect();
    for storage in crate::storage::names() {
        keys.extend(STORAGE_KEYS.iter().map(|(name, kind, about)| BoardKey {
            name: format!("{storage}.{name}"),
            about: (*about).to_owned(),
            values: kind.describe(),
            kind: *kind,
        }));
        keys.extend(CODE_KEYS.iter().map(|(name, about)| BoardKey {
            name: format!("{storage}.{name}"),
            about: (*about).to_owned(),
            values: Kind::Work.describe(),
            kind: Kind::Work,
        }));
    }
    for file_system in FILE_SYSTEMS {
        keys.extend(file_system.keys.iter().map(|key| BoardKey {
            name: format!("{}.{}", file_system.name, key.name),
            about: key.about.to_owned(),
            values: key.values.to_owned(),
            kind: Kind::Text,
        }));
    }
    keys
}

/// Whether a setting in a storage's section is the lab's, and not for the file system's own parser.
pub(crate) fn is_lab_key(name: &str) -> bool {
    STORAGE_KEYS.iter().any(|(key, ..)| *key == name) || CODE_KEYS.iter().any(|(key, _)| *key == name)
}
