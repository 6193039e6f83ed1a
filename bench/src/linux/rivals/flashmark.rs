//! flashmark, told to do the same.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use super::{Figures, Job, Rival};

pub(super) struct Flashmark {
    pub path: PathBuf,
}

impl Rival for Flashmark {
    fn program(&self) -> &'static str {
        "flashmark"
    }

    fn package(&self) -> &'static str {
        "flashmark"
    }

    fn can(&self, _: &Job) -> bool {
        true
    }

    fn command(&self, job: &Job) -> Command {
        let mut command = Command::new(&self.path);
        command.arg("run").arg(&job.path).args(["--direct=required", "--quiet", "--format=json"]);
        command.arg(if job.write { "--op=write" } else { "--op=read" });
        command.arg(if job.random { "--order=random-once" } else { "--order=sequential" });
        command.args([
            format!("--block={}", job.block_bytes),
            format!("--size={}", job.bytes),
            format!("--file-size={}", job.file_bytes),
        ]);
        if job.write {
            command.args(["--file=existing", "--data=zeros"]).arg("--destroy").arg(&job.path);
        }
        command
    }

    fn figures(&self, job: &Job, output: &Output) -> Option<Figures> {
        let run: Value = serde_json::from_slice(&output.stdout).ok()?;
        let outcome = &run["records"][0]["outcome"];
        let bytes = outcome["bytes"].as_u64().filter(|bytes| *bytes == job.bytes)?;
        Some(Figures {
            rate: bytes as f64 / outcome["elapsed_ns"].as_f64()? * 1e9,
            latency_ns: outcome["ops"][0]["latency_ns"]["mean"].as_f64()?,
        })
    }

    fn same_work(&self, _: &Job) -> bool {
        false
    }
}
