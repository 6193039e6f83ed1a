//! What is logged over time (fio HOWTO, "Measurements and reporting" and "Log File Formats").

use super::table::options;
use crate::value::choice::{choice, words};
use crate::value::quantity::count32;
use crate::value::{boolean, name_or_job};

words! {
    /// What a line of an averaged log tells.
    LogWindow:
    /// The mean.
    Average = "avg" | "0",
    /// The largest.
    Maximum = "max" | "1",
    /// Both.
    Both = "both",
}

options! {
    /// What is logged. A log's name may be empty: then it is the job's.
    LogOptions in log;
    fields {
        /// The log of bandwidth.
        write_bw_log: Option<String> = None, "write_bw_log" [] => name_or_job, named;
        /// The logs of latencies.
        write_lat_log: Option<String> = None, "write_lat_log" [] => name_or_job, named;
        /// The log of requests a second.
        write_iops_log: Option<String> = None, "write_iops_log" [] => name_or_job, named;
        /// Whether each copy of a job has logs of its own.
        per_job_logs: bool = true, "per_job_logs" [] => boolean;
        /// Over what time a line averages; 0 is a line for each request.
        log_avg_msec: u32 = 0, "log_avg_msec" [] => count32(0, u32::MAX);
        /// What a line of an averaged log tells.
        log_window_value: LogWindow = LogWindow::Average, "log_window_value" ["log_max_value"]
            => choice(LogWindow::ALL);
        /// Whether a line has the offset.
        log_offset: bool = false, "log_offset" [] => boolean;
        /// Whether times are of the wall clock.
        log_alternate_epoch: bool = false, "log_alternate_epoch" ["log_unix_epoch"] => boolean;
        /// Over what time bandwidth averages.
        bwavgtime_ms: u32 = 500, "bwavgtime" [] => count32(1, u32::MAX);
        /// Over what time requests a second average.
        iopsavgtime_ms: u32 = 500, "iopsavgtime" [] => count32(1, u32::MAX);
    }
    triples {}
    also {}
}
