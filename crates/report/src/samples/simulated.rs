//! Made-up records of simulated boards.

use flashmark_core::environment::{Device, Environment, FileSystem};
use flashmark_core::ledger::Layer;
use flashmark_core::record::{Form, OpKind, Reached, Record, Status, TargetInfo, TargetKind};
use flashmark_core::simulation::{DeviceWork, Filled, LayerTime, PhaseTime, Simulation, WEAR_CELLS, Wear, Whole};
use flashmark_core::workload::{Access, Data, Erase, FileMode, Medium, Reopen, SyncPolicy, Workload};

use super::{outcome, record};

/// A write and a read on FATFS on a simulated ESP32, with every field of a simulation filled in.
pub fn on_fatfs() -> Vec<Record> {
    let mut workload = Workload::named("write 64 KiB, sync");
    workload.read_percent = 0;
    workload.block_bytes = 65_536;
    workload.size_bytes = Some(65_536);
    workload.file = FileMode::New;
    workload.sync = SyncPolicy::End;
    workload.repeats = 2;
    workload.access = Access::Files;
    workload.medium = Medium::NotNor;
    workload.erase = Erase::Outside;
    workload.fill_percent = Some(60);
    let mut write = record(workload, target("lab:esp32/fatfs,fatfs.cluster=4k,chip=w25q32jv", "SPI FATFS"));
    write.started_at = "1970-01-01T00:00:14.212345678Z".into();
    write.outcome =
        outcome(&[(OpKind::Write, 131_072, &[403_682_000, 403_682_500]), (OpKind::Sync, 0, &[2_000_000, 2_000_000])]);
    write.outcome.reached = Some(Reached::Medium);
    write.environment = environment();
    write.simulation = Some(Simulation {
        spent: vec![
            spent(Layer::Runtime, [1_000_000, 0, 0, 0]),
            spent(Layer::Metadata, [34_000_000, 12_000_000, 100_000_000, 60_000_000]),
            spent(Layer::Data, [0, 24_364_500, 250_000_000, 0]),
            spent(Layer::Translation, [5_000_000, 15_000_000, 50_000_000, 0]),
            spent(Layer::Driver, [110_000_000, 0, 0, 150_000_000]),
        ],
        device: work([400, 25_600], [2_300, 147_200], [40, 163_840]),
        whole: Whole {
            elapsed_ns: 5_400_000_000,
            spent: vec![
                spent(Layer::Runtime, [2_000_000, 0, 0, 8_000_000]),
                spent(Layer::Metadata, [90_000_000, 30_000_000, 1_300_000_000, 170_000_000]),
                spent(Layer::Data, [0, 50_000_000, 2_000_000_000, 0]),
                spent(Layer::Translation, [10_000_000, 40_000_000, 900_000_000, 0]),
                spent(Layer::Driver, [300_000_000, 0, 0, 500_000_000]),
            ],
            device: work([1_200, 76_800], [5_200, 327_680], [112, 458_752]),
            read_bytes: 0,
            write_bytes: 262_144,
        },
        phases: vec![
            PhaseTime { name: "mount wear levelling".into(), elapsed_ns: 812_345_678 },
            PhaseTime { name: "format".into(), elapsed_ns: 13_400_000_000 },
        ],
        filled: Some(filled(600)),
        wear: Some(wear()),
    });

    let mut workload = Workload::named("read 64 KiB");
    workload.block_bytes = 65_536;
    workload.size_bytes = Some(65_536);
    workload.repeats = 2;
    workload.time_repeats = true;
    let mut read = record(workload, write.target.clone());
    read.started_at = "1970-01-01T00:00:19.612345678Z".into();
    read.outcome = outcome(&[(OpKind::Read, 131_072, &[8_124_000, 8_124_000])]);
    read.environment = write.environment.clone();
    read.simulation = Some(Simulation {
        spent: vec![
            spent(Layer::Runtime, [40_000, 0, 0, 0]),
            spent(Layer::Data, [0, 10_208_000, 0, 0]),
            spent(Layer::Driver, [6_000_000, 0, 0, 0]),
        ],
        device: work([2_050, 131_200], [0, 0], [0, 0]),
        whole: Whole {
            elapsed_ns: 20_000_000,
            spent: vec![spent(Layer::Data, [0, 20_000_000, 0, 0])],
            device: work([2_200, 139_264], [0, 0], [0, 0]),
            read_bytes: 131_072,
            write_bytes: 0,
        },
        phases: Vec::new(),
        filled: None,
        wear: Some(wear()),
    });
    vec![write, read]
}

