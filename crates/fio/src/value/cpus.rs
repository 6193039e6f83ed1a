//! Sets of processors: `cpus_allowed=0,2-5` (fio HOWTO, "Threads, processes and job synchronization", cpus_allowed).

use std::collections::BTreeSet;
use std::fmt;

use super::{Misfit, Part, Scope};

const PROCESSOR_MAX: u32 = 8191;

/// Processors by number. Empty is no restriction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet(pub BTreeSet<u32>);

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.0.iter().copied().peekable();
        let mut between = "";
        while let Some(first) = numbers.next() {
            let mut last = first;
            while let Some(next) = numbers.next_if(|next| last.checked_add(1) == Some(*next)) {
                last = next;
            }
            f.write_str(between)?;
            match last - first {
                0 => write!(f, "{first}")?,
                _ => write!(f, "{first}-{last}")?,
            }
            between = ",";
        }
        Ok(())
    }
}

/// Reads numbers and ranges between commas.
///
/// # Errors
///
/// If one is none, or a range is the wrong way round.
pub fn cpus(part: Part<'_>, _: &mut Scope) -> Result<CpuSet, Misfit> {
    let number = |piece: Part<'_>| match piece.text.trim().parse() {
        Ok(number @ 0..=PROCESSOR_MAX) => Ok(number),
        _ => Err(Misfit::new(piece, format!("a processor of 0 to {PROCESSOR_MAX} or a range of them (0,2-5)"))),
    };
    let mut set = BTreeSet::new();
    for piece in part.split(',') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let (first, last): (u32, u32) = (number(first)?, number(last)?);
        if first > last {
            return Err(Misfit::new(piece, "a range of processors, the lower one first"));
        }
        set.extend(first..=last);
    }
    Ok(CpuSet(set))
}

/// Reads a mask, whose bit 0 is processor 0.
///
/// # Errors
///
/// If it is no number of 32 bits, or 0.
pub fn mask(part: Part<'_>, scope: &mut Scope) -> Result<CpuSet, Misfit> {
    let mask = super::quantity::count32(1, u32::MAX)(part, scope)?;
    Ok(CpuSet((0..32).filter(|bit| mask >> bit & 1 == 1).collect()))
}
