//! The workload: one access pattern, complete and explicit.
//!
//! A workload is plain data. Suites are lists of them; the record carries the one it was made with, so that a result can
//! be repeated from the record alone.

mod scope;

use alloc::string::String;

use serde::{Deserialize, Serialize};

pub use scope::{Access, Erase, Medium};

/// One access pattern. Sizes are bytes, times nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The row's name, unique in its suite.
    pub name: String,
    /// How many of 100 operations read: 100 reads only, 0 writes only, anything else is mixed (exact in every run of
    /// 100 operations).
    pub read_percent: u8,
    /// Which block comes next.
    pub order: Order,
    /// Bytes an operation moves; at least 1.
    pub block_bytes: u32,
    /// The part of the file or device that offsets are taken from, from its start; `None` is all of it.
    pub file_bytes: Option<u64>,
    /// Bytes to move in each repeat; `None` moves as many as `file_bytes` has, or goes on until the time limit.
    /// What is left of a block at the end is not moved (as the originals' integer division has it).
    pub size_bytes: Option<u64>,
    /// Each repeat ends after this time at the latest.
    pub time_ns: Option<u64>,
    /// What the file is at the start.
    pub file: FileMode,
    /// Whether the file is opened once or in every repeat.
    pub reopen: Reopen,
    /// Reserve the file's space before writing to it (`fallocate`), outside the time.
    pub preallocate: bool,
    /// When written data is made durable; always inside the elapsed time.
    pub sync: SyncPolicy,
    /// Whether an engine that still has operations under way when the last one was issued must finish them inside the
    /// time. `false` only in compatibility forms whose original did not wait.
    pub drain: bool,
    /// What is written.
    pub data: Data,
    /// What is checked of the data read.
    pub verify: Verify,
    /// How often the whole is measured; at least 1.
    pub repeats: u32,
    /// Repeats that run first and do not count.
    pub warm_up: u32,
    /// Time without work between repeats.
    pub pause_ns: u64,
    /// Operations under way at once; at least 1.
    pub queue_depth: u32,
    /// Seed of the order, the mix and the data.
    pub seed: u64,
    /// How a real target's I/O is issued: the name of an engine (`sync`, `tokio`).
    pub engine: String,
    /// Whether the operating system's cache is passed by.
    pub direct: Direct,
    /// Times opening and closing as rows of their own.
    pub time_open_close: bool,
    /// Times each repeat as a whole, with opening and closing, as a row of its own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub time_repeats: bool,
    /// How many failed operations are passed over (and reported) before the workload stops; 0 stops at the first.
    pub max_errors: u32,
    /// `true` counts a short transfer at full size, with a warning: compatibility forms only. `false` makes it an error.
    pub accept_short: bool,
    /// When raw flash is erased before it is written; means nothing where a write replaces what was there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub erase: Erase,
    /// How full the target's file system is made before the first repeat, in percent of what it can hold, the file that
    /// is measured included; 0 to [`FILL_PERCENT_MAX`]. `None` leaves it as it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fill_percent: Option<u8>,
    /// The targets that it runs on, by what they show of their storage.
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: Access,
    /// The targets that it runs on, by their medium.
    #[serde(default, skip_serializing_if = "is_default")]
    pub medium: Medium,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The most repeats of a workload: each has its figures in the record, which has to stay a line of reasonable length.
pub const REPEATS_MAX: u32 = 100_000;

/// The most that a file system is filled to, in percent: a full one takes nothing that could be measured.
pub const FILL_PERCENT_MAX: u8 = 99;

/// Which block comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Order {
    /// One after the other; at the end of the file's part, from its start again.
    Sequential,
    /// Each block is as likely as any other, every time.
    Random,
    /// Each block once, in random order; then all of them again in another order.
    RandomOnce,
    /// Few blocks often: the k-th most popular block is drawn with a probability proportional to 1/k^theta, and popular
    /// blocks are spread over the file.
    Zipf {
        /// theta in thousandths, 1 to 10 000.
        theta_milli: u16,
    },
}

/// What the file is at the start of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileMode {
    /// Created, or truncated to nothing if it exists. Writing only.
    New,
    /// Written in full before (outside the time), then read or overwritten in place.
    Existing,
    /// Kept as it is and written at its end. Writing only.
    Append,
}

/// Whether the file is opened once or in every repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reopen {
    /// Opened before the first repeat, closed after the last. With [`FileMode::New`] each further repeat truncates it.
    Once,
    /// Opened and closed in every repeat.
    EachRepeat,
}

