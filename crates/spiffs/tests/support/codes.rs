//! The numbers that the C code returns.

use spiffs::{ConfigError, Error};

use super::nor::Failure;

// Codes of the C implementation that stand for what cannot happen with this one, as a volume is a value here.
pub const NOT_MOUNTED: i64 = -10000;
pub const FILE_CLOSED: i64 = -10008;
pub const BAD_DESCRIPTOR: i64 = -10010;
pub const NOT_CONFIGURED: i64 = -10024;
pub const MOUNTED: i64 = -10026;
pub const ERASE_FAILED: i64 = -10027;
pub const MAGIC_NOT_POSSIBLE: i64 = -10028;
pub const NOT_IMPLEMENTED: i64 = -10032;
pub const NOT_FOUND: i64 = -10002;

/// The number that the C code returns for an error.
pub fn code(error: Error<Failure>) -> i64 {
    match error {
        Error::Flash(failure) => failure.code().into(),
        Error::Config(ConfigError::Magic) => MAGIC_NOT_POSSIBLE,
        error => error.code().unwrap_or_else(|| panic!("the C code has no error like {error:?}")).into(),
    }
}

pub fn unit(result: Result<(), Error<Failure>>) -> i64 {
    result.map_or_else(code, |()| 0)
}

/// As [`unit()`], but the C code does not tell of what it lost earlier.
pub fn known_to_c(result: Result<(), Error<Failure>>) -> i64 {
    match result {
        Err(Error::DataLost) => 0,
        result => unit(result),
    }
}
