//! From sections to jobs: every option resolved, checked, and known where it came from.

mod assembly;
mod checks;
mod file_names;
mod verify_checks;

use std::collections::BTreeMap;

use crate::error::FioError;
use crate::job::JobFile;
use crate::options::Options;
use crate::place::Place;
use crate::setting::Setting;
use crate::surroundings::Surroundings;
pub(crate) use assembly::Assembly;

/// What is done about options that fio has and that are not supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsupported {
    /// The first one is an error.
    #[default]
    Stop,
    /// They are left out, and listed in [`JobSet::dropped`].
    LeaveOut,
}

/// How jobs are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What is done about what is not supported.
    pub unsupported: Unsupported,
    /// Whether writes and trims are refused; fio's `--readonly`.
    pub read_only: bool,
    /// Whether a warning is an error; fio's `--warnings-fatal`.
    pub warnings_fatal: bool,
}

/// A job with all its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The section's name, or the one given with `--name`.
    pub name: String,
    /// Where that stands.
    pub place: Place,
    /// Its options: its own over the defaults it inherits over fio's.
    pub options: Options,
    /// Which options were given, for it or in its defaults, by fio's name, and where.
    pub given: BTreeMap<&'static str, Place>,
    /// The defaults it inherits, as written, with variables and keywords replaced.
    pub global_settings: Vec<Setting>,
    /// Its own options, likewise.
    pub settings: Vec<Setting>,
    /// The group it is in, from 0: a job with `stonewall` or `new_group` begins the next one.
    pub group: u32,
}

impl Job {
    /// Whether an option was given, by fio's name.
    #[must_use]
    pub fn is_given(&self, option: &str) -> bool {
        self.given.contains_key(option)
    }

    /// The name to report.
    #[must_use]
    pub fn reported_name(&self) -> &str {
        // A name among the defaults is none of this job's, as in fio.
        let own = self.settings.iter().any(|setting| setting.name == "name");
        self.options.run.name.as_deref().filter(|_| own).unwrap_or(&self.name)
    }
}

/// Something that is no error and that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What.
    pub text: String,
}

/// An option that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Where it stands.
    pub place: Place,
    /// As it was written.
    pub setting: String,
    /// The nearest way.
    pub way: &'static str,
}

/// Jobs to run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobSet {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// What was left out.
    pub dropped: Vec<Dropped>,
}

impl JobSet {
    /// The jobs of one file.
    ///
    /// # Errors
    ///
    /// The first option that cannot be taken, or that does not go together with another.
    pub fn from_file(file: &JobFile, surroundings: &dyn Surroundings, rules: Rules) -> Result<Self, FioError> {
        let mut assembly = Assembly::new(surroundings, rules);
        assembly.add_sections(&file.sections, &[], false)?;
        Ok(assembly.finish())
    }
}
