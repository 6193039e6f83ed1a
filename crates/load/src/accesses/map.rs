//! Which blocks have been met: a bit for each, and above them a bit for each 64 that are all set, and so on, so that the
//! next free one is found in a few steps however full the map is.

/// A set of blocks, all free at first.
#[derive(Clone, Debug)]
pub(super) struct BlockMap {
    blocks: u64,
    /// From the blocks' own bits upwards; the last one has a single word.
    levels: Vec<Vec<u64>>,
}

const WORD: u64 = u64::BITS as u64;

impl BlockMap {
    /// How much memory a map takes, but for a few words.
    pub(super) const fn bytes(blocks: u64) -> u64 {
        blocks / 8 + blocks / (8 * 63)
    }

    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut count = blocks;
        loop {
            count = count.div_ceil(WORD).max(1);
            levels.push(vec![0; count as usize]);
            if count == 1 {
                break;
            }
        }
        let mut map = Self { blocks, levels };
        map.clear();
        map
    }

    pub(super) const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Frees all blocks.
    pub(super) fn clear(&mut self) {
        let mut count = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            // Places behind the last one are never free.
            if let Some(last) = level.last_mut()
                && (!count.is_multiple_of(WORD) || count == 0)
            {
                *last = u64::MAX << (count % WORD);
            }
            count = count.div_ceil(WORD).max(1);
        }
    }

    /// The first free block from `from` on, and from the beginning if there is none.
    #[inline]
    pub(super) fn next_free(&self, from: u64) -> Option<u64> {
        self.free_from(from).or_else(|| self.free_from(0))
    }

    fn free_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = level.get((at / WORD) as usize)?;
            let free = !word & (u64::MAX << (at % WORD));
            if free != 0 {
                let mut found = at / WORD * WORD + u64::from(free.trailing_zeros());
                for below in self.levels[..height].iter().rev() {
                    found = found * WORD + u64::from(below.get(found as usize)?.trailing_ones());
                }
                return Some(found);
            }
            // All of this word is set: the words behind it.
            at = at / WORD + 1;
        }
        None
    }

    /// How many blocks from `from` on are free, up to `most`.
    pub(super) fn free_run(&self, from: u64, most: u64) -> u64 {
        let mut run = 0;
        while run < most {
            let at = from + run;
            let Some(word) = self.levels[0].get((at / WORD) as usize) else { break };
            let in_word = u64::from((word >> (at % WORD)).trailing_zeros()).min(WORD - at % WORD);
            run += in_word;
            if at % WORD + in_word < WORD {
                break;
            }
        }
        run.min(most)
    }

    /// Sets `count` blocks from `from` on; those behind the last one are left out.
    pub(super) fn set(&mut self, from: u64, count: u64) {
        let end = from.saturating_add(count).min(self.blocks);
        let mut at = from;
        while at < end {
            let bits = (WORD - at % WORD).min(end - at);
            let mask = (u64::MAX >> (WORD - bits)) << (at % WORD);
            self.set_word(at / WORD, mask);
            at += bits;
        }
    }

    fn set_word(&mut self, mut index: u64, mut mask: u64) {
        for level in &mut self.levels {
            let Some(word) = level.get_mut(index as usize) else { return };
            *word |= mask;
            if *word != u64::MAX {
                return;
            }
            mask = 1 << (index % WORD);
            index /= WORD;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(blocks in 0_u64..10_000, steps in prop::collection::vec((0_u64..10_000, 1_u64..300), 1..200)) {
            let mut map = BlockMap::new(blocks);
            let mut free: BTreeSet<u64> = (0..blocks).collect();
            for (from, count) in steps {
                let from = from % blocks.max(1);
                let expected = free.range(from..).next().or_else(|| free.first()).copied();
                prop_assert_eq!(map.next_free(from), expected);
                let run = (from..from + count).take_while(|block| free.contains(block)).count() as u64;
                prop_assert_eq!(map.free_run(from, count), run);
                map.set(from, count);
                for block in from..from + count {
                    free.remove(&block);
                }
            }
            map.set(0, blocks);
            prop_assert_eq!(map.next_free(0), None);
            map.clear();
            prop_assert_eq!(map.next_free(0), (blocks > 0).then_some(0));
        }
    }
}
