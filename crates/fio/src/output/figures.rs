//! The figures that several forms share.

use std::borrow::Cow;

use flashmark_core::histogram::Histogram;

use crate::options::UnifiedReporting;
use crate::results::{DirectionReport, DiskUse, JobReport, Results, Samples};
use crate::value::decimal::Billionths;
use crate::value::triple::Triple;

use super::groups;

/// A time in whole milliseconds, rounded up as fio does, so that what took any time is not told as none.
pub(super) fn whole_ms(ns: u64) -> u64 {
    ns.div_ceil(1_000_000)
}

/// So many a second, over a time in nanoseconds; 0 if it took none.
pub(super) fn per_second(number: u64, ns: u64) -> u64 {
    if ns == 0 {
        return 0;
    }
    u64::try_from(u128::from(number) * 1_000_000_000 / u128::from(ns)).unwrap_or(u64::MAX)
}

/// How much `part` is of `whole`, in percent; 0 if there is no whole.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// What is told of latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Latency {
    pub(super) count: u64,
    pub(super) min_ns: u64,
    pub(super) max_ns: u64,
    pub(super) mean_ns: f64,
    pub(super) deviation_ns: f64,
}

impl Latency {
    /// Of a distribution, which may be empty: then all is 0.
    pub(super) fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns(),
            max_ns: histogram.max_ns(),
            mean_ns: histogram.mean_with_fraction_ns(),
            deviation_ns: histogram.std_dev_ns(),
        }
    }
}

/// The percentiles that a job asks for, of a distribution.
pub(super) fn percentiles(report: &JobReport, histogram: &Histogram) -> Vec<(Billionths, u64)> {
    let hundred = Billionths::whole(100).0;
    let list = report.options.report.percentile_list.iter();
    list.map(|&percentile| (percentile, histogram.quantile_of_ns(percentile.0, hundred))).collect()
}

/// Of which latencies percentiles are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Percentiles {
    pub(super) submission: bool,
    pub(super) completion: bool,
    pub(super) total: bool,
}

impl Percentiles {
    pub(super) fn of(report: &JobReport) -> Self {
        let options = &report.options.report;
        let all = !options.gtod_reduce;
        Self {
            submission: all && options.slat_percentiles && !options.disable_slat,
            completion: all && options.clat_percentiles && !options.disable_clat,
            total: all && options.lat_percentiles && !options.disable_lat,
        }
    }
}

/// How much each class is of all, in percent; one that has any is told as at least `least` percent.
pub(super) fn shares<const N: usize>(counts: &[u64; N], least: f64) -> [f64; N] {
    shares_of(counts, counts.iter().sum(), least)
}

fn shares_of<const N: usize>(counts: &[u64; N], whole: u64, least: f64) -> [f64; N] {
    counts.map(|count| if count == 0 { 0.0 } else { percent(count, whole).max(least) })
}

/// The least share of a depth or batch that is told.
pub(super) const LEAST_DEPTH_PERCENT: f64 = 0.1;
const LEAST_LATENCY_PERCENT: f64 = 0.01;

/// The upper ends of fio's classes of latencies, in nanoseconds, microseconds and milliseconds.
pub(super) const CLASS_ENDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// How latencies are distributed over fio's classes, in percent of all accesses of a job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LatencyClasses {
    /// Below 2, 4, … 1000 nanoseconds.
    pub(super) ns: [f64; 10],
    /// Below 2, 4, … 1000 microseconds.
    pub(super) us: [f64; 10],
    /// Below 2, 4, … 1000, 2000 milliseconds, and longer.
    pub(super) ms: [f64; 12],
    /// All below a microsecond, which terse forms have no classes for.
    pub(super) below_us: f64,
}

impl LatencyClasses {
    /// Of completion latencies of all directions, to the resolution of the histogram.
    pub(super) fn of(report: &JobReport) -> Self {
        let (mut ns, mut us, mut ms) = ([0; 10], [0; 10], [0; 12]);
        for direction in report.directions.each() {
            for (value_ns, count) in direction.completion.values_ns() {
                let class = |value: u64| CLASS_ENDS.iter().take_while(|end| value >= **end).count();
                match value_ns {
                    0..1_000 => ns[class(value_ns)] += count,
                    1_000..1_000_000 => us[class(value_ns / 1_000)] += count,
                    1_000_000..2_000_000_000 => ms[class(value_ns / 1_000_000)] += count,
                    _ => ms[11] += count,
                }
            }
        }
        let below_us: u64 = ns.iter().sum();
        let whole = below_us + us.iter().sum::<u64>() + ms.iter().sum::<u64>();
        Self {
            ns: shares_of(&ns, whole, LEAST_LATENCY_PERCENT),
            us: shares_of(&us, whole, LEAST_LATENCY_PERCENT),
            ms: shares_of(&ms, whole, LEAST_LATENCY_PERCENT),
            below_us: percent(below_us, whole),
        }
    }
}

/// What a job did in one direction, or in all together.
pub(super) struct Part<'a> {
    /// fio's word for it.
    pub(super) name: &'static str,
    /// Whether it is reads; for fio, what is mixed is reads too.
    pub(super) is_write: bool,
    /// The figures.
    pub(super) report: Cow<'a, DirectionReport>,
    /// Bytes a second of the whole group in this direction.
    pub(super) group_bytes_per_s: u64,
}

