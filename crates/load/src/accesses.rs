//! Which access comes next: a job's options and files become a sequence of accesses, the same one for the same seed.
//!
//! The meaning of the options is fio's (HOWTO, "I/O type", "Block size", "I/O size", file_service_type; `io_u.c` and
//! `filesetup.c`). The random numbers are not: which block comes when is another order than fio's, with these promises:
//!
//! * With a random map each whole block is met once in a round, without a table where all random accesses have one size
//!   and alignment, and with a bit for each block otherwise. `random_generator=lfsr` means each block once, also with
//!   `norandommap`; the two others differ in nothing that a user sees.
//! * `rwmixread`, `percentage_random`, `bssplit` and zones are exact in every hundred accesses that they are about, counted
//!   from the start of a round. (fio draws each time: of 16384 accesses at `rwmixread=75`, it reads 12275.) A size that
//!   does not fit, in front of the end or of a block that the map has, is made smaller.
//! * Where the popular blocks of zipf, pareto and normal are is spread over the file, and with a center the most popular one
//!   is there, as in fio. The deviation of normal is drawn evenly on top of the mean of twelve even draws, as in fio.
//!
//! A *pass* is `io_size` or else `size` bytes, or `number_ios` accesses; of `trimwrite`, so many writes, and their trims. It
//! goes on until that much has been issued, so that the last access may go beyond it. A *round* is once through all files; if
//! that is less than `io_size`, they are begun anew, with `randrepeat` in the same order, unless less than the largest access
//! is missing. What is left of a file behind its last whole block is not met.
//!
//! Differences from fio, where it stops early or goes too far:
//!
//! * No access goes beyond the [`FilePart`]; in a file that is larger than its part, fio lets the last sequential one.
//! * Holes (`rw=read:4k`) lead back to the part's beginning; fio ends the job there if the file is larger than the part.
//! * In a random job, a sequential access that has no room becomes a random one; fio takes it for the end of the file.
//! * With `bs_is_seq_rand`, random accesses are aligned to their own size; in fio reads are to the sequential one.
//! * With `loops`, each loop is a pass of its own; fio lets an `io_size` that is smaller than `size` run on.
//!
//! Nothing is allocated, and no float is used, once a sequence is set up.

mod deck;
mod error;
mod file;
mod layout;
mod map;
mod offsets;
mod part;
mod permutation;
mod plan;
mod seeds;
mod service;
mod sizes;

use flashmark_core::order::{Mix, below};
use flashmark_fio::options::{AccessOptions, FileService};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use error::AccessError;
use file::File;
pub use flashmark_fio::output::Direction;
use offsets::{Draws, Random};
pub use part::{FilePart, PartError, file_parts};
use plan::{Coverage, Directions, Plain, Plan};
use seeds::{Question, Seeds};
use service::Service;
use sizes::Sizes;

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// What it does.
    pub direction: Direction,
    /// The file, by its place among the parts.
    pub file: u32,
    /// Where it begins, in bytes from the file's start.
    pub offset: u64,
    /// How many bytes it has, at least 1.
    pub bytes: u32,
}

/// The accesses of a job. A clone goes on as the original would, so that what a pass wrote can be told again from a clone
/// that was taken at its start, without memory for each access.
#[derive(Clone, Debug)]
pub struct Accesses {
    plan: Plan,
    files: Vec<File>,
    files_left: usize,
    service: Service,
    directions: Directions,
    /// The direction that was drawn for an access for which no file has been found yet.
    drawn: Option<Direction>,
    sizes: [Sizes; 3],
    size_numbers: [Xoshiro256PlusPlus; 3],
    jumps: [Mix; 3],
    draws: Draws,
    run_left: u32,
    seed: u64,
    sequence: u64,
    seeds: Seeds,
    accesses_left: u64,
    /// What the pass has left, counted down, and what it had left when the round began.
    round_left: u64,
    pass_left: u64,
    round_issued: u64,
}

