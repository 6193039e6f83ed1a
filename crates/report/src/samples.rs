//! Made-up records for tests: one of every kind of trouble, and the originals' suites. The numbers are chosen so that
//! rows can be checked by hand.

use flashmark_core::environment::{Card, Device, Environment, FileSystem, LoopBacking};
use flashmark_core::histogram::Histogram;
use flashmark_core::record::{
    FailedOp, Form, JobInfo, OpKind, OpStats, Outcome, Reached, Record, Repeat, RunInfo, SCHEMA, Status, TargetInfo,
    TargetKind, Warning, WarningCode,
};
use flashmark_core::target::{Fault, FaultKind};
use flashmark_core::workload::{Data, Direct, FileMode, Order, Reopen, SyncPolicy, Verify, Workload};

// A path, so that tests that take this file by a path find the other one.
#[path = "samples/simulated.rs"]
pub mod simulated;

/// A run of suite `quick` on two targets with every kind of trouble in it, and the start of another run.
pub fn mixed_bag() -> Vec<Record> {
    let mut records = vec![
        sequential_read(),
        synced_write(),
        cached_write(),
        mixed(),
        verified(),
        interrupted(),
        full(),
        skipped(),
        on_a_device(),
    ];
    records.extend(simulated::on_fatfs());
    let total = records.len() as u32 + 1;
    for (index, record) in (0..).zip(&mut records) {
        record.run = run("5f0c9a3e", "quick", Form::Corrected, index, total);
    }
    let mut other = sequential_read();
    other.run = run("77aa01b2", "quick", Form::Corrected, 0, 1);
    other.run.suite_source = "my/quick.toml".into();
    other.run.settings = vec!["block=64k".into()];
    other.run.only = vec!["seq".into(), "read".into()];
    records.push(other);
    records
}

/// Records of an original's suite; [`mixed_bag`] without one.
pub fn of_original(original: Option<&str>) -> Vec<Record> {
    match original {
        Some("esp-idf") => esp_idf(Form::Compat),
        Some("sdfat") => sdfat(),
        Some("sd-bench") => sd_bench(),
        _ => mixed_bag(),
    }
}

/// ESP-IDF's file tests on FATFS, with the times of its published table; in the corrected form each write is synced.
pub fn esp_idf(form: Form) -> Vec<Record> {
    // Two times whose mean has three decimals in milliseconds and more.
    let tests = [
        (" (new file): write target size", 0, 65_536, [1_053_682_000, 1_053_682_500]),
        (" (new file): read target size", 100, 65_536, [8_124_000, 8_124_000]),
        (": write more than target size", 0, 78_643, [1_259_972_499, 1_259_971_000]),
        (": read tiny size", 100, 255, [585_400, 584_000]),
    ];
    let mut records: Vec<Record> = tests
        .into_iter()
        .map(|(name, read_percent, block_bytes, times_ns)| {
            let mut workload = Workload::named(name.trim_start());
            workload.read_percent = read_percent;
            workload.block_bytes = block_bytes;
            workload.size_bytes = Some(u64::from(block_bytes));
            workload.repeats = 2;
            let op = if read_percent == 0 { OpKind::Write } else { OpKind::Read };
            let mut record = record(workload, in_directory("SPI FATFS"));
            let mut ops = vec![(op, u64::from(block_bytes) * 2, &times_ns[..])];
            if form == Form::Corrected && read_percent == 0 {
                record.workload.sync = SyncPolicy::End;
                ops.push((OpKind::Sync, 0, &[250_000_000, 250_000_400]));
            }
            record.outcome = outcome(&ops);
            record
        })
        .collect();
    records[3].target.label = "SD".into();
    records.extend(simulated::esp_idf_raw(form));
    let mut failed = records[0].clone();
    failed.workload.name = ": write tiny size".into();
    failed.outcome.status = Status::Failed;
    records.push(failed);
    belongs(&mut records, "esp-idf", form);
    records
}

/// SdFat's bench: one record that writes and one that reads, with rows of the published table.
pub fn sdfat() -> Vec<Record> {
    let passes = |rows: &[(u64, u64, u64, u64)]| -> Vec<Repeat> {
        let of = |&(elapsed_ns, max_ns, min_ns, sum_ns)| Repeat {
            elapsed_ns,
            bytes: 4_997_120,
            count: 1220,
            min_ns,
            max_ns,
            sum_ns,
        };
        rows.iter().map(of).collect()
    };
    let test = |name: &str, read_percent, repeats| {
        let mut workload = Workload::named(name);
        workload.read_percent = read_percent;
        workload.block_bytes = 4096;
        workload.size_bytes = Some(5_000_000);
        let mut record = record(workload, in_directory("FAT"));
        let op = if read_percent == 0 { OpKind::Write } else { OpKind::Read };
        record.outcome = outcome(&[(op, 4_997_120, &[4_272_000])]);
        record.outcome.repeats = repeats;
        record
    };
    let writes = [
        (5_218_000_000, 12_269_900, 4_088_100, 5_211_840_000 + 999_999),
        (5_180_999_999, 11_783_000, 4_087_000, 5_175_240_000),
    ];
    let reads = [(2_030_400_000, 2_076_000, 1_527_000, 2_025_200_000), (400_000, 800, 100, 300_000)];
    let mut records = vec![test("write", 0, passes(&writes)), test("read", 100, passes(&reads))];
    belongs(&mut records, "sdfat", Form::Compat);
    records
}

