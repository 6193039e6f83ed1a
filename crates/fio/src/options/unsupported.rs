//! Options that fio has and that are not supported, each with the nearest way.

type Line = (&'static str, &'static [&'static str], &'static str);

const PRIORITY: &str = "start the whole program with `nice` or `ionice`";
const ZONES: &str =
    "zoned devices and zone modes are not supported; random_distribution=zoned shapes where accesses go";
const PLACEMENT: &str = "data placement (FDP, streams) is not supported; leave it out";
const STEADY: &str = "give `runtime` and `ramp_time`, and judge steadiness from `write_bw_log`";
const LATENCY_TARGET: &str = "set the depth with `iodepth` or the pace with `rate_iops`, and compare the percentiles";
const TRIM_VERIFY: &str =
    "verified trims are not supported; `rw=trimwrite` with `verify` checks what is written after trims";
const LOG_COMPRESSION: &str = "logs are written as they arrive and can be compressed afterwards (`gzip`)";
const HISTOGRAM_LOG: &str = "--output-format=json+ has the whole histogram at the end";
const MERGE: &str = "merge the traces first; `read_iolog` takes one";
const USER: &str = "start the program as that user (`sudo -u`)";
const CGROUP: &str = "start the program in the group (`systemd-run --scope`, `cgexec`)";
const NUMA: &str = "start the program with `numactl`; `cpus_allowed` places threads";
const COMMAND: &str = "run the command yourself before or after";
const PROFILE: &str = "it belongs to a profile (act, tiobench); write the jobs of the profile in a job file";
const SPRANDOM: &str = "precondition the device with a job of its own (`rw=randwrite loops=2`)";

/// Options that have an effect in fio.
pub(super) static UNSUPPORTED: &[Line] = &[
    ("thinkcycles", &[], "`thinktime_spin` is the time that is spent computing"),
    ("thinktime_iotime", &[], "`thinktime_blocks` says after how many accesses it pauses"),
    ("unlink_each_loop", &[], "`unlink` removes files after the job; give jobs of their own instead of `loops`"),
    ("wait_for", &[], "`stonewall` starts a job when all before it are done"),
    ("filetype", &[], "what a file is is seen when it is opened; leave it out"),
    ("lockfile", &[], "files are not locked; give every job a file of its own"),
    ("opendir", &[], "list the files in `filename`, with colons between them"),
    ("num_range", &[], "a trim has one range; leave it out"),
    ("sprandom", &[], SPRANDOM),
    ("spr_num_regions", &[], SPRANDOM),
    ("spr_op", &[], SPRANDOM),
    ("spr_cs", &[], SPRANDOM),
    ("write_barrier", &[], "`fsync=N` or `fdatasync=N` orders writes"),
    ("atomic", &[], "torn-write protection is not supported; leave it out"),
    ("ramp_size", &[], "`ramp_time` leaves out the beginning by time"),
    ("verify_policy", &[], "every completed write is verified; leave it out"),
    ("verify_async", &[], "verification runs in the job's own thread; leave it out"),
    ("verify_async_cpus", &[], "verification runs in the job's own thread; `cpus_allowed` places it"),
    ("verify_pattern_interval", &[], "a pattern with offsets (`verify_pattern=%o`) is filled in once a block"),
    ("experimental_verify", &[], "leave it out: what was written is always known again"),
    ("trim_percentage", &[], TRIM_VERIFY),
    ("trim_verify_zero", &[], TRIM_VERIFY),
    ("trim_backlog", &[], TRIM_VERIFY),
    ("trim_backlog_batch", &[], TRIM_VERIFY),
    ("merge_blktrace_file", &[], MERGE),
    ("merge_blktrace_scalars", &[], MERGE),
    ("merge_blktrace_iters", &[], MERGE),
    ("exec_prerun", &[], COMMAND),
    ("exec_postrun", &[], COMMAND),
    ("ioscheduler", &[], "set /sys/block/DEVICE/queue/scheduler before; the record says which it was"),
    ("zonemode", &[], ZONES),
    ("zonesize", &[], ZONES),
    ("zonecapacity", &[], ZONES),
    ("zonerange", &[], ZONES),
    ("zoneskip", &[], ZONES),
    ("read_beyond_wp", &[], ZONES),
    ("max_open_zones", &[], ZONES),
    ("job_max_open_zones", &[], ZONES),
    ("ignore_zone_limits", &[], ZONES),
    ("zone_reset_threshold", &[], ZONES),
    ("zone_reset_frequency", &[], ZONES),
    ("recover_zbd_write_error", &[], ZONES),
    ("write_zone_remainder", &["write_zone_remainders"], ZONES),
    ("fdp", &[], PLACEMENT),
    ("dataplacement", &["data_placement"], PLACEMENT),
    ("plid_select", &["fdp_pli_select"], PLACEMENT),
    ("plids", &["fdp_pli"], PLACEMENT),
    ("dp_scheme", &[], PLACEMENT),
    ("lockmem", &[], "limit memory from outside (`systemd-run -p MemoryMax=`, a small virtual machine)"),
    ("comm", &[], "threads are named after their job; leave it out"),
    ("nice", &[], PRIORITY),
    ("prio", &[], PRIORITY),
    ("prioclass", &[], PRIORITY),
    ("priohint", &[], PRIORITY),
    ("latency_target", &[], LATENCY_TARGET),
    ("latency_window", &[], LATENCY_TARGET),
    ("latency_percentile", &[], LATENCY_TARGET),
    ("latency_run", &[], LATENCY_TARGET),
    ("write_hint", &[], "write lifetimes are not passed on; leave it out"),
    ("allow_mounted_write", &[], "mounted devices are never written to; unmount it, or use a file on it"),
    ("numa_cpu_nodes", &[], NUMA),
    ("numa_mem_policy", &[], NUMA),
    ("gpu_dev_id", &[], "memory of graphics cards is not supported; leave it out"),
    ("end_syncfs", &[], "`end_fsync` syncs the files that were written"),
    ("log_hist_msec", &[], HISTOGRAM_LOG),
    ("log_hist_coarseness", &[], HISTOGRAM_LOG),
    ("write_hist_log", &[], HISTOGRAM_LOG),
    ("log_entries", &[], "logs are written as they arrive and need no size; leave it out"),
    ("log_prio", &[], "priorities are not logged; leave it out"),
    ("log_issue_time", &[], "logs have the time of completion; the start is that less the latency"),
    ("log_compression", &[], LOG_COMPRESSION),
    ("log_compression_cpus", &[], LOG_COMPRESSION),
    ("log_store_compressed", &[], LOG_COMPRESSION),
    ("log_alternate_epoch_clock_id", &[], "`log_unix_epoch=1` writes times of the wall clock"),
    ("job_start_clock_id", &[], "starts are told in the time of the wall clock; leave it out"),
    ("block_error_percentiles", &[], "the record lists the offsets that failed; leave it out"),
    ("dedupe_global", &[], "each job repeats its own blocks; leave it out"),
    ("dedupe_working_set_percentage", &[], "`dedupe_percentage` repeats earlier blocks; leave it out"),
    ("gtod_cpu", &[], "reading the clock costs nanoseconds here; leave it out, or use `gtod_reduce`"),
    ("profile", &[], "write the jobs of the profile in a job file"),
    ("block", &[], PROFILE),
    ("device-names", &[], PROFILE),
    ("dir", &[], PROFILE),
    ("large-block-op-kbytes", &[], PROFILE),
    ("load", &[], PROFILE),
    ("numruns", &[], PROFILE),
    ("prep", &[], PROFILE),
    ("read-req-num-512-blocks", &[], PROFILE),
    ("test-duration", &[], PROFILE),
    ("threads", &[], "fio has it in its profiles only; `numjobs` says how many copies run, and `thread` stands alone"),
    ("threads-per-queue", &[], PROFILE),
    ("cgroup", &[], CGROUP),
    ("cgroup_nodelete", &[], CGROUP),
    ("cgroup_weight", &[], CGROUP),
    ("uid", &[], USER),
    ("gid", &[], USER),
    ("hugepage-size", &[], "huge pages are not used for buffers; leave it out"),
    ("steadystate", &["ss"], STEADY),
    ("steadystate_duration", &["ss_dur"], STEADY),
    ("steadystate_ramp_time", &["ss_ramp"], STEADY),
    ("steadystate_check_interval", &["ss_interval"], STEADY),
];

/// Options that fio takes and does nothing with.
pub(super) static WITHOUT_EFFECT: &[Line] = &[
    ("create_serialize", &[], "files are always made one after another"),
    ("unique_filename", &[], "it is about clients, and there are none"),
    ("error_dump", &[], "errors that are passed over are always told"),
    ("read_iolog_chunked", &[], "traces are always read as they are replayed"),
    ("thinktime_blocks_type", &[], "what is under way is waited for before each pause, so that both are the same"),
    ("verifysort", &[], "fio has given it up; leave it out"),
    ("verifysort_nr", &[], "fio has given it up; leave it out"),
    ("flow_watermark", &[], "fio has given it up; leave it out"),
];

/// Options that fio does not take any more.
pub(super) static GIVEN_UP: &[Line] = &[
    ("percentage_sequential", &[], "use `percentage_random`, with 100 less what it says"),
    ("rwmixcycle", &[], "leave it out"),
];
