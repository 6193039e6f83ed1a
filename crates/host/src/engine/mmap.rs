//! Files mapped into memory: reads and writes copy from and to the mapping, and syncs are `msync`.
//!
//! A queue maps each file as long as it is when the queue is made. A read that reaches over that end is short, as at the end
//! of a file; a write is short as well, and fails with `EFBIG` where it starts behind it: a mapping does not grow a file. The
//! blocking side makes the file longer before such a write.
//!
//! What the medium cannot read, and what is behind the end of a file that somebody made shorter meanwhile, is a SIGBUS, which
//! would end the process. It is caught for the mappings of this engine and is `EIO` for the operation ([`bus_error`]).

mod blocking;
mod bus_error;
mod map;

use std::fs::File;
use std::io;

use flashmark_core::queue::{Completion, ErrorCode, IoKind, Patience, Queue, Request};

use self::map::Map;
use super::setup::{EngineError, QueueSetup};
use super::slots::Slots;
use super::{EngineEntry, QueueSide, calls, errno};

const NAME: &str = "mmap";

pub(super) const ENTRY: EngineEntry = EngineEntry {
    name: NAME,
    about: "copies from and to files mapped into memory; always buffered",
    direct: false,
    queue_depth_max: 1,
    blocking: Some(blocking::make),
    queue: Some(QueueSide {
        depth_max: u32::MAX,
        options: &[],
        concurrent: false,
        gathers: false,
        make: |setup| Ok(Box::new(Mapped::new(setup)?)),
    }),
};

struct Mapped {
    files: Vec<(Map, File)>,
    slots: Slots,
}

impl Mapped {
    fn new(setup: QueueSetup) -> Result<Self, EngineError> {
        let slots = Slots::new(&setup)?;
        let mut files = Vec::with_capacity(setup.files.len());
        for file in setup.files {
            files.push((Map::new(&file).map_err(refusal)?, file));
        }
        Ok(Self { files, slots })
    }

    #[inline]
    fn run(&mut self, request: &Request) -> io::Result<usize> {
        let (map, file) = &mut self.files[request.file as usize];
        let bytes = request.bytes as usize;
        let buffer = self.slots.buffer(request.slot);
        match request.kind {
            IoKind::Read => map.read(file, request.offset, &mut buffer[..bytes]),
            IoKind::Write => map.write(file, request.offset, &buffer[..bytes]),
            IoKind::DataSync => map.sync(file).map(|()| 0),
            IoKind::Sync => map.sync(file).and_then(|()| calls::run(request, file)).map(|()| 0),
            IoKind::Trim | IoKind::RangeSync(_) => calls::run(request, file).map(|()| 0),
        }
    }
}

fn refusal(source: io::Error) -> EngineError {
    let (why, remedy) = match source.raw_os_error() {
        Some(libc::EACCES) => (
            "a file that is open for writing only cannot be mapped",
            "open it for reading as well, or use the engine `sync`",
        ),
        Some(libc::ENODEV) => ("this file system or device has no mappings", "use the engine `sync`"),
        Some(libc::ENOMEM | libc::EOVERFLOW) => (
            "there is no room for so large a mapping (address space, RLIMIT_AS, vm.max_map_count)",
            "use a smaller file, or the engine `sync`",
        ),
        _ => return EngineError::Io { doing: "mapping a file".into(), source },
    };
    EngineError::Refused { engine: NAME, why: why.into(), remedy: remedy.into(), source }
}

impl Queue for Mapped {
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
        // No more than was asked for, which is a `u32`.
        let result = self.run(request).map(|bytes| bytes as u32).map_err(|error| errno::code_of(&error));
        Ok(Some(Completion { slot: request.slot, result }))
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
