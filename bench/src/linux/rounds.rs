//! Rounds that take turns, and what is made of them.
//!
//! Each round runs every variant once. A difference or ratio is taken within each round and its median over the rounds
//! is reported, so that neither drift nor a few disturbed rounds show.

use crate::linux::failure::Failure;
use crate::linux::interrupt;

/// The values of some variants, round by round.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// One list a variant, all of the same length.
    values: Vec<Vec<f64>>,
}

/// Measures one variant once; most give one figure.
pub type Variant<'a, T = f64> = Box<dyn FnMut() -> Result<T, Failure> + 'a>;

/// Runs all variants `rounds` times in turn, and gives what each returned, round by round. A round more comes first and is
/// forgotten: it warms caches up.
///
/// # Errors
/// The first error of a variant; [`Failure::Interrupted`].
pub fn in_turn<T>(rounds: u32, variants: &mut [Variant<'_, T>]) -> Result<Vec<Vec<T>>, Failure> {
    let mut values: Vec<Vec<T>> = variants.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for (variant, values) in variants.iter_mut().zip(&mut values) {
            interrupt::check()?;
            let value = variant()?;
            if round > 0 {
                values.push(value);
            }
        }
    }
    Ok(values)
}

impl Rounds {
    /// The figures of [`in_turn`].
    ///
    /// # Errors
    /// As [`in_turn`].
    pub fn run(rounds: u32, variants: &mut [Variant<'_>]) -> Result<Self, Failure> {
        in_turn(rounds, variants).map(Self::of_values)
    }

    /// Of values that were taken elsewhere, one list a variant, all of the same length.
    pub fn of_values(values: Vec<Vec<f64>>) -> Self {
        Self { values }
    }

    /// One variant's values.
    pub fn of(&self, variant: usize) -> Spread {
        Spread::of(self.values[variant].clone())
    }

    /// Something made of two variants' values of the same round.
    pub fn pairs(&self, a: usize, b: usize, make: impl Fn(f64, f64) -> f64) -> Spread {
        Spread::of(self.values[a].iter().zip(&self.values[b]).map(|(a, b)| make(*a, *b)).collect())
    }
}

/// The middle of some values and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// A quarter of the values are below.
    pub low: f64,
    /// A quarter of the values are above.
    pub high: f64,
}

impl Spread {
    /// The one with the larger median.
    pub fn worse(self, other: Self) -> Self {
        if other.median > self.median { other } else { self }
    }

    /// All of them are NaN without values.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { median: quantile(&values, 0.5), low: quantile(&values, 0.25), high: quantile(&values, 0.75) }
    }
}

/// Linear between neighbours (Hyndman and Fan's type 7).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!(spread, Spread { median: 3.0, low: 2.0, high: 4.0 });
        assert_eq!(Spread::of(vec![1.0, 2.0]).median, 1.5);
        assert_eq!(Spread::of(vec![7.0]), Spread { median: 7.0, low: 7.0, high: 7.0 });
        assert!(Spread::of(Vec::new()).median.is_nan());
    }

    #[test]
    fn variants_take_turns_and_the_first_round_is_forgotten() {
        let log = std::cell::RefCell::new(String::new());
        let times = std::cell::Cell::new(0.0);
        let mut variants: Vec<Variant<'_>> = vec![
            Box::new(|| {
                log.borrow_mut().push('a');
                times.set(times.get() + 1.0);
                Ok(times.get())
            }),
            Box::new(|| {
                log.borrow_mut().push('b');
                Ok(times.get() * 10.0)
            }),
        ];
        let rounds = Rounds::run(3, &mut variants).unwrap();
        drop(variants);
        assert_eq!(log.into_inner(), "abababab");
        assert_eq!(rounds.of(0).median, 3.0, "2, 3 and 4");
        assert_eq!(rounds.pairs(1, 0, |b, a| b / a), Spread { median: 10.0, low: 10.0, high: 10.0 });
    }
}
