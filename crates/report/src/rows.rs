//! The rows of a table: what one record has to show, before anybody lays it out.

use flashmark_core::record::{OpKind, OpStats, Outcome, Reached, Record, Status, rate_bytes_per_s};
use flashmark_core::workload::OpMix;

use crate::figures::{RateUnit, digits, per_second, printable, rate, size, time};

/// One row.
pub(crate) struct Row<'a> {
    pub(crate) record: &'a Record,
    /// The operation; `None` for a workload that did nothing.
    pub(crate) stats: Option<&'a OpStats>,
    pub(crate) place: Place,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Reading or writing.
    Main,
    /// What belongs to it, with more to follow.
    Below,
    /// The last of what belongs to it.
    Last,
}

/// The rows of a record: reading and writing first, then opening, syncing, closing and the like. A sync, an opening or a
/// closing that took no time at all was none: raw flash has no such thing.
pub(crate) fn rows(record: &Record) -> Vec<Row<'_>> {
    let moves = |stats: &&OpStats| is_main(stats.op);
    let mut rows: Vec<Row<'_>> = record
        .outcome
        .ops
        .iter()
        .filter(moves)
        .map(|stats| Row { record, stats: Some(stats), place: Place::Main })
        .collect();
    if rows.is_empty() {
        rows.push(Row { record, stats: None, place: Place::Main });
    }
    let below = record.outcome.ops.iter().filter(|stats| !moves(stats) && !is_nothing(stats));
    rows.extend(below.map(|stats| Row { record, stats: Some(stats), place: Place::Below }));
    if let Some(last) = rows.last_mut().filter(|row| row.place == Place::Below) {
        last.place = Place::Last;
    }
    rows
}

/// Whether it is something that a simulated target without it does in no time.
const fn is_nothing(stats: &OpStats) -> bool {
    stats.count > 0 && stats.latency_ns.max == 0 && matches!(stats.op, OpKind::Sync | OpKind::Open | OpKind::Close)
}

/// Whether an operation moves the workload's data, and so has a rate.
pub(crate) const fn is_main(op: OpKind) -> bool {
    matches!(op, OpKind::Read | OpKind::Write | OpKind::Trim)
}

impl Row<'_> {
    /// What the row is called: the workload, with the operation where the workload mixes two and the status where it is
    /// not done.
    pub(crate) fn name(&self) -> String {
        let op = self.stats.map_or("", |stats| stats.op.name());
        match self.place {
            Place::Main => {
                let workload = printable(&self.record.workload.name);
                let mixed = self.record.workload.mix() == OpMix::Mixed && !op.is_empty();
                let name = if mixed { format!("{workload}: {op}") } else { workload };
                match self.record.outcome.status {
                    Status::Done => name,
                    status => format!("{name} ({})", status.name()),
                }
            }
            Place::Below => format!("  ├ {op}"),
            Place::Last => format!("  └ {op}"),
        }
    }

    /// What was moved in which pieces, or how often something was done.
    pub(crate) fn size(&self) -> String {
        match self.stats {
            None => "-".into(),
            Some(stats) if is_main(stats.op) => {
                format!("{} in {}", size(stats.bytes), size(u64::from(self.record.workload.block_bytes)))
            }
            Some(stats) if stats.count == 1 => "once".into(),
            Some(stats) => format!("{} times", stats.count),
        }
    }

    /// The rate with its unit; empty where there is none. Of whole repeats it is that of all that they moved.
    pub(crate) fn rate(&self, unit: RateUnit) -> String {
        let outcome = &self.record.outcome;
        match self.stats {
            Some(stats) if is_main(stats.op) => rate(stats.bytes, outcome.elapsed_ns, unit),
            Some(stats) if stats.op == OpKind::Repeat && outcome.status == Status::Done => {
                rate(outcome.bytes, stats.latency_ns.sum, unit)
            }
            _ => String::new(),
        }
    }

    /// How much the repeats differ: the slowest and the fastest one's rate, without the unit. `None` for a single
    /// repeat, and for a mix, whose repeats are known as a whole only.
    pub(crate) fn spread(&self, unit: RateUnit) -> Option<String> {
        self.main()?;
        (self.record.workload.mix() != OpMix::Mixed).then(|| spread(&self.record.outcome, unit)).flatten()
    }

    /// Operations a second; empty for what is not reading or writing.
    pub(crate) fn iops(&self) -> String {
        self.main().map_or_else(String::new, |stats| per_second(stats.count, self.record.outcome.elapsed_ns))
    }

    /// Mean, median, 99th percentile and maximum.
    pub(crate) fn latencies(&self) -> [String; 4] {
        match self.stats.filter(|stats| stats.count > 0) {
            Some(OpStats { latency_ns: l, .. }) => [l.mean, l.p50, l.p99, l.max].map(time),
            None => Default::default(),
        }
    }

    /// The number of stalls.
    pub(crate) fn stalls(&self) -> String {
        self.stats.map_or_else(String::new, |stats| stats.stalls.count.to_string())
    }

    /// Whether the row is a write that is known to have reached a cache only.
    pub(crate) fn in_cache(&self) -> bool {
        self.stats.is_some_and(|stats| stats.op == OpKind::Write) && self.record.outcome.reached == Some(Reached::Cache)
    }

    /// What written data has reached; empty for what does not write.
    pub(crate) fn reached(&self) -> &'static str {
        let writes = self.stats.is_some_and(|stats| stats.op == OpKind::Write);
        self.record.outcome.reached.filter(|_| writes).map_or("", Reached::name)
    }

    fn main(&self) -> Option<&OpStats> {
        self.stats.filter(|stats| is_main(stats.op))
    }
}

/// The slowest and the fastest repeat's rate, where there are two repeats at least, without the unit: `108–115`.
pub(crate) fn spread(outcome: &Outcome, unit: RateUnit) -> Option<String> {
    let timed = || outcome.repeats.iter().filter(|repeat| repeat.elapsed_ns > 0);
    if timed().count() < 2 {
        return None;
    }
    let rates = || timed().map(|repeat| rate_bytes_per_s(repeat.bytes, repeat.elapsed_ns));
    let shown = |rate: u64| digits(rate as f64 / unit.bytes() as f64);
    Some(format!("{}–{}", shown(rates().min()?), shown(rates().max()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_took_no_time_at_all_has_no_row() {
        let shown = |ops: &[(OpKind, u64, &[u64])]| {
            let mut record = samples::simulated::on_fatfs().remove(0);
            record.outcome = samples::outcome(ops);
            rows(&record).iter().map(|row| (row.name(), row.place)).collect::<Vec<_>>()
        };
        let write = (OpKind::Write, 8192, &[1_000, 1_000][..]);
        let main = ("write 64 KiB, sync".to_owned(), Place::Main);
        assert_eq!(shown(&[write, (OpKind::Open, 0, &[0, 0]), (OpKind::Sync, 0, &[0])]), std::slice::from_ref(&main));
        let sync = shown(&[write, (OpKind::Sync, 0, &[0, 1]), (OpKind::Close, 0, &[0])]);
        assert_eq!(sync, [main.clone(), ("  └ sync".into(), Place::Last)]);
        // Reading and writing stay, whatever they took.
        assert_eq!(shown(&[(OpKind::Write, 8192, &[0])]), [main]);
    }
}
