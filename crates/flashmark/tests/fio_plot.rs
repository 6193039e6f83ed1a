//! PyPI's `fio-plot` draws what our own runs give: bars from their JSON, and lines from their logs.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

#[path = "../../fio/tests/fio_plot/mod.rs"]
mod plot;
mod support;

use support::Scratch;
use support::process::flashmark;

#[test]
fn every_graph_is_drawn_of_our_runs() {
    let Some(python) = plot::python() else { return };
    let (dir, cache, files) = (Scratch::new(), Scratch::new(), Scratch::new());
    for depth in [1, 4] {
        for copies in [1, 2] {
            // As fio-plot's own benchmark script names them.
            let name = format!("randread-iodepth-{depth}-numjobs-{copies}");
            let logs =
                format!("--write_bw_log={name} --write_iops_log={name} --write_lat_log={name} --log_avg_msec=100");
            flashmark("fio --name=job --rw=randread --bs=4k --size=4m --ioengine=libaio --direct=1 --group_reporting")
                .words(&format!(
                    "--iodepth={depth} --numjobs={copies} --time_based --runtime=1 --output-format=json {logs}"
                ))
                .words(&format!("--output={name}.json"))
                .arg(format!("--directory={}", files.path().display()))
                .in_dir(dir.path())
                .exits(0);
        }
    }
    for (index, graph) in [
        "-l -d 1 4 -n 1",
        "-N -d 4 -n 1 2",
        "-L -d 1 4 -n 1 2 -t iops",
        "-H -d 4 -n 2",
        "-l -d 1 4 -n 1 --show-cpu --group-bars",
        "-g -d 1 4 -n 1 2 -t bw iops lat",
        "-g -d 4 -n 1 -t slat clat",
    ]
    .into_iter()
    .enumerate()
    {
        plot::draw(&python, dir.path(), cache.path(), graph, index);
    }
}