impl Accesses {
    /// The accesses that `options` and `service` describe, to `parts` of files. `seed` is the job's own, with whatever sets
    /// it apart from its copies.
    ///
    /// `size` and `offset` are in the parts already, as [`file_parts`] finds them; a `size` in bytes limits what is
    /// transferred all the same, and `io_size` in percent is of that.
    ///
    /// # Errors
    ///
    /// If the options make no sequence with these files, see [`AccessError`].
    pub fn new(
        options: &AccessOptions,
        service: &FileService,
        parts: &[FilePart],
        seed: u64,
    ) -> Result<Self, AccessError> {
        let seeds = Seeds::new(seed, 0);
        let sizes = plan::sizes(options)?;
        let mut plan = Plan::new(options, &sizes, parts)?;
        let files = layout::files(options, &mut plan, parts, seeds)?;
        let mut accesses = Self {
            files_left: files.len(),
            service: Service::new(service, files.len(), seeds),
            files,
            directions: Directions::new(options, seeds),
            drawn: None,
            sizes,
            size_numbers: size_numbers(seeds),
            jumps: jumps(&plan, seeds),
            draws: Draws::new(seeds, layout::zone_decks(&options.random_distribution)),
            run_left: plan.run_length,
            seed,
            sequence: 0,
            seeds,
            accesses_left: plan.limits.accesses,
            round_left: 0,
            pass_left: plan.limits.pass_bytes,
            round_issued: 0,
            plan,
        };
        accesses.start_pass();
        Ok(accesses)
    }

    /// The next access; nothing when the pass is complete, and then always nothing until [`Self::restart`].
    #[inline]
    pub fn next_access(&mut self) -> Option<Access> {
        if self.accesses_left == 0 {
            return None;
        }
        if let Some(access) = self.plain_access() {
            return Some(access);
        }
        self.any_access()
    }

    /// Hands out up to `most` accesses that are next, as far as they come without further questions (`Plan::plain`);
    /// there may be more.
    ///
    /// Each is handed over in registers: in memory, it would be written in pieces and read as a whole, which processors wait for.
    #[inline(always)]
    pub fn draw(&mut self, most: u32, mut each: impl FnMut(Access)) {
        let (Some(plain), Some(file)) = (self.plan.plain, self.files.first_mut()) else { return };
        let Plain { direction, bytes, align } = plain;
        // The last one may go beyond what is left.
        let left = match most {
            1 => u64::from(self.round_left > 0),
            _ => self.round_left.div_ceil(u64::from(bytes.max(1))),
        };
        let most = left.min(self.accesses_left).min(most.into());
        let start = file.start;
        let mut give = |offset: u64| each(Access { direction, file: 0, offset: start + offset, bytes });
        let mut drawn = 0;
        match &mut file.random {
            Random::Uniform { blocks } => {
                let blocks = blocks[direction as usize];
                // A generator of its own stays in registers.
                let mut numbers = self.draws.offsets.clone();
                while drawn < most {
                    give(below(&mut numbers, blocks) * align);
                    drawn += 1;
                }
                self.draws.offsets = numbers;
            }
            Random::Once { order, align } => {
                while drawn < most
                    && let Some(number) = order.next_number()
                {
                    give(number * *align);
                    drawn += 1;
                }
            }
            Random::None => {
                while drawn < most
                    && let Some(offset) = file.next_plain(direction as usize, bytes)
                {
                    give(offset);
                    drawn += 1;
                }
            }
            _ => return,
        }
        self.accesses_left -= drawn;
        let drawn_bytes = drawn * u64::from(bytes);
        self.round_issued += drawn_bytes;
        self.round_left = self.round_left.saturating_sub(drawn_bytes);
    }

    /// An access of a job of the most common shape, see [`Plan::plain`].
    #[inline(always)]
    fn plain_access(&mut self) -> Option<Access> {
        let mut access = None;
        self.draw(1, |drawn| access = Some(drawn));
        access
    }

    #[inline(never)]
    fn any_access(&mut self) -> Option<Access> {
        loop {
            if self.round_left > 0
                && let Some((access, counted)) = self.serve_files()
            {
                self.accesses_left -= 1;
                self.round_issued += counted;
                self.round_left = self.round_left.saturating_sub(counted);
                return Some(access);
            }
            if !self.start_round() {
                return None;
            }
        }
    }