/// esp-idf-sd-bench: 10000 writes of 16 KiB.
pub fn sd_bench() -> Vec<Record> {
    let mut workload = Workload::named("write 16 KiB");
    workload.read_percent = 0;
    workload.block_bytes = 16_384;
    workload.size_bytes = Some(163_840_000);
    let mut record = record(workload, in_directory("SD FATFS"));
    record.outcome = outcome(&[(OpKind::Write, 163_840_000, &[3_190_000])]);
    record.outcome.repeats = vec![Repeat {
        elapsed_ns: 52_000_000_000,
        bytes: 163_840_000,
        count: 10_000,
        min_ns: 3_190_900,
        max_ns: 134_957_001,
        sum_ns: 51_234_567_890,
    }];
    let mut records = vec![record];
    belongs(&mut records, "sd-bench", Form::Compat);
    records
}

fn belongs(records: &mut [Record], suite: &str, form: Form) {
    let total = records.len() as u32;
    for (index, record) in (0..).zip(records) {
        record.run = run("0badcafe", suite, form, index, total);
        record.run.original = Some(suite.into());
    }
}

fn sequential_read() -> Record {
    let mut record = record(Workload::named("seq read 1 MiB"), in_directory("EXT4"));
    let ops = [
        (OpKind::Read, 64 << 20, &spread_ns(8_000_000, 64)[..]),
        (OpKind::Open, 0, &[45_000, 47_000]),
        (OpKind::Close, 0, &[1_100, 1_300]),
    ];
    record.outcome = outcome(&ops);
    record.workload.repeats = 2;
    record.workload.time_open_close = true;
    record.outcome.repeats = halves(&record.outcome, 32 << 20, 32, 480);
    record
}

fn synced_write() -> Record {
    let mut workload = Workload::named("seq write 1 MiB, sync");
    workload.read_percent = 0;
    workload.size_bytes = Some(64 << 20);
    workload.sync = SyncPolicy::End;
    workload.file = FileMode::New;
    let mut times_ns = spread_ns(9_000_000, 63);
    times_ns.push(813_000_000);
    let mut record = record(workload, in_directory("EXT4"));
    record.outcome = outcome(&[(OpKind::Write, 64 << 20, &times_ns), (OpKind::Sync, 0, &[120_000_000])]);
    record.outcome.reached = Some(Reached::Medium);
    record
}

fn cached_write() -> Record {
    let mut workload = Workload::named("seq write 1 MiB");
    workload.read_percent = 0;
    workload.size_bytes = Some(64 << 20);
    workload.direct = Direct::Buffered;
    workload.data = Data::Text { text: "flash ".into(), end: "\n".into() };
    let mut record = record(workload, in_directory("EXT4"));
    record.target.direct = Some(false);
    record.outcome = outcome(&[(OpKind::Write, 64 << 20, &spread_ns(90_000, 64))]);
    record.outcome.reached = Some(Reached::Cache);
    record.outcome.warnings = vec![warning(WarningCode::NotDurable), warning(WarningCode::Environment)];
    record
}

fn mixed() -> Record {
    let mut workload = Workload::named("rand 4 KiB 75 % read");
    workload.read_percent = 75;
    workload.block_bytes = 4096;
    workload.order = Order::Zipf { theta_milli: 1200 };
    workload.time_ns = Some(1_000_000_000);
    workload.repeats = 2;
    workload.data = Data::Compressible { percent: 50 };
    workload.sync = SyncPolicy::Every { ops: 10 };
    let mut record = record(workload, in_directory("EXT4"));
    record.outcome = outcome(&[
        (OpKind::Read, 300 << 12, &spread_ns(150_000, 300)),
        (OpKind::Write, 100 << 12, &spread_ns(1_500_000, 100)),
        (OpKind::Sync, 0, &spread_ns(4_000_000, 10)),
    ]);
    record.outcome.repeats = halves(&record.outcome, 200 << 12, 200, 490);
    record.outcome.reached = Some(Reached::Device);
    record.outcome.warnings = vec![warning(WarningCode::Environment)];
    record
}

