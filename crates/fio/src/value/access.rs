//! What a job does: `rw=randrw:8` (fio HOWTO, "I/O type", readwrite).

use std::fmt;

use super::choice::{pick, words};
use super::quantity::signed_bytes;
use super::{Misfit, Part, Scope};

words! {
    /// Directions, and whether offsets are random.
    Access:
    /// Sequential reads.
    Read = "read",
    /// Sequential writes.
    Write = "write",
    /// Sequential trims.
    Trim = "trim",
    /// Random reads.
    RandRead = "randread",
    /// Random writes.
    RandWrite = "randwrite",
    /// Random trims.
    RandTrim = "randtrim",
    /// Sequential reads mixed with writes.
    Rw = "rw" | "readwrite",
    /// Random reads mixed with writes.
    RandRw = "randrw",
    /// Each block trimmed and then written, one after another.
    TrimWrite = "trimwrite",
    /// Each block trimmed and then written, in random order.
    RandTrimWrite = "randtrimwrite",
}

impl Access {
    /// Whether it reads.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::RandRead | Self::Rw | Self::RandRw)
    }

    /// Whether it writes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::RandWrite | Self::Rw | Self::RandRw | Self::TrimWrite | Self::RandTrimWrite)
    }

    /// Whether it trims.
    #[must_use]
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim | Self::TrimWrite | Self::RandTrimWrite)
    }

    /// Whether reads and writes are mixed.
    #[must_use]
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::Rw | Self::RandRw)
    }

    /// Whether offsets are random.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandTrim | Self::RandRw | Self::RandTrimWrite)
    }
}

/// An [`Access`] with what stands behind its colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessPattern {
    /// What is done.
    pub access: Access,
    /// For random accesses: how many follow one another before the next random offset; at least 1.
    pub run_length: u32,
    /// For sequential accesses: how many bytes are left out after each; negative goes backwards.
    pub skip_bytes: i64,
}

impl AccessPattern {
    /// Without anything special.
    #[must_use]
    pub const fn plain(access: Access) -> Self {
        Self { access, run_length: 1, skip_bytes: 0 }
    }
}

impl Default for AccessPattern {
    fn default() -> Self {
        Self::plain(Access::Read)
    }
}

impl fmt::Display for AccessPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.access.fmt(f)?;
        match self {
            Self { run_length: 2.., .. } => write!(f, ":{}", self.run_length),
            Self { skip_bytes: 0, .. } => Ok(()),
            Self { skip_bytes, .. } => write!(f, ":{skip_bytes}"),
        }
    }
}

/// Reads `WORD`, `RANDOM-WORD:RUN-LENGTH` or `SEQUENTIAL-WORD:SKIP`.
///
/// # Errors
///
/// If it is none of them.
pub fn access_pattern(part: Part<'_>, scope: &mut Scope) -> Result<AccessPattern, Misfit> {
    let part = part.trimmed();
    let Some((word, modifier)) = part.split_once(':') else {
        return pick(part, Access::ALL).map(AccessPattern::plain);
    };
    let pattern = AccessPattern::plain(pick(word, Access::ALL)?);
    let number = signed_bytes(modifier, scope)?;
    if !pattern.access.is_random() {
        return Ok(AccessPattern { skip_bytes: number, ..pattern });
    }
    match u32::try_from(number) {
        Ok(run_length @ 1..) => Ok(AccessPattern { run_length, ..pattern }),
        _ => Err(Misfit::new(modifier, "how many accesses follow one another (1 to 4294967295)")),
    }
}
