//! Runs of `flashmark` on simulated boards.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::linux::failure::Failure;
use crate::linux::program::{self, Finished};
use crate::linux::rounds::{Rounds, Variant};

/// The suite's compatibility form on a board or one of its storages, on one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub target: &'a str,
    pub tries: u32,
    /// `KEY=VALUE`.
    pub settings: &'a [&'a str],
}

impl Run<'_> {
    fn command(&self, flashmark: &Path, format: &str) -> Command {
        let mut command = Command::new(flashmark);
        command.args(["run", self.target, "--suite=esp-idf", "--compat", "--threads=1", "--quiet"]);
        command.arg(format!("--format={format}")).arg(format!("--set=tries={}", self.tries));
        command.args(self.settings.iter().map(|setting| format!("--set={setting}")));
        command
    }

    /// The run as its user has it, with the rows in the original's format.
    ///
    /// # Errors
    /// [`Failure`].
    pub(super) fn take(&self, flashmark: &Path) -> Result<Finished, Failure> {
        let finished = program::measured(&mut self.command(flashmark, "esp-idf"))?;
        if finished.output.contains("(new file)") || finished.output.contains(" raw ") {
            return Ok(finished);
        }
        Err(Failure::Output { program: "flashmark", wanted: "row", output: finished.output })
    }

    /// What was simulated: the same in every run.
    ///
    /// # Errors
    /// [`Failure`]; also where a workload did not run to its end.
    pub(super) fn simulated(&self, flashmark: &Path) -> Result<Simulated, Failure> {
        let output = program::run(&mut self.command(flashmark, "json"))?;
        Simulated::of(&output.stdout).ok_or_else(|| Failure::Output {
            program: "flashmark",
            wanted: "simulation of workloads that all ran to their ends",
            output: String::from_utf8_lossy(&output.stdout).into_owned(),
        })
    }
}

/// What the records of a run say of the simulated boards, from power-on to the last workload's end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Simulated {
    /// Virtual time, in seconds: what the hardware would take.
    pub seconds: f64,
    /// Reads, programs and erases of the chips in the workloads.
    pub operations: u64,
}

impl Simulated {
    fn of(json: &[u8]) -> Option<Self> {
        let Document { records } = serde_json::from_slice(json).ok()?;
        let (mut ns, mut operations) = (0, 0);
        for Record { outcome, simulation } in &records {
            if outcome.status != "done" {
                return None;
            }
            let Simulation { whole, phases } = simulation;
            ns += whole.elapsed_ns + phases.iter().map(|phase| phase.elapsed_ns).sum::<u64>();
            operations += whole.device.reads + whole.device.programs + whole.device.erases;
        }
        (!records.is_empty()).then_some(Self { seconds: ns as f64 / 1e9, operations })
    }
}

// What is read of the records (docs/records.md). All else, which is a lot in a long run, is passed over.

#[derive(Deserialize)]
struct Document {
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    outcome: Outcome,
    simulation: Simulation,
}

#[derive(Deserialize)]
struct Outcome {
    status: String,
}

#[derive(Deserialize)]
struct Simulation {
    whole: Whole,
    #[serde(default)]
    phases: Vec<Phase>,
}

#[derive(Deserialize)]
struct Whole {
    elapsed_ns: u64,
    device: Device,
}

#[derive(Deserialize)]
struct Device {
    reads: u64,
    programs: u64,
    erases: u64,
}

#[derive(Deserialize)]
struct Phase {
    elapsed_ns: u64,
}

/// CPU time and wall time of some runs, in seconds.
pub(super) struct Times {
    pub cpu: Rounds,
    pub wall: Rounds,
}

/// Runs all commands in turn.
///
/// # Errors
/// [`Failure`].
pub(super) fn in_turn(
    rounds: u32,
    runs: usize,
    take: impl Fn(usize) -> Result<Finished, Failure>,
) -> Result<Times, Failure> {
    let walls = RefCell::new(vec![Vec::new(); runs]);
    let variant = |nth: usize| -> Variant<'_> {
        let (walls, take) = (&walls, &take);
        Box::new(move || {
            let finished = take(nth)?;
            walls.borrow_mut()[nth].push(finished.wall_s);
            Ok(finished.cpu_s)
        })
    };
    let cpu = Rounds::run(rounds, &mut (0..runs).map(variant).collect::<Vec<_>>())?;
    // The first round warms up.
    let walls = walls.into_inner().into_iter().map(|walls| walls.into_iter().skip(1).collect()).collect();
    Ok(Times { cpu, wall: Rounds::of_values(walls) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_operations_are_added_up() {
        let record = |status: &str, phases: &str| {
            format!(
                r#"{{ "outcome": {{ "status": "{status}" }}, "simulation": {{ {phases} "whole": {{ "elapsed_ns": 1500000000,
                    "device": {{ "reads": 3, "read_bytes": 192, "programs": 20, "erases": 100 }} }} }} }}"#
            )
        };
        let phases = r#""phases": [{ "name": "mount", "elapsed_ns": 250000000 }],"#;
        let run = |records: &[String]| Simulated::of(format!(r#"{{ "records": [{}] }}"#, records.join(",")).as_bytes());
        let both = [record("done", phases), record("done", "")];
        assert_eq!(run(&both), Some(Simulated { seconds: 3.25, operations: 246 }));
        assert_eq!(run(&[record("done", ""), record("failed", "")]), None, "a part says nothing of the whole");
        assert_eq!(run(&[]), None);
        assert_eq!(Simulated::of(b"no JSON"), None);
    }

    #[test]
    fn times_are_without_the_round_that_warms_up() {
        let calls = std::cell::Cell::new(0.0);
        let times = in_turn(2, 2, |nth| {
            calls.set(calls.get() + 1.0);
            let cpu_s = calls.get();
            Ok(Finished { output: String::new(), cpu_s, wall_s: cpu_s * 10.0 + nth as f64, peak_resident_bytes: 0 })
        })
        .unwrap();
        // The calls 3 and 5 are of the first one, 4 and 6 of the second.
        assert_eq!((times.cpu.of(0).median, times.cpu.of(1).median), (4.0, 5.0));
        assert_eq!((times.wall.of(0).median, times.wall.of(1).median), (40.0, 51.0));
    }

    #[test]
    fn commands_are_what_a_user_types() {
        let run = Run { target: "lab:esp32/raw", tries: 100, settings: &["chip=w25q01jv"] };
        let command = run.command(Path::new("flashmark"), "json");
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        assert_eq!(
            words.join(" "),
            "run lab:esp32/raw --suite=esp-idf --compat --threads=1 --quiet --format=json --set=tries=100 \
             --set=chip=w25q01jv"
        );
    }
}
