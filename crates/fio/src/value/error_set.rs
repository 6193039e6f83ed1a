//! Errors to go on after: `ignore_error=EAGAIN,ENOSPC:122` (fio HOWTO, "Error handling", ignore_error).

use super::{Misfit, Part, Scope, alternatives};

/// Error numbers that do not end a job, by what failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorSets {
    /// Of reads.
    pub read: Vec<i32>,
    /// Of writes.
    pub write: Vec<i32>,
    /// Of verification.
    pub verify: Vec<i32>,
}

/// Linux's names of errors that storage gives.
const ERRORS: &[(&str, i32)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("EWOULDBLOCK", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EPIPE", 32),
    ("EDOM", 33),
    ("ERANGE", 34),
    ("ENODATA", 61),
    ("ETIME", 62),
    ("ENOLINK", 67),
    ("EBADMSG", 74),
    ("EOVERFLOW", 75),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("EALREADY", 114),
    ("EINPROGRESS", 115),
    ("ESTALE", 116),
    ("EUCLEAN", 117),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("ENOMEDIUM", 123),
    ("EMEDIUMTYPE", 124),
    ("ECANCELED", 125),
    ("EKEYEXPIRED", 127),
];

/// Reads up to three lists between commas, for reads, writes and verification, each of names or numbers between colons.
///
/// # Errors
///
/// If a name is unknown or a number is none.
pub fn error_sets(part: Part<'_>, _: &mut Scope) -> Result<ErrorSets, Misfit> {
    let lists = part.split(',');
    if let Some(fourth) = lists.get(3) {
        return Err(Misfit::new(*fourth, "at most three lists (read,write,verify)"));
    }
    let mut sets = Vec::new();
    for list in &lists {
        let pieces = list.split(':');
        let given = pieces.iter().filter(|piece| !piece.text.trim().is_empty());
        sets.push(given.map(|piece| number(*piece)).collect::<Result<Vec<i32>, _>>()?);
    }
    let mut sets = sets.into_iter();
    let mut next = || sets.next().unwrap_or_default();
    Ok(ErrorSets { read: next(), write: next(), verify: next() })
}

fn number(part: Part<'_>) -> Result<i32, Misfit> {
    let text = part.text.trim();
    if let Some((_, number)) = ERRORS.iter().find(|(name, _)| *name == text) {
        return Ok(*number);
    }
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let number = match hexadecimal {
        Some(digits) => i32::from_str_radix(digits, 16),
        None => text.trim_start_matches('-').parse(),
    };
    match number {
        Ok(number @ 1..=4095) => Ok(number),
        _ => {
            let some = alternatives(["EIO", "EAGAIN", "ENOSPC", "a number"]);
            Err(Misfit::new(part, format!("the name of an error or its number ({some})"))
                .near(ERRORS.iter().map(|(name, _)| *name)))
        }
    }
}
