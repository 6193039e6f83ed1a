//! How fast (fio HOWTO, "I/O rate", "I/O latency" and the flow options).

use super::table::options;
use crate::value::boolean;
use crate::value::choice::{choice, words};
use crate::value::quantity::{bytes, count32};
use crate::value::time::microseconds;

words! {
    /// How the intended starts are spaced.
    RateProcess:
    /// Evenly.
    Linear = "linear",
    /// As arrivals of a Poisson process.
    Poisson = "poisson",
}

options! {
    /// How fast.
    PaceOptions in pace;
    fields {
        /// How intended starts are spaced.
        rate_process: RateProcess = RateProcess::Linear, "rate_process" [] => choice(RateProcess::ALL);
        /// Over what time minimum rates are averaged.
        rate_cycle_ms: u32 = 1000, "rate_cycle" ["ratecycle"] => count32(0, u32::MAX);
        /// Whether think time is made up for.
        rate_ignore_thinktime: bool = false, "rate_ignore_thinktime" [] => boolean;
        /// How long the job pauses after `thinktime_blocks`.
        thinktime_us: u64 = 0, "thinktime" [] => microseconds;
        /// How much of that it computes instead of sleeping.
        thinktime_spin_us: u64 = 0, "thinktime_spin" [] => microseconds;
        /// After how many requests it pauses.
        thinktime_blocks: u32 = 1, "thinktime_blocks" [] => count32(1, u32::MAX);
        /// Which flow the job is in.
        flow_id: u32 = 0, "flow_id" [] => count32(0, u32::MAX);
        /// Its share of the flow; 0 is no flow.
        flow: u32 = 0, "flow" [] => count32(0, 1000);
        /// How long it sleeps when it is ahead of its share.
        flow_sleep_us: u32 = 0, "flow_sleep" [] => count32(0, u32::MAX);
    }
    triples {
        /// The most bytes a second; 0 is no limit.
        rate: u64 = 0, "rate" [] => bytes;
        /// The fewest bytes a second before the job gives up.
        rate_min: u64 = 0, "rate_min" ["ratemin"] => bytes;
        /// The most requests a second; 0 is no limit.
        rate_iops: u32 = 0, "rate_iops" [] => count32(0, u32::MAX);
        /// The fewest requests a second before the job gives up.
        rate_iops_min: u32 = 0, "rate_iops_min" [] => count32(0, u32::MAX);
        /// The latency that ends the job; 0 is none.
        max_latency_us: u64 = 0, "max_latency" [] => microseconds;
    }
    also {}
}
