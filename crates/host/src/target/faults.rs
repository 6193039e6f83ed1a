//! The system's errors as the runner's faults.

use std::io::{self, ErrorKind};
use std::path::Path;

use flashmark_core::record::TargetKind;
use flashmark_core::target::{Fault, FaultKind};

use super::system::len_bytes;

/// The fault that an error of the system stands for. `path` is for people, `io_path` is what is opened.
pub(super) fn from_io(error: &io::Error, kind: TargetKind, path: &Path, io_path: &Path) -> Fault {
    let mut fault_kind = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => FaultKind::NoSpace,
        ErrorKind::ReadOnlyFilesystem => FaultKind::ReadOnly,
        ErrorKind::PermissionDenied => FaultKind::Denied,
        ErrorKind::InvalidInput | ErrorKind::Unsupported => FaultKind::Unsupported,
        ErrorKind::NotFound => FaultKind::Gone,
        _ => sys::kind(error).unwrap_or(FaultKind::Io),
    };
    // A device that was taken away answers with plain input/output errors.
    if fault_kind == FaultKind::Io && kind == TargetKind::Device && is_gone(kind, io_path) {
        fault_kind = FaultKind::Gone;
    }
    let message = match fault_kind {
        FaultKind::Gone => format!("{} is not there any more ({error})", path.display()),
        FaultKind::Unsupported => format!("{error}: the target does not take this block size or place"),
        _ => error.to_string(),
    };
    Fault { kind: fault_kind, code: error.raw_os_error(), message }
}

/// The fault of a read that found the end where there should be data.
#[cold]
pub(super) fn at_end(kind: TargetKind, path: &Path, io_path: &Path, offset: u64) -> Fault {
    if kind == TargetKind::Device && is_gone(kind, io_path) {
        return gone(path);
    }
    Fault::new(FaultKind::Short, format!("the end of {} came before offset {offset}", path.display()))
}

/// The fault of a target that is not there, or has nothing in it.
pub(super) fn gone(path: &Path) -> Fault {
    Fault::new(FaultKind::Gone, format!("{} is not there any more, or has no medium in it", path.display()))
}

/// Whether the target has gone: a path without anything at it, or a device without a size.
pub(super) fn is_gone(kind: TargetKind, io_path: &Path) -> bool {
    if kind != TargetKind::Device {
        return matches!(io_path.try_exists(), Ok(false));
    }
    match len_bytes(io_path) {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() == ErrorKind::NotFound || sys::kind(&error) == Some(FaultKind::Gone),
    }
}

#[cfg(target_os = "linux")]
mod sys {
    use super::{FaultKind, io};

    /// Errors that the standard library has no name for.
    pub(super) fn kind(error: &io::Error) -> Option<FaultKind> {
        match error.raw_os_error()? {
            libc::ENODEV | libc::ENXIO | libc::ENOMEDIUM | libc::ESHUTDOWN | libc::ESTALE => Some(FaultKind::Gone),
            libc::EOPNOTSUPP => Some(FaultKind::Unsupported),
            _ => None,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use super::{FaultKind, io};

    pub(super) fn kind(_: &io::Error) -> Option<FaultKind> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn errors_have_their_kind_and_number() {
        for (errno, kind) in [
            (libc::ENOSPC, FaultKind::NoSpace),
            (libc::EDQUOT, FaultKind::NoSpace),
            (libc::EROFS, FaultKind::ReadOnly),
            (libc::EACCES, FaultKind::Denied),
            (libc::EINVAL, FaultKind::Unsupported),
            (libc::EOPNOTSUPP, FaultKind::Unsupported),
            (libc::ENXIO, FaultKind::Gone),
            (libc::ENODEV, FaultKind::Gone),
            (libc::EIO, FaultKind::Io),
        ] {
            let fault =
                from_io(&io::Error::from_raw_os_error(errno), TargetKind::Directory, Path::new("/x"), Path::new("/x"));
            assert_eq!((fault.kind, fault.code), (kind, Some(errno)), "{fault}");
        }
        let nowhere = Path::new("/nonexistent");
        let lost = from_io(&io::Error::from_raw_os_error(libc::EIO), TargetKind::Device, nowhere, nowhere);
        assert_eq!(lost.kind, FaultKind::Gone);
    }
}