/// Two storages of a board and a directory: what all of them ran, what two of them did, and what is not complete.
pub fn side_by_side() -> Vec<Record> {
    let storages = [("lab:esp32/littlefs", "SPI LittleFS", 1), ("lab:esp32/fatfs", "SPI FATFS", 8)];
    let records = storages.into_iter().flat_map(|(name, label, slow)| {
        [10_u8, 95].into_iter().flat_map(move |percent| {
            let base = |what: &str| {
                let mut workload = Workload::named(&format!("{percent} % full: {what} 4 KiB"));
                (workload.block_bytes, workload.size_bytes, workload.repeats) = (4096, Some(4096), 2);
                (workload.time_repeats, workload.fill_percent) = (true, Some(percent));
                workload
            };
            let slower = slow * u64::from(percent);
            let rewrite = Workload { read_percent: 0, file: FileMode::New, sync: SyncPolicy::End, ..base("rewrite") };
            let mut rewrite = record(rewrite, target(name, label));
            let writes = [40_000_000, 50_000_000 + slower * 1_000_000];
            let syncs = [1_000_000, 2_000_000];
            rewrite.outcome = outcome(&[
                (OpKind::Write, 8192, &writes),
                (OpKind::Sync, 0, &syncs),
                (OpKind::Repeat, 0, &[writes[0] + 9_000_000, writes[1] + 10_000_000]),
            ]);
            let mut read = record(base("read"), target(name, label));
            read.outcome = outcome(&[(OpKind::Read, 8192, &[500_000; 2]), (OpKind::Repeat, 0, &[900_000, 950_000])]);
            [rewrite, read].map(|mut record| {
                record.environment = environment();
                let levels = [100, 951, 97, 935];
                let nth = usize::from(percent > 50) + if slow > 1 { 2 } else { 0 };
                let spent = vec![spent(Layer::Data, [0, 0, record.outcome.elapsed_ns, 0])];
                record.simulation = Some(Simulation {
                    whole: Whole { elapsed_ns: record.outcome.elapsed_ns, spent: spent.clone(), ..Whole::default() },
                    spent,
                    filled: Some(filled(levels[nth])),
                    ..Simulation::default()
                });
                record
            })
        })
    });
    let mut records: Vec<Record> = records.collect();
    records[6].outcome.status = Status::Failed;
    // Nobody else ran this.
    let mut alone = records[7].clone();
    alone.workload.name = "another".into();
    alone.workload.fill_percent = None;
    records.push(alone);
    records
}

/// A volume of this use.
fn filled(permille: u64) -> Filled {
    Filled {
        used_bytes: 2_000_000 * permille / 1000,
        total_bytes: 2_000_000,
        files: permille / 9,
        elapsed_ns: 6_815_048_924,
    }
}

/// The raw rows of ESP-IDF's benchmark.
pub fn esp_idf_raw(form: Form) -> Vec<Record> {
    let rows = [("raw write", 0, [65_536_000, 65_536_000]), ("raw read", 100, [7_801_000, 7_801_000])];
    let records = rows.into_iter().map(|(name, read_percent, times_ns)| {
        let mut workload = Workload::named(name);
        workload.read_percent = read_percent;
        workload.block_bytes = 65_536;
        workload.size_bytes = Some(65_536);
        workload.repeats = 2;
        workload.reopen = Reopen::Once;
        workload.access = Access::Raw;
        if form == Form::Compat {
            workload.data = Data::Fixed;
        }
        let op = if read_percent == 0 { OpKind::Write } else { OpKind::Read };
        if read_percent == 0 {
            workload.file = FileMode::New;
            workload.erase = if form == Form::Compat { Erase::Never } else { Erase::Inside };
        }
        let mut record = record(workload, target("lab:esp32/raw", "SPI Flash"));
        record.outcome = outcome(&[(op, 131_072, &times_ns)]);
        record.environment = Environment { file_system: None, ..environment() };
        record
    });
    records.collect()
}

fn target(name: &str, label: &str) -> TargetInfo {
    TargetInfo { name: name.into(), kind: TargetKind::Lab, label: label.into(), engine: "lab".into(), direct: None }
}

/// A board, its chip and its file system; nothing of the machine that made the numbers.
fn environment() -> Environment {
    Environment {
        system: Some("esp32".into()),
        cpu_model: Some("ESP32 at 160 MHz".into()),
        file_system: Some(FileSystem {
            kind: "FATFS".into(),
            options: Some("cluster=4k,sector=4096,fats=2".into()),
            size_bytes: Some(2_027_520),
            ..FileSystem::default()
        }),
        device: Some(Device {
            name: "storage".into(),
            model: Some("W25Q32JV".into()),
            size_bytes: Some(4 << 20),
            ..Device::default()
        }),
        ..Environment::default()
    }
}

fn spent(layer: Layer, [cpu_ns, bus_ns, busy_ns, sleep_ns]: [u64; 4]) -> LayerTime {
    LayerTime { layer, cpu_ns, bus_ns, busy_ns, sleep_ns }
}

fn work(reads: [u64; 2], programs: [u64; 2], erases: [u64; 2]) -> DeviceWork {
    DeviceWork {
        reads: reads[0],
        read_bytes: reads[1],
        programs: programs[0],
        program_bytes: programs[1],
        erases: erases[0],
        erase_bytes: erases[1],
    }
}

/// 2 MiB: two sectors that hold tables, data that was written a few times, a part that was never used.
fn wear() -> Wear {
    let most = |cell| match cell {
        0..=1 => 40,
        2..=40 => 17,
        41..=80 => 3,
        81..=90 => 24,
        250..=255 => 1,
        _ => 0,
    };
    let map = (0..WEAR_CELLS).map(most).collect();
    Wear { sector_bytes: 4096, sectors: 512, erases: 2_116, max: 40, endurance: 100_000, map }
}
