//! Real targets: a test file in a directory, an existing file, a block device.
//!
//! A [`HostTarget`] lives as long as a run on it, so that its test file and the knowledge of what it holds serve all
//! workloads; [`HostTarget::begin`] fits it to each of them.

mod direct;
mod faults;
mod open_error;
mod queue;
mod system;
mod truth;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use flashmark_core::environment::Environment;
use flashmark_core::queue::{ErrorCode, Queue};
use flashmark_core::record::{Doubts, Reached, TargetKind, Warning, WarningCode};
use flashmark_core::runner::{Fit, fit};
use flashmark_core::target::{Contents, Fault, FaultKind, Moved, OpenAs, Ownership, Target};
use flashmark_core::units::format_bytes;
use flashmark_core::workload::{Direct, FileMode, Verify, Workload};

use crate::consent::ConsentArgs;
use crate::device::{self, Claim, Refusal};
use crate::engine::{self, Engine};
use crate::environment::{self, Collect};
use crate::test_file::TestFile;

pub use open_error::TargetError;
use queue::{QueuePlan, engine_of, goes_through_queue, too_deep};
use system::{free_bytes, is_block_device, len_bytes};
use truth::{Before, Truth};

/// A directory, file or block device of this machine.
pub struct HostTarget {
    /// The file or device, for people.
    path: PathBuf,
    /// How it is opened: for what was claimed, the claim itself, so that it cannot be exchanged under the run.
    io_path: PathBuf,
    access: Access,
    kind: TargetKind,
    environment: Environment,
    environment_warnings: Vec<Warning>,
    truth: Truth,
    /// What lays files out and reads them back, and issues a workload's operations that go one after the other.
    engine: Box<dyn Engine>,
    engine_name: &'static str,
    /// What the workload's queue is to be, where it has one.
    queue_plan: Option<QueuePlan>,
    queue: Option<Box<dyn Queue + Send>>,
    /// How the workload's files are opened.
    direct: DirectState,
    /// Why direct I/O turned out not to be direct.
    found_buffered: Option<String>,
    /// What the caches held before the repeat.
    before: Before,
    preallocate_bytes: u64,
    contents: Contents,
}

/// By what right the target may be written.
enum Access {
    Own(TestFile),
    Given {
        /// Held as long as the run.
        claim: Claim,
    },
    Foreign,
}

impl Access {
    fn io_path(&self, path: &Path) -> PathBuf {
        match self {
            #[cfg(target_os = "linux")]
            Self::Given { claim } => system::same_file(claim.file()),
            #[cfg(target_os = "linux")]
            Self::Own(file) => system::same_file(file.lease()),
            _ => path.to_owned(),
        }
    }
}

/// Whether the page cache is passed by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DirectState {
    /// Files are opened for direct I/O, and nothing has shown yet that it is not.
    Direct,
    /// Through the cache, as asked for.
    Buffered,
    /// Through the cache, for this reason.
    Not(String),
}

impl std::fmt::Debug for HostTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostTarget")
            .field("path", &self.path)
            .field("kind", &self.kind)
            .field("engine", &self.engine_name)
            .field("direct", &self.direct)
            .finish_non_exhaustive()
    }
}

impl HostTarget {
    /// Gets a path ready: makes the test file in a directory; claims a file or device that consent was given for and
    /// that is to be written; reads the environment.
    ///
    /// # Errors
    /// [`TargetError`] says what is wrong with the path, and [`TargetError::Refused`] why it must not be written in
    /// spite of consent.
    pub fn open(path: &Path, consent: &ConsentArgs, to_be_written: bool, serials: bool) -> Result<Self, TargetError> {
        let metadata = path.metadata().map_err(|error| TargetError::of_path(path, error))?;
        let (environment, environment_warnings) = environment::collect(path, Collect { serials });
        let (kind, file, access) = if metadata.is_dir() {
            let test_file = TestFile::create(path).map_err(|error| TargetError::of_directory(path, error))?;
            (TargetKind::Directory, test_file.path().to_owned(), Access::Own(test_file))
        } else {
            let kind = if metadata.is_file() { TargetKind::File } else { TargetKind::Device };
            if kind == TargetKind::Device && !is_block_device(&metadata) {
                return Err(TargetError::WrongKind { path: path.to_owned() });
            }
            let access = match consent.consent_to(path) {
                Some(consent) if to_be_written => {
                    let claim = match kind {
                        TargetKind::File => device::claim_file(path, &consent),
                        _ => device::claim(path, &consent),
                    };
                    Access::Given { claim: claim.map_err(|refusal| TargetError::Refused(Box::new(refusal)))? }
                }
                _ => Access::Foreign,
            };
            if kind == TargetKind::Device && faults::is_gone(kind, path) {
                return Err(TargetError::Refused(Box::new(Refusal::NoMedium { path: path.to_owned() })));
            }
            (kind, path.to_owned(), access)
        };
        let sync = engine::find("sync").ok_or(TargetError::NoEngine)?;
        let engine = sync.make().map_err(|error| TargetError::of_path(path, error))?;
        Ok(Self {
            truth: Truth::of(path, kind),
            io_path: access.io_path(&file),
            path: file,
            access,
            kind,
            environment,
            environment_warnings,
            engine,
            engine_name: sync.name,
            queue_plan: None,
            queue: None,
            direct: DirectState::Buffered,
            found_buffered: None,
            before: Before::default(),
            preallocate_bytes: 0,
            contents: Contents::default(),
        })
    }

