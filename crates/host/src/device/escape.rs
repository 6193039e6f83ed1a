//! Octal escapes of `/proc/self/mountinfo` and `/proc/swaps` (the kernel's `mangle_path`: space, tab, newline,
//! backslash and, for sources, `#` are written as a backslash and three octal digits).

use std::ffi::OsString;
use std::path::PathBuf;

/// Undoes the escapes. A backslash that starts no escape is kept as it is.
pub(crate) fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, tail)) = rest.split_first() {
        if let (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) = (byte, tail) {
            out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
            rest = after;
        } else {
            out.push(byte);
            rest = tail;
        }
    }
    out
}

/// A field as a path, without loss where the system allows any byte in a path.
pub(crate) fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(os_string(unescape(field)))
}

/// A field as text, for showing.
pub(crate) fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the kernel does to a path.
    fn mangle(bytes: &[u8]) -> Vec<u8> {
        bytes
            .iter()
            .flat_map(|&b| match b {
                b' ' | b'\t' | b'\n' | b'\\' | b'#' => format!("\\{b:03o}").into_bytes(),
                _ => vec![b],
            })
            .collect()
    }

    #[test]
    fn known_escapes() {
        assert_eq!(unescape(br"/mnt/my\040card"), b"/mnt/my card");
        assert_eq!(unescape(br"a\134b\011c\012d\043"), b"a\\b\tc\nd#");
        assert_eq!(unescape(br"\04"), br"\04");
        assert_eq!(unescape(br"\777\"), br"\777\");
    }

    proptest! {
        #[test]
        fn undoes_what_the_kernel_does(bytes: Vec<u8>) {
            prop_assert_eq!(unescape(&mangle(&bytes)), bytes);
        }
    }
}
