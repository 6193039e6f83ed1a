//! The errors of SPIFFS, by their numbers in the C code (`spiffs.h`).

use ::spiffs::Error;

use super::flash::DeviceFlash;
use crate::device::DeviceError;
use crate::error::{Code, ErrorKind, FsError};
use crate::options::OptionError;

/// What the device answered, as `spiffs_api.c` of ESP-IDF hands it to SPIFFS, which hands it on.
const DEVICE_FAILED: i32 = -1;

/// No error of the C code, which does not tell.
const DATA_LOST: i32 = -1000;

/// The code of an error.
fn code(error: &Error<DeviceError>) -> Code {
    use ErrorKind as K;
    let number = match error {
        Error::Flash(_) => DEVICE_FAILED,
        Error::DataLost => DATA_LOST,
        error => error.code().unwrap_or_default(),
    };
    let (name, meaning, kind) = match number {
        DEVICE_FAILED => ("hal error", "the device failed", K::Device),
        DATA_LOST => ("data lost", "what was written earlier and waited in the cache could not be stored", K::NoSpace),
        -10001 => (
            "SPIFFS_ERR_FULL",
            "there is no room, or garbage collection gave up before it had made enough (option gc-runs)",
            K::NoSpace,
        ),
        -10002 => ("SPIFFS_ERR_NOT_FOUND", "there is no such file", K::NotFound),
        -10003 => ("SPIFFS_ERR_END_OF_OBJECT", "it lies behind the end of the file", K::InvalidParameter),
        -10004 => ("SPIFFS_ERR_DELETED", "a page of the file is deleted", K::Corrupt),
        -10005 => ("SPIFFS_ERR_NOT_FINALIZED", "a page of the file was not written completely", K::Corrupt),
        -10006 => ("SPIFFS_ERR_NOT_INDEX", "a page of the file's index is none", K::Corrupt),
        -10007 => ("SPIFFS_ERR_OUT_OF_FILE_DESCS", "as many files are open as there can be", K::TooManyOpenFiles),
        -10008 => ("SPIFFS_ERR_FILE_CLOSED", "the file is not open", K::UnknownFile),
        -10010 => ("SPIFFS_ERR_BAD_DESCRIPTOR", "there is no such open file", K::UnknownFile),
        -10011 => ("SPIFFS_ERR_IS_INDEX", "a page of the file's data is a part of an index", K::Corrupt),
        -10012 => ("SPIFFS_ERR_IS_FREE", "a page of the file is free", K::Corrupt),
        -10013 => ("SPIFFS_ERR_INDEX_SPAN_MISMATCH", "a part of the index is another one", K::Corrupt),
        -10014 => (
            "SPIFFS_ERR_DATA_SPAN_MISMATCH",
            "a page of data is another one, as with other options (name, meta) than the image was made with",
            K::Corrupt,
        ),
        -10015 => ("SPIFFS_ERR_INDEX_REF_FREE", "the index has no page where there should be one", K::Corrupt),
        -10016 => ("SPIFFS_ERR_INDEX_REF_LU", "the index points to a lookup page", K::Corrupt),
        -10017 => ("SPIFFS_ERR_INDEX_REF_INVALID", "the index points outside the volume", K::Corrupt),
        -10018 => ("SPIFFS_ERR_INDEX_FREE", "a part of the index is nowhere", K::Corrupt),
        -10019 => ("SPIFFS_ERR_INDEX_LU", "a part of the index would be in a lookup page", K::Corrupt),
        -10020 => ("SPIFFS_ERR_INDEX_INVALID", "a part of the index would be outside the volume", K::Corrupt),
        -10021 => ("SPIFFS_ERR_NOT_WRITABLE", "the file is not open for writing", K::Denied),
        -10022 => ("SPIFFS_ERR_NOT_READABLE", "the file is not open for reading", K::Denied),
        -10023 => ("SPIFFS_ERR_CONFLICTING_NAME", "a file of this name exists", K::Exists),
        -10025 => ("SPIFFS_ERR_NOT_A_FS", "there is no SPIFFS of these options", K::NoFileSystem),
        -10029 => ("SPIFFS_ERR_NO_DELETED_BLOCKS", "no block holds deleted pages alone", K::NoSpace),
        -10030 => ("SPIFFS_ERR_FILE_EXISTS", "the file exists", K::Exists),
        -10031 => ("SPIFFS_ERR_NOT_A_FILE", "it is no file", K::NotFound),
        -10034 => ("SPIFFS_ERR_PROBE_TOO_FEW_BLOCKS", "a volume has at least three blocks", K::NoFileSystem),
        -10036 => ("SPIFFS_ERR_NAME_TOO_LONG", "the name is too long", K::NameTooLong),
        -10040 => ("SPIFFS_ERR_SEEK_BOUNDS", "the position lies before the start", K::InvalidParameter),
        -10050 => ("SPIFFS_ERR_INTERNAL", "what is stored contradicts itself", K::Corrupt),
        _ => ("unknown SPIFFS_ERR", "no such code", K::Other),
    };
    Code { number, name, meaning, kind }
}

/// An error as the trait tells it.
pub fn told(error: Error<DeviceError>, flash: &mut DeviceFlash, path: &str) -> FsError {
    let code = code(&error);
    match error {
        Error::Flash(source) => {
            flash.last_error = None;
            FsError::Device { source, code }
        }
        Error::DataLost => match flash.last_error.take() {
            Some(source) => FsError::Device { source, code: Code { kind: ErrorKind::Device, ..code } },
            None => FsError::Code(code),
        },
        // `Settings` has checked it.
        Error::Config(error) => {
            FsError::Option(OptionError::BadValue { key: "page", value: String::new(), reason: error.to_string() })
        }
        Error::Memory => FsError::NoMemory,
        Error::NameHasZero => FsError::InvalidName(path.into()),
        Error::FileClosed | Error::BadHandle => FsError::UnknownFile,
        _ => FsError::Code(code),
    }
}
