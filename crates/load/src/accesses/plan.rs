//! What the options come to: decided once, so that an access only looks.

use flashmark_core::order::Mix;
use flashmark_fio::options::{AccessOptions, RandomGenerator, Sequencer};
use flashmark_fio::value::access::Access as Pattern;
use flashmark_fio::value::distribution::Distribution;
use flashmark_fio::value::quantity::Amount;

use super::error::AccessError;
use super::offsets::Grid;
use super::seeds::{Question, Seeds};
use super::sizes::Sizes;
use super::{Direction, FilePart};

/// Which direction comes next.
#[derive(Clone, Debug)]
pub(super) enum Directions {
    /// Always the same.
    One(Direction),
    /// Reads and writes in an exact share.
    Mixed { mix: Box<Mix>, read_percent: u8 },
    /// Each block is trimmed, then written.
    TrimWrite,
}

/// How a random job's blocks are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// Sequential jobs.
    Sequential,
    /// Blocks are drawn however often they were before.
    Repeating,
    /// Each block once, all accesses alike.
    Once,
    /// Each block once, accesses in units of so many bytes.
    Mapped { unit: u64 },
}

/// The limits of a pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How much a pass transfers.
    pub(super) pass_bytes: u64,
    /// How many accesses there are.
    pub(super) accesses: u64,
    /// Whether `io_size` was given: the pass goes on when all files have been met, with the same files anew.
    pub(super) goes_on: bool,
    /// Whether that can happen.
    pub(super) may_go_on: bool,
}

/// A job with one file, one direction and one block size whose accesses are all random, or all sequential without holes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    pub(super) direction: Direction,
    pub(super) bytes: u32,
    pub(super) align: u64,
}

/// What is the same for all accesses.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) is_random: bool,
    pub(super) coverage: Coverage,
    pub(super) sizes_by_order: bool,
    pub(super) run_length: u32,
    pub(super) repeats_in_run: bool,
    pub(super) skip_bytes: i64,
    pub(super) grid: Grid,
    pub(super) limits: Limits,
    pub(super) largest: u32,
    /// Whether a restart begins the same sequence again.
    pub(super) same_again: bool,
    /// For each direction, how many of a hundred accesses are random.
    pub(super) random_percents: [u8; 3],
    /// Whether accesses that begin at different blocks have no bytes in common.
    pub(super) blocks_are_apart: bool,
    /// What there is to it, if it is of the most common shape.
    pub(super) plain: Option<Plain>,
}

pub(super) fn used(pattern: Pattern) -> [bool; 3] {
    // A write of trimwrite is where the trim was.
    let writes = pattern.writes() && !pattern.trims();
    [pattern.reads(), writes, pattern.trims()]
}

/// Which of the three sizes a random access of a direction has.
pub(super) const fn random_size(by_order: bool, direction: usize) -> usize {
    if by_order { Direction::Write as usize } else { direction }
}

impl Directions {
    pub(super) fn new(options: &AccessOptions, seeds: Seeds) -> Self {
        match options.rw.access {
            Pattern::Read | Pattern::RandRead => Self::One(Direction::Read),
            Pattern::Write | Pattern::RandWrite => Self::One(Direction::Write),
            Pattern::Trim | Pattern::RandTrim => Self::One(Direction::Trim),
            Pattern::TrimWrite | Pattern::RandTrimWrite => Self::TrimWrite,
            Pattern::Rw | Pattern::RandRw => {
                let read_percent = options.rwmixread.min(100);
                let mix = Box::new(mix(read_percent, seeds));
                Self::Mixed { mix, read_percent }
            }
        }
    }

    pub(super) fn restart(&mut self, seeds: Seeds) {
        if let Self::Mixed { mix: drawn, read_percent } = self {
            **drawn = mix(*read_percent, seeds);
        }
    }
}

fn mix(read_percent: u8, seeds: Seeds) -> Mix {
    Mix::new(read_percent, seeds.seed(Question::Direction, 0))
}

pub(super) fn sizes(options: &AccessOptions) -> Result<[Sizes; 3], AccessError> {
    let sizes = options.block_sizes();
    let [read, write, trim] = sizes.each();
    let new = |sizes| Sizes::new(sizes, options.bs_unaligned);
    Ok([new(read)?, new(write)?, new(trim)?])
}

