//! What was found on a device or in a file before anything is written to it.

use std::fmt;

use super::signature::Signature;
use super::usage::InUse;

/// What a device or file is and holds, for the user to recognise it by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Vendor and model, where the device tells.
    pub model: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// Partition tables, file systems and other formats.
    pub contents: Vec<Signature>,
    /// Whether places that were looked at could not be read, so that `contents` may lack something.
    pub unreadable: bool,
    /// Who uses it.
    pub uses: Vec<InUse>,
}

impl Findings {
    /// Whether nothing was recognised and everything could be looked at. There may be data all the same.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.contents.is_empty() && !self.unreadable
    }
}

impl fmt::Display for Findings {
    /// A phrase that goes on from the thing's name: `(Card SC32G, 32.0 GB) holds an MBR partition table: ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        if let Some(model) = &self.model {
            write!(f, "{model}, ")?;
        }
        write!(f, "{}) ", approximate(self.size_bytes))?;
        if self.contents.is_empty() {
            f.write_str("holds no partition table or file system that flashmark knows, but may hold data")?;
        } else {
            f.write_str("holds: ")?;
        }
        for (n, signature) in self.contents.iter().enumerate() {
            write!(f, "{}{signature}", if n == 0 { "" } else { "; " })?;
        }
        if self.unreadable {
            f.write_str(" (parts of it can't be read; there may be more)")?;
        }
        Ok(())
    }
}

/// A size as it is printed on media: in powers of 1000, to a tenth of the unit.
pub(crate) fn approximate(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let rounded = |unit_bytes: u128| (u128::from(bytes) * 10 + unit_bytes / 2) / unit_bytes;
    let (mut unit_bytes, mut unit) = (1000, 0);
    while unit + 1 < UNITS.len() && rounded(unit_bytes) >= 10_000 {
        unit_bytes *= 1000;
        unit += 1;
    }
    let tenths = rounded(unit_bytes);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_printed_on_media() {
        let all = [0, 999, 1000, 1_940_000, 33_554_432, 999_960, 31_914_983_424, u64::MAX].map(approximate);
        assert_eq!(all, ["0 B", "999 B", "1.0 kB", "1.9 MB", "33.6 MB", "1.0 MB", "31.9 GB", "18446.7 PB"]);
    }
}
