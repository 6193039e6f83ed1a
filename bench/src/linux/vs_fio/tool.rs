//! The two programs, told the same in fio's words.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::figures::{self, Figures};
use crate::linux::failure::Failure;
use crate::linux::interrupt;
use crate::linux::program;

/// A program that takes fio's command line and prints fio's JSON.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name in tables.
    pub name: &'static str,
    path: PathBuf,
    first: &'static [&'static str],
}

/// What a job is told.
pub type Words = Vec<String>;

impl Tool {
    /// Debian's, or whichever is in `PATH`.
    pub fn fio() -> Self {
        Self { name: "fio", path: "fio".into(), first: &[] }
    }

    /// This project's.
    pub fn flashmark(path: &Path) -> Self {
        Self { name: "flashmark", path: path.to_owned(), first: &["fio", "--quiet"] }
    }

    /// Runs one job to its end, in a control group if one is given.
    ///
    /// # Errors
    /// [`Failure::Program`] also if the job failed; [`Failure::Output`]; [`Failure::Interrupted`].
    pub fn run(&self, words: &[String], group: Option<&Path>) -> Result<Figures, Failure> {
        let mut command = match group {
            None => Command::new(&self.path),
            Some(group) => {
                let mut command = Command::new("sh");
                // The shell moves itself, and then becomes the program: not one of its accesses is outside the group.
                command.args(["-c", r#"echo $$ >"$0/cgroup.procs" && exec "$@""#]).arg(group).arg(&self.path);
                command
            }
        };
        command.args(self.first).args(["--name=job", "--output-format=json"]).args(words);
        let finished = program::measured(&mut command)?;
        interrupt::check()?;
        figures::of(&finished).ok_or(Failure::Output {
            program: self.name,
            wanted: "result of one job without errors",
            output: finished.output,
        })
    }
}

/// Words of a job, as on a command line.
pub fn words<const N: usize>(words: [&str; N]) -> Words {
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_joined_before_the_program_starts() {
        let group = tempfile::tempdir().unwrap();
        let tool =
            Tool { name: "test", path: "sh".into(), first: &["-c", r#"echo '{"no": "job"}'; echo $$ "$@""#, "x"] };
        let Err(Failure::Output { output, .. }) = tool.run(&words(["--bs=4k"]), Some(group.path())) else {
            panic!("there is no job in its output")
        };
        let joined = std::fs::read_to_string(group.path().join("cgroup.procs")).unwrap();
        let said = format!("{} --name=job --output-format=json --bs=4k", joined.trim());
        assert_eq!(output.lines().last(), Some(said.as_str()));
    }
}
