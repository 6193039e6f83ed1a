//! Flows: jobs that keep step with each other in proportion to their weights (fio HOWTO, flow).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flashmark_fio::options::PaceOptions;

/// What the threads of a flow have done together.
#[derive(Debug, Default)]
struct Flow {
    weight: AtomicU64,
    count: AtomicU64,
}

/// The flows of a run, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Flows(BTreeMap<u32, Arc<Flow>>);

impl Flows {
    /// The share of a thread of a job that is in a flow; it counts from when it [begins](Share::begin).
    pub(crate) fn share(&mut self, options: &PaceOptions) -> Option<Share> {
        (options.flow > 0).then(|| Share {
            flow: Arc::clone(self.0.entry(options.flow_id).or_default()),
            weight: u64::from(options.flow),
            count: 0,
            takes_part: false,
            sleep_ns: (u64::from(options.flow_sleep_us) * 1000).max(SLEEP_MIN_NS),
        })
    }
}

/// How long a thread that is ahead waits at least before it looks again.
const SLEEP_MIN_NS: u64 = 50_000;
/// How far ahead of its share a thread may be, in accesses a unit of weight.
const AHEAD: u64 = 8;

/// A thread's share of a flow. When it is dropped the thread is done, and the others share among themselves.
#[derive(Debug)]
pub(crate) struct Share {
    flow: Arc<Flow>,
    weight: u64,
    /// What it has done, and what it would have done before it began.
    count: u64,
    takes_part: bool,
    /// How long it waits when it is ahead, in nanoseconds.
    pub sleep_ns: u64,
}

impl Share {
    /// The thread takes part from now on, as if it had done its share of what the others did before.
    pub(crate) fn begin(&mut self) {
        if std::mem::replace(&mut self.takes_part, true) {
            return;
        }
        let others = u128::from(self.flow.weight.load(Ordering::Relaxed));
        let done = u128::from(self.flow.count.load(Ordering::Relaxed));
        let share = (done * u128::from(self.weight)).checked_div(others).unwrap_or(0);
        self.count = u64::try_from(share).unwrap_or(u64::MAX);
        self.flow.count.fetch_add(self.count, Ordering::Relaxed);
        self.flow.weight.fetch_add(self.weight, Ordering::Relaxed);
    }

    /// Whether the next access may be issued; counts it if so. Of all threads that take part, the one that is farthest behind
    /// may always.
    pub(crate) fn may_issue(&mut self) -> bool {
        let weight = u128::from(self.flow.weight.load(Ordering::Relaxed).max(self.weight));
        let fair = u128::from(self.flow.count.load(Ordering::Relaxed)) * u128::from(self.weight) / weight;
        if u128::from(self.count) > fair + u128::from(AHEAD * self.weight) {
            return false;
        }
        self.count += 1;
        self.flow.count.fetch_add(1, Ordering::Relaxed);
        true
    }
}

impl Clone for Share {
    /// That of another thread, which has not begun.
    fn clone(&self) -> Self {
        Self { flow: Arc::clone(&self.flow), count: 0, takes_part: false, ..*self }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.takes_part {
            self.flow.weight.fetch_sub(self.weight, Ordering::Relaxed);
            self.flow.count.fetch_sub(self.count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_in_proportion_to_weights_and_nobody_is_stuck() {
        let mut flows = Flows::default();
        let mut share = |flow| flows.share(&PaceOptions { flow, flow_id: 4, ..PaceOptions::default() }).unwrap();
        let mut shares = [share(3), share(1)];
        shares.iter_mut().for_each(Share::begin);
        for _ in 0..40_000 {
            let issued = shares.iter_mut().filter_map(|share| share.may_issue().then_some(())).count();
            assert!(issued > 0);
        }
        let [more, less] = [&shares[0], &shares[1]].map(|share| share.count);
        assert!(more.abs_diff(3 * less) <= 4 * AHEAD * 3, "{more} to {less}");
        let [first, mut second] = shares;
        drop(first);
        // Alone it is never ahead.
        assert!((0..100_000).all(|_| second.may_issue()));
    }

    #[test]
    fn who_begins_late_makes_up_for_nothing() {
        let mut flows = Flows::default();
        let mut share = |flow| flows.share(&PaceOptions { flow, flow_id: 4, ..PaceOptions::default() }).unwrap();
        let (mut early, mut late) = (share(1), share(2));
        early.begin();
        assert!((0..10_000).all(|_| early.may_issue()));
        late.begin();
        let issued =
            (0..1000).fold([0_u64; 2], |[a, b], _| [a + u64::from(early.may_issue()), b + u64::from(late.may_issue())]);
        // From there on they are one to two, and the first one does not stand still.
        assert!(issued[1].abs_diff(2 * issued[0]) <= 6 * AHEAD, "{issued:?}");
        assert!(issued[0] >= 400, "{issued:?}");
    }

    #[test]
    fn a_thread_that_panics_does_not_hold_up_the_others() {
        let mut flows = Flows::default();
        let mut share = || flows.share(&PaceOptions { flow: 1, flow_id: 4, ..PaceOptions::default() }).unwrap();
        let (mut one, mut other) = (share(), share());
        one.begin();
        other.begin();
        let panicked = std::thread::spawn(move || {
            assert!(other.may_issue());
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert!((0..1000).all(|_| one.may_issue()));
    }

    #[test]
    fn a_copy_takes_part_on_its_own() {
        let mut flows = Flows::default();
        let mut share = flows.share(&PaceOptions { flow: 3, ..PaceOptions::default() }).unwrap();
        share.begin();
        drop(share.clone());
        assert_eq!(share.flow.weight.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn without_a_weight_there_is_no_flow() {
        assert!(Flows::default().share(&PaceOptions::default()).is_none());
    }
}
