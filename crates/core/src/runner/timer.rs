//! The time of a repeat.

/// Adds up a repeat's time from clock readings that are made anyway: from the start of its first operation to the end of
/// its last, without what is left out.
#[derive(Debug)]
pub(super) struct Timer {
    first_start_ns: u64,
    last_end_ns: u64,
    left_out_ns: u64,
    /// The operations alone, which is all there is to go by where the clock stepped.
    inside_ns: u64,
    /// How often the clock stepped back.
    pub steps: u64,
}

impl Timer {
    pub(super) const fn new(now_ns: u64) -> Self {
        Self { first_start_ns: now_ns, last_end_ns: now_ns, left_out_ns: 0, inside_ns: 0, steps: 0 }
    }

    /// The first operation starts: nothing before it counts.
    #[inline]
    pub(super) const fn first(&mut self, start_ns: u64) {
        self.first_start_ns = start_ns;
        self.last_end_ns = start_ns;
    }

    /// An operation ran. `gap_counts` tells whether the time since the one before belongs to the repeat. Gives its latency,
    /// unless the clock stepped back inside it.
    #[inline]
    pub(super) const fn op(&mut self, start_ns: u64, end_ns: u64, gap_counts: bool) -> Option<u64> {
        match start_ns.checked_sub(self.last_end_ns) {
            Some(gap_ns) if !gap_counts => self.left_out_ns += gap_ns,
            Some(_) => {}
            None => self.steps += 1,
        }
        self.last_end_ns = end_ns;
        match end_ns.checked_sub(start_ns) {
            Some(ns) => {
                self.inside_ns += ns;
                Some(ns)
            }
            None => {
                self.steps += 1;
                None
            }
        }
    }

    /// What passed since the last operation does not count.
    pub(super) const fn leave_out(&mut self, now_ns: u64) {
        if let Some(gap_ns) = now_ns.checked_sub(self.last_end_ns) {
            self.left_out_ns += gap_ns;
        }
        self.last_end_ns = now_ns;
    }

    /// How long ago `begin_ns` was when the last operation ended.
    #[inline]
    pub(super) const fn since(&self, begin_ns: u64) -> u64 {
        self.last_end_ns.saturating_sub(begin_ns)
    }

    /// The repeat's time; where the clock stepped, that of its operations.
    pub(super) const fn elapsed_ns(&self) -> u64 {
        if self.steps > 0 {
            return self.inside_ns;
        }
        self.last_end_ns.saturating_sub(self.first_start_ns).saturating_sub(self.left_out_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_count_or_are_left_out() {
        let mut timer = Timer::new(0);
        timer.first(100);
        assert_eq!(timer.op(100, 110, true), Some(10));
        assert_eq!(timer.op(113, 120, true), Some(7));
        assert_eq!(timer.elapsed_ns(), 20);
        assert_eq!(timer.op(150, 155, false), Some(5));
        timer.leave_out(200);
        assert_eq!(timer.op(200, 201, true), Some(1));
        assert_eq!(timer.elapsed_ns(), 26);
    }

    #[test]
    fn a_step_anywhere_is_noticed() {
        let mut timer = Timer::new(1000);
        timer.first(1000);
        assert_eq!(timer.op(1000, 1010, true), Some(10));
        // Between two operations, back by 505.
        assert_eq!(timer.op(505, 515, true), Some(10));
        assert_eq!((timer.steps, timer.elapsed_ns()), (1, 20));
        // Inside one.
        assert_eq!(timer.op(520, 300, true), None);
        assert_eq!((timer.steps, timer.elapsed_ns()), (2, 20));
    }
}
