//! ESP-IDF's benchmark on the boards: what it does, exactly.

mod support;

use flashmark_core::ledger::Layer;
use flashmark_core::record::{Form, Status};
use flashmark_lab::LabTarget;
use support::{Row, board, run_suite};

const STORAGES: [&str; 4] = ["raw", "fatfs", "littlefs", "spiffs"];

fn esp_idf(storage: &str, form: Form, settings: &[&str]) -> Vec<Row> {
    run_suite(&board("esp32", &[]), storage, "esp-idf", form, settings)
}

#[test]
fn the_flash_part_has_twenty_six_rows() {
    let counts = STORAGES.map(|storage| esp_idf(storage, Form::Compat, &["tries=2"]).len());
    assert_eq!(counts, [2, 8, 8, 8]);
}

#[test]
fn every_row_runs_and_the_accounts_are_the_elapsed_time() {
    for form in [Form::Compat, Form::Corrected] {
        for storage in STORAGES {
            for row in esp_idf(storage, form, &["tries=3"]) {
                assert_eq!(row.outcome.status, Status::Done, "{storage} {}: {:?}", row.name, row.outcome.faults);
                assert!(row.outcome.faults.is_empty() && row.outcome.elapsed_ns > 0);
                let spent: u64 = row.simulation.spent.iter().map(|layer| layer.total_ns()).sum();
                assert_eq!(spent, row.outcome.elapsed_ns, "{storage} {}", row.name);
                let whole: u64 = row.simulation.whole.spent.iter().map(|layer| layer.total_ns()).sum();
                assert_eq!(whole, row.simulation.whole.elapsed_ns, "{storage} {}", row.name);
                assert!(row.simulation.whole.elapsed_ns >= row.outcome.elapsed_ns);
            }
        }
    }
}

/// Runs are equal to the last bit, also when they run at the same time.
#[test]
fn a_run_repeats_exactly_in_any_thread() {
    for storage in STORAGES {
        let first = esp_idf(storage, Form::Corrected, &["tries=3"]);
        let others: Vec<Vec<Row>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| esp_idf(storage, Form::Corrected, &["tries=3"]))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for other in others {
            assert_eq!(other, first);
        }
    }
}

/// What the seed is for: erases differ, and nothing else does.
#[test]
fn another_seed_gives_other_erase_times() {
    let of = |seed| {
        run_suite(
            &board("esp32", &[("board.seed", seed), ("esp-flash.yield", "false")]),
            "fatfs",
            "esp-idf",
            Form::Compat,
            &["tries=2"],
        )
    };
    let (one, two) = (of("1"), of("2"));
    assert_ne!(one[0].outcome.elapsed_ns, two[0].outcome.elapsed_ns);
    assert_eq!(one[0].simulation.device, two[0].simulation.device);
    assert_eq!(one[1].outcome, two[1].outcome, "a read erases nothing");
}

/// By hand: 65 536 bytes are 16 sectors and 1024 transactions; with wear levelling one sector moves for 16 erases.
#[test]
fn the_work_is_what_the_original_does() {
    let raw = esp_idf("raw", Form::Compat, &["tries=4"]);
    let (write, read) = (&raw[0].simulation.device, &raw[1].simulation.device);
    assert_eq!((write.programs, write.program_bytes, write.erases), (4 * 1024, 4 * 65_536, 0));
    assert_eq!((read.reads, read.read_bytes), (4 * 1024, 4 * 65_536));
    // The corrected form erases what it writes; wear levelling does so sector by sector.
    let raw = esp_idf("raw", Form::Corrected, &["tries=16"]);
    let erases = raw[0].simulation.device.erases;
    assert_eq!(erases, 16 * 16 + 16, "16 sectors and one move, 16 times");
    let fatfs = esp_idf("fatfs", Form::Compat, &["tries=16"]);
    let write = &fatfs[0].simulation.device;
    assert!((16 * 17..=16 * 18).contains(&write.erases), "{write:?}");
    assert!(fatfs[0].simulation.spent.iter().any(|layer| layer.layer == Layer::Translation && layer.busy_ns > 0));
    let littlefs = esp_idf("littlefs", Form::Compat, &["tries=4"]);
    // 16 blocks hold 104 bytes less than 64 KiB, which their pointers take.
    assert_eq!(littlefs[0].simulation.device.erases, 4 * 17);
    assert!(!littlefs[0].simulation.spent.iter().any(|layer| layer.layer == Layer::Translation));
    let spiffs = esp_idf("spiffs", Form::Compat, &["tries=1"]);
    let write = &spiffs[0].simulation.device;
    // 262 pages of 251 bytes, two of them in one transaction for the lookup and one for the header, four for the content
    // but for the last page's; three parts of the index: the first changed in place, two new ones with one change each.
    assert_eq!(write.erases, 0);
    assert!((262 * 6..262 * 6 + 60).contains(&write.programs), "{write:?}");
    assert!((262 * 258..262 * 264).contains(&write.program_bytes), "{write:?}");
    // Each page once, and once around the lookup of all blocks: the second part of the index lies before the first.
    let read = &spiffs[1].simulation.device;
    assert!((4 * (262 + 512)..4 * (262 + 512 + 6)).contains(&read.reads), "{read:?}");
}