    /// Begins the next loop, as fio does: with `randrepeat` it is the same sequence again, without it another one.
    pub fn restart(&mut self) {
        if !self.plan.same_again {
            self.sequence += 1;
        }
        self.start_pass();
    }

    /// Begins another pass whose random numbers are others in any case, as fio goes on in a job that is `time_based`.
    pub fn go_on(&mut self) {
        self.sequence += 1;
        self.start_pass();
    }

    /// The direction of the next access, of a job that mixes reads and writes.
    pub fn mixed_direction(&mut self) -> Option<Direction> {
        match &mut self.directions {
            Directions::Mixed { mix, .. } => Some(next_of_mix(mix, &mut self.drawn)),
            Directions::One(_) | Directions::TrimWrite => None,
        }
    }

    /// Has the next access of a job that mixes reads and writes go in this one of the two directions. The mix is what is asked for
    /// no more then.
    pub fn steer(&mut self, direction: Direction) {
        if matches!(self.directions, Directions::Mixed { .. }) && direction != Direction::Trim {
            self.drawn = Some(direction);
        }
    }

    /// The most bytes an access has.
    #[must_use]
    pub const fn largest_bytes(&self) -> u32 {
        self.plan.largest
    }

    /// Whether two writes of one pass may have bytes in common, so that what is read later is of either. Parts that are of
    /// the same file are not looked at.
    #[must_use]
    pub fn may_overlap(&self) -> bool {
        let plan = &self.plan;
        let written = match self.directions {
            Directions::One(Direction::Read | Direction::Trim) => return false,
            Directions::One(Direction::Write) | Directions::Mixed { .. } => Direction::Write,
            // Writes are where the trims were.
            Directions::TrimWrite => Direction::Trim,
        };
        let starts_over = plan.limits.may_go_on || self.service.reuses_files();
        let is_random = plan.run_length == 1 && plan.random_percents[written as usize] == 100;
        let meets_once = match plan.coverage {
            Coverage::Sequential => plan.skip_bytes == 0,
            Coverage::Repeating => false,
            Coverage::Once | Coverage::Mapped { .. } => is_random && plan.blocks_are_apart,
        };
        starts_over || !meets_once
    }

    fn start_pass(&mut self) {
        let limits = self.plan.limits;
        self.accesses_left = limits.accesses;
        self.pass_left = limits.pass_bytes;
        self.round_issued = 0;
        self.begin_files();
    }

    /// Goes on when a round is over, if the pass is not.
    #[cold]
    fn start_round(&mut self) -> bool {
        let issued = std::mem::take(&mut self.round_issued);
        self.pass_left = self.pass_left.saturating_sub(issued);
        // As in fio, nothing is begun anew for less than the largest access.
        let goes_on = issued > 0 && self.plan.limits.goes_on && self.pass_left >= u64::from(self.plan.largest);
        if goes_on {
            if !self.plan.same_again {
                self.sequence += 1;
            }
            self.begin_files();
        } else {
            self.round_left = 0;
        }
        goes_on
    }

    fn begin_files(&mut self) {
        self.seeds = Seeds::new(self.seed, self.sequence);
        let seeds = self.seeds;
        for (index, file) in self.files.iter_mut().enumerate() {
            file.restart(seeds, index);
        }
        self.files_left = self.files.len();
        self.service.restart(seeds);
        self.directions.restart(seeds);
        self.drawn = None;
        self.sizes.iter_mut().for_each(Sizes::restart);
        self.size_numbers = size_numbers(seeds);
        self.jumps = jumps(&self.plan, seeds);
        self.draws.restart(seeds);
        self.run_left = self.plan.run_length;
        self.round_left = self.pass_left;
    }

