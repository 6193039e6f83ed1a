//! What file systems and raw access stand on: the partition, or wear levelling on it, as a `Device`.

use embedded_storage::nor_flash::NorFlash;
use esp_wl::{Observer, SmallSectors, WearLevelling};
use flashmark_embedded_fs::{Device, DeviceError, Geometry};

use super::SECTOR_BYTES;
use super::partition::{Partition, PartitionFault};

fn geometry(size_bytes: u64, erase_bytes: u32) -> Geometry {
    Geometry { size_bytes, read_bytes: 1, program_bytes: 1, erase_bytes }
}

/// Addresses of wear levelling are 32 bits wide.
fn narrow(address: u64, bytes: u64, size_bytes: u64) -> Result<(u32, u32), DeviceError> {
    match (u32::try_from(address), u32::try_from(bytes)) {
        (Ok(address), Ok(bytes)) => Ok((address, bytes)),
        _ => Err(DeviceError::OutOfRange { address, bytes, size_bytes }),
    }
}

fn failed(error: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::Failed(error.to_string())
}

/// What wear levelling reports, in words for people.
pub(super) fn reason_of(error: &esp_wl::Error<PartitionFault>) -> String {
    match error {
        esp_wl::Error::Flash(fault) => fault.to_string(),
        other => other.to_string(),
    }
}

/// The partition itself.
pub(super) struct PlainFlash(Partition);

impl PlainFlash {
    pub(super) const fn new(partition: Partition) -> Self {
        Self(partition)
    }
}

fn of_partition(fault: PartitionFault) -> DeviceError {
    match fault {
        PartitionFault::Outside { address, bytes, size_bytes } => {
            DeviceError::OutOfRange { address, bytes, size_bytes }
        }
        PartitionFault::NotSectors { address, bytes } => {
            DeviceError::Misaligned { address, bytes, unit_bytes: SECTOR_BYTES }
        }
        PartitionFault::Driver(fault) => failed(&fault),
    }
}

impl Device for PlainFlash {
    fn geometry(&self) -> Geometry {
        geometry(self.0.size_bytes(), SECTOR_BYTES)
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), DeviceError> {
        self.0.read_at(address, buffer).map_err(of_partition)
    }

    fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.0.program_at(address, data).map_err(of_partition)
    }

    fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.0.erase_at(address, bytes).map_err(of_partition)
    }

    fn sync(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// Wear levelling with the flash's own sectors.
pub(super) struct LevelledFlash<O>(WearLevelling<Partition, O>);

impl<O: Observer> LevelledFlash<O> {
    pub(super) const fn new(levelled: WearLevelling<Partition, O>) -> Self {
        Self(levelled)
    }
}

/// Wear levelling with sectors of 512 bytes.
pub(super) struct SmallSectorFlash<O>(SmallSectors<Partition, Vec<u8>, O>);

impl<O: Observer> SmallSectorFlash<O> {
    pub(super) const fn new(levelled: SmallSectors<Partition, Vec<u8>, O>) -> Self {
        Self(levelled)
    }
}

macro_rules! levelled_device {
    ($device:ident) => {
        impl<O: Observer> Device for $device<O>
        where
            Partition: NorFlash,
        {
            fn geometry(&self) -> Geometry {
                geometry(u64::from(self.0.size_bytes()), self.0.sector_bytes())
            }

            fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), DeviceError> {
                let (address, _) = narrow(address, buffer.len() as u64, u64::from(self.0.size_bytes()))?;
                self.0.read(address, buffer).map_err(|error| DeviceError::Failed(reason_of(&error)))
            }

            fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
                let (address, _) = narrow(address, data.len() as u64, u64::from(self.0.size_bytes()))?;
                self.0.write(address, data).map_err(|error| DeviceError::Failed(reason_of(&error)))
            }

            fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
                let (address, bytes) = narrow(address, bytes, u64::from(self.0.size_bytes()))?;
                self.0.erase_range(address, bytes).map_err(|error| DeviceError::Failed(reason_of(&error)))
            }

            fn sync(&mut self) -> Result<(), DeviceError> {
                Ok(())
            }
        }
    };
}

levelled_device!(LevelledFlash);
levelled_device!(SmallSectorFlash);
