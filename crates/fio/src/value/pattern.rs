//! Byte patterns: `verify_pattern="abcd"-12%o0xff` (fio HOWTO, "Buffers and memory", buffer_pattern; `lib/pattern.c`).

use std::fmt;

use super::{Misfit, Part, Scope};

/// Bytes that are repeated over a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// The bytes; where an offset goes they are 0.
    pub bytes: Vec<u8>,
    /// Where in `bytes` the eight bytes of a block's offset go, little endian.
    pub offsets: Vec<usize>,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut offsets = self.offsets.iter().peekable();
        let mut at = 0;
        let mut hexadecimal = false;
        while at < self.bytes.len() {
            if offsets.next_if(|offset| **offset == at).is_some() {
                f.write_str("%o")?;
                at += 8;
                hexadecimal = false;
                continue;
            }
            if !hexadecimal {
                f.write_str("0x")?;
                hexadecimal = true;
            }
            write!(f, "{:02x}", self.bytes[at])?;
            at += 1;
        }
        Ok(())
    }
}

/// A pattern in which `%o` stands for the block's offset.
///
/// # Errors
///
/// If it is no pattern.
pub fn with_offsets(part: Part<'_>, _: &mut Scope) -> Result<Pattern, Misfit> {
    read(part.trimmed(), true)
}

/// A pattern without offsets.
///
/// # Errors
///
/// If it is no pattern, or has an offset.
pub fn plain(part: Part<'_>, _: &mut Scope) -> Result<Pattern, Misfit> {
    read(part.trimmed(), false)
}

fn read(whole: Part<'_>, offsets: bool) -> Result<Pattern, Misfit> {
    let expected = if offsets {
        "a pattern of strings (\"abc\"), numbers (-12, 0xdeadface) and offsets (%o)"
    } else {
        "a pattern of strings (\"abc\") and numbers (-12, 0xdeadface)"
    };
    let mut pattern = Pattern::default();
    let mut rest = whole;
    while !rest.text.is_empty() {
        let refuse = || Misfit::new(rest, expected);
        let length = match rest.text.as_bytes()[0] {
            b'"' => {
                let end = rest.text[1..].find('"').ok_or_else(|| refuse().because("the string has no end"))?;
                pattern.bytes.extend_from_slice(&rest.text.as_bytes()[1..=end]);
                end + 2
            }
            b'\'' => {
                return Err(Misfit::unsupported(rest, "patterns from files are not supported; write the bytes as 0x…"));
            }
            b'%' if offsets && rest.text.starts_with("%o") => {
                pattern.offsets.push(pattern.bytes.len());
                pattern.bytes.extend_from_slice(&[0; 8]);
                2
            }
            b'0' if matches!(rest.text.as_bytes().get(1), Some(b'x' | b'X')) => {
                let digits = hexadecimal_digits(&rest.text[2..]);
                let text = &rest.text[2..2 + digits];
                // Of an odd number of digits the first is a byte of its own.
                let (first, others) = text.as_bytes().split_at(digits % 2);
                let pairs = [first].into_iter().filter(|first| !first.is_empty()).chain(others.chunks(2));
                let pairs = pairs.map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | hexadecimal_value(*digit)));
                if digits == 0 {
                    return Err(refuse());
                }
                pattern.bytes.extend(pairs);
                digits + 2
            }
            _ => {
                let sign = usize::from(rest.text.starts_with(['-', '+']));
                let mut digits = sign + rest.text[sign..].bytes().take_while(u8::is_ascii_digit).count();
                if rest.text[digits..].starts_with(['x', 'X']) && rest.text[..digits].ends_with('0') {
                    // The zero begins a hexadecimal number.
                    digits -= 1;
                }
                let number: i32 = rest.text[..digits].parse().map_err(|_| refuse())?;
                let significant = (4 - number.cast_unsigned().leading_zeros() as usize / 8).max(1);
                pattern.bytes.extend_from_slice(&number.to_le_bytes()[..significant]);
                digits
            }
        };
        rest = rest.after(length);
    }
    if pattern.bytes.is_empty() {
        return Err(Misfit::new(whole, expected));
    }
    Ok(pattern)
}

/// How many digits begin `text`, without the zero of a following `0x`.
fn hexadecimal_digits(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    let another = text[digits..].starts_with(['x', 'X']) && text[..digits].ends_with('0');
    digits - usize::from(another)
}

fn hexadecimal_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}
