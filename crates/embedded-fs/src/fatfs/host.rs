//! The device as FatFs reaches it: by sectors.

use core::ffi::c_void;

use super::ffi;
use super::settings::Settings;
use crate::below::{Below, access, tell_work};
use crate::device::{Device, DeviceError, Purpose, Work};

/// For `volume_new`; valid as long as `below`.
pub fn calls(below: &Below, settings: &Settings) -> ffi::Host {
    ffi::Host {
        context: below.context(),
        read,
        write,
        sync,
        trim: if settings.trim { trim } else { no_trim },
        copied,
        sector_bytes: settings.sector_bytes,
        sector_count: settings.sectors,
    }
}

fn purpose(is_data: i32) -> Option<Purpose> {
    Some(if is_data != 0 { Purpose::Data } else { Purpose::Metadata })
}

fn refused(result: &Result<(), DeviceError>) -> i32 {
    i32::from(result.is_err())
}

/// Where a run of sectors begins, in bytes, and how long it is; the shim has checked that it is inside the device.
fn bytes_of(sector: u32, count: u32, sector_bytes: u32) -> (u64, usize) {
    (u64::from(sector) * u64::from(sector_bytes), count as usize * sector_bytes as usize)
}

#[allow(unsafe_code)]
unsafe extern "C" fn read(context: *mut c_void, is_data: i32, buffer: *mut u8, sector: u32, count: u32) -> i32 {
    let read = |device: &mut dyn Device, sector_bytes| {
        let (address, bytes) = bytes_of(sector, count, sector_bytes);
        // SAFETY: C gives a buffer of `count` sectors, which nothing else uses meanwhile.
        device.read(address, unsafe { core::slice::from_raw_parts_mut(buffer, bytes) })
    };
    // SAFETY: the owner of the context has called the C code that calls this.
    refused(&unsafe { access(context, purpose(is_data), read) })
}

#[allow(unsafe_code)]
unsafe extern "C" fn write(context: *mut c_void, is_data: i32, data: *const u8, sector: u32, count: u32) -> i32 {
    let write = |device: &mut dyn Device, sector_bytes| {
        let (address, bytes) = bytes_of(sector, count, sector_bytes);
        // SAFETY: C gives a buffer of `count` sectors, which nothing writes to meanwhile.
        device.overwrite(address, unsafe { core::slice::from_raw_parts(data, bytes) })
    };
    // SAFETY: as in `read`.
    refused(&unsafe { access(context, purpose(is_data), write) })
}

#[allow(unsafe_code)]
unsafe extern "C" fn sync(context: *mut c_void) -> i32 {
    // SAFETY: as in `read`.
    refused(&unsafe { access(context, None, |device, _| device.sync()) })
}

#[allow(unsafe_code)]
unsafe extern "C" fn trim(context: *mut c_void, first: u32, last: u32) -> i32 {
    let trim = |device: &mut dyn Device, sector_bytes| {
        let sectors = u64::from(last.saturating_sub(first)) + 1;
        device.trim(u64::from(first) * u64::from(sector_bytes), sectors * u64::from(sector_bytes))
    };
    // SAFETY: as in `read`.
    refused(&unsafe { access(context, None, trim) })
}

/// As `diskio_wl.c`, which does not know the command; FatFs does not mind.
#[allow(unsafe_code)]
unsafe extern "C" fn no_trim(_context: *mut c_void, _first: u32, _last: u32) -> i32 {
    1
}

#[allow(unsafe_code)]
unsafe extern "C" fn copied(context: *mut c_void, bytes: u64) {
    // SAFETY: as in `read`.
    unsafe { tell_work(context, Work::CopiedBytes(bytes)) }
}
