//! Which random offset comes next: `random_distribution=zipf:1.2` (fio HOWTO, "I/O type", random_distribution).

use super::choice::pick;
use super::decimal::{Billionths, decimal};
use super::quantity::bytes;
use super::split::{directions, entries, fill_in, share};
use super::triple::Triple;
use super::{Misfit, Part, Scope};

const ZONES_MAX: usize = 256;
const SEQUENCE_MAX: usize = 64;

/// A part of a file and how much of the accesses it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Of a hundred accesses, how many are in it.
    pub access_percent: u32,
    /// How much of the file it is, in percent.
    pub size_percent: u32,
}

/// As [`Zone`], with a size in bytes; 0 is the rest of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneOfBytes {
    /// Of a hundred accesses, how many are in it.
    pub access_percent: u32,
    /// Its size.
    pub bytes: u64,
}

/// A distribution of random offsets. A `center` is where in the file the most frequent blocks are, as a part of one;
/// without it they are spread over the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// All blocks alike.
    #[default]
    Random,
    /// Zipf's.
    Zipf {
        /// The exponent; never exactly 1.
        theta: Billionths,
        /// Where the peak is.
        center: Option<Billionths>,
    },
    /// Pareto's.
    Pareto {
        /// The input, between 0 and 1 and neither of them.
        power: Billionths,
        /// Where the peak is.
        center: Option<Billionths>,
    },
    /// Gauss's.
    Normal {
        /// The deviation in percent, below 100.
        deviation: Billionths,
        /// Where the peak is.
        center: Option<Billionths>,
    },
    /// Zones that share the accesses.
    Zoned(Triple<Vec<Zone>>),
    /// Zones with sizes in bytes.
    ZonedAbs(Triple<Vec<ZoneOfBytes>>),
    /// These blocks, over and over.
    Sequence(Vec<u32>),
}

#[derive(Clone, Copy)]
enum Kind {
    Random,
    Zipf,
    Pareto,
    Normal,
    Zoned,
    ZonedAbs,
    Sequence,
}

const KINDS: &[(&str, Kind)] = &[
    ("random", Kind::Random),
    ("zipf", Kind::Zipf),
    ("pareto", Kind::Pareto),
    ("normal", Kind::Normal),
    ("zoned", Kind::Zoned),
    ("zoned_abs", Kind::ZonedAbs),
    ("sequence", Kind::Sequence),
];

/// Reads a distribution.
///
/// # Errors
///
/// If it is unknown, or what stands behind its colon is out of range.
pub fn distribution(part: Part<'_>, scope: &mut Scope) -> Result<Distribution, Misfit> {
    let part = part.trimmed();
    let (word, rest) = part.split_once(':').map_or((part, None), |(word, rest)| (word, Some(rest)));
    match pick(word, KINDS)? {
        Kind::Random if rest.is_none() => Ok(Distribution::Random),
        Kind::Random => Err(Misfit::new(part, "`random` without anything behind it")),
        Kind::Zipf => {
            let (theta, center) = parameters(rest, scope, Billionths(1_100_000_000))?;
            if theta == Billionths::ONE {
                return Err(Misfit::new(rest.unwrap_or(part), "an exponent other than 1"));
            }
            Ok(Distribution::Zipf { theta, center })
        }
        Kind::Pareto => {
            let (power, center) = parameters(rest, scope, Billionths(200_000_000))?;
            if power == Billionths(0) || power >= Billionths::ONE {
                return Err(Misfit::new(rest.unwrap_or(part), "a number between 0 and 1"));
            }
            Ok(Distribution::Pareto { power, center })
        }
        Kind::Normal => {
            let (deviation, center) = parameters(rest, scope, Billionths(0))?;
            if deviation >= Billionths::whole(100) {
                return Err(Misfit::new(rest.unwrap_or(part), "a deviation in percent of less than 100"));
            }
            Ok(Distribution::Normal { deviation, center })
        }
        Kind::Zoned => {
            directions(behind(part, rest, "zones (zoned:60/10:40/90)")?, scope, zones).map(Distribution::Zoned)
        }
        Kind::ZonedAbs => {
            let rest = behind(part, rest, "zones (zoned_abs:60/20G:40/100G)")?;
            directions(rest, scope, zones_of_bytes).map(Distribution::ZonedAbs)
        }
        Kind::Sequence => sequence(behind(part, rest, "blocks (sequence:2,0,1)")?),
    }
}

