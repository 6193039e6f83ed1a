//! `enum lfs_error`, from `lfs.h` of littlefs 2.9, and the results that `c/littlefs.h` adds.

use crate::error::{Code, ErrorKind};

/// The code of a negative result.
pub fn code(result: i32) -> Code {
    use ErrorKind as K;
    let (name, meaning, kind) = match result {
        -5 => ("LFS_ERR_IO", "the device failed", K::Device),
        -84 => ("LFS_ERR_CORRUPT", "there is no littlefs, or what is stored is corrupt", K::Corrupt),
        -2 => ("LFS_ERR_NOENT", "there is no such file or directory", K::NotFound),
        -17 => ("LFS_ERR_EXIST", "it exists already", K::Exists),
        -20 => ("LFS_ERR_NOTDIR", "a part of the path is not a directory", K::NotADirectory),
        -21 => ("LFS_ERR_ISDIR", "it is a directory", K::IsADirectory),
        -39 => ("LFS_ERR_NOTEMPTY", "the directory is not empty", K::NotEmpty),
        -9 => ("LFS_ERR_BADF", "the file is not open for this", K::Denied),
        -27 => ("LFS_ERR_FBIG", "the file would become too large", K::TooLarge),
        -22 => ("LFS_ERR_INVAL", "an argument or the superblock has no meaning here", K::InvalidParameter),
        -28 => ("LFS_ERR_NOSPC", "there is no room left", K::NoSpace),
        -12 => ("LFS_ERR_NOMEM", "there is not enough memory", K::NoMemory),
        -61 => ("LFS_ERR_NOATTR", "there is no such attribute", K::NotFound),
        -36 => ("LFS_ERR_NAMETOOLONG", "the name is too long", K::NameTooLong),
        -1000 => ("assertion", "what is stored contradicts what littlefs relies on", K::Corrupt),
        -1001 => ("endless", "what is stored leads littlefs in a circle", K::Corrupt),
        -1002 => ("broken", "what is stored contradicts itself, an earlier call has found; mount anew", K::Corrupt),
        _ => ("unknown lfs_error", "no such code in littlefs 2.9", K::Other),
    };
    Code { number: result, name, meaning, kind }
}
