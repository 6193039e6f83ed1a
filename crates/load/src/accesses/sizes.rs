//! How large an access is.

use flashmark_core::order::below;
use flashmark_fio::options::BlockSizes;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::deck::Deck;
use super::error::AccessError;

/// The sizes of one direction, drawn within what room there is.
#[derive(Clone, Debug)]
pub(super) enum Sizes {
    /// Always the same.
    Fixed(u32),
    /// Multiples of `unit` up to `most`, all alike.
    Multiples { unit: u32, most: u32 },
    /// All sizes alike.
    Any { least: u32, most: u32 },
    /// In exact shares.
    Mix { deck: Box<Deck>, bytes: Vec<u32> },
}

impl Sizes {
    pub(super) fn new(sizes: &BlockSizes, unaligned: bool) -> Result<Self, AccessError> {
        let narrow = |bytes: u64| match u32::try_from(bytes) {
            Ok(bytes @ 1..) => Ok(bytes),
            _ => Err(AccessError::BlockSize { bytes }),
        };
        Ok(match sizes {
            BlockSizes::Fixed(bytes) => Self::Fixed(narrow(*bytes)?),
            BlockSizes::Range { least, most } => {
                let (least, most) = (narrow(*least)?, narrow(*most)?);
                match unaligned {
                    true => Self::Any { least, most: most.max(least) },
                    false => Self::Multiples { unit: least, most: most / least * least },
                }
            }
            BlockSizes::Mix(shares) => {
                let least = narrow(sizes.least())?;
                let mut bytes = Vec::new();
                for share in shares {
                    let whole = narrow(share.bytes)?;
                    // What is no multiple of the smallest size is rounded down, as fio does.
                    bytes.push(if unaligned { whole } else { whole / least * least });
                }
                match bytes.as_slice() {
                    [first, rest @ ..] if rest.iter().all(|other| other == first) => Self::Fixed(*first),
                    _ => Self::Mix { deck: Box::new(Deck::new(shares.iter().map(|share| share.percent))), bytes },
                }
            }
        })
    }

    /// The smallest.
    pub(super) fn least(&self) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Multiples { unit, .. } => *unit,
            Self::Any { least, .. } => *least,
            Self::Mix { bytes, .. } => bytes.iter().copied().min().unwrap_or(1),
        }
    }

    /// The largest.
    pub(super) fn most(&self) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Multiples { most, .. } | Self::Any { most, .. } => *most,
            Self::Mix { bytes, .. } => bytes.iter().copied().max().unwrap_or(1),
        }
    }

    /// Whether all are the same.
    pub(super) const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    pub(super) fn restart(&mut self) {
        if let Self::Mix { deck, .. } = self {
            deck.restart();
        }
    }

    /// A size of at most `room` bytes; nothing if the smallest is larger. Of a mix, a size that does not fit becomes the
    /// largest one that does.
    #[inline]
    pub(super) fn draw(&mut self, room: u64, numbers: &mut Xoshiro256PlusPlus) -> Option<u32> {
        match self {
            Self::Fixed(bytes) => (u64::from(*bytes) <= room).then_some(*bytes),
            Self::Multiples { unit, most } => {
                let most = room.min(u64::from(*most));
                let steps = most / u64::from(*unit);
                (steps > 0).then(|| *unit * (below(numbers, steps) as u32 + 1))
            }
            Self::Any { least, most } => {
                let (least, most) = (u64::from(*least), room.min(u64::from(*most)));
                (least <= most).then(|| (least + below(numbers, most - least + 1)) as u32)
            }
            Self::Mix { deck, bytes } => {
                let fits = |bytes: &u32| u64::from(*bytes) <= room;
                let drawn = bytes.get(deck.draw(numbers)).copied().filter(fits);
                drawn.or_else(|| bytes.iter().copied().filter(fits).max())
            }
        }
    }
}
