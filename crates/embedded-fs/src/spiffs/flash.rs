//! The device as SPIFFS reaches it.

use std::ops::Range;

use ::spiffs::Flash;

use crate::device::{Device, DeviceError, NoDevice, Purpose};

/// A device for SPIFFS, which counts what goes between it and the caller's buffer directly.
pub struct DeviceFlash {
    device: Box<dyn Device>,
    /// Where the caller's buffer is in memory.
    buffer: Range<usize>,
    direct_bytes: u64,
    /// The last failure, until it is told.
    pub last_error: Option<DeviceError>,
}

impl DeviceFlash {
    pub fn new(mut device: Box<dyn Device>) -> Self {
        device.purpose(Purpose::Metadata);
        Self { device, buffer: 0..0, direct_bytes: 0, last_error: None }
    }

    pub fn none() -> Self {
        Self::new(Box::new(NoDevice))
    }

    pub fn device(&mut self) -> &mut dyn Device {
        self.device.as_mut()
    }

    pub fn into_device(self) -> Box<dyn Device> {
        self.device
    }

    /// Before a read or write of a file with this buffer.
    pub fn watch(&mut self, buffer: &[u8]) {
        self.buffer = address_of(buffer);
        self.direct_bytes = 0;
    }

    /// After it: how many bytes went between device and buffer without a copy.
    pub fn direct_bytes(&mut self) -> u64 {
        self.buffer = 0..0;
        self.direct_bytes
    }

    fn count(&mut self, part: &[u8]) {
        let part = address_of(part);
        if self.buffer.start <= part.start && part.end <= self.buffer.end {
            self.direct_bytes += part.len() as u64;
        }
    }

    fn keep(&mut self, result: Result<(), DeviceError>) -> Result<(), DeviceError> {
        result.inspect_err(|error| self.last_error = Some(error.clone()))
    }
}

fn address_of(part: &[u8]) -> Range<usize> {
    let range = part.as_ptr_range();
    range.start.addr()..range.end.addr()
}

impl Flash for DeviceFlash {
    type Error = DeviceError;

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), DeviceError> {
        self.count(into);
        let result = self.device.read(address.into(), into);
        self.keep(result)
    }

    fn program(&mut self, address: u32, data: &[u8]) -> Result<(), DeviceError> {
        self.count(data);
        let result = self.device.program(address.into(), data);
        self.keep(result)
    }

    fn erase(&mut self, address: u32, bytes: u32) -> Result<(), DeviceError> {
        let result = self.device.erase(address.into(), bytes.into());
        self.keep(result)
    }

    fn purpose(&mut self, purpose: ::spiffs::Purpose) {
        self.device.purpose(match purpose {
            ::spiffs::Purpose::Content => Purpose::Data,
            ::spiffs::Purpose::Structure => Purpose::Metadata,
        });
    }
}