#[test]
fn data_and_metadata_are_told_apart() {
    for storage in ["fatfs", "littlefs"] {
        let rows = esp_idf(storage, Form::Compat, &["tries=4"]);
        let bus = |row: &Row, layer| {
            row.simulation.spent.iter().filter(|time| time.layer == layer).map(|time| time.bus_ns).sum::<u64>()
        };
        for row in rows.iter().take(2) {
            let (data, metadata) = (bus(row, Layer::Data), bus(row, Layer::Metadata));
            assert!(data > 5 * metadata, "{storage} {}: {data} of data, {metadata} of metadata", row.name);
        }
    }
}

/// The cost of a longer run is in its operations alone: the same work each time.
#[test]
fn wear_and_phases_are_told() {
    let rows = esp_idf("fatfs", Form::Compat, &["tries=4"]);
    let names: Vec<&str> = rows[0].simulation.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["mount wear levelling", "mount", "format", "mount again"]);
    assert!(rows[1].simulation.phases.is_empty());
    let wear: Vec<_> = rows.iter().map(|row| row.simulation.wear.as_ref().unwrap()).collect();
    assert_eq!((wear[0].sectors, wear[0].sector_bytes, wear[0].map.len()), (512, 4096, 256));
    assert!(wear.windows(2).all(|pair| pair[0].erases <= pair[1].erases));
    assert_eq!(wear[7].max, *wear[7].map.iter().max().unwrap());
}

/// Everything that was written is read back right: through the file systems, wear levelling and the chip.
#[test]
fn verified_suites_find_nothing_wrong() {
    for storage in STORAGES {
        for row in esp_idf(storage, Form::Corrected, &["tries=3", "verify=full"]) {
            assert!(row.outcome.faults.is_empty(), "{storage} {}: {:?}", row.name, row.outcome.faults);
            assert!(row.outcome.verified_bytes > 0, "{storage} {}", row.name);
        }
    }
}

/// An image goes out and comes in again, and what is no image says why.
#[test]
fn an_image_is_mounted_as_it_is() {
    let esp32 = board("esp32", &[]);
    for storage in ["fatfs", "littlefs", "spiffs"] {
        let mut target = LabTarget::open(&esp32, storage, None).unwrap();
        let suite = flashmark_suite::Suite::load("esp-idf").unwrap();
        let workloads = suite.expand(Form::Compat, &flashmark_suite::Settings::new()).unwrap();
        let write = workloads.iter().find(|workload| workload.name == "(new file): write target size").unwrap();
        support::run_one(&mut target, write);
        let image = target.image().unwrap();
        let again = LabTarget::open(&esp32, storage, Some(&image)).unwrap();
        assert!(again.image().unwrap() == image, "mounting {storage} changes nothing");
        let garbage = vec![0x5a; image.len()];
        let error = LabTarget::open(&esp32, storage, Some(&garbage)).unwrap_err().to_string();
        assert!(error.contains("cannot be mounted") && error.contains(storage), "{error}");
        let error = LabTarget::open(&esp32, storage, Some(&image[1..])).unwrap_err().to_string();
        assert!(error.contains("2097151") && error.contains("2097152"), "{error}");
    }
}

