//! The figures that records are sorted by.

use std::fmt;
use std::str::FromStr;

/// A figure that records are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Bytes read and written over the elapsed time; the fastest first.
    #[default]
    Rate,
    /// The mean latency of reads and writes; the lowest first, as for all that follow.
    Mean,
    /// The 99th percentile of their latency.
    P99,
    /// The longest of them.
    Max,
    /// The elapsed time of all repeats.
    Elapsed,
    /// Bytes that the device programmed for each byte written; simulated boards only.
    WriteAmplification,
    /// Erases of the sector that was erased most; simulated boards only.
    Wear,
}

/// A metric that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no metric `{given}`{}; there are {}",
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default(),
    Metric::ALL.map(Metric::name).join(", ")
)]
pub struct UnknownMetric {
    /// What was asked for.
    pub given: String,
    /// What was probably meant.
    pub nearest: Option<&'static str>,
}

impl Metric {
    /// All of them, in the order of the table's columns.
    pub const ALL: [Self; 7] =
        [Self::Rate, Self::Mean, Self::P99, Self::Max, Self::Elapsed, Self::WriteAmplification, Self::Wear];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Mean => "mean",
            Self::P99 => "p99",
            Self::Max => "max",
            Self::Elapsed => "elapsed",
            Self::WriteAmplification => "write-amplification",
            Self::Wear => "wear",
        }
    }

    /// Which end comes first.
    pub(super) const fn first(self) -> &'static str {
        match self {
            Self::Rate => "the fastest first",
            _ => "the lowest first",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(given: &str) -> Result<Self, UnknownMetric> {
        let lower = given.trim().to_ascii_lowercase().replace('_', "-");
        Self::ALL.into_iter().find(|metric| metric.name() == lower).ok_or_else(|| {
            let names = Self::ALL.iter().map(|metric| metric.name());
            let distance = |name: &str| match lower.len() >= 2 && name.starts_with(&lower) {
                true => 0,
                false => strsim::osa_distance(&lower, name),
            };
            let near = names.map(|name| (distance(name), name)).filter(|(away, name)| *away <= name.len().div_ceil(3));
            UnknownMetric { given: given.to_owned(), nearest: near.min_by_key(|(away, _)| *away).map(|(_, name)| name) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_wrong_ones_guessed() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        assert_eq!("Write_Amplification".parse(), Ok(Metric::WriteAmplification));
        for (given, nearest) in
            [("p999", Some("p99")), ("maen", Some("mean")), ("write", Some("write-amplification")), ("banana", None)]
        {
            assert_eq!(given.parse::<Metric>().unwrap_err().nearest, nearest, "{given}");
        }
        assert_eq!(
            "rte".parse::<Metric>().unwrap_err().to_string(),
            "there is no metric `rte`; did you mean `rate`?; there are rate, mean, p99, max, elapsed, \
             write-amplification, wear"
        );
    }
}
