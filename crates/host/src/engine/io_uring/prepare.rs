//! Requests as the ring's entries, and what is registered for them.
#![allow(unsafe_code, reason = "registering memory with the kernel")]

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileTypeExt;

use flashmark_core::queue::{IoKind, Request};
use io_uring::opcode;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, FsyncFlags};

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

    /// The entry of a transfer that was checked, with its slot as user data; `None` for other kinds.
    #[inline(always)]
    pub(super) fn transfer(&mut self, request: &Request, file: &File, slots: &Slots, more: Flags) -> Option<Entry> {
        let Request { slot, kind, offset, bytes, .. } = *request;
        let (fd, flags) = self.file(request, file);
        let address = slots.address(slot);
        let is_read = match kind {
            IoKind::Read => true,
            IoKind::Write => false,
            _ => return None,
        };
        let either = |read: u8, write: u8| if is_read { read } else { write };
        let (code, address, bytes, piece) = match &mut self.buffers {
            Buffers::Fixed { slots_per_piece } => {
                let code = either(opcode::ReadFixed::CODE, opcode::WriteFixed::CODE);
                (code, address as u64, bytes, piece_of(slot, *slots_per_piece))
            }
            Buffers::Vectors(Some(vectors)) => {
                (either(opcode::Readv::CODE, opcode::Writev::CODE), vectors.of(slot, bytes) as u64, 1, 0)
            }
            _ => (either(opcode::Read::CODE, opcode::Write::CODE), address as u64, bytes, 0),
        };
        let flags = (flags | more).bits();
        Some(
            Transfer { code, flags, fd: fd.0, offset, address, bytes, slot: slot.into(), piece, ..Transfer::NONE }
                .entry(),
        )
    }

    /// The entry of a sync or trim that was checked, with its slot as user data; `None` if the ring has no operation for it.
    #[cold]
    pub(super) fn other(&self, request: &Request, file: &File) -> Option<Entry> {
        let Request { slot, offset, bytes, .. } = *request;
        let (fd, flags) = self.file(request, file);
        if self.polled {
            return None;
        }
        let entry = match request.kind {
            IoKind::Read | IoKind::Write => return None,
            IoKind::Sync => opcode::Fsync::new(fd).build(),
            IoKind::DataSync => opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build(),
            IoKind::RangeSync(steps) => {
                opcode::SyncFileRange::new(fd, bytes).offset(offset).flags(calls::range_sync_flags(steps)).build()
            }
            IoKind::Trim => match self.trims[request.file as usize] {
                Trim::PunchHole => {
                    let mode = calls::punch_hole_mode().bits().cast_signed();
                    opcode::Fallocate::new(fd, bytes.into()).offset(offset).mode(mode).build()
                }
                Trim::Command => {
                    // The length is where other commands have their first eight bytes.
                    let mut command = [0; 16];
                    command[..8].copy_from_slice(&u64::from(bytes).to_ne_bytes());
                    opcode::UringCmd16::new(fd, DISCARD).addr(Some(offset)).cmd(command).build()
                }
                Trim::Call => return None,
            },
        };
        Some(entry.flags(flags).user_data(slot.into()))
    }

    /// How an entry names a file: by its descriptor, or by its place among the registered ones.
    #[inline]
    fn file(&self, request: &Request, file: &File) -> (Fd, Flags) {
        if self.registered_files {
            (Fd(request.file.cast_signed()), Flags::FIXED_FILE)
        } else {
            (Fd(file.as_raw_fd()), Flags::empty())
        }
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

/// An entry of a transfer, `struct io_uring_sqe` of linux/io_uring.h.
///
/// The entries that `io_uring` builds are zeroed and then filled in by pieces, so that copying one into the ring reads what was
/// written in pieces as a whole. Processors wait for that, longer than for all else that is done for an access here.
#[repr(C)]
struct Transfer {
    code: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    offset: u64,
    address: u64,
    bytes: u32,
    transfer_flags: u32,
    slot: u64,
    piece: u16,
    personality: u16,
    file_index: u32,
    attributes: [u64; 2],
}

const _: () = assert!(size_of::<Transfer>() == size_of::<Entry>() && align_of::<Transfer>() == align_of::<Entry>());

impl Transfer {
    const NONE: Self = Self {
        code: 0,
        flags: 0,
        priority: 0,
        fd: 0,
        offset: 0,
        address: 0,
        bytes: 0,
        transfer_flags: 0,
        slot: 0,
        piece: 0,
        personality: 0,
        file_index: 0,
        attributes: [0; 2],
    };

    #[inline(always)]
    const fn entry(self) -> Entry {
        // SAFETY: both are the kernel's structure, of numbers only.
        unsafe { std::mem::transmute(self) }
    }
}

/// The registered piece of a slot. Nearly always there is one, and a division would take longer than all else here.
#[inline]
const fn piece_of(slot: u32, slots_per_piece: u32) -> u16 {
    if slot < slots_per_piece { 0 } else { (slot / slots_per_piece) as u16 }
}

/// Whether the kernel is of this version or a later one.
fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}

#[cfg(test)]
mod tests {
    use io_uring::types::Fixed;

    use super::*;

    fn bytes(entry: Entry) -> [u8; 64] {
        // SAFETY: numbers only, all of them initialised, without padding.
        unsafe { std::mem::transmute(entry) }
    }

    #[test]
    fn entries_of_transfers_are_those_of_the_library() {
        let transfer = Transfer {
            code: opcode::WriteFixed::CODE,
            flags: (Flags::FIXED_FILE | Flags::ASYNC).bits(),
            fd: 3,
            offset: 0x1234_5678_9abc_def0,
            address: 0xfedc_ba98_7654_3210,
            bytes: 0x2345_6789,
            slot: 77,
            piece: 0x4321,
            ..Transfer::NONE
        };
        let address = transfer.address as *const u8;
        let library = opcode::WriteFixed::new(Fixed(3), address, transfer.bytes, transfer.piece)
            .offset(transfer.offset)
            .build()
            .flags(Flags::ASYNC)
            .user_data(77);
        assert_eq!(bytes(transfer.entry()), bytes(library));

        let vector = 0x7f00_1000 as *const libc::iovec;
        let library = opcode::Readv::new(Fd(9), vector, 1).offset(4096).build().user_data(1);
        let transfer = Transfer {
            code: opcode::Readv::CODE,
            fd: 9,
            offset: 4096,
            address: vector as u64,
            bytes: 1,
            slot: 1,
            ..Transfer::NONE
        };
        assert_eq!(bytes(transfer.entry()), bytes(library));
    }

    #[test]
    fn slots_are_in_pieces_of_so_many() {
        assert_eq!([0, 6, 7, 13, 14, 700].map(|slot| piece_of(slot, 7)), [0, 0, 1, 1, 2, 100]);
    }
}