    /// Whether the target may be written.
    #[must_use]
    pub const fn may_write(&self) -> bool {
        !matches!(self.access, Access::Foreign)
    }

    /// Why the target must not be written, if it must not. Looks at the target anew, which takes milliseconds.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        (!self.may_write()).then(|| device::refuse_without_consent(&self.path))
    }

    /// What the target is.
    #[must_use]
    pub const fn kind(&self) -> TargetKind {
        self.kind
    }

    /// The file or device that the I/O goes to.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it was measured with, as found at the start.
    #[must_use]
    pub const fn environment(&self) -> &Environment {
        &self.environment
    }

    /// How to call the storage in an original's rows: the file system in capitals, or `RAW` for a device.
    #[must_use]
    pub fn label(&self) -> String {
        match (&self.environment.file_system, self.kind) {
            (Some(file_system), TargetKind::Directory | TargetKind::File) => file_system.kind.to_uppercase(),
            _ => "RAW".into(),
        }
    }

    /// The engine in use.
    #[must_use]
    pub const fn engine_name(&self) -> &'static str {
        self.engine_name
    }

    /// Whether the last workload's I/O passed the page cache by, as far as can be seen.
    #[must_use]
    pub fn was_direct(&self) -> bool {
        self.direct == DirectState::Direct && self.found_buffered.is_none()
    }

    /// Ends the use of the target: removes the test file, where there is one.
    ///
    /// # Errors
    /// The system's error, if the test file could not be removed; it is still there then.
    pub fn finish(self) -> std::io::Result<()> {
        let Self { access, mut engine, queue, .. } = self;
        drop(queue);
        // A late error of a file that is about to go is nobody's concern; each workload has told its own.
        let _ = engine.close();
        match access {
            Access::Own(file) => file.remove(),
            Access::Given { .. } | Access::Foreign => Ok(()),
        }
    }

    /// Whether the workload makes sense on this target at all; to be asked before anything is measured.
    ///
    /// # Errors
    /// A [`Fault`] whose text says what to change.
    pub fn check(&mut self, workload: &Workload) -> Result<Fit, Fault> {
        let unsupported = |message: String| Err(Fault::new(FaultKind::Unsupported, message));
        if !self.in_place() || faults::is_gone(self.kind, &self.io_path) {
            return Err(faults::gone(&self.path));
        }
        let entry = engine_of(workload)?;
        if let Some(why) = too_deep(workload, entry) {
            return unsupported(why);
        }
        if self.kind == TargetKind::Device && workload.file == FileMode::Append {
            return unsupported("a device has a fixed size: file = \"append\" needs a directory or file".into());
        }
        if workload.direct == Direct::Required
            && let DirectState::Not(why) = direct::decide(&self.io_path, workload, entry, &self.truth)
        {
            return unsupported(format!("direct = \"required\", but {why}"));
        }
        let checks = workload.reads() && workload.verify != Verify::None;
        if checks && !self.may_write() {
            return unsupported(
                "verify needs data that flashmark wrote, and this target is only read: leave verify out, or allow its \
                 loss with --destroy"
                    .into(),
            );
        }
        let fit = fit(workload, self)?;
        self.check_room(workload)?;
        Ok(fit)
    }

    /// Fits the target to the next workload: its engine, direct I/O, and whether there is room for its file. Returns
    /// doubts that concern the workload whatever comes of it.
    ///
    /// # Errors
    /// A [`Fault`] if the workload cannot run on this target; nothing has been written then.
    pub fn begin(&mut self, workload: &Workload) -> Result<Vec<Warning>, Fault> {
        self.check(workload)?;
        let entry = engine_of(workload)?;
        self.queue_plan = goes_through_queue(workload, entry).then_some(QueuePlan {
            entry,
            depth: workload.queue_depth,
            block_bytes: workload.block_bytes,
        });
        // A queue is measured; beside it files are laid out and read back with plain calls.
        let blocking = if self.queue_plan.is_some() { engine::find("sync").unwrap_or(entry) } else { entry };
        if blocking.name != self.engine_name {
            self.engine = blocking.make().map_err(|error| self.fault(error))?;
            self.engine_name = blocking.name;
        }
        self.direct = direct::decide(&self.io_path, workload, entry, &self.truth);
        self.found_buffered = None;
        let mut warnings = self.environment_warnings.clone();
        warnings.extend(self.truth.warnings.iter().cloned());
        if let Access::Given { claim } = &self.access {
            let doubt = |text: &String| Warning::new(WarningCode::Environment, text.clone());
            warnings.extend(claim.doubts().iter().map(doubt));
        }
        if let DirectState::Not(why) = &self.direct {
            warnings.push(Warning::new(WarningCode::NotDirect, format!("not direct: {why}")));
        }
        Ok(warnings)
    }

    /// Whether the test file, if there is one, is where it was made.
    fn in_place(&self) -> bool {
        if let Access::Own(file) = &self.access { file.is_in_place() } else { true }
    }

    /// Refuses a test file that is larger than what is free, before it fills the file system.
    fn check_room(&self, workload: &Workload) -> Result<(), Fault> {
        let Access::Own(file) = &self.access else { return Ok(()) };
        let Some(free) = free_bytes(file.path()) else { return Ok(()) };
        // A time limit makes a size that is written no more than a bound.
        if workload.time_ns.is_some() && workload.file != FileMode::Existing {
            return Ok(());
        }
        let repeats = u64::from(workload.repeats) + u64::from(workload.warm_up);
        let needed = match workload.file {
            FileMode::Append => workload.size_bytes.unwrap_or(0).saturating_mul(repeats),
            FileMode::New | FileMode::Existing => workload.file_bytes.or(workload.size_bytes).unwrap_or(0),
        };
        // What the test file has is written over, but for appending.
        let has = match workload.file {
            FileMode::Append => 0,
            FileMode::New | FileMode::Existing => file.path().metadata().map_or(0, |metadata| metadata.len()),
        };
        if needed.saturating_sub(has) <= free {
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::NoSpace,
            format!(
                "the test file needs {needed} bytes ({}), and {free} bytes are free: make size or file-size smaller, or \
                 free some space",
                format_bytes(needed)
            ),
        ))
    }

    /// Goes on after a short transfer: what stopped it shows on the next try; the end of the file gives nothing.
    #[cold]
    fn read_rest(&mut self, offset: u64, buf: &mut [u8], mut read: usize) -> Result<usize, Fault> {
        while read < buf.len() {
            match self.engine.read_at(offset + read as u64, &mut buf[read..]) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) => return self.rest_failed(read, error),
            }
        }
        Ok(read)
    }

    /// The same for writing: a file system that is full takes what still fits, and says why only when asked for the rest.
    #[cold]
    fn write_rest(&mut self, offset: u64, data: &[u8], mut written: usize) -> Result<usize, Fault> {
        while written < data.len() {
            match self.engine.write_at(offset + written as u64, &data[written..]) {
                Ok(0) => break,
                Ok(more) => written += more,
                Err(error) => return self.rest_failed(written, error),
            }
        }
        Ok(written)
    }

    /// After a short transfer, when the rest fails: that error, unless it is only that the rest is no whole block.
    #[cold]
    fn rest_failed(&self, moved: usize, error: std::io::Error) -> Result<usize, Fault> {
        match error.kind() {
            std::io::ErrorKind::InvalidInput => Ok(moved),
            _ => Err(self.fault(error)),
        }
    }

    fn fault(&self, error: std::io::Error) -> Fault {
        faults::from_io(&error, self.kind, &self.path, &self.io_path)
    }

    fn open_options(&self, how: OpenAs) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(true);
        match how {
            OpenAs::Read => {}
            OpenAs::ReadWrite | OpenAs::Append | OpenAs::Layout => {
                options.write(true);
            }
            // A device cannot be truncated; a new file on it is one that starts at its start.
            OpenAs::New { .. } => {
                // The test file exists; making it anew could only put it in the wrong place, if the medium it is on was
                // unmounted.
                options.write(true).truncate(self.kind != TargetKind::Device);
            }
        }
        if how != OpenAs::Layout && self.direct == DirectState::Direct {
            direct::set_flag(&mut options);
        }
        options
    }

    fn look(&mut self, mut look: impl FnMut(&std::fs::File) -> std::io::Result<()>) -> std::io::Result<()> {
        self.engine.with_file(&mut look)
    }
}

