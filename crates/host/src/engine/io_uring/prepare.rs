//! Requests as the ring's entries, and what is registered for them.
#![allow(unsafe_code, reason = "registering memory with the kernel")]

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileTypeExt;

use flashmark_core::queue::{IoKind, Request};
use io_uring::types::{Fd, Fixed, FsyncFlags};
use io_uring::{opcode, squeue};

use super::refusal::{self, Step};
use super::ring::Ring;
use crate::engine::calls;
use crate::engine::setup::{EngineError, QueueSetup};
use crate::engine::slots::{Slots, Vectors};

/// How a queue's requests become entries.
pub(super) struct Prepare {
    buffers: Buffers,
    registered_files: bool,
    /// Syncs and trims are no operations of a ring that polls.
    polled: bool,
    /// How each file is trimmed.
    trims: Box<[Trim]>,
}

/// How entries name memory.
enum Buffers {
    Plain,
    /// Registered, in pieces of so many slots (a piece can have 1 GiB).
    Fixed {
        slots_per_piece: u32,
    },
    Vectors(Option<Vectors>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trim {
    /// `fallocate`, as files have it.
    PunchHole,
    /// A command, as block devices have it since Linux 6.12.
    Command,
    /// Not by the ring.
    Call,
}

/// The most bytes that a registered piece has.
const PIECE_BYTES_MAX: usize = 1 << 30;

/// `BLOCK_URING_CMD_DISCARD` of linux/blkdev.h, `_IO(0x12, 0)`.
const DISCARD: u32 = 0x1200;

impl Prepare {
    /// Registers what is to be registered.
    pub(super) fn new(ring: &Ring, slots: &Slots, setup: &QueueSetup) -> Result<Self, EngineError> {
        let options = setup.options;
        let buffers = if options.fixed_buffers {
            register_buffers(ring, slots)?
        } else if options.vectored {
            Buffers::Vectors(Some(Vectors::new(slots)))
        } else {
            Buffers::Plain
        };
        if options.registered_files {
            let descriptors: Vec<RawFd> = setup.files.iter().map(AsRawFd::as_raw_fd).collect();
            let registered = ring.uring().submitter().register_files(&descriptors);
            registered.map_err(|error| refusal::of(Step::Files, error))?;
        }
        let command = kernel_is_at_least(6, 12);
        let trim_of = |file: &File| match file.metadata() {
            Ok(metadata) if metadata.file_type().is_block_device() && command => Trim::Command,
            Ok(metadata) if metadata.file_type().is_block_device() => Trim::Call,
            _ => Trim::PunchHole,
        };
        let trims = setup.files.iter().map(trim_of).collect();
        Ok(Self { buffers, registered_files: options.registered_files, polled: options.poll, trims })
    }

    /// The entry of a request that was checked, with its slot as user data; `None` if the ring has no operation for it.
    #[inline]
    pub(super) fn entry(&mut self, request: &Request, file: &File, slots: &Slots) -> Option<squeue::Entry> {
        // Both ways to name a file are types of their own.
        macro_rules! on {
            ($fd:ident => $entry:expr) => {
                if self.registered_files {
                    let $fd = Fixed(request.file);
                    $entry
                } else {
                    let $fd = Fd(file.as_raw_fd());
                    $entry
                }
            };
        }
        let Request { slot, offset, bytes, .. } = *request;
        let entry = match request.kind {
            IoKind::Read => {
                let address = slots.address(slot);
                match &mut self.buffers {
                    Buffers::Fixed { slots_per_piece } => {
                        let piece = (slot / *slots_per_piece) as u16;
                        on!(fd => opcode::ReadFixed::new(fd, address, bytes, piece).offset(offset).build())
                    }
                    Buffers::Vectors(Some(vectors)) => {
                        let vector = vectors.of(slot, bytes);
                        on!(fd => opcode::Readv::new(fd, vector, 1).offset(offset).build())
                    }
                    _ => on!(fd => opcode::Read::new(fd, address, bytes).offset(offset).build()),
                }
            }
            IoKind::Write => {
                let address = slots.address(slot);
                match &mut self.buffers {
                    Buffers::Fixed { slots_per_piece } => {
                        let piece = (slot / *slots_per_piece) as u16;
                        on!(fd => opcode::WriteFixed::new(fd, address, bytes, piece).offset(offset).build())
                    }
                    Buffers::Vectors(Some(vectors)) => {
                        let vector = vectors.of(slot, bytes);
                        on!(fd => opcode::Writev::new(fd, vector, 1).offset(offset).build())
                    }
                    _ => on!(fd => opcode::Write::new(fd, address, bytes).offset(offset).build()),
                }
            }
            _ if self.polled => return None,
            IoKind::Sync => on!(fd => opcode::Fsync::new(fd).build()),
            IoKind::DataSync => on!(fd => opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build()),
            IoKind::RangeSync(steps) => {
                let flags = calls::range_sync_flags(steps);
                on!(fd => opcode::SyncFileRange::new(fd, bytes).offset(offset).flags(flags).build())
            }
            IoKind::Trim => match self.trims[request.file as usize] {
                Trim::PunchHole => {
                    let mode = calls::punch_hole_mode().bits().cast_signed();
                    on!(fd => opcode::Fallocate::new(fd, bytes.into()).offset(offset).mode(mode).build())
                }
                Trim::Command => {
                    // The length is where other commands have their first eight bytes.
                    let mut command = [0; 16];
                    command[..8].copy_from_slice(&u64::from(bytes).to_ne_bytes());
                    on!(fd => opcode::UringCmd16::new(fd, DISCARD).addr(Some(offset)).cmd(command).build())
                }
                Trim::Call => return None,
            },
        };
        Some(entry.user_data(slot.into()))
    }

    /// Lets go of what is registered at once, and not when the kernel gets around to it: files would be open and memory
    /// locked until then.
    pub(super) fn unregister(&self, ring: &Ring) {
        // Not allowed on another thread than the ring's; the kernel does it later then.
        if self.registered_files {
            let _ = ring.uring().submitter().unregister_files();
        }
        if matches!(self.buffers, Buffers::Fixed { .. }) {
            let _ = ring.uring().submitter().unregister_buffers();
        }
    }

    /// Never frees vectors, for what the kernel cannot be made to let go of.
    #[cold]
    pub(super) fn leak(&mut self) {
        if let Buffers::Vectors(vectors) = &mut self.buffers {
            std::mem::forget(vectors.take());
        }
    }
}

fn register_buffers(ring: &Ring, slots: &Slots) -> Result<Buffers, EngineError> {
    let (start, bytes) = slots.memory();
    let stride = slots.stride();
    if stride > PIECE_BYTES_MAX {
        let source = std::io::Error::from_raw_os_error(libc::EFAULT);
        return Err(refusal::of(Step::Buffers, source));
    }
    let slots_per_piece = PIECE_BYTES_MAX / stride;
    let piece_bytes = slots_per_piece * stride;
    let pieces: Vec<libc::iovec> = (0..bytes)
        .step_by(piece_bytes)
        .map(|at| libc::iovec {
            // SAFETY: `at` is less than the memory's size.
            iov_base: unsafe { start.add(at) }.cast(),
            iov_len: piece_bytes.min(bytes - at),
        })
        .collect();
    // SAFETY: the memory is that of `slots`, which the queue keeps longer than anything is under way on the ring.
    unsafe { ring.uring().submitter().register_buffers(&pieces) }.map_err(|error| refusal::of(Step::Buffers, error))?;
    // At most 2^30, as a stride is at least a byte.
    Ok(Buffers::Fixed { slots_per_piece: slots_per_piece as u32 })
}

/// Whether the kernel is of this version or a later one.
fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}
