//! The peak of resident memory, whatever the size of the test.

use std::path::Path;
use std::process::Command;

use crate::linux::failure::Failure;
use crate::linux::interrupt;
use crate::linux::media;
use crate::linux::program;
use crate::linux::report::{Cell, Promise, Report, Table};
use crate::linux::rounds::Spread;

const LIMIT_MIB: f64 = 32.0;

/// Runs flashmark on files of several sizes, all of them in memory and without content: what matters is how many
/// operations there are and how large the file is, not what is in it.
///
/// # Errors
/// [`Failure`].
pub fn measure(flashmark: &Path) -> Result<Report, Failure> {
    let dir = media::directory(Path::new(media::IN_MEMORY))?;
    let file = |name: &str, bytes| -> Result<_, Failure> {
        let path = dir.path().join(name);
        media::sparse_file(&path, bytes)?;
        Ok(path)
    };
    let (small, medium, large) = (file("small", 16 << 20)?, file("medium", 256 << 20)?, file("large", 2 << 30)?);
    let huge = file("huge", 1 << 40)?;
    let records = dir.path().join("records.jsonl");

    let mut rows = vec![vec![
        "(the program `true`)".into(),
        Cell::Number(mib(program::peak_resident_bytes(&mut Command::new("true"))?), 1),
    ]];
    let mut worst = f64::NEG_INFINITY;
    let runs: [(&str, &Path, &[&str]); 13] = [
        ("16 MiB, sequential 4 KiB reads", &small, &["--op=read", "--block=4k"]),
        ("256 MiB", &medium, &["--op=read", "--block=4k"]),
        ("2 GiB", &large, &["--op=read", "--block=4k"]),
        ("2 GiB, random 512 B reads for 2 s", &large, &["--op=read", "--block=512", "--order=random", "--time=2s"]),
        ("2 GiB, each block once in random order", &large, &["--op=read", "--block=4k", "--order=random-once"]),
        ("1 TiB, zipf order, 1 GiB read", &huge, &["--op=read", "--block=4k", "--order=zipf:1.1", "--size=1g"]),
        ("16 MiB, 100 repeats", &small, &["--op=read", "--block=1m", "--repeats=100"]),
        ("16 MiB, 50 000 repeats of 64 KiB", &small, &["--op=read", "--block=4k", "--size=64k", "--repeats=50000"]),
        ("16 MiB, 100 000 repeats of 4 KiB", &small, &["--op=read", "--block=4k", "--size=4k", "--repeats=100000"]),
        ("256 MiB, engine tokio", &medium, &["--op=read", "--block=64k", "--engine=tokio"]),
        (
            "directory, 8 MiB blocks, half of them read",
            dir.path(),
            &["--read-percent=50", "--block=8m", "--file-size=64m", "--size=256m"],
        ),
        ("directory, suite quick", dir.path(), &["--suite=quick", "--time=200ms"]),
        ("directory, suite quick, verified", dir.path(), &["--suite=quick", "--time=200ms", "--verify=full"]),
    ];
    for (name, target, settings) in runs {
        interrupt::check()?;
        let mut command = Command::new(flashmark);
        command.arg("run").arg(target).args(settings).args(["--quiet", "--format=json", "-o"]).arg(&records);
        let peak = mib(program::peak_resident_bytes(&mut command)?);
        std::fs::remove_file(&records).map_err(Failure::io("removing the records"))?;
        worst = worst.max(peak);
        rows.push(vec![name.into(), Cell::Number(peak, 1)]);
    }
    let table = Table {
        title: "peak resident memory of flashmark run TARGET … --format json -o FILE".into(),
        columns: vec!["run", "peak MiB"],
        rows,
        note: "ru_maxrss of wait4. Mapped pages of the program and of the C library are part of it.",
    };
    let promise = Promise {
        what: "peak resident memory, the worst row".into(),
        found: Spread::of(vec![worst]),
        limits: f64::NEG_INFINITY..=LIMIT_MIB,
        unit: "MiB",
    };
    Ok(Report {
        name: "memory",
        machine: String::new(),
        tables: vec![table],
        promises: vec![promise],
        skipped: Vec::new(),
    })
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