/// When written data is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SyncPolicy {
    /// Not at all: a write may have reached a cache only.
    Never,
    /// Once, after a repeat's last operation.
    End,
    /// After every `ops` writes, and after the last.
    Every {
        /// How many writes; at least 1.
        ops: u32,
    },
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Data {
    /// Zeros.
    Zeros,
    /// Random bytes, no two blocks alike.
    Random,
    /// Random bytes, the same in every block and repeat, as originals write that fill their buffer once.
    Fixed,
    /// `text` over and over from the start of every block; the block's last bytes are `end`.
    Text {
        /// What is repeated; not empty.
        text: String,
        /// How each block ends; may be empty.
        end: String,
    },
    /// In every 512 bytes, this many percent zeros and the rest random.
    Compressible {
        /// 0 to 100.
        percent: u8,
    },
}

/// What is checked of the data read. The check is outside the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// Nothing.
    None,
    /// The last byte of each block, as SdFat's bench does.
    LastByte,
    /// Every byte, its place and its age: data carries stamps, written data is read back after each repeat.
    Full,
}

/// Whether the operating system's cache is passed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direct {
    /// Where the target and the block size allow it; the record says what came of it.
    Auto,
    /// Or else an error.
    Required,
    /// Through the cache.
    Buffered,
}

/// What a workload's operations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpMix {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Both.
    Mixed,
}

