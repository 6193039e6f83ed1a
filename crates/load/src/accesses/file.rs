//! One file: where its accesses are.

use super::offsets::Random;
use super::seeds::Seeds;

/// No access yet.
const NOWHERE: u64 = u64::MAX;

/// A file's part and how far it has been met. Offsets count from the part's start.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// For each direction, where the last access began and ended.
    last_start: [u64; 3],
    last_end: [u64; 3],
    pub(super) is_done: bool,
    /// What was trimmed and is written next.
    pub(super) trimmed: Option<(u64, u32)>,
    pub(super) random: Random,
    /// How often it has begun anew in this round.
    again: u64,
}

impl File {
    pub(super) fn new(start: u64, bytes: u64, random: Random) -> Self {
        Self {
            start,
            bytes,
            last_start: [NOWHERE; 3],
            last_end: [0; 3],
            is_done: false,
            trimmed: None,
            random,
            again: 0,
        }
    }

    /// Goes back to how it was before its first access, with the seeds of a round.
    pub(super) fn restart(&mut self, seeds: Seeds, index: usize) {
        self.again = 0;
        self.begin(seeds, index);
    }

    /// Begins anew within a round, in another order. Tells whether there is anything to begin with.
    pub(super) fn begin_again(&mut self, seeds: Seeds, index: usize) -> bool {
        let was_met = self.last_start.iter().any(|start| *start != NOWHERE);
        self.again += 1;
        self.begin(seeds, index);
        was_met
    }

    fn begin(&mut self, seeds: Seeds, index: usize) {
        self.last_start = [NOWHERE; 3];
        self.last_end = [0; 3];
        self.is_done = false;
        self.trimmed = None;
        self.random.restart(seeds, index as u64 | self.again << 32);
    }

    #[inline]
    pub(super) fn note(&mut self, direction: usize, offset: u64, bytes: u32) {
        self.last_start[direction] = offset;
        self.last_end[direction] = offset + u64::from(bytes);
    }

    /// The place behind the last access, `skip` bytes further. Holes lead back to the beginning, and to the end if they are
    /// negative, as in fio; nothing if there is no more.
    #[inline]
    pub(super) fn next_in_sequence(&self, direction: usize, skip: i64) -> Option<u64> {
        let at = self.last_end[direction];
        if skip == 0 || at == 0 {
            return (at < self.bytes).then_some(at);
        }
        match at.checked_add_signed(skip) {
            Some(at) if at < self.bytes => Some(at),
            _ if skip > 0 => Some(0),
            // More than the file back: what fio makes of it is no place in the file either.
            _ => self.bytes.checked_add_signed(skip),
        }
    }

    /// The place behind the last access for another one of `bytes`, which is noted.
    #[inline]
    pub(super) fn next_plain(&mut self, direction: usize, bytes: u32) -> Option<u64> {
        let at = self.last_end[direction];
        let end = at + u64::from(bytes);
        if end > self.bytes {
            return None;
        }
        (self.last_start[direction], self.last_end[direction]) = (at, end);
        Some(at)
    }

    /// Where the last access was.
    #[inline]
    pub(super) const fn same_again(&self, direction: usize) -> u64 {
        match self.last_start[direction] {
            NOWHERE => 0,
            start => start,
        }
    }
}
