//! File systems at a level of use.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers stop a test by panicking")]

mod support;

use flashmark_core::record::{Form, OpKind, Status, WarningCode};
use flashmark_core::target::FaultKind;
use flashmark_core::workload::{FileMode, SyncPolicy, Verify, Workload};
use flashmark_lab::storage::{RAW, names};
use flashmark_lab::{Board, LabTarget};
use support::{Row, board, run_one, run_suite};

/// Every storage with a file system that the board has.
fn storages(board: &Board) -> Vec<String> {
    names().into_iter().filter(|name| *name != RAW && board.storage(name).is_ok()).map(str::to_owned).collect()
}

fn rewrite(fill_percent: Option<u8>, bytes: u64) -> Workload {
    Workload {
        read_percent: 0,
        file: FileMode::New,
        block_bytes: 4096,
        size_bytes: Some(bytes),
        file_bytes: Some(bytes),
        sync: SyncPolicy::End,
        repeats: 3,
        fill_percent,
        ..Workload::named("rewrite")
    }
}

/// The level in permille.
fn level(row: &Row) -> u64 {
    assert_eq!(row.outcome.status, Status::Done, "{:?}", row.outcome.faults);
    let filled = row.simulation.filled.unwrap();
    filled.used_bytes * 1000 / filled.total_bytes
}

fn says_level(row: &Row) -> bool {
    row.outcome.warnings.iter().any(|warning| warning.code == WarningCode::FillLevel)
}

/// Up and down, whatever the file system; small clusters, so that a level can be met.
#[test]
fn levels_are_met() {
    let board = board("esp32", &[("fatfs.cluster", "4k")]);
    for storage in storages(&board) {
        let mut target = LabTarget::open(&board, &storage, None).unwrap();
        for percent in [10, 60, 85, 30, 70, 0, 50] {
            let row = run_one(&mut target, &rewrite(Some(percent), 4096));
            let wanted = u64::from(percent) * 10;
            // What is empty has something of its own.
            assert!(level(&row).abs_diff(wanted) <= 12, "{storage}: {} for {wanted}", level(&row));
            let (filled, whole) = (row.simulation.filled.unwrap(), &row.simulation.whole);
            assert_eq!(filled.files > 0, percent > 0, "{storage} {percent}");
            assert!(filled.elapsed_ns > 0 && whole.elapsed_ns < 10 * row.outcome.elapsed_ns, "{storage} {percent}");
            assert!(whole.device.program_bytes < 20 * whole.write_bytes, "{storage} {percent}: {whole:?}");
        }
        // It stays for who does not ask, and is not changed for who asks for the same.
        let row = run_one(&mut target, &rewrite(None, 4096));
        assert_eq!(row.simulation.filled, None);
        let read =
            Workload { block_bytes: 4096, file_bytes: Some(4096), fill_percent: Some(50), ..Workload::named("r") };
        let row = run_one(&mut target, &read);
        assert!(level(&row).abs_diff(500) <= 10, "{storage}: {}", level(&row));
        assert!(!says_level(&row), "{storage}: {:?}", row.outcome.warnings);
    }
}

/// The measured file is part of the level, whether it is there or not; and there is room for it.
#[test]
fn a_large_file_counts_and_fits() {
    let board = board("esp32", &[("fatfs.cluster", "4k")]);
    for storage in storages(&board) {
        let mut target = LabTarget::open(&board, &storage, None).unwrap();
        let large = rewrite(Some(70), 1 << 20);
        // littlefs keeps the old one until the new one is complete.
        let once = Workload { repeats: 1, ..large.clone() };
        let first = run_one(&mut target, &once);
        assert!(level(&first).abs_diff(700) <= 10, "{storage}: {}", level(&first));
        let again = run_one(&mut target, &Workload { fill_percent: Some(71), ..once });
        assert!(level(&again).abs_diff(710) <= 10, "{storage}: {}", level(&again));
        // Half of a partition is more than a tenth.
        let row = run_one(&mut target, &Workload { fill_percent: Some(10), ..large });
        assert!(level(&row) > 480 && says_level(&row), "{storage}: {}", level(&row));
        assert_eq!(row.simulation.filled.unwrap().files, 0, "{storage}");
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let board = board("esp32", &[]);
    for storage in storages(&board) {
        let run = |seed| {
            let mut target = LabTarget::open(&board, &storage, None).unwrap();
            run_one(&mut target, &Workload { seed, ..rewrite(Some(50), 4096) });
            target.image().unwrap()
        };
        let image = run(1);
        assert!(image == run(1) && image != run(2), "{storage}");
        // What an image was filled with stays: it is another's.
        let mut target = LabTarget::open(&board, &storage, Some(&image)).unwrap();
        let row = run_one(&mut target, &Workload { seed: 1, ..rewrite(Some(80), 4096) });
        assert!(level(&row).abs_diff(800) <= 33, "{storage}: {}", level(&row));
        let row = run_one(&mut target, &rewrite(Some(5), 4096));
        assert!(level(&row) > 400 && says_level(&row), "{storage}: {}", level(&row));
    }
}

#[test]
fn raw_flash_is_not_filled() {
    let mut target = LabTarget::open(&board("esp32", &[]), "raw", None).unwrap();
    let fault = target.check(&rewrite(Some(50), 4096)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unsupported);
    assert!(fault.message.contains("without a file system"), "{fault}");
}

/// The suite, with enough rewrites for space to be reclaimed: every level is near, the longest wait has everything in it,
/// and a file system that copies to write waits longest where least is free.
#[test]
fn the_suite_measures_each_level() {
    let board = board("esp32", &[]);
    for storage in storages(&board) {
        let rows = run_suite(&board, &storage, "fill", Form::Corrected, &["rewrites=120", "reads=5"]);
        assert_eq!(rows.len(), 16, "{storage}");
        let mut longest = Vec::new();
        for row in &rows {
            let wanted: u64 = row.name.split(' ').next().unwrap().parse().unwrap();
            // A file system that is full before it says so tells that.
            let is_near = level(row).abs_diff(wanted * 10) <= 33;
            assert!(is_near || (wanted >= 90 && says_level(row)), "{storage} {}: {}", row.name, level(row));
            let [repeat, inner] = [OpKind::Repeat, row.outcome.ops[0].op].map(|op| row.outcome.op(op).unwrap());
            // Those that failed are among them.
            assert_eq!(repeat.count, if row.name.contains("rewrite") { 120 } else { 5 }, "{storage} {}", row.name);
            let slowest = row.outcome.repeats.iter().map(|repeat| repeat.elapsed_ns).max().unwrap();
            assert!(repeat.latency_ns.max > slowest && slowest >= inner.latency_ns.max, "{storage} {}", row.name);
            if row.name.contains("rewrite") {
                longest.push(repeat.latency_ns.max);
            }
        }
        if storage == "littlefs" {
            let (empty, full) = longest.split_at(longest.len() / 2);
            assert!(full.iter().max() > empty.iter().max(), "{longest:?}");
        }
    }
}

#[test]
fn what_is_written_beside_other_files_is_right() {
    for storage in storages(&board("esp32", &[])) {
        let mut target = LabTarget::open(&board("esp32", &[]), &storage, None).unwrap();
        let workload = Workload { verify: Verify::Full, repeats: 30, ..rewrite(Some(60), 8192) };
        let row = run_one(&mut target, &workload);
        assert_eq!(row.outcome.status, Status::Done, "{storage}: {:?}", row.outcome.faults);
        assert_eq!(row.outcome.verified_bytes, 30 * 8192, "{storage}");
    }
}
