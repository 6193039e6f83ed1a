//! No I/O at all: everything is complete when it is pushed, and buffers stay as they are. What is left is our own cost.
//!
//! There is no blocking side: what a run lays out and reads back would not be there.

use std::fs::File;

use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};

use super::setup::{EngineError, QueueSetup};
use super::slots::Slots;
use super::{EngineEntry, QueueSide};

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "null",
    about: "no I/O: what flashmark itself costs",
    direct: true,
    queue_depth_max: 1,
    blocking: None,
    queue: Some(QueueSide { depth_max: u32::MAX, options: &[], concurrent: false, gathers: false, make: Null::boxed }),
};

struct Null {
    slots: Slots,
    files: Vec<File>,
}

impl Null {
    fn boxed(setup: QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError> {
        Ok(Box::new(Self { slots: Slots::new(&setup)?, files: setup.files }))
    }
}

impl Queue for Null {
    fn depth(&self) -> u32 {
        self.slots.depth()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.buffer(slot)
    }

    #[inline]
    fn push(&mut self, request: &Request) -> Result<Option<Completion>, ErrorCode> {
        self.slots.check(request, self.files.len())?;
        let bytes = match request.kind {
            IoKind::Read | IoKind::Write => request.bytes,
            _ => 0,
        };
        Ok(Some(Completion { slot: request.slot, result: Ok(bytes) }))
    }

    #[inline]
    fn submit(&mut self) -> Result<u32, ErrorCode> {
        Ok(0)
    }

    #[inline]
    fn reap(&mut self, _at_least: u32, _patience: Patience, _done: &mut Vec<Completion>) -> Result<(), ErrorCode> {
        Ok(())
    }

    #[inline]
    fn under_way(&self) -> u32 {
        0
    }
}
