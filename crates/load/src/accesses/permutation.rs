//! Every number below some n once, one after the other, without a table: a Feistel network over two digits of a mixed
//! radix whose product is hardly more than n (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002), walked
//! until it lands inside.
//!
//! [`flashmark_core::order::Permutation`] answers for any number and halves bits, so that it walks up to four steps. Here
//! numbers are only asked for in turn: the digits are counted instead of divided, and hardly a step is walked twice.

use super::seeds::derive;

const ROUNDS: usize = 4;

/// An order of the numbers below n, and how far it has come.
#[derive(Clone, Debug)]
pub(super) struct OnceEach {
    n: u64,
    /// Digits are `high` below `rows` and `low` below `columns`.
    rows: u64,
    columns: u64,
    keys: [u64; ROUNDS],
    high: u64,
    low: u64,
    /// Numbers in advance: one waits for its multiplications, several share the waiting. The last `ready_left` are next.
    ready: [u64; BATCH],
    ready_left: usize,
}

/// The largest n: digits then have 32 bits.
pub(super) const NUMBERS_MAX: u64 = i64::MAX as u64;
const BATCH: usize = 16;
/// What is no number below n.
const OUTSIDE: u64 = u64::MAX;

impl OnceEach {
    /// The numbers below `n`, which may be 0 and is at most [`NUMBERS_MAX`].
    pub(super) fn new(n: u64, seed: u64) -> Self {
        let n = n.min(NUMBERS_MAX);
        let columns = n.isqrt().max(1);
        let mut order = Self {
            n,
            rows: n.div_ceil(columns),
            columns,
            keys: [0; ROUNDS],
            high: 0,
            low: 0,
            ready: [OUTSIDE; BATCH],
            ready_left: 0,
        };
        order.restart(seed);
        order
    }

    /// Begins anew, in the order of `seed`.
    pub(super) fn restart(&mut self, seed: u64) {
        for (index, key) in (0_u64..).zip(&mut self.keys) {
            *key = derive(seed, index);
        }
        (self.high, self.low, self.ready_left) = (0, 0, 0);
    }

    /// The next number, or nothing when all have been met.
    #[inline]
    pub(super) fn next_number(&mut self) -> Option<u64> {
        loop {
            if self.ready_left == 0 && !self.make_ready() {
                return None;
            }
            self.ready_left -= 1;
            let number = self.ready[BATCH - 1 - self.ready_left];
            if number < self.n {
                return Some(number);
            }
        }
    }

    #[inline(never)]
    fn make_ready(&mut self) -> bool {
        if self.high >= self.rows {
            return false;
        }
        let (rows, columns) = (self.rows, self.columns);
        if self.low + BATCH as u64 <= columns {
            // All in one row, as almost always: nothing but multiplications, side by side.
            for (low, number) in (self.low..).zip(&mut self.ready) {
                *number = encrypt(&self.keys, rows, columns, self.high, low);
            }
            self.low += BATCH as u64;
            if self.low == columns {
                (self.high, self.low) = (self.high + 1, 0);
            }
        } else {
            for number in &mut self.ready {
                let is_digit = self.high < rows;
                *number = if is_digit { encrypt(&self.keys, rows, columns, self.high, self.low) } else { OUTSIDE };
                self.low += 1;
                if self.low == columns {
                    (self.high, self.low) = (self.high + 1, 0);
                }
            }
        }
        self.ready_left = BATCH;
        true
    }
}

#[inline]
fn encrypt(keys: &[u64; ROUNDS], rows: u64, columns: u64, mut high: u64, mut low: u64) -> u64 {
    for pair in keys.chunks_exact(2) {
        high = add_below(high, scramble(low ^ pair[0], rows), rows);
        low = add_below(low, scramble(high ^ pair[1], columns), columns);
    }
    high * columns + low
}

/// A number below `bound` (at most 2^32) that depends on all bits of `value`: two multiplications, of which the high bits are the
/// well-mixed ones.
#[inline]
const fn scramble(value: u64, bound: u64) -> u64 {
    let once = value.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let twice = (once ^ (once >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((twice >> 32) * bound) >> 32
}

/// `(a + b) % bound` of two numbers below `bound`, which is at most 2^32.
#[inline]
fn add_below(a: u64, b: u64, bound: u64) -> u64 {
    let sum = a + b;
    // The smaller one is the right one, as the difference goes round below zero; a branch would be a coin toss.
    sum.min(sum.wrapping_sub(bound))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_number_is_met_once(n in 0_u64..3000, seed: u64) {
            let mut order = OnceEach::new(n, seed);
            for round in 0..2 {
                let mut met = vec![false; n as usize];
                while let Some(number) = order.next_number() {
                    prop_assert!(!std::mem::replace(&mut met[number as usize], true), "{} twice", number);
                }
                prop_assert!(met.iter().all(|met| *met));
                order.restart(seed ^ round);
            }
        }

        #[test]
        fn large_ones_stay_inside(n in 1..=NUMBERS_MAX, seed: u64) {
            let mut order = OnceEach::new(n, seed);
            let met: std::collections::BTreeSet<u64> = (0..100).map_while(|_| order.next_number()).collect();
            prop_assert_eq!(met.len() as u64, n.min(100));
            prop_assert!(met.iter().all(|number| *number < n));
        }
    }

    #[test]
    fn places_and_gaps_are_even() {
        let n = 1 << 16;
        let (mut places, mut gaps) = ([0_u32; 16], [0_u32; 16]);
        let mut order = OnceEach::new(n, 3);
        let mut last = 0;
        for _ in 0..16_000 {
            let number = order.next_number().unwrap();
            places[(number >> 12) as usize] += 1;
            gaps[((number.wrapping_sub(last) % n) >> 12) as usize] += 1;
            last = number;
        }
        for counts in [places, gaps] {
            // Chi-squared with 15 degrees of freedom: 37.7 is passed once in a thousand seeds; this seed is fixed.
            let chi: f64 = counts.iter().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi < 37.7, "{chi} {counts:?}");
        }
    }
}
