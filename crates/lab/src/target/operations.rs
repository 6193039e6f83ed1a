//! The runner's operations on a storage.

use flashmark_core::ledger::{Account, Layer};
use flashmark_core::record::{Doubts, Reached, WarningCode};
use flashmark_core::target::{Contents, Fault, FaultKind, Moved, OpenAs, Ownership, Target};
use flashmark_core::workload::{Erase, Workload};
use flashmark_embedded_fs::{ErrorKind, FsError, OpenFlags};

use super::{FILE, LabTarget, OpenFile, raw};
use crate::storage::Store;

pub(super) fn fault(error: &FsError) -> Fault {
    let kind = match error.kind() {
        ErrorKind::NoSpace => FaultKind::NoSpace,
        ErrorKind::Corrupt => FaultKind::Corrupt,
        ErrorKind::Unsupported | ErrorKind::Options => FaultKind::Unsupported,
        _ => FaultKind::Io,
    };
    let code = match error {
        FsError::Device { code, .. } | FsError::Code(code) => Some(code.number),
        _ => None,
    };
    Fault { kind, code, message: error.to_string() }
}

/// No position of a file; what follows has to seek.
const UNKNOWN_POSITION: u64 = u64::MAX;

const READ_WRITE: OpenFlags =
    OpenFlags { read: true, write: true, create: true, truncate: false, append: false, exclusive: false };

impl LabTarget {
    /// Removes the file, as the original does when the next size comes.
    pub(super) fn remove_file(&mut self) {
        if self.habits.keeps_file {
            return;
        }
        self.enter_file_system();
        if let Store::Files(files) = &mut self.store {
            // What cannot be removed is truncated by the workload that follows, or reported by it.
            if self.ledger.within(Layer::Metadata, || files.remove(FILE)).is_ok() {
                self.file_bytes = None;
                self.contents = Contents::default();
            }
        }
    }

    fn open_file(&mut self, how: OpenAs) -> Result<(), Fault> {
        self.enter_file_system();
        let Self { store: Store::Files(files), ledger, habits, .. } = self else { return Ok(()) };
        let flags = match how {
            OpenAs::Read => OpenFlags::READ,
            OpenAs::ReadWrite | OpenAs::Layout => READ_WRITE,
            OpenAs::Append => OpenFlags { append: true, ..READ_WRITE },
            OpenAs::New { .. } => OpenFlags { truncate: true, read: !habits.write_only, ..READ_WRITE },
        };
        let id = ledger.within(Layer::Metadata, || files.open(FILE, flags)).map_err(|error| fault(&error))?;
        let mut position = 0;
        if let OpenAs::New { preallocate_bytes } = how {
            self.file_bytes = Some(0);
            if preallocate_bytes > 0 {
                ledger
                    .within(Layer::Metadata, || files.preallocate(id, preallocate_bytes))
                    .map_err(|error| fault(&error))?;
            }
        } else if how == OpenAs::Append {
            position = files.size(id).map_err(|error| fault(&error))?;
        }
        self.open = Some(OpenFile { id, position });
        Ok(())
    }

    /// Moves the file's position, if it is elsewhere.
    fn seek(&mut self, offset: u64) -> Result<OpenFile, Fault> {
        let Some(open) = self.open else { return Err(Fault::new(FaultKind::Io, "the file is not open")) };
        if open.position == offset {
            return Ok(open);
        }
        self.enter_file_system();
        let Self { store: Store::Files(files), ledger, .. } = self else { return Ok(open) };
        let position = ledger.within(Layer::Metadata, || files.seek(open.id, offset)).map_err(|error| fault(&error))?;
        if position != offset {
            return Err(Fault::new(FaultKind::Io, format!("the file system stopped at {position} of {offset} bytes")));
        }
        let open = OpenFile { position, ..open };
        self.open = Some(open);
        Ok(open)
    }

    /// The position after a call: as it follows from what was moved, or unknown after a failure.
    fn moved_to(&mut self, open: OpenFile, moved: &Result<usize, FsError>) {
        let position = moved.as_ref().map_or(UNKNOWN_POSITION, |bytes| open.position + *bytes as u64);
        self.open = Some(OpenFile { position, ..open });
        self.app.forget();
    }

    fn read_file(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
        let open = self.seek(offset)?;
        self.enter_file_system();
        self.app.is(buf);
        let Self { store: Store::Files(files), ledger, .. } = self else { return Ok(0) };
        let result = ledger.within(Layer::Metadata, || files.read(open.id, buf));
        self.moved_to(open, &result);
        result.map_err(|error| fault(&error))
    }

