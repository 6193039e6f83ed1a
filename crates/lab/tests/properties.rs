//! Any workload on any sensible board: no panic, right data, and books that balance.

mod support;

use flashmark_core::record::Status;
use flashmark_core::workload::{Data, Erase, FileMode, Order, Reopen, SyncPolicy, Verify, Workload};
use flashmark_lab::LabTarget;
use proptest::prelude::*;
use support::{board, run_one};

fn workloads() -> impl Strategy<Value = Workload> {
    let sizes = (1_u32..20_000, 1_u64..8);
    let modes = (0..3_u8, 0..3_u8, 0..3_u8, any::<bool>(), any::<bool>());
    (sizes, modes, 1_u32..4, 0_u32..2, any::<u64>()).prop_map(
        |((block, blocks), (mix, file, order, once, random), repeats, warm_up, seed)| {
            let mut workload = Workload::named("any");
            workload.read_percent = [0, 50, 100][usize::from(mix)];
            let only_writes = workload.read_percent == 0;
            workload.file = match file {
                0 if only_writes => FileMode::New,
                1 if only_writes => FileMode::Append,
                _ => FileMode::Existing,
            };
            // Verified mixes are of whole cells.
            workload.block_bytes = if mix == 1 { block.next_multiple_of(512) } else { block };
            workload.file_bytes = Some(u64::from(workload.block_bytes) * blocks);
            workload.size_bytes = workload.file_bytes;
            let sequential = workload.file == FileMode::Append;
            workload.order = match order {
                1 if !sequential => Order::Random,
                2 if !sequential => Order::RandomOnce,
                _ => Order::Sequential,
            };
            workload.reopen = if once { Reopen::Once } else { Reopen::EachRepeat };
            workload.data = if random { Data::Random } else { Data::Compressible { percent: 50 } };
            workload.sync = if workload.writes() && once { SyncPolicy::End } else { SyncPolicy::Never };
            workload.verify = Verify::Full;
            workload.repeats = repeats;
            workload.warm_up = warm_up;
            workload.seed = seed;
            workload
        },
    )
}

fn settings() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let option = |key: &'static str, values: &'static [&'static str]| {
        prop::sample::select(values).prop_map(move |value| (key, value))
    };
    (
        option("fatfs.cluster", &["4k", "16k", "64k"]),
        option("fatfs.lfn", &["off", "on"]),
        option("fatfs.per-file-buffers", &["true", "false"]),
        option("littlefs.cache", &["128", "512", "4096"]),
        option("spiffs.cache", &["auto", "off", "1"]),
        option("chip", &["esp32-devkit-4mb", "w25q32jv", "mx25r6435f", "w25q01jv"]),
        option("bus.mode", &["qio", "dio", "fast"]),
        option("app.buffer", &["internal", "external"]),
        option("esp-flash.yield", &["true", "false"]),
        option("wl.sector", &["4096", "512"]),
        option("wl.mode", &["perf", "safe"]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j, k)| vec![("bus.clock", "26MHz"), a, b, c, d, e, f, g, h, i, j, k])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn books_balance_and_data_is_right(
        storage in prop::sample::select(&["raw", "fatfs", "littlefs", "spiffs"][..]),
        settings in settings(),
        list in prop::collection::vec(workloads(), 1..4),
    ) {
        let board = board("esp32", &settings);
        let mut target = LabTarget::open(&board, storage, None).unwrap();
        for mut workload in list {
            if storage == "spiffs" && workload.file == FileMode::New {
                // Its files have no holes: a position behind the end is refused.
                workload.order = Order::Sequential;
            }
            if target.check(&workload).is_err() {
                // Raw flash refuses what cannot be erased sector by sector; file systems take everything here.
                prop_assert_eq!(storage, "raw");
                continue;
            }
            let row = run_one(&mut target, &workload);
            prop_assert_eq!(row.outcome.status, Status::Done, "{:?} {:?}", &workload, row.outcome.faults);
            prop_assert!(row.outcome.faults.is_empty(), "{:?} {:?}", &workload, row.outcome.faults);
            let spent: u64 = row.simulation.spent.iter().map(|layer| layer.total_ns()).sum();
            prop_assert_eq!(spent, row.outcome.elapsed_ns);
            let whole = &row.simulation.whole;
            prop_assert_eq!(whole.spent.iter().map(|layer| layer.total_ns()).sum::<u64>(), whole.elapsed_ns);
            prop_assert!(whole.device.program_bytes >= row.simulation.device.program_bytes);
        }
    }

    /// Programming alone: erased outside the time, so that no erase is in it.
    #[test]
    fn an_erase_outside_is_in_no_time(block in 1_u32..9000, blocks in 1_u64..5) {
        let mut target = LabTarget::open(&board("esp32", &[]), "raw", None).unwrap();
        let mut workload = Workload::named("program");
        workload.read_percent = 0;
        workload.file = FileMode::New;
        workload.block_bytes = block;
        workload.file_bytes = Some(u64::from(block) * blocks);
        workload.erase = Erase::Outside;
        workload.verify = Verify::Full;
        workload.repeats = 2;
        let row = run_one(&mut target, &workload);
        prop_assert!(row.outcome.faults.is_empty(), "{:?}", row.outcome.faults);
        prop_assert_eq!(row.simulation.device.erases, 0);
        prop_assert!(row.simulation.whole.device.erases > 0);
    }
}