fn behind<'a>(part: Part<'a>, rest: Option<Part<'a>>, expected: &str) -> Result<Part<'a>, Misfit> {
    rest.filter(|rest| !rest.text.trim().is_empty()).ok_or_else(|| Misfit::new(part, expected))
}

fn parameters(
    rest: Option<Part<'_>>,
    scope: &mut Scope,
    default: Billionths,
) -> Result<(Billionths, Option<Billionths>), Misfit> {
    let Some(rest) = rest else {
        return Ok((default, None));
    };
    let (value, center) = rest.split_once(':').map_or((rest, None), |(value, center)| (value, Some(center)));
    let value = decimal(value, scope)?;
    let Some(part) = center else {
        return Ok((value, None));
    };
    if part.text.trim() == "-1" {
        return Ok((value, None));
    }
    let center = decimal(part, scope)?;
    if center > Billionths::ONE {
        return Err(Misfit::new(part, "a center of 0 to 1"));
    }
    Ok((value, Some(center)))
}

fn accesses(part: Part<'_>) -> Result<u32, Misfit> {
    match part.text.trim().parse() {
        Ok(percent @ 0..=100) => Ok(percent),
        _ => Err(Misfit::new(part, "a percentage of accesses")),
    }
}

fn all_accesses(part: Part<'_>, sum: u32) -> Result<(), Misfit> {
    if sum == 100 {
        return Ok(());
    }
    Err(Misfit::new(part, "percentages of accesses that add up to 100").because(format!("they add up to {sum}")))
}

fn zones(part: Part<'_>, _: &mut Scope) -> Result<Vec<Zone>, Misfit> {
    let mut percents = Vec::new();
    let mut shares = Vec::new();
    for (access, size) in entries(part, ZONES_MAX)? {
        percents.push(accesses(access)?);
        shares.push(share(size)?);
    }
    if percents.is_empty() {
        return Ok(Vec::new());
    }
    all_accesses(part, percents.iter().sum())?;
    let sizes = fill_in(part, &shares)?;
    let zone = |(access_percent, size_percent)| Zone { access_percent, size_percent };
    Ok(percents.into_iter().zip(sizes).map(zone).collect())
}

fn zones_of_bytes(part: Part<'_>, scope: &mut Scope) -> Result<Vec<ZoneOfBytes>, Misfit> {
    let mut zones = Vec::new();
    for (access, size) in entries(part, ZONES_MAX)? {
        let size = size.filter(|size| !size.text.trim().is_empty());
        let bytes = size.map_or(Ok(0), |size| bytes(size, scope))?;
        zones.push(ZoneOfBytes { access_percent: accesses(access)?, bytes });
    }
    if !zones.is_empty() {
        all_accesses(part, zones.iter().map(|zone| zone.access_percent).sum())?;
    }
    Ok(zones)
}

fn sequence(part: Part<'_>) -> Result<Distribution, Misfit> {
    let pieces = part.split(',');
    if pieces.len() > SEQUENCE_MAX {
        return Err(Misfit::new(part, format!("at most {SEQUENCE_MAX} blocks")));
    }
    let block = |piece: &Part<'_>| piece.text.trim().parse().map_err(|_| Misfit::new(*piece, "the number of a block"));
    pieces.iter().map(block).collect::<Result<_, _>>().map(Distribution::Sequence)
}