    fn write_file(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault> {
        let open = self.seek(offset)?;
        self.enter_file_system();
        self.app.is(data);
        let Self { store: Store::Files(files), ledger, .. } = self else { return Ok(0) };
        let result = ledger.within(Layer::Metadata, || files.write(open.id, data));
        self.moved_to(open, &result);
        if let (Some(bytes), Ok(written)) = (&mut self.file_bytes, &result) {
            *bytes = (*bytes).max(offset + *written as u64);
        }
        match result {
            // FatFs tells a full volume by writing less.
            Ok(written) if written < data.len() => {
                let message = format!("only {written} of {} bytes were written: the file system is full", data.len());
                Err(Fault::new(FaultKind::NoSpace, message))
            }
            result => result.map_err(|error| fault(&error)),
        }
    }
}

impl Target for LabTarget {
    fn open(&mut self, how: OpenAs) -> Result<(), Fault> {
        match (&self.store, how) {
            (Store::Files(_), _) => self.open_file(how),
            (Store::Raw(_), OpenAs::Append) => {
                Err(Fault::new(FaultKind::Unsupported, "raw flash has no end to append to"))
            }
            (Store::Raw(_), _) => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), Fault> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.enter_file_system();
        let Self { store: Store::Files(files), ledger, .. } = self else { return Ok(()) };
        ledger.within(Layer::Metadata, || files.close(open.id)).map_err(|error| fault(&error))
    }

    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Fault> {
        let bytes = self.call(|this| match &this.store {
            Store::Files(_) => this.read_file(offset, buf),
            Store::Raw(_) => raw::read(this, offset, buf),
        })?;
        self.gauge.read_bytes += bytes as u64;
        self.gauge.repeat_counts |= self.gauge.measuring && bytes > 0;
        Ok(bytes)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<usize, Fault> {
        let bytes = self.call(|this| match &this.store {
            Store::Files(_) => this.write_file(offset, data),
            Store::Raw(_) => raw::write(this, offset, data),
        })?;
        self.gauge.write_bytes += bytes as u64;
        if self.gauge.measuring {
            self.gauge.data_written_bytes += bytes as u64;
        }
        self.gauge.repeat_counts |= self.gauge.measuring && bytes > 0;
        Ok(bytes)
    }

    fn sync(&mut self) -> Result<(), Fault> {
        self.call(|this| {
            let Some(open) = this.open else { return Ok(()) };
            this.enter_file_system();
            let Self { store: Store::Files(files), ledger, .. } = this else { return Ok(()) };
            ledger.within(Layer::Metadata, || files.sync(open.id)).map_err(|error| fault(&error))
        })
    }

    fn len_bytes(&mut self) -> Result<u64, Fault> {
        match &mut self.store {
            Store::Raw(device) => Ok(device.geometry().size_bytes),
            Store::Files(files) => match self.open {
                Some(open) => files.size(open.id).map_err(|error| fault(&error)),
                None => match files.stat(FILE) {
                    Ok(stat) => Ok(stat.size_bytes),
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
                    Err(error) => Err(fault(&error)),
                },
            },
        }
    }

    fn reclaims_space(&self) -> bool {
        matches!(self.store, Store::Files(_))
    }

    fn can_grow(&self) -> bool {
        matches!(self.store, Store::Files(_))
    }

    fn truncate(&mut self) -> Result<(), Fault> {
        // Raw flash is written from its start again.
        let Some(open) = self.open else { return Ok(()) };
        self.seek(0)?;
        self.enter_file_system();
        let Self { store: Store::Files(files), ledger, .. } = self else { return Ok(()) };
        ledger.within(Layer::Metadata, || files.truncate(open.id, 0)).map_err(|error| fault(&error))
    }

    fn contents(&self) -> Contents {
        self.contents
    }

    fn set_contents(&mut self, contents: Contents) {
        self.contents = contents;
    }

    fn ownership(&self) -> Ownership {
        match self.store {
            Store::Files(_) => Ownership::Own,
            // The partition is there and has its size.
            Store::Raw(_) => Ownership::Given,
        }
    }

    fn write_reaches(&self, synced: bool) -> Reached {
        match self.store {
            // There is no cache of an operating system: whole sectors go to the flash at once, and what a sync adds is
            // the file system's record of them. What fits a buffer of the file system stays in it.
            Store::Files(_) if !synced => {
                if self.is_programmed() {
                    Reached::Device
                } else {
                    Reached::Cache
                }
            }
            _ => Reached::Medium,
        }
    }

    fn can_fill(&self) -> Result<(), Fault> {
        self.check_fill()
    }

    fn fill(&mut self, workload: &Workload, file_bytes: u64, doubts: &mut Doubts) -> Result<(), Fault> {
        self.fill_to(workload, file_bytes, doubts)
    }

    fn settle(&mut self, workload: &Workload, doubts: &mut Doubts) {
        if workload.writes() && self.erase == Erase::Outside && matches!(self.store, Store::Raw(_)) {
            raw::erase_region(self, workload, doubts);
        }
        match self.gauge.warm_up_left.checked_sub(1) {
            Some(left) => self.gauge.warm_up_left = left,
            None => {
                self.gauge.end_repeat();
                self.gauge.measuring = true;
            }
        }
    }

    fn inspect(&mut self, workload: &Workload, _: Moved, doubts: &mut Doubts) -> Result<(), Fault> {
        self.gauge.measuring = false;
        // Writing over what was written is what `never` is for, and what some file systems do.
        let is_meant = match &self.store {
            Store::Raw(_) => workload.erase == Erase::Never,
            Store::Files(files) => files.programs_again(),
        };
        if workload.writes() && !is_meant && self.stuck_bits() > self.gauge.stuck_before {
            doubts.add(
                WarningCode::NotErased,
                "flash was written that was not erased before: bits that were 0 stayed so, and the data there is wrong",
            );
        }
        Ok(())
    }
}

impl LabTarget {
    /// A call of the raw partition's interface, which has no virtual file system above it.
    pub(super) fn enter_raw(&self) {
        self.ledger.spend_for(Layer::Runtime, Account::Cpu, self.code_call_ns);
    }
}
