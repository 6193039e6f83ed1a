//! A device that books its accesses for the layer that asks for them, and the work of the file system's code.

use std::cell::Cell;
use std::rc::Rc;

use flashmark_core::ledger::{Account, Layer, Ledger};
use flashmark_embedded_fs::{Device, DeviceError, Geometry, Purpose, Work};

use crate::board::{Board, BoardError};
use crate::booking::Carry;

/// What the code of a file system costs, in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// Each call of the file system.
    pub call_ps: u64,
    /// Each access to the device.
    pub access_ps: u64,
    /// Each byte of an access.
    pub byte_ps: u64,
    /// Each byte copied between the caller's buffer and the file system's.
    pub copy_byte_ps: u64,
}

impl Costs {
    /// The costs of a storage on a board.
    ///
    /// # Errors
    /// [`BoardError`] for a value that cannot be read.
    pub fn of(board: &Board, storage: &str) -> Result<Self, BoardError> {
        let work = |key: &str| board.optional_work_ps(&format!("{storage}.{key}"));
        Ok(Self {
            call_ps: work("code-call")?,
            access_ps: work("code-access")?,
            byte_ps: work("code-byte")?,
            copy_byte_ps: board.work_ps("code.copy-byte")?,
        })
    }
}

/// See the module.
pub(super) struct Accounted {
    inner: Box<dyn Device>,
    costs: Costs,
    ledger: Rc<Ledger>,
    layer: Layer,
    /// Bytes of files' data that were programmed.
    data_bytes: Rc<Cell<u64>>,
    carry: Carry,
}

impl Accounted {
    pub(super) fn new(inner: Box<dyn Device>, costs: Costs, ledger: Rc<Ledger>, data_bytes: Rc<Cell<u64>>) -> Self {
        Self { inner, costs, ledger, layer: Layer::Data, data_bytes, carry: Carry::default() }
    }

    fn programmed(&self, bytes: usize) {
        if self.layer == Layer::Data {
            self.data_bytes.set(self.data_bytes.get() + bytes as u64);
        }
    }

    fn work_ps(&self, ps: u64) {
        self.carry.spend_ps(&self.ledger, Layer::Metadata, Account::Cpu, ps);
    }

    fn access<T>(&mut self, bytes: u64, work: impl FnOnce(&mut dyn Device) -> T) -> T {
        self.work_ps(self.costs.access_ps + self.costs.byte_ps * bytes);
        let before = self.ledger.enter(self.layer);
        let result = work(self.inner.as_mut());
        self.ledger.enter(before);
        result
    }
}

impl Device for Accounted {
    fn geometry(&self) -> Geometry {
        self.inner.geometry()
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), DeviceError> {
        self.access(buffer.len() as u64, |inner| inner.read(address, buffer))
    }

    fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.programmed(data.len());
        self.access(data.len() as u64, |inner| inner.program(address, data))
    }

    fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.access(0, |inner| inner.erase(address, bytes))
    }

    fn overwrite(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.programmed(data.len());
        self.access(data.len() as u64, |inner| inner.overwrite(address, data))
    }

    fn trim(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.access(0, |inner| inner.trim(address, bytes))
    }

    fn sync(&mut self) -> Result<(), DeviceError> {
        self.access(0, |inner| inner.sync())
    }

    fn purpose(&mut self, purpose: Purpose) {
        self.layer = match purpose {
            Purpose::Data => Layer::Data,
            Purpose::Metadata => Layer::Metadata,
        };
    }

    fn work(&mut self, work: Work) {
        if let Work::CopiedBytes(bytes) = work {
            self.work_ps(self.costs.copy_byte_ps.saturating_mul(bytes));
        }
    }
}
