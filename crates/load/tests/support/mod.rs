//! Running jobs in a directory of their own.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test support")]

use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use flashmark_fio::{JobFile, JobSet, Rules, ThisMachine};
use flashmark_host::consent::ConsentArgs;
use flashmark_load::{Finished, How, LoadError, Status, Watch};

#[derive(clap::Parser)]
struct Arguments {
    #[command(flatten)]
    consent: ConsentArgs,
}

/// A directory for a job's files, removed at the end.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        // Beside the build's other files: memory does not take every flag that a disk takes.
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Overwrites bytes of a file.
    pub fn change(&self, name: &str, offset: u64, bytes: &[u8]) {
        let file = std::fs::OpenOptions::new().write(true).open(self.path(name)).unwrap();
        file.write_all_at(bytes, offset).unwrap();
    }
}

struct Quiet;

impl Watch for Quiet {
    fn making(&mut self, _: &Path, _: u64, _: u64) {}
    fn progress(&mut self, _: &Status) {}
    fn stop(&mut self) -> bool {
        false
    }
}

/// Consent as the command line gives it.
pub fn consent(arguments: &[&str]) -> ConsentArgs {
    Arguments::parse_from(std::iter::once(&"flashmark").chain(arguments)).consent
}

/// The jobs of a text, with their files in `place`.
pub fn jobs(place: &Place, text: &str) -> JobSet {
    let (first, rest) = text.split_once('\n').unwrap();
    let directory = format!("directory={}", place.0.path().display());
    let text = if first == "[global]" {
        format!("[global]\n{directory}\n{rest}")
    } else {
        format!("[global]\n{directory}\n{text}")
    };
    let file = JobFile::parse("test.fio", &text, &ThisMachine).unwrap();
    JobSet::from_file(&file, &ThisMachine, Rules::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn try_run_in(place: &Place, text: &str, arguments: &[&str]) -> Result<Finished, LoadError> {
    let how = How { consent: &consent(arguments), auxiliary: place.0.path(), read_only: false, bandwidth_log: None };
    flashmark_load::run(&jobs(place, text), &how, &mut Quiet)
}

pub fn run_in(place: &Place, text: &str) -> Finished {
    try_run_in(place, text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

pub fn run_text(text: &str) -> Finished {
    run_in(&Place::new(), text)
}
