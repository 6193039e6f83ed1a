//! The device as littlefs reaches it: by blocks, each of which holds content or metadata.

use core::ffi::c_void;
use std::ptr::NonNull;

use super::ffi;
use crate::below::{Below, access, tell_work};
use crate::device::{Device, DeviceError, Purpose, Work};
use crate::error::{Code, FsError};

struct Context {
    below: *mut c_void,
    /// Whether a block was last erased for content, or seen to hold it. False for what is not known yet.
    content: Vec<bool>,
}

/// A device, with what is known of its blocks.
pub struct Host {
    below: Below,
    /// From a Box; only ever borrowed for the length of one call.
    context: NonNull<Context>,
}

#[allow(unsafe_code)]
impl Host {
    pub fn new(device: Box<dyn Device>, block_bytes: u32, blocks: u32) -> Self {
        let below = Below::new(device, block_bytes);
        let context = Context { below: below.context(), content: vec![false; blocks as usize] };
        Self { below, context: NonNull::from(Box::leak(Box::new(context))) }
    }

    /// For `littlefs_new`; valid as long as self.
    pub fn calls(&self) -> ffi::Host {
        ffi::Host { context: self.context.as_ptr().cast(), read, program, erase, sync, copied }
    }

    /// Makes a call of C code.
    pub fn call(&mut self, call: impl FnOnce() -> i32) -> i32 {
        // littlefs's own accesses are bounded in `littlefs.c`.
        self.below.begin(u64::MAX);
        let result = call();
        self.below.end();
        result
    }

    /// The error of the last call, which ended with `code`.
    pub fn error(&mut self, code: Code) -> FsError {
        if code.number == ffi::ENDLESS { FsError::Endless } else { self.below.error(code) }
    }

    /// Forgets what is known of the blocks.
    pub fn forget(&mut self) {
        // SAFETY: no C code runs while self is borrowed here.
        unsafe { self.context.as_mut() }.content.fill(false);
    }

    pub fn device(&mut self) -> &mut dyn Device {
        self.below.device()
    }

    pub fn take_device(&mut self) -> Box<dyn Device> {
        self.below.take_device()
    }
}

#[allow(unsafe_code)]
impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: from a Box in `new`; the volume that knew the address is freed first.
        drop(unsafe { Box::from_raw(self.context.as_ptr()) });
    }
}

/// What littlefs is told: it gives up a worn block and takes another one.
fn result(result: Result<(), DeviceError>, may_be_worn: bool) -> i32 {
    match result {
        Ok(()) => 0,
        Err(DeviceError::Worn { .. }) if may_be_worn => ffi::LFS_ERR_CORRUPT,
        Err(_) => ffi::LFS_ERR_IO,
    }
}

impl Context {
    /// Marks a block where `is` tells, and says what an access of it is for; nothing for a block outside.
    fn purpose(&mut self, block: u32, is: Option<bool>) -> Option<Purpose> {
        let content = self.content.get_mut(block as usize)?;
        if let Some(is) = is {
            *content = is;
        }
        Some(if *content { Purpose::Data } else { Purpose::Metadata })
    }
}

fn address(block: u32, offset: u32, block_bytes: u32) -> u64 {
    u64::from(block) * u64::from(block_bytes) + u64::from(offset)
}

#[allow(unsafe_code)]
unsafe extern "C" fn read(
    context: *mut c_void,
    is_content: i32,
    block: u32,
    offset: u32,
    buffer: *mut u8,
    bytes: u32,
) -> i32 {
    // SAFETY: from `Host::calls`; the host has called the C code that calls this, and touches nothing meanwhile.
    let context = unsafe { &mut *context.cast::<Context>() };
    let Some(purpose) = context.purpose(block, (is_content != 0).then_some(true)) else {
        return ffi::LFS_ERR_CORRUPT;
    };
    let read = |device: &mut dyn Device, block_bytes| {
        // SAFETY: C gives a buffer of that many bytes, set to 0, which nothing else uses meanwhile.
        let buffer = unsafe { core::slice::from_raw_parts_mut(buffer, bytes as usize) };
        device.read(address(block, offset, block_bytes), buffer)
    };
    // SAFETY: as above.
    result(unsafe { access(context.below, Some(purpose), read) }, false)
}

#[allow(unsafe_code)]
unsafe extern "C" fn program(context: *mut c_void, block: u32, offset: u32, data: *const u8, bytes: u32) -> i32 {
    // SAFETY: as in `read`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let Some(purpose) = context.purpose(block, None) else {
        return ffi::LFS_ERR_CORRUPT;
    };
    let program = |device: &mut dyn Device, block_bytes| {
        // SAFETY: C gives a buffer of that many bytes, which nothing writes to meanwhile.
        let data = unsafe { core::slice::from_raw_parts(data, bytes as usize) };
        device.program(address(block, offset, block_bytes), data)
    };
    // SAFETY: as in `read`.
    result(unsafe { access(context.below, Some(purpose), program) }, true)
}

#[allow(unsafe_code)]
unsafe extern "C" fn erase(context: *mut c_void, is_content: i32, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let Some(purpose) = context.purpose(block, Some(is_content != 0)) else {
        return ffi::LFS_ERR_CORRUPT;
    };
    let erase =
        |device: &mut dyn Device, block_bytes| device.erase(address(block, 0, block_bytes), u64::from(block_bytes));
    // SAFETY: as in `read`.
    result(unsafe { access(context.below, Some(purpose), erase) }, true)
}

#[allow(unsafe_code)]
unsafe extern "C" fn sync(context: *mut c_void) -> i32 {
    // SAFETY: as in `read`.
    let context = unsafe { &mut *context.cast::<Context>() };
    // SAFETY: as in `read`.
    result(unsafe { access(context.below, None, |device, _| device.sync()) }, false)
}

#[allow(unsafe_code)]
unsafe extern "C" fn copied(context: *mut c_void, bytes: u64) {
    // SAFETY: as in `read`.
    let context = unsafe { &mut *context.cast::<Context>() };
    // SAFETY: as in `read`.
    unsafe { tell_work(context.below, Work::CopiedBytes(bytes)) }
}
