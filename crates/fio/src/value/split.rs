//! Mixes of block sizes: `bssplit=4k/60:64k/40` (fio HOWTO, "Block size", bssplit).

use std::fmt;

use super::quantity::some_bytes;
use super::triple::Triple;
use super::{Misfit, Part, Scope};

const ENTRIES_MAX: usize = 64;

/// A block size and how often it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The block size.
    pub bytes: u64,
    /// Of a hundred accesses, how many have it.
    pub percent: u32,
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bytes, self.percent)
    }
}

/// Applies fio's rule for mixes to `read` (`str_split_parse` of fio's `options.c`): without a comma it is for all three
/// directions, with one what stands behind it is for writes and trims, with two each has its own.
pub(super) fn directions<T: Clone>(
    part: Part<'_>,
    scope: &mut Scope,
    mut read: impl FnMut(Part<'_>, &mut Scope) -> Result<Vec<T>, Misfit>,
) -> Result<Triple<Vec<T>>, Misfit> {
    let parts = part.split(',');
    if let Some(fourth) = parts.get(3) {
        return Err(Misfit::new(*fourth, "at most three mixes (read,write,trim)"));
    }
    let mut mixes = Vec::new();
    for piece in &parts {
        mixes.push(read(*piece, scope)?);
    }
    let last = mixes.last().cloned().unwrap_or_default();
    let mut mixes = mixes.into_iter();
    let mut next = || mixes.next().unwrap_or_else(|| last.clone());
    Ok(Triple { read: next(), write: next(), trim: next() })
}

/// The entries between colons as fio sees them: it stops at an empty one.
pub(super) fn entries<'a>(part: Part<'a>, most: usize) -> Result<Vec<(Part<'a>, Option<Part<'a>>)>, Misfit> {
    let pieces = part.split(':');
    if part.text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        if piece.text.is_empty() && index + 1 == pieces.len() {
            break;
        }
        if piece.text.trim().is_empty() {
            return Err(Misfit::new(part, "entries between the colons").because("fio stops at an empty one"));
        }
        if entries.len() == most {
            return Err(Misfit::new(*piece, format!("at most {most} entries")));
        }
        entries.push(piece.split_once('/').map_or((*piece, None), |(first, second)| (first, Some(second))));
    }
    Ok(entries)
}

/// A percentage behind a slash; none, an empty one and 0 mean an equal share of what the others leave.
pub(super) fn share(part: Option<Part<'_>>) -> Result<Option<u32>, Misfit> {
    let Some(part) = part.filter(|part| !part.text.trim().is_empty()) else {
        return Ok(None);
    };
    let text = part.text.trim();
    let text = text.strip_suffix('%').unwrap_or(text);
    match text.parse::<u32>() {
        Ok(0) => Ok(None),
        Ok(percent @ 1..=100) => Ok(Some(percent)),
        _ => Err(Misfit::new(part, "a percentage of 0 to 100")),
    }
}

/// Gives those without a share an equal part of the rest.
pub(super) fn fill_in(part: Part<'_>, shares: &[Option<u32>]) -> Result<Vec<u32>, Misfit> {
    let sum: u32 = shares.iter().flatten().sum();
    let missing = shares.iter().filter(|share| share.is_none()).count() as u32;
    let Some(rest) = 100_u32.checked_sub(sum) else {
        return Err(
            Misfit::new(part, "percentages that add up to at most 100").because(format!("they add up to {sum}"))
        );
    };
    Ok(shares.iter().map(|share| share.unwrap_or(rest / missing.max(1))).collect())
}

fn mix(part: Part<'_>, scope: &mut Scope) -> Result<Vec<Share>, Misfit> {
    let mut sizes = Vec::new();
    let mut shares = Vec::new();
    for (size, percent) in entries(part, ENTRIES_MAX)? {
        sizes.push(some_bytes(size, scope)?);
        shares.push(share(percent)?);
    }
    let complete = shares.iter().all(Option::is_some);
    let shares = fill_in(part, &shares)?;
    let sum: u32 = shares.iter().sum();
    if complete && !shares.is_empty() && sum < 100 {
        scope.remarks.push(format!("the percentages of `{}` add up to {sum}; the last size gets the rest", part.text));
    }
    Ok(sizes.into_iter().zip(shares).map(|(bytes, percent)| Share { bytes, percent }).collect())
}

/// Reads a mix of block sizes for each direction; one that is empty is no mix.
///
/// # Errors
///
/// If a size or a percentage is none, or the percentages add up to more than 100.
pub fn splits(part: Part<'_>, scope: &mut Scope) -> Result<Triple<Vec<Share>>, Misfit> {
    if part.text.trim().is_empty() {
        return Err(Misfit::new(part, "block sizes with percentages (4k/60:64k/40)"));
    }
    directions(part.trimmed(), scope, mix)
}
