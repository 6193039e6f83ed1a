//! The device as the C code reaches it: with errors kept, panics held back until the C code has returned, and accesses
//! bounded.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use crate::device::{Device, DeviceError, NoDevice, Purpose, Work};
use crate::error::{Code, FsError};

struct State {
    device: Box<dyn Device>,
    unit_bytes: u32,
    error: Option<DeviceError>,
    panic: Option<Box<dyn Any + Send>>,
    accesses_left: u64,
    endless: bool,
}

/// Owns a device, at an address that C code can keep.
pub(crate) struct Below {
    /// From `Box::into_raw`; only ever borrowed for the length of one call of a method.
    state: NonNull<State>,
}

#[allow(unsafe_code)]
impl Below {
    /// `unit_bytes`: the sector or block that the C code counts in.
    pub fn new(device: Box<dyn Device>, unit_bytes: u32) -> Self {
        let state = State { device, unit_bytes, error: None, panic: None, accesses_left: 0, endless: false };
        // A Box is never null.
        Self { state: NonNull::from(Box::leak(Box::new(state))) }
    }

    /// What C code hands back to [`access`].
    pub fn context(&self) -> *mut core::ffi::c_void {
        self.state.as_ptr().cast()
    }

    pub fn device(&mut self) -> &mut dyn Device {
        // SAFETY: the state lives as long as self, and no C code runs while self is borrowed here.
        unsafe { &mut *(*self.state.as_ptr()).device }
    }

    pub fn take_device(&mut self) -> Box<dyn Device> {
        // SAFETY: as above.
        let state = unsafe { self.state.as_mut() };
        std::mem::replace(&mut state.device, Box::new(NoDevice))
    }

    /// Before a call of C code: it may make `accesses`, more are refused.
    pub fn begin(&mut self, accesses: u64) {
        // SAFETY: as above.
        let state = unsafe { self.state.as_mut() };
        state.error = None;
        state.endless = false;
        state.accesses_left = accesses;
    }

    /// After a call of C code: goes on with a panic of the device. The memory of a file that was being opened or
    /// closed is lost then.
    pub fn end(&mut self) {
        // SAFETY: as above.
        let state = unsafe { self.state.as_mut() };
        if let Some(panic) = state.panic.take() {
            resume_unwind(panic);
        }
    }

    /// The error of a call that ended with `code`: the device's, if that is where it began.
    pub fn error(&mut self, code: Code) -> FsError {
        // SAFETY: as above.
        let state = unsafe { self.state.as_mut() };
        match state.error.take() {
            _ if state.endless => FsError::Endless,
            Some(source) => FsError::Device { source, code },
            None => FsError::Code(code),
        }
    }
}

#[allow(unsafe_code)]
impl Drop for Below {
    fn drop(&mut self) {
        // SAFETY: the pointer is from a Box in `new`, and this is its only end. The owner drops the C volume, which
        // makes no accesses then, before or after.
        drop(unsafe { Box::from_raw(self.state.as_ptr()) });
    }
}

/// Runs one access of C code; the operation is told the size of the unit that the C code counts in.
///
/// # Safety
/// `context` is from [`Below::context`] of a `Below` that is alive, and no reference into it exists: the C code was
/// called by its owner, which does not touch it until the call returns.
#[allow(unsafe_code)]
pub(crate) unsafe fn access(
    context: *mut core::ffi::c_void,
    purpose: Option<Purpose>,
    operation: impl FnOnce(&mut dyn Device, u32) -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    // SAFETY: the caller's promise.
    let state = unsafe { &mut *context.cast::<State>() };
    if state.panic.is_some() {
        return Err(DeviceError::Failed("the device panicked".into()));
    }
    let Some(left) = state.accesses_left.checked_sub(1) else {
        state.endless = true;
        return Err(DeviceError::Failed("one call made more accesses than the device's size accounts for".into()));
    };
    state.accesses_left = left;
    let device = &mut *state.device;
    let unit_bytes = state.unit_bytes;
    let result = catch_unwind(AssertUnwindSafe(|| {
        if let Some(purpose) = purpose {
            device.purpose(purpose);
        }
        operation(device, unit_bytes)
    }));
    match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            state.error.get_or_insert_with(|| error.clone());
            Err(error)
        }
        Err(panic) => {
            state.panic = Some(panic);
            Err(DeviceError::Failed("the device panicked".into()))
        }
    }
}

/// Tells the device of work that is no access.
///
/// # Safety
/// As for [`access`].
#[allow(unsafe_code)]
pub(crate) unsafe fn tell_work(context: *mut core::ffi::c_void, work: Work) {
    // SAFETY: the caller's promise.
    let state = unsafe { &mut *context.cast::<State>() };
    let device = &mut *state.device;
    if state.panic.is_none() {
        state.panic = catch_unwind(AssertUnwindSafe(|| device.work(work))).err();
    }
}