impl Part<'_> {
    /// Bytes a second.
    pub(super) fn bytes_per_s(&self) -> u64 {
        per_second(self.report.bytes, self.report.runtime_ns)
    }

    /// Accesses a second.
    pub(super) fn iops(&self) -> f64 {
        if self.report.runtime_ns == 0 {
            return 0.0;
        }
        self.report.count as f64 * 1e9 / self.report.runtime_ns as f64
    }

    /// How much its mean bandwidth is of the group's, in percent, at most 100.
    pub(super) fn percent_of_group(&self) -> f64 {
        if self.group_bytes_per_s <= 1024 {
            return 100.0;
        }
        // Whole KiB a second, as in fio.
        (sane(&self.report.bandwidth_samples).mean.trunc() * 100.0 / (self.group_bytes_per_s as f64 / 1024.0))
            .min(100.0)
    }
}

/// The parts of a job's report in fio's order, as `unified_rw_reporting` has it.
pub(super) fn parts<'a>(results: &Results, report: &'a JobReport) -> Vec<Part<'a>> {
    let group = groups::of(results, report.group);
    let unified = report.options.report.unified_rw_reporting;
    let mut parts = Vec::new();
    if unified != UnifiedReporting::Mixed {
        let Triple { read, write, trim } = &report.directions;
        for ((name, report), group) in [("read", read), ("write", write), ("trim", trim)].into_iter().zip(group.each())
        {
            let group_bytes_per_s = group.bytes_per_s;
            parts.push(Part { name, is_write: name == "write", report: Cow::Borrowed(report), group_bytes_per_s });
        }
    }
    if unified != UnifiedReporting::Split {
        let group_bytes_per_s = groups::together(&group).bytes_per_s;
        let report = Cow::Owned(together(&report.directions));
        parts.push(Part { name: "mixed", is_write: false, report, group_bytes_per_s });
    }
    parts
}

/// All directions as one (fio's `sum_thread_stats`): sums, and the longest time.
pub(super) fn together(directions: &Triple<DirectionReport>) -> DirectionReport {
    let mut sum = DirectionReport::default();
    for one in directions.each() {
        sum.bytes += one.bytes;
        sum.count += one.count;
        sum.short += one.short;
        sum.dropped += one.dropped;
        sum.runtime_ns = sum.runtime_ns.max(one.runtime_ns);
        sum.submission.merge(&one.submission);
        sum.completion.merge(&one.completion);
        sum.total.merge(&one.total);
        sum.from_intended.merge(&one.from_intended);
        sum.bandwidth_samples = beside(sum.bandwidth_samples, &one.bandwidth_samples);
        sum.iops_samples = beside(sum.iops_samples, &one.iops_samples);
    }
    sum
}

/// Samples of what goes on at the same time: all is added, bounds too, since they are bounds of a sum.
fn beside(mut samples: Samples, other: &Samples) -> Samples {
    let (min, max) = (samples.min.saturating_add(other.min), samples.max.saturating_add(other.max));
    samples.add_beside(other);
    Samples { min, max, ..samples }
}

/// Samples with all their figures finite, whatever was put into them.
pub(super) fn sane(samples: &Samples) -> Samples {
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    Samples { mean: finite(samples.mean), squares: finite(samples.squares).max(0.0), ..*samples }
}

/// How much of the time a disk was busy, in percent, at most 100.
pub(super) fn busy_percent(disk: &DiskUse) -> f64 {
    percent(disk.busy_ms, disk.watched_ms).min(100.0)
}

/// What the disks that one is made of did: the means, and how busy the busiest was; fio's `aggr` figures.
pub(super) struct Members {
    pub mean: DiskUse,
    pub busy_percent: f64,
}

impl Members {
    /// Those of `disk`; nothing if it is a disk by itself.
    pub(super) fn of(disk: &DiskUse, disks: &[DiskUse]) -> Option<Self> {
        let members: Vec<&DiskUse> = disks.iter().filter(|other| disk.members.contains(&other.name)).collect();
        let count = members.len() as u64;
        if count == 0 {
            return None;
        }
        let mean = |of: &dyn Fn(&DiskUse) -> u64| members.iter().map(|member| of(member)).sum::<u64>() / count;
        let pair = |of: fn(&DiskUse) -> [u64; 2]| [0, 1].map(|way| mean(&|member| of(member)[way]));
        let mean = DiskUse {
            ios: pair(|member| member.ios),
            merges: pair(|member| member.merges),
            sectors: pair(|member| member.sectors),
            ticks_ms: pair(|member| member.ticks_ms),
            in_queue_ms: mean(&|member| member.in_queue_ms),
            ..DiskUse::default()
        };
        Some(Self { mean, busy_percent: members.into_iter().map(busy_percent).fold(0.0, f64::max) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_rates_are_not() {
        assert_eq!([0, 1, 1_000_000, 1_000_001].map(whole_ms), [0, 1, 1, 2]);
        assert_eq!(per_second(4096, 0), 0);
        assert_eq!(per_second(4096, 1_000_000_000), 4096);
        assert_eq!(per_second(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn a_class_that_has_any_is_told() {
        assert_eq!(shares(&[0, 1, 999_999], 0.1), [0.0, 0.1, 99.9999]);
        assert_eq!(shares(&[0, 0], 0.1), [0.0, 0.0]);
    }
}
