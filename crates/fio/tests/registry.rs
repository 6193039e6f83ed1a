//! The table of options is complete, and says what it can.

use std::collections::BTreeSet;

use flashmark_fio::options::{Standing, known_options};

/// What real job files use most, in this order.
const MOST_USED: &str = "rw ioengine size iodepth bs filename direct verify runtime time_based filesize numjobs name \
    norandommap refill_buffers randrepeat buffered rwmixread loops group_reporting directory thread stonewall do_verify \
    verify_backlog verify_state_save gtod_reduce write_bw_log write_lat_log percentile_list log_avg_msec rate description \
    bssplit nrfiles random_distribution rwmixwrite clat_percentiles cpus_allowed bsrange offset verify_fatal verify_dump \
    invalidate write_iolog read_iolog verify_state_load ramp_time io_submit_mode rate_iops serialize_overlap flow io_size \
    log_offset per_job_logs write_iops_log end_fsync overwrite unlink verify_pattern buffer_pattern lat_percentiles \
    number_ios openfiles thinktime fsync fdatasync create_on_open fallocate rate_process iodepth_batch \
    iodepth_batch_complete randseed exitall continue_on_error ignore_error offset_increment registerfiles fixedbufs \
    sqthread_poll disable_clat startdelay new_group filename_format blockalign verify_interval sync blocksize readwrite";

#[test]
fn what_is_used_most_is_supported() {
    let supported = known_options().filter(|known| known.standing == Standing::Supported);
    let names: BTreeSet<&str> =
        supported.flat_map(|known| [known.name].into_iter().chain(known.aliases.iter().copied())).collect();
    let missing: Vec<&str> = MOST_USED.split_whitespace().filter(|name| !names.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_option_of_fio_is_known_by_name() {
    let known: BTreeSet<&str> =
        known_options().flat_map(|known| [known.name].into_iter().chain(known.aliases.iter().copied())).collect();
    let names = include_str!("data/option_names.txt").lines().filter(|line| !line.starts_with('#'));
    let missing: Vec<&str> = names.filter(|name| !known.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn a_name_means_one_option() {
    let mut seen = BTreeSet::new();
    let names = known_options().flat_map(|known| [known.name].into_iter().chain(known.aliases.iter().copied()));
    let twice: Vec<&str> = names.filter(|name| !seen.insert(*name)).collect();
    assert_eq!(twice, Vec::<&str>::new());
}

#[test]
fn what_is_not_supported_has_a_way() {
    for known in known_options().filter(|known| known.standing != Standing::Supported) {
        assert!(known.way.len() > 10, "{}", known.name);
    }
}
