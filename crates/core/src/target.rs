//! What a workload runs on.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::queue::{ErrorCode, Queue};
use crate::record::{Doubts, Reached};
use crate::workload::Workload;

/// One file (or one device taken as a file) that a workload runs on.
///
/// The runner calls [`Target::open`], then any of the operations, then [`Target::close`], in that order. Whatever a
/// target does beyond the call's plain meaning costs time that is measured, so it should do nothing else in `read`,
/// `write`, `sync`, `drain`, `open` and `close`; the other calls are outside the time.
pub trait Target {
    /// Opens the file as the workload needs it. [`OpenAs::New`] creates it or truncates it to nothing.
    ///
    /// # Errors
    /// [`Fault`] of the kind that fits.
    fn open(&mut self, how: OpenAs) -> Result<(), Fault>;

    /// Closes what [`Target::open`] opened. The target can be opened again, also after an error.
    ///
    /// # Errors
    /// [`Fault`], for media that report late errors on closing.
    fn close(&mut self) -> Result<(), Fault>;

    /// Reads into all of `buf` from `offset`; a count less than `buf.len()` is a short transfer.
    ///
    /// # Errors
    /// [`Fault`] of the kind that fits.
    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault>;

    /// Writes all of `data` at `offset`; a count less than `data.len()` is a short transfer.
    ///
    /// # Errors
    /// [`Fault`] of the kind that fits.
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault>;

    /// Makes all that was written durable.
    ///
    /// # Errors
    /// [`Fault`] of the kind that fits.
    fn sync(&mut self) -> Result<(), Fault>;

    /// The queue of the open target, where the workload's operations are to go through one; its buffers hold a block each.
    /// Without one, which is the default, they go through [`Target::read`] and [`Target::write`], one after the other.
    fn queue(&mut self) -> Option<&mut dyn Queue> {
        None
    }

    /// The fault that an error of the queue stands for.
    fn queue_fault(&self, code: ErrorCode) -> Fault {
        Fault { kind: FaultKind::Io, code: Some(code.number()), message: format!("error {}", code.number()) }
    }

    /// Waits until every operation issued so far is complete (not necessarily durable).
    ///
    /// # Errors
    /// [`Fault`] of an operation that failed late.
    fn drain(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// How many bytes can be addressed: a file's length, a device's capacity.
    ///
    /// # Errors
    /// [`Fault`] of the kind that fits.
    fn len_bytes(&mut self) -> Result<u64, Fault>;

    /// Whether an operation may find room where the one before found none: where space has to be reclaimed, and is so in
    /// pieces. Then [`FaultKind::NoSpace`] is an error like any other, and passed over where errors may be.
    fn reclaims_space(&self) -> bool {
        false
    }

    /// Whether writing behind its end makes it longer: a file's does, a device's not.
    fn can_grow(&self) -> bool {
        true
    }

    /// Makes the open file empty, for another repeat that starts with a new file.
    ///
    /// # Errors
    /// [`Fault`] of the kind that fits; [`FaultKind::Unsupported`] where there is no such thing (a device).
    fn truncate(&mut self) -> Result<(), Fault>;

    /// What the target holds, as the last [`Target::set_contents`] said; all unknown at first.
    fn contents(&self) -> Contents;

    /// Told what the target holds now. A target only keeps the value, for as long as it keeps the data.
    fn set_contents(&mut self, contents: Contents);

    /// Whose data it is, which decides whether the runner may write a layout for a workload that reads.
    fn ownership(&self) -> Ownership {
        Ownership::Own
    }

    /// How far written data has come: when a write returns, or (`synced`) when a sync does.
    fn write_reaches(&self, synced: bool) -> Reached {
        if synced { Reached::Medium } else { Reached::Cache }
    }

    /// Whether [`Target::fill`] can be asked for.
    ///
    /// # Errors
    /// [`FaultKind::Unsupported`], with the reason and what to do instead.
    fn can_fill(&self) -> Result<(), Fault> {
        Err(Fault::new(
            FaultKind::Unsupported,
            "fill is for file systems of simulated boards: one of this machine is its user's, and not filled from here. \
             Leave fill out (and fill it by hand before the run), or name a board (lab:esp32/littlefs)",
        ))
    }

    /// Brings the file system to the level of use that the workload asks for, outside the time, on the closed target: with
    /// files of the target's own, which stay until another call. `file_bytes` is how large the measured file gets, which
    /// counts as if it were there.
    ///
    /// # Errors
    /// [`Fault`] of the kind that fits; that the level cannot be had is no error but a doubt.
    fn fill(&mut self, workload: &Workload, file_bytes: u64, doubts: &mut Doubts) -> Result<(), Fault> {
        let _ = (workload, file_bytes, doubts);
        self.can_fill()
    }

    /// Called on the open target before a repeat's first operation, outside the time: drop caches, check residency.
    fn settle(&mut self, workload: &Workload, doubts: &mut Doubts) {
        let _ = (workload, doubts);
    }

    /// Called on the open target after a repeat's last operation, outside the time: check what the caches hold now.
    ///
    /// # Errors
    /// A [`Fault`] if the repeat was not what the workload requires (direct I/O); it ends the workload.
    fn inspect(&mut self, workload: &Workload, moved: Moved, doubts: &mut Doubts) -> Result<(), Fault> {
        let _ = (workload, moved, doubts);
        Ok(())
    }

    /// Drops what caches hold of the open target, so that the next read comes from the medium; as far as that is
    /// possible, and outside the time.
    fn drop_caches(&mut self) {}
}

/// What a repeat moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Bytes read and written.
    pub bytes: u64,
    /// The bytes that its offsets were taken from.
    pub region_bytes: u64,
}