fn verified() -> Record {
    let mut workload = Workload::named("verify | 64 KiB");
    workload.block_bytes = 65_536;
    workload.file_bytes = Some(16 << 20);
    workload.verify = Verify::Full;
    workload.max_errors = 100;
    workload.reopen = Reopen::Once;
    let mut record = record(workload, in_directory("EXT4"));
    record.outcome = outcome(&[(OpKind::Read, 238 << 16, &spread_ns(700_000, 238))]);
    record.outcome.verified_bytes = 238 << 16;
    record.outcome.fault_count = 18;
    record.outcome.faults = vec![
        fault(OpKind::Read, 1 << 20, FaultKind::Io, Some(5), "Input/output error"),
        fault(OpKind::Read, 2 << 20, FaultKind::Corrupt, None, "block holds what was written to byte 0\u{1b}[31m"),
    ];
    record
}

fn interrupted() -> Record {
    let mut workload = Workload::named("rand read 4 KiB");
    workload.block_bytes = 4096;
    workload.order = Order::RandomOnce;
    let mut record = record(workload, in_directory("EXT4"));
    record.outcome = outcome(&[(OpKind::Read, 7 << 12, &spread_ns(200_000, 7))]);
    record.outcome.status = Status::Interrupted;
    record.outcome.warnings = vec![Warning::new(WarningCode::ClockStepped, "the clock stepped back once")];
    record
}

/// A write that met the end of the medium.
pub fn full() -> Record {
    let mut workload = Workload::named("fill");
    workload.read_percent = 0;
    workload.file = FileMode::Append;
    workload.data = Data::Zeros;
    let mut record = record(workload, in_directory("EXT4"));
    record.outcome = outcome(&[(OpKind::Write, 3 << 20, &spread_ns(5_000_000, 3))]);
    record.outcome.status = Status::Failed;
    record.outcome.reached = Some(Reached::Device);
    record.outcome.fault_count = 1;
    record.outcome.faults =
        vec![fault(OpKind::Write, 3 << 20, FaultKind::NoSpace, Some(28), "No space left on device")];
    record
}

/// A job in fio's language that trims.
#[allow(dead_code, reason = "the tests of the schema use it")]
pub fn of_a_job() -> Record {
    let mut record = record(Workload::named("trim"), in_directory("EXT4"));
    record.outcome = outcome(&[(OpKind::Trim, 1 << 20, &spread_ns(50_000, 256))]);
    record.job = Some(JobInfo {
        settings: vec!["rw=randtrim".into(), "bs=4k".into()],
        copy: 1,
        copies: 2,
        group: 0,
        files: vec!["trim.1.0".into()],
    });
    record
}

/// What did not run.
pub fn skipped() -> Record {
    let mut workload = Workload::named("aio read");
    workload.engine = "tokio".into();
    let mut record = record(workload, in_directory("EXT4"));
    record.target.engine = "tokio".into();
    record.target.direct = None;
    record.outcome = Outcome::not_run(Status::Skipped);
    record.outcome.warnings = vec![Warning::new(WarningCode::Skipped, "engine tokio cannot read past the cache")];
    record
}

fn on_a_device() -> Record {
    let mut target = in_directory("SD raw");
    target.name = "/dev/loop0".into();
    target.kind = TargetKind::Device;
    let mut record = record(Workload::named("seq read 1 MiB"), target);
    record.environment.file_system = None;
    record.environment.device = Some(Device {
        name: "loop0".into(),
        size_bytes: Some(64 << 20),
        loop_backing: Some(LoopBacking {
            file: "/tmp/backing".into(),
            direct_io: false,
            file_system: Some("tmpfs".into()),
        }),
        ..Device::default()
    });
    record.outcome = outcome(&[(OpKind::Read, 64 << 20, &spread_ns(400_000, 64))]);
    record.outcome.warnings = vec![warning(WarningCode::LowerCache)];
    record
}

fn warning(code: WarningCode) -> Warning {
    let message = match code {
        WarningCode::NotDurable => "the data is in the page cache when the time stops",
        WarningCode::Environment => "the governor could not be read",
        WarningCode::LowerCache => "the backing file may be served from the page cache",
        _ => "something is doubtful",
    };
    Warning::new(code, message)
}

fn fault(op: OpKind, offset: u64, kind: FaultKind, code: Option<i32>, message: &str) -> FailedOp {
    FailedOp { op, offset, fault: Fault { kind, code, message: message.into() } }
}

/// `count` times from `middle_ns` on, each a hundredth longer than the one before, up to a tenth.
fn spread_ns(middle_ns: u64, count: u64) -> Vec<u64> {
    (0..count).map(|nth| middle_ns + middle_ns / 100 * (nth % 11)).collect()
}

