//! What is reported at the end (fio HOWTO, "Measurements and reporting" and "Units").

use super::table::options;
use crate::value::choice::{choice, words};
use crate::value::decimal::{Billionths, PERCENTILES, percentiles};
use crate::value::quantity::count32;
use crate::value::{KbBase, boolean, switch};

words! {
    /// How reads, writes and trims are reported.
    UnifiedReporting:
    /// Each of them.
    Split = "none" | "0",
    /// All together.
    Mixed = "mixed" | "1",
    /// Both.
    Both = "both" | "2",
}

words! {
    /// What rates are reported in.
    UnitBase:
    /// What the engine prefers.
    Automatic = "0",
    /// Bytes.
    Bytes = "8",
    /// Bits.
    Bits = "1",
}

const KB_BASES: &[(&str, KbBase)] = &[("1024", KbBase::Binary), ("1000", KbBase::Decimal)];

options! {
    /// What is reported.
    ReportOptions in report;
    fields {
        /// What `k` means in values.
        kb_base: KbBase = KbBase::Binary, "kb_base" [] => choice(KB_BASES);
        /// What rates are in.
        unit_base: UnitBase = UnitBase::Automatic, "unit_base" [] => choice(UnitBase::ALL);
        /// Whether a group is reported as one.
        group_reporting: bool = false, "group_reporting" [] => switch, bare;
        /// Whether the job is reported at all.
        stats: bool = true, "stats" [] => boolean;
        /// Whether percentiles of completion latency are.
        clat_percentiles: bool = true, "clat_percentiles" [] => boolean;
        /// Whether percentiles of total latency are.
        lat_percentiles: bool = false, "lat_percentiles" [] => boolean;
        /// Whether percentiles of submission latency are.
        slat_percentiles: bool = false, "slat_percentiles" [] => boolean;
        /// Which percentiles, ascending.
        percentile_list: Vec<Billionths> = PERCENTILES.to_vec(), "percentile_list" [] => percentiles;
        /// How many digits rates have.
        significant_figures: u32 = 4, "significant_figures" [] => count32(1, 10);
        /// Whether the use of disks is.
        disk_util: bool = true, "disk_util" [] => boolean;
        /// Whether the clock is read as seldom as possible: no latencies are measured.
        gtod_reduce: bool = false, "gtod_reduce" [] => boolean;
        /// Whether total latency is left out.
        disable_lat: bool = false, "disable_lat" [] => boolean;
        /// Whether completion latency is left out.
        disable_clat: bool = false, "disable_clat" [] => boolean;
        /// Whether submission latency is left out.
        disable_slat: bool = false, "disable_slat" [] => boolean;
        /// Whether bandwidth over time is left out.
        disable_bw: bool = false, "disable_bw_measurement" ["disable_bw"] => boolean;
        /// How directions are reported.
        unified_rw_reporting: UnifiedReporting = UnifiedReporting::Split, "unified_rw_reporting" []
            => choice(UnifiedReporting::ALL);
    }
    triples {}
    also {}
}