/// What flashmark knows of the content of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// How many bytes from the start flashmark has written; 0: nothing is known.
    pub bytes: u64,
    /// The block it was written in, which matters to texts.
    pub block_bytes: u32,
    /// A fingerprint of the kind of data.
    pub data: u64,
    /// The seed of its stamps, where every cell carries a stamp of `pass`.
    pub stamped: Option<u64>,
    /// The last pass that wrote to the target, stamped or not.
    pub pass: u32,
}

/// Whose data a target holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// flashmark made it and may write all of it.
    Own,
    /// It was there before; the user has consented to its loss.
    Given,
    /// It was there before and is only read.
    Foreign,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenAs {
    /// For reading.
    Read,
    /// For reading and writing, as it is; a file that flashmark owns is created if need be.
    ReadWrite,
    /// As [`OpenAs::ReadWrite`], to be written at its end; [`FaultKind::Unsupported`] for what cannot grow.
    Append,
    /// For writing; created, or truncated to nothing. `preallocate_bytes` of space are reserved (0: none).
    New {
        /// Bytes to reserve.
        preallocate_bytes: u64,
    },
    /// For laying out its content: created if need be, kept otherwise.
    Layout,
}

/// A failed operation, as the medium or the system reported it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What went wrong, for decisions.
    pub kind: FaultKind,
    /// The system's own number (errno, `FRESULT`, `esp_err_t`), where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// What went wrong, for people.
    pub message: String,
}

/// What went wrong, as far as the runner has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The medium or file system is full.
    NoSpace,
    /// The target is not there any more.
    Gone,
    /// The medium cannot be written.
    ReadOnly,
    /// Missing rights.
    Denied,
    /// The target cannot do what the workload asks (a block size, direct I/O).
    Unsupported,
    /// Fewer bytes than asked for.
    Short,
    /// Data read is not what was written.
    Corrupt,
    /// Any other input/output error.
    Io,
}

impl FaultKind {
    /// Whether going on with other operations is pointless.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::NoSpace | Self::Gone | Self::ReadOnly | Self::Denied | Self::Unsupported)
    }
}

impl Fault {
    /// A fault without a system's number.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, code: None, message: message.into() }
    }
}
