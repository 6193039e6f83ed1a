//! Exact shares: a deck of a hundred cards that is drawn to its end before it is used again.

use flashmark_core::order::below;
use rand_xoshiro::Xoshiro256PlusPlus;

const CARDS: usize = 100;

/// Draws kinds in exact shares: in every hundred draws each kind as often as its percentage says.
#[derive(Clone, Debug)]
pub(super) struct Deck {
    /// Which kind each card is; the first `left` have not been drawn.
    cards: [u16; CARDS],
    /// How the deck looks before the first draw, so that a restart needs no other memory.
    fresh: [u16; CARDS],
    left: usize,
}

impl Deck {
    /// A deck of the kinds 0, 1, …; if the percentages add up to less than 100 the last kind that has any gets the rest,
    /// as in fio, and what is above 100 is left out.
    pub(super) fn new(percents: impl IntoIterator<Item = u32>) -> Self {
        let mut fresh = [0; CARDS];
        let mut at = 0;
        let mut last = 0;
        for (kind, percent) in (0_u16..).zip(percents) {
            let count = (percent as usize).min(CARDS - at);
            fresh[at..at + count].fill(kind);
            at += count;
            if count > 0 {
                last = kind;
            }
        }
        fresh[at..].fill(last);
        Self { cards: fresh, fresh, left: CARDS }
    }

    /// Puts all cards back, in their first order.
    pub(super) fn restart(&mut self) {
        self.cards = self.fresh;
        self.left = CARDS;
    }

    /// The next card's kind.
    #[inline]
    pub(super) fn draw(&mut self, numbers: &mut Xoshiro256PlusPlus) -> usize {
        if self.left == 0 {
            self.left = CARDS;
        }
        let at = below(numbers, self.left as u64) as usize;
        self.left -= 1;
        self.cards.swap(at, self.left);
        usize::from(self.cards[self.left])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::SeedableRng as _;

    use super::*;

    proptest! {
        #[test]
        fn shares_are_exact_in_every_hundred(first in 0_u32..=100, second in 0_u32..=100, seed: u64) {
            let second = second.min(100 - first);
            let mut deck = Deck::new([first, second, 100 - first - second]);
            let mut numbers = Xoshiro256PlusPlus::seed_from_u64(seed);
            for _ in 0..3 {
                let mut counts = [0_u32; 3];
                for _ in 0..100 {
                    counts[deck.draw(&mut numbers)] += 1;
                }
                prop_assert_eq!(counts, [first, second, 100 - first - second]);
            }
        }
    }

    #[test]
    fn the_last_kind_gets_the_rest() {
        let mut deck = Deck::new([10, 20, 0]);
        let mut numbers = Xoshiro256PlusPlus::seed_from_u64(1);
        let seconds = (0..100).filter(|_| deck.draw(&mut numbers) == 1).count();
        assert_eq!(seconds, 90);
    }
}
