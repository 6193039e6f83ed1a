//! `FRESULT`, from `ff.h` of R0.15.

use crate::error::{Code, ErrorKind};

/// The code of an FRESULT other than `FR_OK`.
pub fn code(result: i32) -> Code {
    use ErrorKind as K;
    let (name, meaning, kind) = match result {
        1 => ("FR_DISK_ERR", "the device failed, or the image leads outside of it", K::Corrupt),
        2 => ("FR_INT_ERR", "the image contradicts itself", K::Corrupt),
        3 => ("FR_NOT_READY", "the device is not ready", K::Device),
        4 => ("FR_NO_FILE", "there is no such file", K::NotFound),
        5 => ("FR_NO_PATH", "there is no such directory", K::NotFound),
        6 => ("FR_INVALID_NAME", "the path is not one that FatFs takes", K::InvalidName),
        7 => ("FR_DENIED", "not permitted, or the directory or volume is full", K::Denied),
        8 => ("FR_EXIST", "it exists already", K::Exists),
        9 => ("FR_INVALID_OBJECT", "the file or directory is not open", K::UnknownFile),
        10 => ("FR_WRITE_PROTECTED", "the device is write-protected", K::Denied),
        11 => ("FR_INVALID_DRIVE", "there is no such drive", K::InvalidName),
        12 => ("FR_NOT_ENABLED", "the volume is not mounted", K::NotMounted),
        13 => ("FR_NO_FILESYSTEM", "there is no FAT volume", K::NoFileSystem),
        14 => {
            ("FR_MKFS_ABORTED", "the device is too small, or the options make too many or too few clusters", K::Options)
        }
        15 => ("FR_TIMEOUT", "the volume was not free in time", K::Busy),
        16 => ("FR_LOCKED", "the file is open in a way that forbids this", K::Busy),
        17 => ("FR_NOT_ENOUGH_CORE", "a buffer is too small", K::NoMemory),
        18 => ("FR_TOO_MANY_OPEN_FILES", "too many files are open", K::TooManyOpenFiles),
        19 => ("FR_INVALID_PARAMETER", "an argument has no meaning", K::InvalidParameter),
        _ => ("unknown FRESULT", "no such code in R0.15", K::Other),
    };
    Code { number: result, name, meaning, kind }
}
