//! What is done to the files (fio HOWTO, "I/O type", "Block size" and "I/O size").

use super::effects;
use super::table::options;
use crate::value::access::{AccessPattern, access_pattern};
use crate::value::choice::{choice, words};
use crate::value::distribution::{Distribution, distribution};
use crate::value::quantity::{Amount, amount, count, count32, percent, some_bytes};
use crate::value::split::Share;
use crate::value::triple::Triple;
use crate::value::{boolean, some, switch};

words! {
    /// What follows from `rw=…:N`.
    Sequencer:
    /// Runs of N sequential accesses between random ones.
    Sequential = "sequential",
    /// The same offset N times.
    Identical = "identical",
}

words! {
    /// Where random offsets come from.
    RandomGenerator:
    /// Tausworthe's, 32 bits.
    Tausworthe = "tausworthe",
    /// A shift register that meets every block once without a map.
    Lfsr = "lfsr",
    /// Tausworthe's, 64 bits.
    Tausworthe64 = "tausworthe64",
}

options! {
    /// What is done to the files. Sizes are bytes.
    AccessOptions in access;
    fields {
        /// Directions and order.
        rw: AccessPattern = AccessPattern::default(), "rw" ["readwrite"] => access_pattern;
        /// What the number behind `rw` does.
        rw_sequencer: Sequencer = Sequencer::Sequential, "rw_sequencer" [] => choice(Sequencer::ALL);
        /// How much of all files together is used; nothing is all of them.
        size: Option<Amount> = None, "size" [] => some(amount);
        /// How much is transferred; nothing is as much as `size`.
        io_size: Option<Amount> = None, "io_size" ["io_limit"] => some(amount);
        /// Where the used part begins.
        offset: Amount = Amount::Bytes(0), "offset" ["fileoffset"] => amount;
        /// What `offset` in percent is rounded up to; 0 is the block size.
        offset_align: u64 = 0, "offset_align" [] => count(0, u64::MAX);
        /// How much further each copy of the job begins.
        offset_increment: Amount = Amount::Bytes(0), "offset_increment" [] => amount;
        /// The most accesses; 0 is no limit.
        number_ios: u64 = 0, "number_ios" [] => count(0, u64::MAX);
        /// Whether it writes until there is no room left.
        fill_device: bool = false, "fill_device" ["fill_fs"] => boolean;
        /// Of a hundred accesses of a mix, how many are reads.
        rwmixread: u8 = 50, "rwmixread" [] => percent;
        /// Whether sizes need not be whole sectors.
        bs_unaligned: bool = false, "bs_unaligned" ["blocksize_unaligned"] => switch, bare;
        /// Whether block sizes are for sequential and random accesses instead of reads and writes.
        bs_is_seq_rand: bool = false, "bs_is_seq_rand" [] => boolean;
        /// Whether every run has the same random numbers.
        randrepeat: bool = true, "randrepeat" ["allrandrepeat"] => boolean;
        /// What they begin with.
        randseed: u64 = 0x89, "randseed" [] => count(0, u64::MAX);
        /// Whether random blocks may come twice before all have come.
        norandommap: bool = false, "norandommap" [] => switch, bare;
        /// Whether they may if there is no memory for a map.
        softrandommap: bool = false, "softrandommap" [] => boolean;
        /// Where random offsets come from.
        random_generator: RandomGenerator = RandomGenerator::Tausworthe, "random_generator" []
            => choice(RandomGenerator::ALL);
        /// How they are distributed.
        random_distribution: Distribution = Distribution::Random, "random_distribution" [] => distribution;
        /// Whether a sequence of blocks moves on after each pass.
        random_sequence_stride: bool = false, "random_sequence_stride" [] => boolean;
        /// Mixes of block sizes; an empty one is none.
        bssplit: Triple<Vec<Share>> = Triple::all(Vec::new()), "bssplit" [] => crate::value::split::splits;
    }
    triples {
        /// The block size.
        bs: u64 = 4096, "bs" ["blocksize"] => some_bytes;
        /// What offsets are multiples of; nothing is the smallest block size.
        blockalign: Option<u64> = None, "ba" ["blockalign"] => some(some_bytes);
        /// The smallest and the largest block size; goes before `bs`.
        bsrange: Option<(u64, u64)> = None, "bsrange" ["blocksize_range"] => some(crate::value::quantity::range);
        /// Of a hundred accesses of a random job, how many are random.
        percentage_random: u32 = 100, "percentage_random" [] => count32(0, 100);
    }
    also {
        "rwmixwrite" [] => effects::rwmixwrite;
    }
}

/// The block sizes of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// Always the same.
    Fixed(u64),
    /// Any multiple of the smaller one up to the larger one.
    Range {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A mix.
    Mix(Vec<Share>),
}

impl BlockSizes {
    /// The smallest of them.
    #[must_use]
    pub fn least(&self) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { least, .. } => *least,
            Self::Mix(shares) => shares.iter().map(|share| share.bytes).min().unwrap_or(0),
        }
    }

    /// The largest of them.
    #[must_use]
    pub fn most(&self) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { most, .. } => *most,
            Self::Mix(shares) => shares.iter().map(|share| share.bytes).max().unwrap_or(0),
        }
    }
}

impl AccessOptions {
    /// The block sizes of reads, writes and trims: a mix goes before a range, and a range before a size.
    #[must_use]
    pub fn block_sizes(&self) -> Triple<BlockSizes> {
        let sizes = |mix: &Vec<Share>, range: Option<(u64, u64)>, size: u64| match (mix.as_slice(), range) {
            ([], Some((least, most))) if least == most => BlockSizes::Fixed(least),
            ([], Some((least, most))) => BlockSizes::Range { least, most },
            ([], None) => BlockSizes::Fixed(size),
            (shares, _) => BlockSizes::Mix(shares.to_vec()),
        };
        Triple {
            read: sizes(&self.bssplit.read, self.bsrange.read, self.bs.read),
            write: sizes(&self.bssplit.write, self.bsrange.write, self.bs.write),
            trim: sizes(&self.bssplit.trim, self.bsrange.trim, self.bs.trim),
        }
    }
}
