//! A device in memory: for tests, for tools that make images, and for counting accesses.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::device::{Device, DeviceError, Geometry, Purpose, Work};

/// What a [`RamDevice`] was asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Programs; on a card, writes.
    pub programs: u64,
    /// Bytes programmed.
    pub program_bytes: u64,
    /// Erases.
    pub erases: u64,
    /// Bytes erased.
    pub erase_bytes: u64,
    /// Trims.
    pub trims: u64,
    /// Syncs.
    pub syncs: u64,
    /// Bytes that file systems told to have copied.
    pub copied_bytes: u64,
    /// Of all bytes read, programmed and erased, those that were for file content.
    pub data_bytes: u64,
}

/// One access, as [`RamDevice::log`] tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What was done.
    pub operation: Operation,
    /// Where.
    pub address: u64,
    /// How much.
    pub bytes: u64,
    /// What for.
    pub purpose: Purpose,
}

/// Kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A read.
    Read,
    /// A program; on a card, a write.
    Program,
    /// An erase.
    Erase,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    at: u64,
    error: FaultKind,
}

/// How an access fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// This one fails, later ones do not.
    Once,
    /// This one and all later ones fail.
    FromThenOn,
    /// This one, if it is a program or erase, finds the place worn out.
    Worn,
}

#[derive(Debug)]
struct State {
    geometry: Geometry,
    bytes: Vec<u8>,
    checks_erases: bool,
    is_overwritten: bool,
    is_card: bool,
    counters: Counters,
    purpose: Purpose,
    accesses: u64,
    fault: Option<Fault>,
    log: Option<Vec<Access>>,
}

/// A handle on a device in memory; a clone is another handle on the same one.
#[derive(Clone, Debug)]
pub struct RamDevice {
    state: Arc<Mutex<State>>,
}

