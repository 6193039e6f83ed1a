//! One `preadv2` or `pwritev2` at a time, which can poll for completion (`RWF_HIPRI`).

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};

use flashmark_core::queue::Queue;
use rustix::io::ReadWriteFlags;

use super::inline::{Blocking, InlineQueue, Transfer};
use super::polled;
use super::setup::{EngineError, QueueOption, QueueSetup};
use super::{EngineEntry, QueueSide};

const NAME: &str = "pvsync2";

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: NAME,
    about: "one preadv2 or pwritev2 after the other; can poll for completion",
    direct: true,
    queue_depth_max: 1,
    blocking: Some(|| Ok(Blocking::boxed(Flagged(ReadWriteFlags::empty())))),
    queue: Some(QueueSide {
        depth_max: u32::MAX,
        options: &[QueueOption::Poll],
        concurrent: false,
        gathers: false,
        make: queue,
    }),
};

fn queue(setup: QueueSetup) -> Result<Box<dyn Queue + Send>, EngineError> {
    let mut flags = ReadWriteFlags::empty();
    if setup.options.poll {
        flags = ReadWriteFlags::HIPRI;
        let remedy = "leave polling out, or use a device whose driver polls (NVMe with nvme.poll_queues set)";
        polled::check(NAME, &setup, remedy, &mut |file, buf| Flagged(flags).read_at(file, 0, buf).map(drop))?;
    }
    InlineQueue::boxed(Flagged(flags), setup)
}

struct Flagged(ReadWriteFlags);

impl Transfer for Flagged {
    #[inline]
    fn read_at(&self, file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::preadv2(file, &mut [IoSliceMut::new(buf)], offset, self.0)?)
    }

    #[inline]
    fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::pwritev2(file, &[IoSlice::new(data)], offset, self.0)?)
    }
}
