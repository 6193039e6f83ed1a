//! fio's command line (fio HOWTO, "Command line options").
//!
//! Options of a job come before or behind `=`: `--bs=4k`, `--bs 4k`. `--name=NAME` begins a job; what stands before the
//! first one are defaults. Words that are no options are job files, wherever they stand; their jobs come after those of
//! the command line and have its defaults. What takes no value or may stand alone takes one only behind `=`. A single
//! dash is as good as two.

mod arguments;
mod program;
mod values;

use crate::error::{FioError, Problem};
use crate::job::{JobFile, Section};
use crate::jobs::{Assembly, JobSet, Rules, Unsupported};
use crate::nearest::nearest;
use crate::place::Place;
use crate::surroundings::Surroundings;
pub use program::{EtaWhen, OutputFormat, Program, Request};

/// What a command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program's own options.
    pub program: Program,
    /// The jobs on the command line itself, and their defaults as sections called `global`.
    pub sections: Vec<Section>,
    /// The job files in order, `-` for the standard input, and where they stand.
    pub files: Vec<(String, Place)>,
}

impl CommandLine {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    ///
    /// If a word is no option of fio's, or of the program's with a wrong value. Options of jobs are looked at by
    /// [`Self::resolve`].
    pub fn parse<Argument: AsRef<str>>(arguments: impl IntoIterator<Item = Argument>) -> Result<Self, FioError> {
        let arguments: Vec<Argument> = arguments.into_iter().collect();
        let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
        arguments::read(&arguments)
    }

    /// Reads the job files, and puts all jobs together.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, an option cannot be taken, a section asked for does not exist, or there is no job.
    pub fn resolve(&self, surroundings: &dyn Surroundings) -> Result<JobSet, FioError> {
        let rules = Rules {
            unsupported: if self.program.ignore_unsupported { Unsupported::LeaveOut } else { Unsupported::Stop },
            read_only: self.program.read_only,
            warnings_fatal: self.program.warnings_fatal,
        };
        let mut files = Vec::new();
        for (path, place) in &self.files {
            let file = JobFile::load(path, surroundings).map_err(|error| match *error.problem {
                Problem::Unreadable { path: unreadable, why } if unreadable == *path => {
                    FioError::new(place.clone(), Problem::Unreadable { path: unreadable, why })
                }
                problem => FioError::new(error.place, problem),
            })?;
            files.push(file);
        }
        self.check_sections(&files)?;
        let only: Vec<&str> = self.program.sections.iter().map(|(name, _)| name.as_str()).collect();
        let mut assembly = Assembly::new(surroundings, rules);
        assembly.add_sections(&self.sections, &only, false)?;
        for (index, file) in files.iter().enumerate() {
            if index > 0 {
                assembly.reset_defaults();
            }
            assembly.add_sections(&file.sections, &only, index > 0)?;
        }
        let set = assembly.finish();
        if set.jobs.is_empty() {
            let place = self.files.first().map_or(Place::argument(1, 1), |(_, place)| place.clone());
            return Err(FioError::new(place, Problem::NoJobs));
        }
        Ok(set)
    }

    fn check_sections(&self, files: &[JobFile]) -> Result<(), FioError> {
        let sections = || self.sections.iter().chain(files.iter().flat_map(|file| &file.sections));
        let names = || sections().filter(|section| !section.is_global()).map(|section| section.name.as_str());
        for (name, place) in &self.program.sections {
            if !names().any(|known| known == name) {
                let nearest = nearest(name, names()).map(str::to_owned);
                return Err(FioError::new(place.clone(), Problem::UnknownSection { name: name.clone(), nearest }));
            }
        }
        Ok(())
    }
}
