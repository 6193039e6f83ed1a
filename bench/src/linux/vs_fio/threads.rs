//! Two threads, each on a CPU of its own, over one.

use super::Bench;
use super::cached;
use super::section::{Section, number, spread};
use super::tool::{Words, words};
use super::turns::Turns;
use crate::linux::failure::Failure;
use crate::linux::media;
use crate::linux::report::{Cell, Table};

const LIMIT: f64 = 1.8;
const FILE_BYTES: u64 = 16 << 20;

/// Compares without I/O and on files in memory.
///
/// # Errors
/// [`Failure`].
pub fn measure(bench: &Bench<'_>) -> Result<Section, Failure> {
    let [.., first, second] = bench.cpus[..] else {
        return Ok(Section::skip("threads: two threads over one", "there is one CPU only"));
    };
    let place = media::directory(bench.dir)?;
    for number in 0..2 {
        media::filled_file(&place.path().join(format!("file.{number}")), FILE_BYTES)?;
    }
    let null = words(["--ioengine=null", "--rw=randread", "--size=1g", "--time_based", "--runtime=2"]);
    let mut own = cached::reads(&place.path().join("file.0"));
    own.retain(|word| !word.starts_with("--filename="));
    own.extend(words(["--ioengine=psync", "--norandommap", "--filename_format=file.$jobnum"]));
    own.push(format!("--directory={}", place.path().display()));
    own.push(format!("--size={FILE_BYTES}"));
    let mut shared = cached::reads(&place.path().join("file.0"));
    shared.extend(words(["--ioengine=psync", "--norandommap"]));

    let mut section = Section::default();
    let mut rows = Vec::new();
    let cases = [("null", null), ("cached reads, a file each", own), ("cached reads, one file", shared)];
    for (name, job) in cases {
        let one = with(&job, [format!("--cpus_allowed={second}"), "--numjobs=1".into()]);
        let both = with(&job, [format!("--cpus_allowed={first},{second}"), "--numjobs=2".into()]);
        let (ours, theirs) = (&bench.flashmark, &bench.fio);
        let turns = Turns::take(bench.rounds, &[(ours, &one), (ours, &both), (theirs, &one), (theirs, &both)], None)?;
        for (tool, at) in [("flashmark", 0), ("fio", 2)] {
            let iops = |job| number(turns.of(job, |figures| figures.iops).median, 0);
            let scale = turns.ratio(at + 1, at, |figures| figures.iops);
            let mut row = vec![if at == 0 { name.into() } else { Cell::from("") }, tool.into(), iops(at), iops(at + 1)];
            row.extend(spread(scale, 2));
            rows.push(row);
            if at == 0 {
                section.at_least(format!("threads: {name}: two threads over one, IOPS"), scale, LIMIT);
            }
        }
    }
    section.tables.push(Table {
        title: format!("threads: one on a CPU, two on two CPUs, {} rounds; medians", bench.rounds),
        columns: vec!["work", "tool", "IOPS of one", "IOPS of two", "two over one", "25 %", "75 %"],
        rows,
        note: "512 B random reads with psync where there is I/O.",
    });
    Ok(section)
}

fn with(job: &Words, more: [String; 2]) -> Words {
    let mut all = job.clone();
    all.extend(more);
    all.extend(words(["--cpus_allowed_policy=split", "--group_reporting"]));
    all
}