/// What failed took its time, too, but no longer than the outcome says.
#[test]
fn the_books_balance_where_writes_fail() {
    for (storage, max_errors) in [("fatfs", 0), ("littlefs", 0), ("spiffs", 0), ("fatfs", 3), ("raw", 2)] {
        let mut target = LabTarget::open(&board("esp32", &[]), storage, None).unwrap();
        let mut workload = flashmark_core::workload::Workload::named("too much");
        workload.read_percent = 0;
        workload.file = flashmark_core::workload::FileMode::New;
        workload.block_bytes = 1 << 20;
        workload.file_bytes = Some(3 << 20);
        workload.repeats = 2;
        workload.max_errors = max_errors;
        let row = support::run_one(&mut target, &workload);
        assert!(storage == "raw" || !row.outcome.faults.is_empty(), "{storage} has room");
        let spent: u64 = row.simulation.spent.iter().map(|layer| layer.total_ns()).sum();
        assert_eq!(spent, row.outcome.elapsed_ns, "{storage} {max_errors}");
        // One block that is too large for all of it: no repeat counts.
        workload.block_bytes = 3 << 20;
        let row = support::run_one(&mut target, &workload);
        let spent: u64 = row.simulation.spent.iter().map(|layer| layer.total_ns()).sum();
        assert_eq!(spent, row.outcome.elapsed_ns, "{storage} {max_errors}");
    }
}

/// ESP-IDF's option of 512-byte sectors, in both modes.
#[test]
fn small_sectors_work() {
    for mode in ["perf", "safe"] {
        let board = board("esp32", &[("wl.sector", "512"), ("wl.mode", mode), ("fatfs.sector", "512")]);
        for row in run_suite(&board, "fatfs", "esp-idf", Form::Corrected, &["tries=2", "verify=full"]) {
            assert!(row.outcome.faults.is_empty(), "{mode} {}: {:?}", row.name, row.outcome.faults);
        }
    }
}

/// Flash that is written over without an erase says so, unless that was asked for.
#[test]
fn what_is_not_erased_is_told() {
    let mut target = LabTarget::open(&board("esp32", &[("raw.start", "used")]), "raw", None).unwrap();
    let mut workload = flashmark_core::workload::Workload::named("over");
    workload.read_percent = 0;
    workload.block_bytes = 4096;
    workload.file_bytes = Some(65_536);
    workload.file = flashmark_core::workload::FileMode::New;
    workload.erase = flashmark_core::workload::Erase::Never;
    assert!(support::run_one(&mut target, &workload).outcome.warnings.is_empty());
    workload.erase = flashmark_core::workload::Erase::Outside;
    workload.order = flashmark_core::workload::Order::Random;
    let fault = target.check(&workload).unwrap_err();
    assert!(fault.message.contains("random-once"), "{fault}");
}

/// A write that stays in a buffer of the file system is not one that the flash took.
#[test]
fn what_stays_in_buffers_is_told() {
    use flashmark_core::record::Reached;
    for (storage, block, size, file, reached) in [
        ("fatfs", 65_536, 65_536, "new", Reached::Device),
        ("fatfs", 255, 255, "new", Reached::Cache),
        ("littlefs", 65_536, 65_536, "new", Reached::Device),
        ("littlefs", 64, 64, "new", Reached::Cache),
        ("littlefs", 1, 300, "new", Reached::Cache),
        ("littlefs", 64, 64, "existing", Reached::Cache),
        ("fatfs", 64, 64, "existing", Reached::Cache),
        ("fatfs", 1, 300, "new", Reached::Cache),
        ("spiffs", 65_536, 65_536, "new", Reached::Device),
        ("spiffs", 255, 255, "new", Reached::Cache),
        ("spiffs", 256, 256, "new", Reached::Device),
        ("spiffs", 1, 200, "new", Reached::Cache),
        // A page of them.
        ("spiffs", 1, 300, "new", Reached::Device),
    ] {
        let mut target = LabTarget::open(&board("esp32", &[]), storage, None).unwrap();
        let mut workload = flashmark_core::workload::Workload::named("write");
        workload.read_percent = 0;
        workload.block_bytes = block;
        workload.file_bytes = Some(size);
        if file == "new" {
            workload.file = flashmark_core::workload::FileMode::New;
        }
        let row = support::run_one(&mut target, &workload);
        assert_eq!(row.outcome.reached, Some(reached), "{storage} {block} of {size}, {file}");
    }
}
