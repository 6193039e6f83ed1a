//! How often a board repeats the workloads of its original at most: `<storage>.tries`.

use std::num::NonZeroU32;
use std::sync::Arc;

use flashmark_core::record::{Warning, WarningCode};
use flashmark_core::workload::Workload;

use super::place::lab;

/// Workloads as they run on a target.
#[derive(Clone)]
pub struct Work {
    /// In order, each with the repeats that it runs with.
    pub workloads: Arc<[Workload]>,
    /// How often the suite repeats each of them, where the board repeats any less often.
    suite_repeats: Option<Arc<[u32]>>,
}

impl Work {
    /// These workloads, each repeated `most` times at most. Warm-ups are no tries, and stay: a suite that has some measures
    /// what comes after them.
    pub fn at_most(mut workloads: Vec<Workload>, most: Option<NonZeroU32>) -> Self {
        let most = most.map_or(u32::MAX, NonZeroU32::get);
        let suite_repeats = workloads.iter().map(|workload| workload.repeats).collect::<Arc<[u32]>>();
        workloads.iter_mut().for_each(|workload| workload.repeats = workload.repeats.min(most));
        let is_cut = suite_repeats.iter().any(|repeats| *repeats > most);
        Self { workloads: workloads.into(), suite_repeats: is_cut.then_some(suite_repeats) }
    }

    /// All of these workloads, one part after the other.
    pub fn concat(parts: &[Self]) -> Self {
        match parts {
            [one] => one.clone(),
            _ => {
                let repeats = || parts.iter().flat_map(Self::suite_repeats).collect();
                let is_cut = parts.iter().any(|part| part.suite_repeats.is_some());
                let workloads = parts.iter().flat_map(|part| part.workloads.iter().cloned()).collect();
                Self { workloads, suite_repeats: is_cut.then(repeats) }
            }
        }
    }

    fn suite_repeats(&self) -> Vec<u32> {
        match &self.suite_repeats {
            Some(repeats) => repeats.to_vec(),
            None => self.workloads.iter().map(|workload| workload.repeats).collect(),
        }
    }

    /// How often the suite repeats a workload that runs less often here.
    pub fn cut_from(&self, nth: usize) -> Option<u32> {
        let (wanted, workload) = (self.suite_repeats.as_ref()?.get(nth)?, self.workloads.get(nth)?);
        Some(*wanted).filter(|wanted| *wanted > workload.repeats)
    }
}

/// What the user has to know of a workload that is repeated less often than the suite says.
pub fn warning(place: &lab::Place, wanted: u32, repeats: u32) -> Warning {
    let times = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
    let key = place.tries_key();
    let text = format!(
        "measured {times} instead of {wanted} times: {key} = {repeats} is the most on this board (flashmark boards keys \
         tells why); {} repeats as often as the suite says",
        place.name_with(&key, "0")
    );
    Warning::new(WarningCode::Skipped, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workloads(repeats: &[u32]) -> Vec<Workload> {
        let one = |repeats: &u32| Workload { repeats: *repeats, warm_up: 3, ..Workload::named("w") };
        repeats.iter().map(one).collect()
    }

    fn shown(work: &Work) -> Vec<(u32, Option<u32>)> {
        work.workloads.iter().enumerate().map(|(nth, workload)| (workload.repeats, work.cut_from(nth))).collect()
    }

    #[test]
    fn only_what_is_more_is_cut_and_no_warm_up() {
        let cut = Work::at_most(workloads(&[1, 2, 10]), NonZeroU32::new(2));
        assert_eq!(shown(&cut), [(1, None), (2, None), (2, Some(10))]);
        assert!(cut.workloads.iter().all(|workload| workload.warm_up == 3));
        let whole = Work::at_most(workloads(&[1, 2, 10]), None);
        assert_eq!(shown(&whole), [(1, None), (2, None), (10, None)]);
        assert_eq!(whole.workloads.to_vec(), workloads(&[1, 2, 10]));
    }

    #[test]
    fn parts_keep_what_they_were_cut_from() {
        let parts =
            [Work::at_most(workloads(&[1]), NonZeroU32::new(2)), Work::at_most(workloads(&[7, 2]), NonZeroU32::new(2))];
        assert_eq!(shown(&Work::concat(&parts)), [(1, None), (2, Some(7)), (2, None)]);
        assert_eq!(shown(&Work::concat(&parts[..1])), [(1, None)]);
        assert_eq!(shown(&Work::concat(&[])), []);
    }
}