impl RamDevice {
    /// A blank device of any geometry.
    #[must_use]
    pub fn new(geometry: Geometry) -> Self {
        let bytes = vec![0xFF; usize::try_from(geometry.size_bytes).unwrap_or(0)];
        let state = State {
            geometry,
            bytes,
            checks_erases: true,
            is_overwritten: false,
            is_card: false,
            counters: Counters::default(),
            purpose: Purpose::Metadata,
            accesses: 0,
            fault: None,
            log: None,
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// A blank NOR flash that is read and programmed by the byte.
    #[must_use]
    pub fn nor_flash(size_bytes: u64, erase_bytes: u32) -> Self {
        Self::new(Geometry { size_bytes, read_bytes: 1, program_bytes: 1, erase_bytes })
    }

    /// A blank card of 512-byte sectors, which needs no erases.
    #[must_use]
    pub fn card(size_bytes: u64) -> Self {
        let device = Self::new(Geometry { size_bytes, read_bytes: 512, program_bytes: 512, erase_bytes: 512 });
        device.lock().is_card = true;
        device.without_erase_check()
    }

    /// Takes programs of what is not erased, and stores what they give.
    #[must_use]
    pub fn without_erase_check(self) -> Self {
        self.lock().checks_erases = false;
        self
    }

    /// Takes programs of what is not erased, and stores what a NOR flash would: ones become zeros, zeros stay. SPIFFS
    /// relies on it.
    #[must_use]
    pub fn with_overwrites(self) -> Self {
        self.lock().is_overwritten = true;
        self
    }

    /// A copy of the whole content.
    #[must_use]
    pub fn image(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// Replaces the content; what is too much is left out, what lacks is blank.
    pub fn load(&self, image: &[u8]) {
        let mut state = self.lock();
        let bytes = image.len().min(state.bytes.len());
        state.bytes[..bytes].copy_from_slice(&image[..bytes]);
        state.bytes[bytes..].fill(0xFF);
    }

    /// What was done since the device was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.lock().counters
    }

    /// Begins a new log of accesses and returns the one before.
    pub fn log(&self) -> Vec<Access> {
        self.lock().log.replace(Vec::new()).unwrap_or_default()
    }

    /// Lets the `nth` read, program or erase from now fail, counted from 1.
    pub fn fail(&self, nth: u64, error: FaultKind) {
        let mut state = self.lock();
        state.fault = Some(Fault { at: state.accesses + nth, error });
    }

    /// Lets nothing fail any more, and tells whether something has.
    pub fn heal(&self) -> bool {
        let mut state = self.lock();
        let accesses = state.accesses;
        state.fault.take().is_some_and(|fault| accesses >= fault.at)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts an access, checks it, and says which bytes it is of.
    fn access(
        &mut self,
        operation: Operation,
        address: u64,
        bytes: u64,
        unit_bytes: u32,
    ) -> Result<std::ops::Range<usize>, DeviceError> {
        self.accesses += 1;
        let size_bytes = self.geometry.size_bytes;
        let end = address.checked_add(bytes).filter(|end| *end <= size_bytes);
        let out_of_range = DeviceError::OutOfRange { address, bytes, size_bytes };
        let end = end.ok_or_else(|| out_of_range.clone())?;
        if !address.is_multiple_of(u64::from(unit_bytes)) || !bytes.is_multiple_of(u64::from(unit_bytes)) {
            return Err(DeviceError::Misaligned { address, bytes, unit_bytes });
        }
        if let Some(fault) = self.fault {
            let due = self.accesses == fault.at;
            match fault.error {
                FaultKind::Once if due => return Err(DeviceError::Failed("a fault was asked for".into())),
                FaultKind::FromThenOn if self.accesses >= fault.at => {
                    return Err(DeviceError::Failed("faults were asked for".into()));
                }
                FaultKind::Worn if due && operation != Operation::Read => return Err(DeviceError::Worn { address }),
                _ => {}
            }
        }
        let counters = &mut self.counters;
        let (count, sum) = match operation {
            Operation::Read => (&mut counters.reads, &mut counters.read_bytes),
            Operation::Program => (&mut counters.programs, &mut counters.program_bytes),
            Operation::Erase => (&mut counters.erases, &mut counters.erase_bytes),
        };
        *count += 1;
        *sum += bytes;
        if self.purpose == Purpose::Data {
            counters.data_bytes += bytes;
        }
        let purpose = self.purpose;
        if let Some(log) = &mut self.log {
            log.push(Access { operation, address, bytes, purpose });
        }
        let index = |address| usize::try_from(address).map_err(|_| out_of_range.clone());
        Ok(index(address)?..index(end)?)
    }
}

impl Device for RamDevice {
    fn geometry(&self) -> Geometry {
        self.lock().geometry
    }

    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), DeviceError> {
        let mut state = self.lock();
        let unit = state.geometry.read_bytes;
        let range = state.access(Operation::Read, address, buffer.len() as u64, unit)?;
        buffer.copy_from_slice(&state.bytes[range]);
        Ok(())
    }

    fn program(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        let mut state = self.lock();
        let unit = state.geometry.program_bytes;
        let range = state.access(Operation::Program, address, data.len() as u64, unit)?;
        if state.is_overwritten {
            state.bytes[range].iter_mut().zip(data).for_each(|(old, new)| *old &= new);
            return Ok(());
        }
        if state.checks_erases {
            let not_erased = state.bytes[range.clone()].iter().zip(data).position(|(old, new)| old & new != *new);
            if let Some(offset) = not_erased {
                return Err(DeviceError::NotErased { address: address + offset as u64 });
            }
        }
        state.bytes[range].copy_from_slice(data);
        Ok(())
    }

    fn erase(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        let mut state = self.lock();
        let unit = state.geometry.erase_bytes;
        let range = state.access(Operation::Erase, address, bytes, unit)?;
        state.bytes[range].fill(0xFF);
        Ok(())
    }

    fn overwrite(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError> {
        if !self.lock().is_card {
            self.erase(address, data.len() as u64)?;
        }
        self.program(address, data)
    }

    fn trim(&mut self, _address: u64, _bytes: u64) -> Result<(), DeviceError> {
        self.lock().counters.trims += 1;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), DeviceError> {
        self.lock().counters.syncs += 1;
        Ok(())
    }

    fn purpose(&mut self, purpose: Purpose) {
        self.lock().purpose = purpose;
    }

    fn work(&mut self, work: Work) {
        let Work::CopiedBytes(bytes) = work;
        self.lock().counters.copied_bytes += bytes;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn flash_is_erased_before_it_is_programmed_anew() {
        let mut flash = RamDevice::nor_flash(8192, 4096);
        flash.program(10, &[0xF0]).unwrap();
        flash.program(10, &[0x30]).unwrap();
        assert_eq!(flash.program(9, &[0, 0x40]), Err(DeviceError::NotErased { address: 10 }));
        assert_eq!(flash.erase(0, 10), Err(DeviceError::Misaligned { address: 0, bytes: 10, unit_bytes: 4096 }));
        flash.erase(0, 4096).unwrap();
        flash.program(10, &[0x40]).unwrap();
        assert!(matches!(flash.read(8190, &mut [0; 3]), Err(DeviceError::OutOfRange { .. })));
        assert!(matches!(flash.read(u64::MAX, &mut [0; 3]), Err(DeviceError::OutOfRange { .. })));
        let counters = flash.counters();
        assert_eq!((counters.programs, counters.erases, counters.reads), (4, 1, 0));
    }

    #[test]
    fn ones_become_zeros_where_the_flash_is_overwritten() {
        let mut flash = RamDevice::nor_flash(8192, 4096).with_overwrites();
        flash.program(10, &[0xF0]).unwrap();
        flash.program(10, &[0x3C]).unwrap();
        let mut byte = [0];
        flash.read(10, &mut byte).unwrap();
        assert_eq!(byte, [0x30]);
    }

    #[test]
    fn a_fault_strikes_where_it_was_asked_for() {
        let mut flash = RamDevice::nor_flash(4096, 4096);
        flash.fail(2, FaultKind::Once);
        assert!(flash.read(0, &mut [0]).is_ok());
        assert!(flash.read(0, &mut [0]).is_err());
        assert!(flash.read(0, &mut [0]).is_ok());
        assert!(flash.heal());
        flash.fail(1, FaultKind::FromThenOn);
        assert!(flash.erase(0, 4096).is_err());
        assert!(flash.erase(0, 4096).is_err());
        assert!(flash.heal());
        flash.fail(5, FaultKind::Worn);
        assert!(!flash.heal());
    }
}