impl Target for HostTarget {
    fn open(&mut self, how: OpenAs) -> Result<(), Fault> {
        if how != OpenAs::Read
            && let Some(refusal) = self.refusal()
        {
            return Err(Fault::new(FaultKind::Denied, refusal.to_string()));
        }
        if let OpenAs::New { preallocate_bytes } = how {
            self.preallocate_bytes = preallocate_bytes;
        }
        let options = self.open_options(how);
        self.engine.open(&self.io_path, &options).map_err(|error| self.fault(error))?;
        match self.queue_plan {
            Some(plan) if how != OpenAs::Layout => self.make_queue(plan),
            _ => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), Fault> {
        self.preallocate_bytes = 0;
        self.queue = None;
        self.engine.close().map_err(|error| self.fault(error))
    }

    #[inline]
    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
        match self.engine.read_at(offset, buf) {
            Ok(read) if read == buf.len() => Ok(read),
            Ok(0) => Err(faults::at_end(self.kind, &self.path, &self.io_path, offset)),
            Ok(read) => self.read_rest(offset, buf, read),
            Err(error) => Err(self.fault(error)),
        }
    }

    #[inline]
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault> {
        match self.engine.write_at(offset, data) {
            Ok(written) if written == data.len() => Ok(written),
            Ok(written) => self.write_rest(offset, data, written),
            Err(error) => Err(self.fault(error)),
        }
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.engine.sync().map_err(|error| self.fault(error))
    }