impl Workload {
    /// A workload of 1 MiB sequential reads over the whole target with every other setting at its default; the starting
    /// point of suites and tests.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            read_percent: 100,
            order: Order::Sequential,
            block_bytes: 1 << 20,
            file_bytes: None,
            size_bytes: None,
            time_ns: None,
            file: FileMode::Existing,
            reopen: Reopen::EachRepeat,
            preallocate: false,
            sync: SyncPolicy::Never,
            drain: true,
            data: Data::Random,
            verify: Verify::None,
            repeats: 1,
            warm_up: 0,
            pause_ns: 0,
            queue_depth: 1,
            seed: 0,
            engine: "sync".into(),
            direct: Direct::Auto,
            time_open_close: false,
            time_repeats: false,
            max_errors: 0,
            accept_short: false,
            erase: Erase::Inside,
            fill_percent: None,
            access: Access::Any,
            medium: Medium::Any,
        }
    }

    /// Whether it is meant for a target that shows its storage as `access` and has this medium; `Any` of either side
    /// fits everything.
    #[must_use]
    pub fn is_for(&self, access: Access, medium: Medium) -> bool {
        let access_fits = self.access == Access::Any || access == Access::Any || self.access == access;
        access_fits && (self.medium == Medium::Any || medium == Medium::Any || self.medium == medium)
    }

    /// What the operations are.
    #[must_use]
    pub const fn mix(&self) -> OpMix {
        match self.read_percent {
            100.. => OpMix::Read,
            0 => OpMix::Write,
            _ => OpMix::Mixed,
        }
    }

    /// Whether any operation reads.
    #[must_use]
    pub const fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// Whether any operation writes.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Whether the settings agree with each other, whatever the target.
    ///
    /// # Errors
    /// [`Contradiction`] names the settings and what to do.
    pub fn check(&self) -> Result<(), Contradiction> {
        use Contradiction as C;
        if self.block_bytes == 0 {
            return Err(C::Zero { key: "block", least: "1 byte" });
        }
        if self.size_bytes == Some(0) {
            return Err(C::Zero { key: "size", least: "one block" });
        }
        if self.file_bytes == Some(0) {
            return Err(C::Zero { key: "file-size", least: "one block" });
        }
        if self.time_ns == Some(0) {
            return Err(C::Zero { key: "time", least: "1ns" });
        }
        if self.repeats == 0 {
            return Err(C::Zero { key: "repeats", least: "1" });
        }
        for (key, count) in [("repeats", self.repeats), ("warm-up", self.warm_up)] {
            if count > REPEATS_MAX {
                return Err(C::TooMany { key, count, most: REPEATS_MAX });
            }
        }
        if self.queue_depth == 0 {
            return Err(C::Zero { key: "queue-depth", least: "1" });
        }
        if matches!(self.sync, SyncPolicy::Every { ops: 0 }) {
            return Err(C::Zero { key: "sync", least: "every 1 operation" });
        }
        if self.read_percent > 100 {
            return Err(C::Percent("read-percent"));
        }
        if matches!(self.data, Data::Compressible { percent: 101.. }) {
            return Err(C::Percent("data"));
        }
        if self.fill_percent.is_some_and(|percent| percent > FILL_PERCENT_MAX) {
            return Err(C::TooFull);
        }
        if matches!(&self.data, Data::Text { text, .. } if text.is_empty()) {
            return Err(C::EmptyText);
        }
        if matches!(self.order, Order::Zipf { theta_milli: 0 | 10_001.. }) {
            return Err(C::ZipfTheta);
        }
        let block = u64::from(self.block_bytes);
        for (key, bytes) in [("size", self.size_bytes), ("file-size", self.file_bytes)] {
            if let Some(bytes) = bytes.filter(|b| *b < block) {
                return Err(C::BlockLargerThan { key, block, bytes });
            }
        }
        if self.reads() && self.file != FileMode::Existing {
            return Err(C::ReadsNewFile);
        }
        if !self.writes() && self.sync != SyncPolicy::Never {
            return Err(C::SyncWithoutWrites);
        }
        if self.file == FileMode::Append && self.order != Order::Sequential {
            return Err(C::AppendInOrder);
        }
        match self.verify {
            Verify::LastByte if !matches!(self.data, Data::Text { .. } | Data::Zeros) => {
                return Err(C::LastByteUnknown);
            }
            // A cell that only part of an operation covers has no stamp to tell its pass by.
            Verify::Full if self.mix() == OpMix::Mixed && !block.is_multiple_of(crate::data::CELL_BYTES as u64) => {
                return Err(C::MixedVerifyUnaligned);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Settings that cannot go together; the text says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A number that must not be 0.
    #[error("{key} is 0; the least is {least}")]
    Zero {
        /// The suite key.
        key: &'static str,
        /// What would do.
        least: &'static str,
    },
    /// A number over its limit.
    #[error("{key} is {count}; the most is {most}")]
    TooMany {
        /// The suite key.
        key: &'static str,
        /// What was asked for.
        count: u32,
        /// The limit.
        most: u32,
    },
    /// A percentage over 100.
    #[error("{0} is over 100 percent; 0 to 100 is meant")]
    Percent(&'static str),
    /// A level of use that leaves nothing to measure.
    #[error("fill is over {FILL_PERCENT_MAX} percent; 0 to {FILL_PERCENT_MAX} is meant")]
    TooFull,
    /// A block does not fit.
    #[error("a block of {block} bytes is larger than {key} = {bytes} bytes: make block smaller or {key} larger")]
    BlockLargerThan {
        /// The suite key of the size.
        key: &'static str,
        /// The block in bytes.
        block: u64,
        /// The size in bytes.
        bytes: u64,
    },
    /// Reading what does not exist.
    #[error("file = \"new\" or \"append\" is for writing only: a workload that reads needs file = \"existing\"")]
    ReadsNewFile,
    /// A sync policy on a workload that never writes.
    #[error("sync is set, but the workload does not write: leave sync out, or let it write")]
    SyncWithoutWrites,
    /// Appending is sequential by nature.
    #[error("file = \"append\" writes at the end: order has to be \"sequential\"")]
    AppendInOrder,
    /// No text to repeat.
    #[error("data is a text, but the text is empty: give at least one character")]
    EmptyText,
    /// Only texts and zeros have a known last byte.
    #[error("verify = \"last-byte\" needs data whose last byte is known: a text or zeros (or verify = \"full\")")]
    LastByteUnknown,
    /// Mixed reads and writes can be verified in whole cells only.
    #[error("verify = \"full\" with mixed reads and writes needs a block that is a multiple of 512 bytes")]
    MixedVerifyUnaligned,
    /// theta outside its range.
    #[error("zipf's theta is 0.001 to 10")]
    ZipfTheta,
}

impl Contradiction {
    /// The suite key to point at.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Zero { key, .. } | Self::TooMany { key, .. } | Self::Percent(key) => key,
            Self::BlockLargerThan { .. } => "block",
            Self::TooFull => "fill",
            Self::ReadsNewFile => "file",
            Self::SyncWithoutWrites => "sync",
            Self::AppendInOrder | Self::ZipfTheta => "order",
            Self::EmptyText => "data",
            Self::LastByteUnknown => "verify",
            Self::MixedVerifyUnaligned => "block",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut Workload)) -> Option<Contradiction> {
        let mut workload = Workload::named("w");
        change(&mut workload);
        workload.check().err()
    }

    #[test]
    fn the_default_is_sound() {
        assert_eq!(Workload::named("w").check(), Ok(()));
    }

    #[test]
    fn contradictions_are_named() {
        assert_eq!(refused(|w| w.block_bytes = 0).map(|c| c.key()), Some("block"));
        assert_eq!(refused(|w| w.size_bytes = Some(0)).map(|c| c.key()), Some("size"));
        assert_eq!(
            refused(|w| w.size_bytes = Some(512)),
            Some(Contradiction::BlockLargerThan { key: "size", block: 1 << 20, bytes: 512 })
        );
        assert_eq!(refused(|w| w.file = FileMode::New), Some(Contradiction::ReadsNewFile));
        assert_eq!(refused(|w| w.sync = SyncPolicy::End), Some(Contradiction::SyncWithoutWrites));
        assert_eq!(
            refused(|w| {
                w.read_percent = 0;
                w.file = FileMode::Append;
                w.order = Order::Random;
            }),
            Some(Contradiction::AppendInOrder)
        );
        assert_eq!(refused(|w| w.order = Order::Zipf { theta_milli: 0 }), Some(Contradiction::ZipfTheta));
        assert_eq!(
            refused(|w| w.data = Data::Text { text: String::new(), end: String::new() }),
            Some(Contradiction::EmptyText)
        );
    }
}
