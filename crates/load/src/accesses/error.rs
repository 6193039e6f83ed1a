//! Why there is no sequence of accesses.

use thiserror::Error;

/// Options that make no sequence of accesses with these files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AccessError {
    /// A block of nothing, or more than an access can have.
    #[error("a block of {bytes} bytes is not possible; block sizes are 1 to 4294967295 bytes")]
    BlockSize {
        /// Its size.
        bytes: u64,
    },
    /// There is nothing to access.
    #[error(
        "no file has room for a block of {block_bytes} bytes: the largest part in use has {part_bytes} bytes; make `size` larger, or `bs` or `blockalign` smaller"
    )]
    NoRoom {
        /// The smallest block, or what it is aligned to.
        block_bytes: u64,
        /// The largest part of a file.
        part_bytes: u64,
    },
    /// A part of a file ends beyond what an offset can tell.
    #[error("file {file} would be used beyond its largest possible offset; make `offset` or `size` smaller")]
    BeyondOffsets {
        /// The file, from 0.
        file: u32,
    },
    /// The map of random blocks would take too much memory.
    #[error(
        "the map of {blocks} random blocks would take {map_bytes} bytes, and at most {most_bytes} are taken; give `softrandommap=1` to go without a map if it is too large, `norandommap` to let blocks come twice, or one block size for all, which needs no map"
    )]
    MapTooLarge {
        /// How many blocks all files have.
        blocks: u64,
        /// What the map would take.
        map_bytes: u64,
        /// What it may take.
        most_bytes: u64,
    },
    /// The zones of `random_distribution=zoned_abs` are larger than a file.
    #[error(
        "the zones of `zoned_abs` end at byte {zones_bytes}, and of file {file} only {part_bytes} bytes are used; make the zones smaller or `size` larger"
    )]
    ZonesBeyondFile {
        /// The file, from 0.
        file: u32,
        /// Where the last zone ends.
        zones_bytes: u64,
        /// How much of the file is used.
        part_bytes: u64,
    },
    /// A block of `random_distribution=sequence` is not in a file.
    #[error("block {block} of the `sequence` is beyond the {blocks} blocks of file {file}; blocks count from 0")]
    SequenceBeyondFile {
        /// The file, from 0.
        file: u32,
        /// The block.
        block: u32,
        /// How many blocks there are.
        blocks: u64,
    },
}
