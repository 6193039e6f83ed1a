//! One `preadv` or `pwritev` at a time, with a vector of one buffer.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};

use super::inline::{Blocking, InlineQueue, Transfer};
use super::{EngineEntry, QueueSide};

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: "pvsync",
    about: "one preadv or pwritev after the other",
    direct: true,
    queue_depth_max: 1,
    blocking: Some(|| Ok(Blocking::boxed(Vectored))),
    queue: Some(QueueSide {
        depth_max: u32::MAX,
        options: &[],
        concurrent: false,
        gathers: false,
        make: |setup| InlineQueue::boxed(Vectored, setup),
    }),
};

pub(super) struct Vectored;

impl Transfer for Vectored {
    #[inline]
    fn read_at(&self, file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::preadv(file, &mut [IoSliceMut::new(buf)], offset)?)
    }

    #[inline]
    fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::pwritev(file, &[IoSlice::new(data)], offset)?)
    }
}
