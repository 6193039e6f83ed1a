//! What can go wrong.

use embedded_storage::nor_flash::{NorFlashError, NorFlashErrorKind};

/// Why wear levelling refused or failed. `E` is the flash's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error<E> {
    /// The flash refused or failed.
    #[error("the flash failed: {0:?}")]
    Flash(E),
    /// The partition has no room for the records, the dummy sector and at least one sector of data.
    #[error(
        "a partition of {size_bytes} bytes is too small for wear levelling, which needs at least {least_bytes} bytes"
    )]
    TooSmall {
        /// The partition's size.
        size_bytes: u32,
        /// The least size that works with this sector size.
        least_bytes: u32,
    },
    /// The flash ends before the partition does.
    #[error("the partition of {size_bytes} bytes does not fit the flash of {capacity_bytes} bytes")]
    BeyondFlash {
        /// The partition's size.
        size_bytes: u32,
        /// The flash's size.
        capacity_bytes: usize,
    },
    /// The configuration contradicts itself or the flash.
    #[error("wear levelling can't work so: {0}")]
    Config(&'static str),
    /// An access reaches beyond the levelled sectors.
    #[error("{length} bytes at {address:#x} reach beyond the {size_bytes:#x} bytes of the levelled volume")]
    OutOfRange {
        /// Where the access starts.
        address: u32,
        /// How many bytes it asks for.
        length: u32,
        /// The volume's size.
        size_bytes: u32,
    },
    /// An erase does not start or end at a sector's border.
    #[error("an erase of {length} bytes at {address:#x} is not made of whole sectors of {sector_bytes} bytes")]
    Unaligned {
        /// Where the erase starts.
        address: u32,
        /// How many bytes it asks for.
        length: u32,
        /// The size it must be a multiple of.
        sector_bytes: u32,
    },
    /// Neither state record is valid, so the order of the sectors is unknown (only if formatting was not allowed).
    #[error("both copies of the wear-levelling state are corrupt; formatting would lose the order of the sectors")]
    Corrupt,
    /// Both state records are blank (only if formatting was not allowed).
    #[error("the partition is not formatted for wear levelling; mount it with formatting allowed")]
    Blank,
    /// The state is valid but of another version (only if formatting was not allowed).
    #[error("the wear-levelling state has version {0}, not 2; formatting would lose the order of the sectors")]
    Version(u32),
    /// The state is valid but describes a partition of another size, which the original does not notice.
    #[error(
        "the wear-levelling state is for {found} sectors of {found_sector_bytes} bytes (rotated by {rotation}, dummy \
         {dummy_sector}), the partition has {expected} of {expected_sector_bytes}; was it resized?"
    )]
    OtherGeometry {
        /// Data sectors and dummy sector, as recorded.
        found: u32,
        /// The sector size, as recorded.
        found_sector_bytes: u32,
        /// The recorded rotation, which must be less than the number of data sectors.
        rotation: u32,
        /// The recorded dummy sector, which must be less than `found`.
        dummy_sector: u32,
        /// Data sectors and dummy sector of the configured partition.
        expected: u32,
        /// The configured sector size.
        expected_sector_bytes: u32,
    },
}

impl<E: NorFlashError> NorFlashError for Error<E> {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Flash(error) => error.kind(),
            Self::OutOfRange { .. } => NorFlashErrorKind::OutOfBounds,
            Self::Unaligned { .. } => NorFlashErrorKind::NotAligned,
            _ => NorFlashErrorKind::Other,
        }
    }
}
