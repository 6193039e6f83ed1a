//! Names in code page 437, which the variants without long names use.

use std::ffi::CString;

use crate::error::FsError;

/// The upper half of code page 437.
const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
                     αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// A path for FatFs, on the only drive of a volume.
pub fn path(path: &str, long_names: bool) -> Result<CString, FsError> {
    let invalid = || FsError::InvalidName(path.into());
    let mut bytes = b"0:/".to_vec();
    let path_in_volume = path.trim_start_matches('/');
    if long_names {
        bytes.extend_from_slice(path_in_volume.as_bytes());
    } else {
        for c in path_in_volume.chars() {
            bytes.push(to_byte(c).ok_or_else(invalid)?);
        }
    }
    CString::new(bytes).map_err(|_| invalid())
}

/// A name as FatFs tells it, up to its end.
pub fn name(bytes: &[u8], long_names: bool) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let bytes = &bytes[..end];
    if long_names {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        bytes.iter().map(|byte| to_char(*byte)).collect()
    }
}

fn to_byte(c: char) -> Option<u8> {
    if c.is_ascii() {
        return u8::try_from(c).ok();
    }
    UPPER.chars().position(|upper| upper == c).and_then(|index| u8::try_from(index + 128).ok())
}

fn to_char(byte: u8) -> char {
    match byte.checked_sub(128) {
        None => char::from(byte),
        Some(index) => UPPER.chars().nth(usize::from(index)).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_one_character_and_back() {
        assert_eq!(UPPER.chars().count(), 128);
        for byte in 0..=255 {
            assert_eq!(to_byte(to_char(byte)), Some(byte));
        }
        assert_eq!(to_char(0x84), 'ä');
        assert_eq!(to_char(0xE1), 'ß');
    }

    #[test]
    fn what_the_code_page_lacks_is_refused() {
        assert_eq!(path("日", false), Err(FsError::InvalidName("日".into())));
        assert!(path("日", true).is_ok());
        assert!(path("a\0b", true).is_err());
    }
}
