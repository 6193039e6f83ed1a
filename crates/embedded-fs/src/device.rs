//! What a file system stands on.

/// Sizes of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The whole device; a multiple of `erase_bytes`.
    pub size_bytes: u64,
    /// The smallest read, and what addresses and sizes of reads are multiples of.
    pub read_bytes: u32,
    /// The smallest program, and what addresses and sizes of programs are multiples of.
    pub program_bytes: u32,
    /// The smallest erase; for a device without erases (a card), what [`Device::overwrite`] replaces at least.
    pub erase_bytes: u32,
}

/// What an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The content of files.
    Data,
    /// All else: allocation tables, directories, superblocks, formatting.
    Metadata,
}

/// What the code of a file system did that no access of the device shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// Bytes of a read or write of a file that were copied between the caller's buffer and a buffer of the file
    /// system, as they did not go between the device and the caller's buffer directly. Told when the call ends.
    CopiedBytes(u64),
}

/// Why a device did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The access does not lie inside the device.
    #[error("{bytes} bytes at address {address} are not inside the device of {size_bytes} bytes")]
    OutOfRange {
        /// Where the access begins.
        address: u64,
        /// How long it is.
        bytes: u64,
        /// What the device has.
        size_bytes: u64,
    },
    /// The access does not begin or end where its kind of access has to.
    #[error("{bytes} bytes at address {address} are not whole units of {unit_bytes} bytes")]
    Misaligned {
        /// Where the access begins.
        address: u64,
        /// How long it is.
        bytes: u64,
        /// What both have to be multiples of.
        unit_bytes: u32,
    },
    /// A program would turn a bit from 0 to 1.
    #[error("the byte at address {address} was programmed without an erase before")]
    NotErased {
        /// The first such byte.
        address: u64,
    },
    /// The place no longer holds data; a file system may use another one instead.
    #[error("the device is worn out at address {address}")]
    Worn {
        /// The place.
        address: u64,
    },
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// A device below a file system. Addresses and sizes are in bytes and keep to [`Device::geometry`].
pub trait Device {
    /// The same answer every time.
    fn geometry(&self) -> Geometry;

    /// Reads.
    ///
    /// # Errors
    /// [`DeviceError`]; `buffer` is then of no meaning.
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), DeviceError>;

    /// Programs what was erased before.
    ///
    /// # Errors
    /// [`DeviceError`]; a part may have been programmed.
    fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError>;

    /// Erases whole units.
    ///
    /// # Errors
    /// [`DeviceError`]; a part may have been erased.
    fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError>;

    /// Replaces whole sectors: erases all, then programs all, as ESP-IDF's `diskio_wl.c` does. A device that needs no
    /// erases (a card) just writes.
    ///
    /// # Errors
    /// [`DeviceError`]; a part may have been erased or replaced.
    fn overwrite(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.erase(address, data.len() as u64)?;
        self.program(address, data)
    }

    /// Takes note that what is stored there is no longer needed.
    ///
    /// # Errors
    /// [`DeviceError`].
    fn trim(&mut self, _address: u64, _bytes: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Returns when everything is stored for good.
    ///
    /// # Errors
    /// [`DeviceError`].
    fn sync(&mut self) -> Result<(), DeviceError>;

    /// Is called before each access with what it is for.
    fn purpose(&mut self, _purpose: Purpose) {}

    /// Is called with work of the file system that no access shows.
    fn work(&mut self, _work: Work) {}
}

/// Stands in for a device that was taken out of its file system.
pub(crate) struct NoDevice;

impl NoDevice {
    fn error() -> DeviceError {
        DeviceError::Failed("the device was taken out of its file system".into())
    }
}

impl Device for NoDevice {
    fn geometry(&self) -> Geometry {
        Geometry { size_bytes: 0, read_bytes: 1, program_bytes: 1, erase_bytes: 1 }
    }

    fn read(&mut self, _address: u64, _buffer: &mut [u8]) -> Result<(), DeviceError> {
        Err(Self::error())
    }

    fn program(&mut self, _address: u64, _data: &[u8]) -> Result<(), DeviceError> {
        Err(Self::error())
    }

    fn erase(&mut self, _address: u64, _bytes: u64) -> Result<(), DeviceError> {
        Err(Self::error())
    }

    fn sync(&mut self) -> Result<(), DeviceError> {
        Err(Self::error())
    }
}
