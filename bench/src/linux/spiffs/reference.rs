//! The C implementation's side: a program that runs a script and prints how long that took.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::linux::failure::Failure;
use crate::linux::program;

/// A program and the script that it runs.
pub struct Reference {
    program: PathBuf,
    script: tempfile::NamedTempFile,
}

impl Reference {
    /// # Errors
    /// [`Failure::Io`] if the script cannot be stored.
    pub fn new(program: &Path, workload: &str, script: &str) -> Result<Self, Failure> {
        let doing = || format!("storing the script {workload}");
        let mut file = tempfile::NamedTempFile::new().map_err(Failure::io(doing()))?;
        file.write_all(script.as_bytes()).map_err(Failure::io(doing()))?;
        Ok(Self { program: program.to_owned(), script: file })
    }

    /// The least CPU time of so many runs, each from an erased flash on, in microseconds.
    ///
    /// # Errors
    /// [`Failure::Program`], [`Failure::Output`].
    pub fn best_us(&self, runs: u32) -> Result<f64, Failure> {
        let output = program::run(Command::new(&self.program).arg("-t").arg(runs.to_string()).arg(self.script.path()))?;
        let output = String::from_utf8_lossy(&output.stdout);
        best_us(&output).ok_or_else(|| Failure::Output {
            program: super::VARIABLE,
            wanted: "best_us=MICROSECONDS",
            output: output.into_owned(),
        })
    }
}

/// Of a line `runs=N cpu_us=MEAN best_us=LEAST`.
fn best_us(output: &str) -> Option<f64> {
    let value = output.split_whitespace().find_map(|word| word.strip_prefix("best_us="))?;
    value.parse().ok().filter(|us: &f64| us.is_finite() && *us > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_is_read() {
        assert_eq!(best_us("runs=3 cpu_us=12.500 best_us=11.250\n"), Some(11.25));
        for output in ["", "runs=3 cpu_us=12.5\n", "best_us=\n", "best_us=0\n", "best_us=inf\n"] {
            assert_eq!(best_us(output), None, "{output}");
        }
    }

    #[test]
    fn a_program_runs_the_script() {
        let reference = Reference::new(Path::new("echo"), "test", "config size=65536\n").unwrap();
        let Err(Failure::Output { output, .. }) = reference.best_us(7) else { panic!("echo prints no time") };
        assert_eq!(output, format!("-t 7 {}\n", reference.script.path().display()));
        assert_eq!(std::fs::read_to_string(reference.script.path()).unwrap(), "config size=65536\n");
    }
}