    fn queue(&mut self) -> Option<&mut dyn Queue> {
        match &mut self.queue {
            Some(queue) => Some(queue.as_mut()),
            None => None,
        }
    }

    fn queue_fault(&self, code: ErrorCode) -> Fault {
        self.fault(std::io::Error::from_raw_os_error(code.number()))
    }

    fn drain(&mut self) -> Result<(), Fault> {
        self.engine.drain().map_err(|error| self.fault(error))
    }

    fn len_bytes(&mut self) -> Result<u64, Fault> {
        len_bytes(&self.io_path).map_err(|error| self.fault(error))
    }

    fn can_grow(&self) -> bool {
        self.kind != TargetKind::Device
    }

    fn truncate(&mut self) -> Result<(), Fault> {
        if self.kind == TargetKind::Device {
            return Ok(());
        }
        self.engine.set_len(0).map_err(|error| self.fault(error))
    }

    fn contents(&self) -> Contents {
        self.contents
    }

    fn set_contents(&mut self, contents: Contents) {
        self.contents = contents;
    }

    fn ownership(&self) -> Ownership {
        match self.access {
            Access::Own(_) => Ownership::Own,
            Access::Given { .. } => Ownership::Given,
            Access::Foreign => Ownership::Foreign,
        }
    }

    fn write_reaches(&self, synced: bool) -> Reached {
        if self.truth.memory || self.truth.memory_below {
            Reached::Cache
        } else if synced {
            Reached::Medium
        } else if self.was_direct() && !self.truth.cache_below {
            Reached::Device
        } else {
            Reached::Cache
        }
    }

    fn settle(&mut self, workload: &Workload, doubts: &mut Doubts) {
        // In every repeat: truncating gave the space back.
        if self.preallocate_bytes > 0 && self.kind != TargetKind::Device {
            self.preallocate(self.preallocate_bytes, doubts);
        }
        self.look_before(workload, doubts);
    }

    fn inspect(&mut self, workload: &Workload, moved: Moved, doubts: &mut Doubts) -> Result<(), Fault> {
        // The run goes on on the file that it has, but not for long on one that nobody can see any more.
        if !self.in_place() {
            return Err(faults::gone(&self.path));
        }
        self.look_after(workload, moved, doubts);
        match &self.found_buffered {
            Some(why) if workload.direct == Direct::Required => {
                Err(Fault::new(FaultKind::Unsupported, format!("direct = \"required\", but {why}")))
            }
            _ => Ok(()),
        }
    }

    fn drop_caches(&mut self) {
        let bytes = self.len_bytes().unwrap_or(0);
        // What cannot be dropped cannot be helped: the check of the data is as good, only not of the medium.
        let _ = self.look(|file| crate::cache::drop_pages(file, bytes));
    }
}
