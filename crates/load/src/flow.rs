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
            sleep_ns: (u64::from(options.flow_sleep_us) * 1000).max(SLEEP_MIN_NS),
        })
    }
}

/// How long a thread that is ahead waits at least before it looks again.
const SLEEP_MIN_NS: u64 = 50_000;
/// How far ahead of its share a thread may be, in accesses a unit of weight.
const AHEAD: u64 = 8;

/// A thread's share of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    flow: Arc<Flow>,
    weight: u64,
    count: u64,
    /// How long it waits when it is ahead, in nanoseconds.
    pub sleep_ns: u64,
}

impl Share {
    /// The thread takes part from now on.
    pub(crate) fn begin(&self) {
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

    /// The thread is done: the others share among themselves.
    pub(crate) fn end(&self) {
        self.flow.weight.fetch_sub(self.weight, Ordering::Relaxed);
        self.flow.count.fetch_sub(self.count, Ordering::Relaxed);
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
        shares.iter().for_each(Share::begin);
        for _ in 0..40_000 {
            let issued = shares.iter_mut().filter_map(|share| share.may_issue().then_some(())).count();
            assert!(issued > 0);
        }
        let [more, less] = [&shares[0], &shares[1]].map(|share| share.count);
        assert!(more.abs_diff(3 * less) <= 4 * AHEAD * 3, "{more} to {less}");
        shares[0].end();
        // Alone it is never ahead.
        assert!((0..100_000).all(|_| shares[1].may_issue()));
    }

    #[test]
    fn without_a_weight_there_is_no_flow() {
        assert!(Flows::default().share(&PaceOptions::default()).is_none());
    }
}
