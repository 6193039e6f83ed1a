//! fio with its engine psync: one pread or pwrite after the other.

use std::process::{Command, Output};

use serde_json::Value;

use super::{Figures, Job, Rival};

pub(super) struct Fio;

impl Rival for Fio {
    fn program(&self) -> &'static str {
        "fio"
    }

    fn package(&self) -> &'static str {
        "fio"
    }

    fn can(&self, _: &Job) -> bool {
        true
    }

    fn command(&self, job: &Job) -> Command {
        let mut command = Command::new("fio");
        let rw = match (job.write, job.random) {
            (false, false) => "read",
            (false, true) => "randread",
            (true, false) => "write",
            (true, true) => "randwrite",
        };
        command.args(["--name=rival", "--ioengine=psync", "--direct=1", "--output-format=json", "--zero_buffers"]);
        command.args([format!("--rw={rw}"), format!("--bs={}", job.block_bytes), format!("--io_size={}", job.bytes)]);
        // The place that offsets are taken from.
        command.arg(format!("--size={}", job.file_bytes));
        command.arg("--filename").arg(&job.path);
        command
    }

    fn figures(&self, job: &Job, output: &Output) -> Option<Figures> {
        let run: Value = serde_json::from_slice(&output.stdout).ok()?;
        let side = &run["jobs"][0][if job.write { "write" } else { "read" }];
        let bytes = side["io_bytes"].as_f64().filter(|bytes| *bytes == job.bytes as f64)?;
        let latency_ns = side["lat_ns"]["mean"].as_f64()?;
        // fio counts its run in whole milliseconds.
        Some(Figures { rate: bytes / side["runtime"].as_f64()? * 1e3, latency_ns })
    }

    /// Its latency holds its own bookkeeping, some 0.2 µs.
    fn same_work(&self, job: &Job) -> bool {
        !(job.fast && job.random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_json_is_read() {
        let job = Job {
            name: "",
            path: "/f".into(),
            write: true,
            random: true,
            block_bytes: 4096,
            fast: false,
            file_bytes: 1 << 20,
            bytes: 1 << 20,
        };
        let json = r#"{ "fio version": "fio-3.33", "jobs": [ { "write": { "io_bytes": 1048576, "bw_bytes": 61680941,
            "runtime": 17, "lat_ns": { "min": 39709, "max": 287984, "mean": 47165.921875 } } } ] }"#;
        let output = |text: &str| Output { status: Default::default(), stdout: text.into(), stderr: Vec::new() };
        let figures = Fio.figures(&job, &output(json)).unwrap();
        assert_eq!(figures, Figures { rate: 1_048_576.0 / 0.017, latency_ns: 47_165.921_875 });
        assert!(Fio.figures(&Job { bytes: 1 << 21, ..job }, &output(json)).is_none(), "it did less than it was told");
    }
}
