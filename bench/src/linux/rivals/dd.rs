//! dd with direct I/O: sequential only.

use std::ffi::OsString;
use std::process::{Command, Output};

use super::{Figures, Job, Rival};

pub(super) struct Dd;

impl Rival for Dd {
    fn program(&self) -> &'static str {
        "dd"
    }

    fn package(&self) -> &'static str {
        "coreutils"
    }

    fn can(&self, job: &Job) -> bool {
        !job.random
    }

    fn command(&self, job: &Job) -> Command {
        let mut command = Command::new("dd");
        let operand = |name: &str| {
            let mut operand = OsString::from(name);
            operand.push(&job.path);
            operand
        };
        if job.write {
            command.arg("if=/dev/zero").arg(operand("of=")).args(["oflag=direct", "conv=notrunc"]);
        } else {
            command.arg(operand("if=")).args(["of=/dev/null", "iflag=direct"]);
        }
        command.args([format!("bs={}", job.block_bytes), format!("count={}", once(job) / job.block_bytes)]);
        command
    }

    fn figures(&self, job: &Job, output: &Output) -> Option<Figures> {
        let said = String::from_utf8_lossy(&output.stderr);
        let (bytes, seconds) = said.lines().find_map(parse)?;
        (bytes == once(job)).then_some(Figures { rate: bytes as f64 / seconds, latency_ns: f64::NAN })
    }

    /// Fetching zeros for each write is inside its time, and a short run is as long as its start on a fast medium.
    fn same_work(&self, job: &Job) -> bool {
        !job.write && !job.fast
    }
}

/// It goes over a file once at most.
fn once(job: &Job) -> u64 {
    job.bytes.min(job.file_bytes)
}

/// `1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.0130713 s, 80.2 MB/s`
fn parse(line: &str) -> Option<(u64, f64)> {
    let (bytes, rest) = line.split_once(" bytes ")?;
    let seconds = rest.split_once("copied, ")?.1.split_once(" s,")?.0;
    Some((bytes.parse().ok()?, seconds.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_words_are_read() {
        let line = "22531856 bytes (23 MB, 21 MiB) copied, 0.0130713 s, 1.7 GB/s";
        assert_eq!(parse(line), Some((22_531_856, 0.013_071_3)));
        assert_eq!(parse("512 bytes copied, 1e-05 s, 50 MB/s"), Some((512, 1e-5)));
        assert_eq!(parse("21+1 records in"), None);
    }
}
