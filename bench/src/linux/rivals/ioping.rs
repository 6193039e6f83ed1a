//! ioping without pauses: the latency of random operations.

use std::process::{Command, Output};

use super::{Figures, Job, Rival};

pub(super) struct Ioping;

impl Rival for Ioping {
    fn program(&self) -> &'static str {
        "ioping"
    }

    fn package(&self) -> &'static str {
        "ioping"
    }

    fn can(&self, job: &Job) -> bool {
        job.random
    }

    fn command(&self, job: &Job) -> Command {
        let mut command = Command::new("ioping");
        // "Cached" only leaves out the fdatasync after each write; direct I/O it is all the same.
        command.args(["-batch", "-direct", "-cached", "-interval", "0"]);
        if job.write {
            // It wants to be told three times before it overwrites.
            command.arg("-WWW");
        }
        command.args(["-size".into(), job.block_bytes.to_string()]);
        command.args(["-count".into(), (job.bytes / job.block_bytes).to_string()]);
        command.arg(&job.path);
        command
    }

    fn figures(&self, _: &Job, output: &Output) -> Option<Figures> {
        parse(&String::from_utf8_lossy(&output.stdout))
    }

    fn same_work(&self, job: &Job) -> bool {
        !job.fast
    }
}

/// ioping(1), "raw statistics": count, time in ns, IOPS, bytes a second, then minimum, mean and maximum in ns.
fn parse(raw: &str) -> Option<Figures> {
    let fields: Vec<f64> = raw.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(Figures { rate: *fields.get(3)?, latency_ns: *fields.get(5)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_raw_statistics_are_read() {
        let raw = "99 3920171 25254 103440386 36705 39598 104878 7232 100 4084436\n";
        assert_eq!(parse(raw), Some(Figures { rate: 103_440_386.0, latency_ns: 39_598.0 }));
        assert_eq!(parse("no such file"), None);
    }
}