/// An outcome whose elapsed time is that of its reads, writes and syncs.
pub fn outcome(ops: &[(OpKind, u64, &[u64])]) -> Outcome {
    let mut outcome = Outcome::not_run(Status::Done);
    for (op, bytes, times_ns) in ops {
        let mut histogram = Histogram::new();
        times_ns.iter().for_each(|&ns| histogram.record(ns));
        outcome.ops.push(OpStats::from_histogram(*op, *bytes, &histogram));
        outcome.bytes += bytes;
        if !matches!(op, OpKind::Open | OpKind::Close | OpKind::Repeat) {
            outcome.elapsed_ns += times_ns.iter().sum::<u64>();
        }
    }
    outcome.repeats = vec![Repeat {
        elapsed_ns: outcome.elapsed_ns,
        bytes: outcome.bytes,
        count: ops.first().map_or(0, |(_, _, times)| times.len() as u64),
        min_ns: ops.first().and_then(|(_, _, times)| times.iter().min().copied()).unwrap_or(0),
        max_ns: ops.first().and_then(|(_, _, times)| times.iter().max().copied()).unwrap_or(0),
        sum_ns: ops.first().map_or(0, |(_, _, times)| times.iter().sum()),
    }];
    outcome
}

/// Two repeats with half of the bytes each; the first takes `permille` of the time.
fn halves(outcome: &Outcome, bytes: u64, count: u64, permille: u64) -> Vec<Repeat> {
    let first_ns = outcome.elapsed_ns / 1000 * permille;
    let whole = outcome.repeats[0];
    let part = |elapsed_ns| Repeat { elapsed_ns, bytes, count, sum_ns: elapsed_ns, ..whole };
    vec![part(first_ns), part(outcome.elapsed_ns - first_ns)]
}

fn in_directory(label: &str) -> TargetInfo {
    TargetInfo {
        name: "/mnt/card".into(),
        kind: TargetKind::Directory,
        label: label.into(),
        engine: "sync".into(),
        direct: Some(true),
    }
}

fn run(id: &str, suite: &str, form: Form, index: u32, total: u32) -> RunInfo {
    RunInfo {
        id: id.into(),
        suite: suite.into(),
        suite_source: "built-in".into(),
        form,
        settings: Vec::new(),
        only: Vec::new(),
        targets: vec!["/mnt/card".into()],
        index,
        total,
        plan: "9d5ed678fe57bcca".into(),
        original: None,
    }
}

fn record(workload: Workload, target: TargetInfo) -> Record {
    Record {
        schema: SCHEMA,
        flashmark: "0.1.0".into(),
        run: run("0badcafe", "quick", Form::Corrected, 0, 1),
        started_at: "2026-03-01T12:00:00Z".into(),
        target,
        workload,
        outcome: Outcome::not_run(Status::Done),
        environment: environment(),
        simulation: None,
        job: None,
    }
}

/// Every field filled in.
fn environment() -> Environment {
    Environment {
        system: Some("Linux 6.18.44 aarch64".into()),
        cpu_model: Some("Cortex-A76".into()),
        cpu_count: Some(4),
        cpu_governor: Some("ondemand".into()),
        memory_bytes: Some(8 << 30),
        file_system: Some(FileSystem {
            kind: "ext4".into(),
            mount_point: Some("/mnt/card".into()),
            source: Some("/dev/mmcblk0p1".into()),
            options: Some("rw,noatime".into()),
            size_bytes: Some(15 << 30),
            free_bytes: Some(14 << 30),
            block_bytes: Some(4096),
            made_with: Vec::new(),
        }),
        device: Some(Device {
            name: "mmcblk0p1".into(),
            disk: Some("mmcblk0".into()),
            model: None,
            firmware: Some("0x0000000000000001".into()),
            size_bytes: Some(15_931_539_456),
            rotational: Some(false),
            removable: Some(true),
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(512),
            scheduler: Some("mq-deadline".into()),
            queue_requests_max: Some(64),
            device_queue_depth: Some(1),
            request_bytes_max: Some(524_288),
            read_ahead_bytes: Some(131_072),
            write_cache: Some("write through".into()),
            loop_backing: None,
            card: Some(Card {
                kind: Some("SD".into()),
                name: Some("SC16G".into()),
                manufacturer_id: Some("0x000003".into()),
                oem_id: Some("0x5344".into()),
                date: Some("05/2021".into()),
                revision: Some("0x8 0x0".into()),
                bus_clock_hz: Some(200_000_000),
                bus_mode: Some("4 bits, sd uhs SDR104".into()),
                preferred_erase_bytes: Some(4 << 20),
            }),
            serial: None,
        }),
    }
}
