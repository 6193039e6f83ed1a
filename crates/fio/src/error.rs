//! What can be wrong with a job file, a command line or an option.
//!
//! The text of an error says where it is, what was found, what is taken, and what was probably meant, on one line.

use crate::nearest::guess;
use crate::place::Place;
use crate::value::Misfit;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct FioError {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Box<Problem>,
}

impl FioError {
    pub(crate) fn new(place: Place, problem: Problem) -> Self {
        Self { place, problem: Box::new(problem) }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A file cannot be read.
    #[error("`{path}` cannot be read: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// A file is not text.
    #[error("this is not UTF-8 text")]
    NotText,
    /// An option stands before the first section.
    #[error("`{0}` stands before the first section; put it below `[global]` or a `[job]`")]
    OutsideSection(String),
    /// A section's name has no end.
    #[error("`{0}` has no closing bracket; a section is `[name]` on a line of its own")]
    SectionNotClosed(String),
    /// Something follows a section's name.
    #[error("`{0}` follows the section's name; fio would take it for a part of the name")]
    AfterSection(String),
    /// A section has no name.
    #[error("the section has no name")]
    SectionUnnamed,
    /// An included file has a section.
    #[error("`[{0}]` stands in an included file, which can only have options")]
    SectionInInclude(String),
    /// `include` without a file.
    #[error("`include` is followed by a file's name (`include common.fio`)")]
    IncludeWhat,
    /// Files include each other.
    #[error("`{0}` is being included already; files must not include each other in a circle")]
    IncludeCircle(String),
    /// A line begins with `=`.
    #[error("`{0}` has no name before its `=`")]
    Unnamed(String),
    /// No option has this name.
    #[error("fio has no option `{name}`{}", guess(.nearest.as_deref()))]
    UnknownOption {
        /// What was found.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// fio has the option, and it is not supported.
    #[error("the option `{name}` is known but not supported: {way}")]
    Unsupported {
        /// Its name.
        name: String,
        /// The nearest way.
        way: String,
    },
    /// fio itself does not take the option any more.
    #[error("fio has given up the option `{name}`: {way}")]
    GivenUp {
        /// Its name.
        name: String,
        /// What to do.
        way: String,
    },
    /// An option of an engine that the job does not use.
    #[error("`{name}` is an option of {engines}, and this job's engine is {engine}")]
    OtherEngine {
        /// The option.
        name: String,
        /// Whose it is.
        engines: String,
        /// The job's.
        engine: String,
    },
    /// An option needs a value.
    #[error("`{name}` needs a value (`{name}=…`)")]
    NeedsValue {
        /// Which.
        name: String,
    },
    /// A value is not taken.
    #[error(
        "`{name}`: expected {}, found {}{}{}", .misfit.expected, found(&.misfit.found),
        .misfit.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default(), guess(.misfit.nearest.as_deref())
    )]
    Value {
        /// The option.
        name: String,
        /// Why not.
        misfit: Misfit,
    },
    /// A value that fio takes is not supported.
    #[error("`{name}={value}` is known but not supported: {way}")]
    UnsupportedValue {
        /// The option.
        name: String,
        /// The value.
        value: String,
        /// The nearest way.
        way: String,
    },
    /// Options that exclude each other.
    #[error("job `{job}`: {why}")]
    Conflict {
        /// The job.
        job: String,
        /// What does not go together, and what to do.
        why: String,
    },
    /// Arithmetic with a keyword.
    #[error("`{found}` cannot be calculated: {why}")]
    Keyword {
        /// The value.
        found: String,
        /// Why not.
        why: String,
    },
    /// A word that begins like an option, and no option has this name.
    #[error("there is no option `{name}`, of a job or of the program{}", guess(.nearest.as_deref()))]
    UnknownArgument {
        /// What was found.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// An option of the program takes no value.
    #[error("`--{0}` takes no value")]
    TakesNoValue(String),
    /// `--section` names no section.
    #[error("there is no section `{name}` in the job files{}", guess(.nearest.as_deref()))]
    UnknownSection {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// Nothing to do.
    #[error("there is no job; give a job file, or `--name=NAME` followed by its options")]
    NoJobs,
    /// A warning, where warnings are fatal.
    #[error("{0} (with --warnings-fatal this is an error)")]
    FatalWarning(String),
}

fn found(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { format!("`{text}`") }
}
