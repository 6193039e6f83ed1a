//! The histogram's compact serialised form.
//!
//! Bytes: the version (1), then LEB128 numbers: count, sum, min, max, the number of filled buckets, and for each of
//! them the gap to the bucket before it (the first: its index) and its count. As text it is those bytes in base64
//! (standard alphabet, padded). A thousand different latencies come to 2 to 3 KiB.

use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BUCKETS, Histogram, bucket};

const VERSION: u8 = 1;

/// Why bytes are not a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is not base64.
    #[error("not base64")]
    NotBase64,
    /// A version that this build does not know.
    #[error("histogram version {0}; this build reads version 1")]
    Version(u8),
    /// The bytes end too early, or a number is longer than its type.
    #[error("the histogram is cut short or a number in it is too long")]
    Truncated,
    /// The parts contradict each other.
    #[error("the histogram contradicts itself: {0}")]
    Inconsistent(&'static str),
}

impl Histogram {
    /// The compact form; see the module's text.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.push(VERSION);
        put(&mut out, u128::from(self.count));
        put(&mut out, self.sum_ns);
        put(&mut out, u128::from(self.min_ns()));
        put(&mut out, u128::from(self.max_ns));
        let filled = self.counts.iter().filter(|c| **c != 0).count();
        put(&mut out, filled as u128);
        let mut next = 0;
        for (index, &count) in self.counts.iter().enumerate().filter(|(_, c)| **c != 0) {
            put(&mut out, (index - next) as u128);
            put(&mut out, u128::from(count));
            next = index;
        }
        out
    }

    /// Reads the compact form.
    ///
    /// # Errors
    /// [`DecodeError`] for bytes that [`Histogram::encode`] cannot have written.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (&version, mut rest) = bytes.split_first().ok_or(DecodeError::Truncated)?;
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let mut histogram = Self::new();
        histogram.count = take_u64(&mut rest)?;
        histogram.sum_ns = take(&mut rest)?;
        let min_ns = take_u64(&mut rest)?;
        histogram.max_ns = take_u64(&mut rest)?;
        let filled = take_u64(&mut rest)?;
        let (mut index, mut total) = (0_usize, 0_u64);
        let (mut first, mut last) = (None, None);
        for nth in 0..filled {
            let gap = usize::try_from(take_u64(&mut rest)?).map_err(|_| DecodeError::Truncated)?;
            if nth > 0 && gap == 0 {
                return Err(DecodeError::Inconsistent("a bucket stands twice"));
            }
            index =
                index.checked_add(gap).filter(|i| *i < BUCKETS).ok_or(DecodeError::Inconsistent("no such bucket"))?;
            let count = take_u64(&mut rest)?;
            if count == 0 {
                return Err(DecodeError::Inconsistent("an empty bucket is listed"));
            }
            if let Some(slot) = histogram.counts.get_mut(index) {
                *slot = count;
            }
            total = total.checked_add(count).ok_or(DecodeError::Inconsistent("too many values"))?;
            first = first.or(Some(index));
            last = Some(index);
        }
        if !rest.is_empty() {
            return Err(DecodeError::Inconsistent("bytes follow its end"));
        }
        if total != histogram.count {
            return Err(DecodeError::Inconsistent("the buckets do not add up to the count"));
        }
        match (first, last) {
            (Some(first), Some(last)) => {
                if bucket(min_ns) != first || bucket(histogram.max_ns) != last || min_ns > histogram.max_ns {
                    return Err(DecodeError::Inconsistent("minimum and maximum are not in the outer buckets"));
                }
                histogram.min_ns = min_ns;
            }
            _ => {
                if min_ns != 0 || histogram.max_ns != 0 || histogram.sum_ns != 0 {
                    return Err(DecodeError::Inconsistent("an empty histogram has values"));
                }
            }
        }
        Ok(histogram)
    }

    /// The compact form as base64 text.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.encode())
    }

    /// Reads what [`Histogram::to_base64`] wrote.
    ///
    /// # Errors
    /// [`DecodeError`] as [`Histogram::decode`].
    pub fn from_base64(text: &str) -> Result<Self, DecodeError> {
        Self::decode(&STANDARD.decode(text).map_err(|_| DecodeError::NotBase64)?)
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_base64(&text).map_err(serde::de::Error::custom)
    }
}

fn put(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(bytes: &mut &[u8]) -> Result<u128, DecodeError> {
    let mut value = 0_u128;
    for shift in (0..128).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(DecodeError::Truncated)?;
        *bytes = rest;
        let part = u128::from(byte & 0x7f);
        if (part << shift) >> shift != part {
            return Err(DecodeError::Truncated);
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(DecodeError::Truncated)
}

fn take_u64(bytes: &mut &[u8]) -> Result<u64, DecodeError> {
    u64::try_from(take(bytes)?).map_err(|_| DecodeError::Truncated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_form_is_fixed() {
        let mut histogram = Histogram::new();
        [100, 100, 5_000].into_iter().for_each(|v| histogram.record(v));
        assert_eq!(histogram.to_base64(), "AQPQKGSIJwJkAuoCAQ==");
    }

    #[test]
    fn impossible_bytes_are_refused() {
        for (bytes, why) in [
            (&[][..], DecodeError::Truncated),
            (&[2], DecodeError::Version(2)),
            (&[1, 1], DecodeError::Truncated),
            (&[1, 1, 5, 5, 5, 1, 5, 2], DecodeError::Inconsistent("the buckets do not add up to the count")),
            (&[1, 1, 5, 6, 6, 1, 5, 1], DecodeError::Inconsistent("minimum and maximum are not in the outer buckets")),
            (&[1, 1, 5, 5, 5, 1, 5, 1, 0], DecodeError::Inconsistent("bytes follow its end")),
            (&[1, 0, 0, 0, 9, 0], DecodeError::Inconsistent("an empty histogram has values")),
            (&[1, 1, 5, 5, 5, 1, 0xff, 0x7f, 1], DecodeError::Inconsistent("no such bucket")),
        ] {
            assert_eq!(Histogram::decode(bytes).err(), Some(why));
        }
        assert_eq!(Histogram::from_base64("*").err(), Some(DecodeError::NotBase64));
    }

    proptest! {
        #[test]
        fn it_round_trips(values in proptest::collection::vec((0u32..64, any::<u64>()).prop_map(|(s, v)| v >> s), 0..200)) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|&v| histogram.record(v));
            let back = Histogram::from_base64(&histogram.to_base64());
            prop_assert!(back == Ok(histogram));
        }

        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Histogram::decode(&bytes);
            if let Some(first) = bytes.first_mut() {
                *first = 1;
            }
            if let Ok(histogram) = Histogram::decode(&bytes) {
                prop_assert!(Histogram::decode(&histogram.encode()) == Ok(histogram));
            }
        }
    }
}