    /// An access of the next file that has one, and how many of its bytes count.
    #[inline]
    fn serve_files(&mut self) -> Option<(Access, u64)> {
        while self.files_left > 0 {
            let index = match self.files.as_slice() {
                [_] => 0,
                files => self.service.next_file(|file| files[file].is_done),
            };
            let direction = self.next_direction(index);
            let Some((offset, bytes)) = self.place(index, direction) else {
                self.drop_out(index);
                continue;
            };
            self.drawn = None;
            let file = &mut self.files[index];
            file.note(direction as usize, offset, bytes);
            let mut counted = u64::from(bytes);
            if direction == Direction::Trim && matches!(self.directions, Directions::TrimWrite) {
                file.trimmed = Some((offset, bytes));
                counted = 0;
            }
            return Some((Access { direction, file: index as u32, offset: file.start + offset, bytes }, counted));
        }
        None
    }

    /// A file that has no more accesses.
    #[cold]
    fn drop_out(&mut self, index: usize) {
        let file = &mut self.files[index];
        if !(self.service.reuses_files() && file.begin_again(self.seeds, index)) {
            file.is_done = true;
            self.files_left -= 1;
        }
    }

    #[inline]
    fn next_direction(&mut self, file: usize) -> Direction {
        match &mut self.directions {
            Directions::One(direction) => *direction,
            Directions::TrimWrite if self.files[file].trimmed.is_some() => Direction::Write,
            Directions::TrimWrite => Direction::Trim,
            Directions::Mixed { mix, .. } => next_of_mix(mix, &mut self.drawn),
        }
    }

    /// Where an access of a file is, from its part's start, and how many bytes it has.
    #[inline]
    fn place(&mut self, file: usize, direction: Direction) -> Option<(u64, u32)> {
        let (file, direction) = (&mut self.files[file], direction as usize);
        if let Some(trimmed) = file.trimmed.take() {
            return Some(trimmed);
        }
        let plan = &self.plan;
        let sequential_size = if plan.sizes_by_order { Direction::Read as usize } else { direction };
        if !plan.is_random {
            let offset = file.next_in_sequence(direction, plan.skip_bytes)?;
            let numbers = &mut self.size_numbers[sequential_size];
            return Some((offset, self.sizes[sequential_size].draw(file.bytes - offset, numbers)?));
        }
        let mut ends_run = true;
        if plan.run_length > 1 {
            self.run_left -= 1;
            ends_run = self.run_left == 0;
            if ends_run {
                self.run_left = plan.run_length;
            }
        }
        if !ends_run || !self.jumps[direction].next_is_read() {
            let offset = match !ends_run && plan.repeats_in_run {
                true => Some(file.same_again(direction)),
                false => file.next_in_sequence(direction, 0),
            };
            let numbers = &mut self.size_numbers[sequential_size];
            let sizes = &mut self.sizes[sequential_size];
            let place = offset.and_then(|offset| Some((offset, sizes.draw(file.bytes - offset, numbers)?)));
            if place.is_some() {
                return place;
            }
        }
        let offset = file.random.next_offset(direction, &plan.grid, &mut self.draws)?;
        let (size, room) = (plan::random_size(plan.sizes_by_order, direction), file.bytes - offset);
        let bytes = self.sizes[size].draw(room, &mut self.size_numbers[size]);
        // A piece that is left in a map may be smaller than the smallest block.
        let bytes = bytes.or_else(|| file.random.is_mapped().then_some(room as u32))?;
        Some((offset, file.random.take(offset, bytes)))
    }
}

/// What was drawn and has not been issued, or else what the mix says.
#[inline]
fn next_of_mix(mix: &mut Mix, drawn: &mut Option<Direction>) -> Direction {
    *drawn.get_or_insert_with(|| if mix.next_is_read() { Direction::Read } else { Direction::Write })
}

fn size_numbers(seeds: Seeds) -> [Xoshiro256PlusPlus; 3] {
    [0, 1, 2].map(|direction| seeds.numbers(Question::Size, direction))
}

/// For each direction, whether an access of a random job is random.
fn jumps(plan: &Plan, seeds: Seeds) -> [Mix; 3] {
    [0, 1, 2].map(|direction: usize| {
        Mix::new(plan.random_percents[direction], seeds.seed(Question::IsRandom, direction as u64))
    })
}
