//! What does not change from repeat to repeat of a workload, and the sequences that do.

use super::layout::fingerprint_of;
use super::plan::Plan;
use crate::data::{Pattern, fingerprint, hash};
use crate::order::{Mix, Offsets};
use crate::target::Contents;
use crate::workload::{FileMode, Order, Verify, Workload};

pub(super) struct Job<'w> {
    pub workload: &'w Workload,
    pub plan: Plan,
    pub offsets: Offsets,
    pub mix: Mix,
    pub pattern: Pattern<'w>,
    /// The pass that laid the file out, or the last one before this workload: no block can be older.
    pub first_pass: u32,
    /// Operations begun in this repeat, also those that failed.
    pub issued: u64,
}

/// The coordinates of what a repeat wrote.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub repeat: u32,
    pub base: u64,
    pub pass: u32,
}

impl<'w> Job<'w> {
    pub(super) fn new(workload: &'w Workload, plan: Plan, first_pass: u32) -> Self {
        // Each workload has an order of its own: reading blocks in the order in which another workload wrote them would
        // be reading a log from its start, to a medium that keeps one.
        let seed = hash(workload.seed ^ fingerprint(workload.name.as_bytes()));
        Self {
            workload,
            plan,
            offsets: Offsets::new(workload.order, plan.region_blocks, workload.block_bytes, seed),
            mix: Mix::new(workload.read_percent, seed),
            pattern: Pattern::new(workload),
            first_pass,
            issued: 0,
        }
    }

    /// Goes to the start of a repeat's sequences.
    pub(super) fn start_repeat(&mut self, repeat: u32, base: u64, pass: u32) {
        self.offsets.start_repeat(repeat, base);
        self.mix.start_repeat(repeat);
        self.pattern.start_pass(pass);
        self.issued = 0;
    }

    /// What the target holds after a repeat in which every operation succeeded.
    pub(super) fn contents_after(&self, before: Contents, pass: u32) -> Contents {
        let w = self.workload;
        let moved = self.issued.saturating_mul(u64::from(w.block_bytes));
        let data = fingerprint_of(&w.data);
        let stamped = (w.verify == Verify::Full).then_some(w.seed);
        match w.file {
            FileMode::New if w.order == Order::Sequential => {
                Contents { bytes: moved.min(self.plan.region_bytes), block_bytes: w.block_bytes, data, stamped, pass }
            }
            // Other orders leave holes.
            FileMode::New => Contents { pass, ..Contents::default() },
            // The same kind of data in the same blocks: only the ages differ from block to block.
            FileMode::Existing | FileMode::Append if before.data == data && before.block_bytes == w.block_bytes => {
                Contents { stamped: None, pass, ..before }
            }
            FileMode::Existing | FileMode::Append => Contents { stamped: None, pass, bytes: 0, ..before },
        }
    }
}
