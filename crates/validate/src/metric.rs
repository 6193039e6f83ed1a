//! What the column `metric` says: a statistic and its unit, e.g. `mean_ms`, `total_s`, `speed_kBps`.

use crate::quantity::Unit;

/// A statistic of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stat {
    /// One call on average.
    Mean,
    /// The shortest call.
    Min,
    /// The longest call.
    Max,
    /// A whole repeat on average.
    Total,
    /// Everything from the first to the last workload of a storage, or a step of making it ready.
    Wall,
    /// Bytes over time, of all repeats.
    Rate,
    /// The rate of the shortest call.
    HighestRate,
    /// The rate of the longest call.
    LowestRate,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A measurement of reading or writing.
    Row,
    /// A stretch of the original's log.
    Phase,
}

const TIMES: &[(&str, Stat)] = &[
    ("mean", Stat::Mean),
    ("avg", Stat::Mean),
    ("min", Stat::Min),
    ("max", Stat::Max),
    ("total", Stat::Total),
    ("wall", Stat::Wall),
];

const RATES: &[(&str, Stat)] = &[
    ("", Stat::Rate),
    ("speed", Stat::Rate),
    ("rate", Stat::Rate),
    ("highest", Stat::HighestRate),
    ("lowest", Stat::LowestRate),
];

/// The statistic and the unit that a metric's name says, or `None` for one that is not known.
pub(crate) fn parse(metric: &str) -> Option<(Stat, Unit)> {
    // The chipKIT table's way of saying that its KB has 1024 bytes.
    let (metric, binary) = metric.strip_suffix("_1024").map_or((metric, false), |metric| (metric, true));
    let (stat, unit) = metric.rsplit_once('_').unwrap_or(("", metric));
    let unit = match unit.strip_suffix("ps") {
        Some(bytes) => Unit::named(&format!("{bytes}/s"))?,
        None => Unit::named(unit)?,
    };
    let unit = match unit {
        Unit::Rate(1_000) if binary => Unit::Rate(1 << 10),
        _ if binary => return None,
        unit => unit,
    };
    let stats = match unit {
        Unit::Time(_) => TIMES,
        Unit::Rate(_) => RATES,
    };
    stats.iter().find(|(name, _)| *name == stat).map(|(_, stat)| (*stat, unit))
}

/// The metrics that are known, for people.
pub(crate) const KNOWN: &str =
    "mean_ms, min_ms, max_ms, total_ms, wall_ms (or _s, _us, _ns), speed_kBps, highest_kBps, lowest_kBps, KiBps, MiBps";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_statistics_with_units() {
        for (metric, parsed) in [
            ("mean_ms", Some((Stat::Mean, Unit::Time(1_000_000)))),
            ("avg_us", Some((Stat::Mean, Unit::Time(1_000)))),
            ("total_s", Some((Stat::Total, Unit::Time(1_000_000_000)))),
            ("wall_ms", Some((Stat::Wall, Unit::Time(1_000_000)))),
            ("speed_kBps", Some((Stat::Rate, Unit::Rate(1_000)))),
            ("KBps_1024", Some((Stat::Rate, Unit::Rate(1_024)))),
            ("KiBps", Some((Stat::Rate, Unit::Rate(1_024)))),
            ("lowest_kBps", Some((Stat::LowestRate, Unit::Rate(1_000)))),
            ("mean_kBps", None),
            ("speed_ms", None),
            ("ms", None),
            ("mean_ms_1024", None),
            ("joules", None),
            ("ps", None),
            ("", None),
        ] {
            assert_eq!(parse(metric), parsed, "{metric}");
        }
    }
}
