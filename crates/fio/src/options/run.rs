//! How long, how often, where, and what happens after errors (fio HOWTO, "Time related parameters", "Threads, processes
//! and job synchronization" and "Error handling").

use super::effects;
use super::table::options;
use crate::value::choice::{choice, choice_but, words};
use crate::value::cpus::{CpuSet, cpus};
use crate::value::error_set::{ErrorSets, error_sets};
use crate::value::quantity::count32;
use crate::value::time::{seconds, seconds_range};
use crate::value::{some, switch, text};

words! {
    /// How `cpus_allowed` is used by several copies of a job.
    CpuPolicy:
    /// All may run on all of them.
    Shared = "shared",
    /// Each has one of its own.
    Split = "split",
}

words! {
    /// What ends when a job ends.
    ExitWhat:
    /// Its group.
    Group = "group",
    /// All up to the next stonewall.
    Stonewall = "stonewall",
    /// All.
    All = "all",
}

words! {
    /// After which errors a job goes on.
    ContinueOn:
    /// None.
    None = "none" | "0",
    /// Of reads.
    Read = "read",
    /// Of writes.
    Write = "write",
    /// Of both.
    Io = "io",
    /// Of verification.
    Verify = "verify",
    /// All.
    All = "all" | "1",
}

words! {
    /// Which clock is read.
    ClockSource:
    /// The system's monotonic one.
    ClockGettime = "clock_gettime",
}

const OTHER_CLOCK: &str = "times are read with clock_gettime, which costs about as little";

options! {
    /// How long, how often, where. Times are microseconds.
    RunOptions in run;
    fields {
        /// A name to report, other than the section's.
        name: Option<String> = None, "name" [] => some(text);
        /// What the job is for.
        description: Option<String> = None, "description" [] => some(text);
        /// The longest time; 0 is no limit.
        runtime_us: u64 = 0, "runtime" ["timeout"] => seconds;
        /// Whether it begins anew until `runtime` is over.
        time_based: bool = false, "time_based" [] => switch, bare;
        /// How much at the beginning does not count.
        ramp_time_us: u64 = 0, "ramp_time" [] => seconds;
        /// How long it waits before it begins: between the two.
        startdelay_us: (u64, u64) = (0, 0), "startdelay" [] => seconds_range;
        /// How often.
        loops: u32 = 1, "loops" [] => count32(0, u32::MAX);
        /// How many copies run at once.
        numjobs: u32 = 1, "numjobs" [] => count32(1, 4096);
        /// Without meaning here: jobs are always threads.
        thread: bool = true, "thread" [] => switch, bare;
        /// Whether it begins when all before it are done.
        stonewall: bool = false, "stonewall" ["wait_for_previous"] => switch, bare;
        /// Whether its statistics begin a new group.
        new_group: bool = false, "new_group" [] => switch, bare;
        /// On which processors; none is on any.
        cpus_allowed: CpuSet = CpuSet::default(), "cpus_allowed" [] => cpus;
        /// How copies share them.
        cpus_allowed_policy: CpuPolicy = CpuPolicy::Shared, "cpus_allowed_policy" [] => choice(CpuPolicy::ALL);
        /// Whether others end when it does.
        exitall: bool = false, "exitall" [] => switch, bare;
        /// Which.
        exit_what: ExitWhat = ExitWhat::Group, "exit_what" [] => choice(ExitWhat::ALL);
        /// Whether others end when it fails.
        exitall_on_error: bool = false, "exitall_on_error" [] => switch, bare;
        /// After which errors it goes on.
        continue_on_error: ContinueOn = ContinueOn::None, "continue_on_error" [] => choice(ContinueOn::ALL);
        /// Which errors are none.
        ignore_error: ErrorSets = ErrorSets::default(), "ignore_error" [] => error_sets;
        /// Which clock is read.
        clocksource: ClockSource = ClockSource::ClockGettime, "clocksource" [] => choice_but(ClockSource::ALL, &[
            ("gettimeofday", OTHER_CLOCK), ("cpu", OTHER_CLOCK),
        ]);
    }
    triples {}
    also {
        "cpumask" [] => effects::cpumask;
    }
}
