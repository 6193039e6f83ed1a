//! The distribution of latencies in a record: a histogram at rest.

use alloc::boxed::Box;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::histogram::Histogram;

/// A [`Histogram`] in its compact form: it takes what its filled buckets need, mostly some dozens of bytes, instead of
/// 20 KiB, so that many thousand records fit into memory. In a record it is the same text as the histogram.
#[derive(Clone, PartialEq, Eq)]
pub struct Distribution(Box<[u8]>);

impl Distribution {
    /// What it holds, to count in and to look at.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        // The bytes were written by `encode`, and are never changed.
        Histogram::decode(&self.0).unwrap_or_default()
    }
}

impl From<&Histogram> for Distribution {
    fn from(histogram: &Histogram) -> Self {
        Self(histogram.encode().into_boxed_slice())
    }
}

impl fmt::Debug for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Distribution").field(&self.histogram()).finish()
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By way of the histogram: text that is none is refused, and equal distributions are equal bytes.
        Histogram::deserialize(deserializer).map(|histogram| Self::from(&histogram))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use proptest::prelude::*;

    use super::*;
    use crate::record::OpStats;

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&ns| histogram.record(ns));
        histogram
    }

    #[test]
    fn few_values_take_few_bytes() {
        assert!(Distribution::from(&histogram(&[1_053_682_000, 1_259_971_000])).0.len() < 40);
        assert_eq!(Distribution::from(&Histogram::new()).histogram(), Histogram::new());
        assert!(size_of::<OpStats>() <= 256, "a record has several of them");
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        for text in ["\"*\"", "\"\"", "\"Ag==\"", "7", "null"] {
            assert!(serde_json::from_str::<Distribution>(text).is_err(), "{text}");
        }
        // A number with a needless byte: the same distribution, and so equal to it.
        let long = serde_json::from_str::<Distribution>("\"AYAAAAAAAA==\"");
        assert_eq!(long.ok(), Some(Distribution::from(&Histogram::new())));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_at_rest(values in proptest::collection::vec((0_u32..64, any::<u64>()), 0..200)) {
            let values: alloc::vec::Vec<u64> = values.into_iter().map(|(shift, value)| value >> shift).collect();
            let histogram = histogram(&values);
            let kept = Distribution::from(&histogram);
            prop_assert!(kept.histogram() == histogram);
            let text: String = serde_json::to_string(&kept).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&histogram).unwrap());
            prop_assert!(serde_json::from_str::<Distribution>(&text).unwrap() == kept);
        }
    }
}