impl Plan {
    pub(super) fn new(options: &AccessOptions, sizes: &[Sizes; 3], parts: &[FilePart]) -> Result<Self, AccessError> {
        let pattern = options.rw.access;
        let is_random = pattern.is_random();
        let by_order = options.bs_is_seq_rand;
        let used = used(pattern);
        let least_of = |direction: usize| match is_random {
            true => u64::from(sizes[random_size(by_order, direction)].least()),
            false => u64::from(sizes[direction].least()),
        };
        let given = options.blockalign.each().map(|align| align.filter(|_| is_random));
        let leasts: [u64; 3] = std::array::from_fn(least_of);
        let aligns = std::array::from_fn(|direction| given[direction].unwrap_or(leasts[direction]).max(1));
        let grid = Grid { aligns, leasts };

        let drawn = |direction: usize| -> [&Sizes; 2] {
            match by_order {
                true => [&sizes[0], &sizes[1]],
                false => [&sizes[direction]; 2],
            }
        };
        let all_drawn = || (0..3).filter(|direction| used[*direction]).flat_map(drawn);
        let largest = all_drawn().map(Sizes::most).max().unwrap_or(1);

        // A random offset has room if its whole aligned place has.
        let needs = |direction: usize| leasts[direction].max(if is_random { grid.aligns[direction] } else { 1 });
        let block_bytes = (0..3).filter(|direction| used[*direction]).map(needs).min().unwrap_or(1);
        let part_bytes = parts.iter().map(|part| part.bytes).max().unwrap_or(0);
        if part_bytes < block_bytes {
            return Err(AccessError::NoRoom { block_bytes, part_bytes });
        }
        for (file, part) in (0_u32..).zip(parts) {
            if part.start.checked_add(part.bytes).is_none_or(|end| i64::try_from(end).is_err()) {
                return Err(AccessError::BeyondOffsets { file });
            }
        }

        let mut plan = Self {
            is_random,
            coverage: coverage(options, sizes, &grid),
            sizes_by_order: by_order,
            run_length: options.rw.run_length.max(1),
            repeats_in_run: options.rw_sequencer == Sequencer::Identical,
            skip_bytes: if is_random { 0 } else { options.rw.skip_bytes },
            grid,
            limits: Limits { pass_bytes: 0, accesses: 0, goes_on: false, may_go_on: false },
            largest,
            same_again: options.randrepeat,
            random_percents: options.percentage_random.each().map(|percent| (*percent).min(100) as u8),
            blocks_are_apart: false,
            plain: None,
        };
        let unit = plan.unit(used).1;
        let is_apart = |direction: usize| {
            let most = sizes[random_size(by_order, direction)].most();
            !used[direction] || (plan.grid.aligns[direction] == unit && u64::from(most) <= unit)
        };
        plan.blocks_are_apart = matches!(plan.coverage, Coverage::Mapped { .. }) || (0..3).all(is_apart);
        plan.plain = plan.plain(options, sizes, parts);
        plan.limits = limits(options, parts);
        Ok(plan)
    }

    fn plain(&self, options: &AccessOptions, sizes: &[Sizes; 3], parts: &[FilePart]) -> Option<Plain> {
        let direction = match options.rw.access {
            Pattern::Read | Pattern::RandRead => Direction::Read,
            Pattern::Write | Pattern::RandWrite => Direction::Write,
            Pattern::Trim | Pattern::RandTrim => Direction::Trim,
            _ => return None,
        };
        let size = match (self.sizes_by_order, self.is_random) {
            (true, true) => &sizes[Direction::Write as usize],
            (true, false) => &sizes[Direction::Read as usize],
            (false, _) => &sizes[direction as usize],
        };
        let is_plain = parts.len() == 1
            && size.is_fixed()
            && self.run_length == 1
            && self.skip_bytes == 0
            && self.random_percents[direction as usize] == 100;
        let align = self.grid.aligns[direction as usize];
        is_plain.then(|| Plain { direction, bytes: size.least(), align })
    }

    /// The smallest alignment of the directions used.
    pub(super) fn unit(&self, used: [bool; 3]) -> (usize, u64) {
        let aligns = self.grid.aligns.into_iter().enumerate().filter(|(direction, _)| used[*direction]);
        aligns.min_by_key(|(_, align)| *align).unwrap_or((0, 1))
    }
}

fn limits(options: &AccessOptions, parts: &[FilePart]) -> Limits {
    let whole = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
    // A percentage of the size is in the parts already.
    let size = match options.size {
        Some(Amount::Bytes(bytes @ 1..)) => bytes.min(whole),
        _ => whole,
    };
    let (pass_bytes, goes_on) = match options.io_size {
        Some(Amount::Bytes(bytes @ 1..)) => (bytes, true),
        Some(amount @ Amount::Percent(_)) => (amount.of(size), false),
        _ => (size, false),
    };
    let each = if options.rw.access.writes() && options.rw.access.trims() { 2 } else { 1 };
    let accesses = match options.number_ios {
        0 => u64::MAX,
        number => number.saturating_mul(each),
    };
    Limits { pass_bytes, accesses, goes_on, may_go_on: goes_on && pass_bytes > whole }
}

fn coverage(options: &AccessOptions, sizes: &[Sizes; 3], grid: &Grid) -> Coverage {
    if !options.rw.access.is_random() {
        return Coverage::Sequential;
    }
    let is_register = options.random_generator == RandomGenerator::Lfsr;
    let used = used(options.rw.access);
    let used = || (0..3).filter(|direction| used[*direction]);
    let size_of = |direction: usize| &sizes[random_size(options.bs_is_seq_rand, direction)];
    let first = used().next().unwrap_or(0);
    let is_even = used().all(|direction| {
        let (size, other) = (size_of(direction), size_of(first));
        size.is_fixed() && size.least() == other.least() && grid.aligns[direction] == grid.aligns[first]
    });
    let is_aligned = used().all(|direction| grid.aligns[direction] == grid.leasts[direction]);
    let keeps_map = !options.norandommap && is_aligned;
    match options.random_distribution {
        Distribution::Random if is_even && (keeps_map || is_register) => Coverage::Once,
        Distribution::Random if keeps_map => {
            let unit = used().fold(0, |unit, direction| greatest_common_divisor(grid.leasts[direction], unit));
            Coverage::Mapped { unit: unit.max(1) }
        }
        Distribution::Random if is_register => Coverage::Once,
        _ => Coverage::Repeating,
    }
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
