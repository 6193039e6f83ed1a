//! What a queue is made for, and why it cannot be.

use std::fs::File;

/// What a [`flashmark_core::queue::Queue`] is made for.
#[derive(Debug)]
pub struct QueueSetup {
    /// The files, open; requests name them by their place. The queue closes them when it is dropped.
    pub files: Vec<File>,
    /// How many operations can be under way; at least 1.
    pub depth: u32,
    /// How many bytes each slot's buffer has.
    pub buffer_bytes: usize,
    /// What buffers' addresses are multiples of: a power of two.
    pub buffer_align: usize,
    /// What the queue may use beyond plain calls.
    pub options: QueueOptions,
}

/// What a queue may use beyond plain calls; everything off is what every engine can do. An engine refuses what it does not
/// know ([`EngineError::Option`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueOptions {
    /// Buffers are registered with the kernel (`IORING_REGISTER_BUFFERS`).
    pub fixed_buffers: bool,
    /// Files are registered with the kernel (`IORING_REGISTER_FILES`).
    pub registered_files: bool,
    /// Completions are polled for on the device (`IORING_SETUP_IOPOLL`, `RWF_HIPRI`).
    pub poll: bool,
    /// A thread of the kernel takes submissions (`IORING_SETUP_SQPOLL`).
    pub submission_thread: Option<SubmissionThread>,
    /// Vectors are used (`readv` instead of `read`).
    pub vectored: bool,
    /// Each so many operations are handed to the kernel's workers at once (`IOSQE_ASYNC`); 0 is never.
    pub force_async: u32,
    /// Completions are read from the ring that the kernel shares, without a call (libaio).
    pub userspace_reap: bool,
}

/// One of [`QueueOptions`], to say which an engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueOption {
    /// [`QueueOptions::fixed_buffers`].
    FixedBuffers,
    /// [`QueueOptions::registered_files`].
    RegisteredFiles,
    /// [`QueueOptions::poll`].
    Poll,
    /// [`QueueOptions::submission_thread`].
    SubmissionThread,
    /// [`QueueOptions::vectored`].
    Vectored,
    /// [`QueueOptions::force_async`].
    ForceAsync,
    /// [`QueueOptions::userspace_reap`].
    UserspaceReap,
}

impl QueueOption {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::FixedBuffers,
        Self::RegisteredFiles,
        Self::Poll,
        Self::SubmissionThread,
        Self::Vectored,
        Self::ForceAsync,
        Self::UserspaceReap,
    ];

    /// Its name in messages.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::FixedBuffers => "fixed buffers",
            Self::RegisteredFiles => "registered files",
            Self::Poll => "polling for completions",
            Self::SubmissionThread => "submission thread",
            Self::Vectored => "vectored I/O",
            Self::ForceAsync => "forced asynchronous I/O",
            Self::UserspaceReap => "reaping in user space",
        }
    }

    /// Whether it is asked for.
    #[must_use]
    pub const fn is_set(self, options: &QueueOptions) -> bool {
        match self {
            Self::FixedBuffers => options.fixed_buffers,
            Self::RegisteredFiles => options.registered_files,
            Self::Poll => options.poll,
            Self::SubmissionThread => options.submission_thread.is_some(),
            Self::Vectored => options.vectored,
            Self::ForceAsync => options.force_async != 0,
            Self::UserspaceReap => options.userspace_reap,
        }
    }
}

/// A thread of the kernel that takes submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionThread {
    /// The processor that it runs on, if it is not to be the kernel's choice.
    pub cpu: Option<u32>,
}

/// Why a queue cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// An option that the engine does not know.
    #[error("the engine `{engine}` has no {option}: leave it out, or use {instead}")]
    Option {
        /// The engine.
        engine: &'static str,
        /// The option, in words.
        option: &'static str,
        /// Which engines have it.
        instead: String,
    },
    /// Options that exclude each other.
    #[error("the engine `{engine}` cannot have {first} and {second} at once: leave one of them out")]
    Exclusive {
        /// The engine.
        engine: &'static str,
        /// An option, in words.
        first: &'static str,
        /// Another one.
        second: &'static str,
    },
    /// An engine without queues.
    #[error("the engine `{engine}` has no queues: use `sync`, which every system has")]
    NoQueue {
        /// The engine.
        engine: &'static str,
    },
    /// Numbers that make no queue.
    #[error(
        "a queue of depth {depth} with buffers at multiples of {buffer_align}: depth starts at 1, and the multiple is a power of two"
    )]
    Setup {
        /// What was asked for.
        depth: u32,
        /// What was asked for, in bytes.
        buffer_align: usize,
    },
    /// A deeper queue than the engine can keep.
    #[error("the engine `{engine}` keeps at most {most} operations under way, not {depth}: use {instead}")]
    Depth {
        /// The engine.
        engine: &'static str,
        /// What was asked for.
        depth: u32,
        /// What it can.
        most: u32,
        /// Which engines can more.
        instead: String,
    },
    /// The kernel refuses; the text says which setting or right is missing, and what to use instead.
    #[error("the kernel refuses {engine}: {why}; {remedy}")]
    Refused {
        /// The engine.
        engine: &'static str,
        /// What the kernel said and what that means here.
        why: String,
        /// What to change, and which engine does without.
        remedy: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// No memory for buffers.
    #[error(
        "there is no memory for {depth} buffers of {buffer_bytes} bytes: make the queue shallower or blocks smaller"
    )]
    Memory {
        /// The queue's depth.
        depth: u32,
        /// A buffer's size.
        buffer_bytes: usize,
    },
    /// Anything else the system says.
    #[error("{doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// The system's error.
        source: std::io::Error,
    },
}
