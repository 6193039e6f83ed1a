//! The numbers of errors that queues give themselves, as each system has them.

use std::io;

use flashmark_core::queue::ErrorCode;

#[cfg(unix)]
mod numbers {
    #[cfg(not(target_os = "linux"))]
    pub(super) use libc::EOPNOTSUPP;
    pub(super) use libc::{EBUSY, EFBIG, EINVAL, EIO};
}

#[cfg(not(unix))]
mod numbers {
    pub(super) const EBUSY: i32 = 170; // ERROR_BUSY
    pub(super) const EFBIG: i32 = 223; // ERROR_FILE_TOO_LARGE
    pub(super) const EINVAL: i32 = 87; // ERROR_INVALID_PARAMETER
    pub(super) const EIO: i32 = 1117; // ERROR_IO_DEVICE
    pub(super) const EOPNOTSUPP: i32 = 50; // ERROR_NOT_SUPPORTED
}

/// The slot is under way.
pub(super) const BUSY: ErrorCode = ErrorCode::new(numbers::EBUSY);
/// A request that makes no sense.
pub(super) const INVALID: ErrorCode = ErrorCode::new(numbers::EINVAL);
/// A kind of operation that the system does not know.
#[cfg(not(target_os = "linux"))]
pub(super) const UNSUPPORTED: ErrorCode = ErrorCode::new(numbers::EOPNOTSUPP);
/// The medium, or what is between it and us.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "for engines of Linux"))]
pub(super) const IO: ErrorCode = ErrorCode::new(numbers::EIO);
/// Beyond what can be written.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "for engines of Linux"))]
pub(super) const TOO_LARGE: ErrorCode = ErrorCode::new(numbers::EFBIG);

/// The system's number of an error; `EIO` for one that has none.
#[cold]
pub(super) fn code_of(error: &io::Error) -> ErrorCode {
    ErrorCode::new(error.raw_os_error().unwrap_or(0))
}
