//! What can be wrong with a suite or a setting.
//!
//! The text of an error says where it is, what was found, what is taken, and what was probably meant, on one line.

use std::fmt;

use flashmark_core::workload::Contradiction;

use crate::keys::keys;
use crate::nearest::guess;
use crate::settings::Setting;

/// What is wrong with a suite or a setting, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct SuiteError {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Box<Problem>,
}

impl SuiteError {
    pub(crate) fn new(place: Place, problem: Problem) -> Self {
        Self { place, problem: Box::new(problem) }
    }
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a suite's text; shown as `FILE:LINE:COLUMN`.
    Text {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
    },
    /// A suite as a whole.
    Suite(String),
    /// A setting of the command line.
    Setting(Setting),
    /// The command line as a whole.
    CommandLine,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::Suite(name) => f.write_str(name),
            Self::Setting(setting) => setting.fmt(f),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No suite has this name.
    #[error(
        "there is no such suite{}; built in are {}; a suite in a file is given by its path (`./{name}.toml`)",
        guess(.nearest.as_deref()), list(.known)
    )]
    UnknownSuite {
        /// What was asked for.
        name: String,
        /// The suite that was probably meant.
        nearest: Option<String>,
        /// The suites there are.
        known: Vec<&'static str>,
    },
    /// The file cannot be read.
    #[error("the suite cannot be read: {0}")]
    Unreadable(String),
    /// The text is not TOML.
    #[error("this is not TOML: {0}")]
    Syntax(String),
    /// A key that does not exist there.
    #[error("unknown key `{found}` in {table}{}; {table} takes {}", guess(.nearest.as_deref()), list(.known))]
    UnknownKey {
        /// What was found.
        found: String,
        /// The table it stands in.
        table: String,
        /// The key that was probably meant.
        nearest: Option<String>,
        /// The keys there are.
        known: Vec<&'static str>,
    },
    /// A setting that is neither a suite key nor a parameter of the suite.
    #[error("there is no {} `{found}`{}; {}", key_or_param(.known), guess(.nearest.as_deref()), known_params(suite, .known))]
    UnknownSetting {
        /// What was found.
        found: String,
        /// The suite.
        suite: String,
        /// The key or parameter that was probably meant.
        nearest: Option<String>,
        /// The suite's parameters.
        known: Vec<String>,
    },
    /// A key is missing.
    #[error("{table} has no `{key}`: {remedy}")]
    MissingKey {
        /// The table.
        table: String,
        /// The key.
        key: &'static str,
        /// What to add.
        remedy: &'static str,
    },
    /// A value that the key does not take.
    #[error("{}{why}{}", prefix(.written.as_deref()), guess(.nearest.as_deref()))]
    BadValue {
        /// Key and value as they stand in a file; `None` for a setting, whose place says it.
        written: Option<String>,
        /// What was found and what is taken.
        why: String,
        /// The value that was probably meant.
        nearest: Option<String>,
    },
    /// Settings of a workload that cannot go together.
    #[error("workload \"{workload}\": {contradiction}")]
    Contradiction {
        /// The workload's name.
        workload: String,
        /// Which settings, and what to do.
        contradiction: Contradiction,
    },
    /// A key of a workload that has no meaning there.
    #[error("workload \"{workload}\": `{key}` {condition}: leave it out")]
    OutOfPlace {
        /// The workload's name.
        workload: String,
        /// The key.
        key: &'static str,
        /// What it is for.
        condition: &'static str,
    },
    /// A new file that nothing limits.
    #[error(
        "workload \"{0}\" writes a new file, but nothing says how much: give `size` or `file-size` (on a device, \
         `file-size = \"all\"` is all of it)"
    )]
    NoSize(String),
    /// A text's end that is longer than the block it ends.
    #[error("workload \"{workload}\": data-end has {end} bytes, but a block has {block}: shorten it or enlarge block")]
    EndLongerThanBlock {
        /// The workload's name.
        workload: String,
        /// The end's length in bytes.
        end: usize,
        /// The block in bytes.
        block: u32,
    },
    /// Two workloads of one name.
    #[error("a workload named \"{name}\" stands on line {first_line} already: each needs a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
        /// The line of the first.
        first_line: u32,
    },
    /// A suite without workloads.
    #[error("there is no workload: add a [[{0}]] table")]
    Empty(&'static str),
    /// A form that the suite does not have.
    #[error("this suite has only one form: it reproduces no original, so leave out the compatibility form")]
    NoCompatForm,
    /// A parameter that is named like a suite key.
    #[error("the parameter `{0}` is named like a suite key, which the command line sets by the same name: rename it")]
    ParamIsKey(String),
    /// A setting that no workload takes.
    #[error("no workload takes it: `{key}` {condition}")]
    UnusedSetting {
        /// The key.
        key: &'static str,
        /// What it is for.
        condition: &'static str,
    },
    /// The operation of a suite's workload cannot be changed from outside.
    #[error(
        "workload \"{workload}\" is there for op = \"{own}\" and named for it: leave the option out, or leave the suite \
         out to run a single workload"
    )]
    OpOfSuite {
        /// The workload's name.
        workload: String,
        /// Its operation.
        own: &'static str,
    },
    /// The level of use of a suite's workload cannot be changed from outside.
    #[error(
        "workload \"{workload}\" is there for fill = \"{own}%\" and named for it: choose levels with --only, or leave the \
         suite out to run a single workload"
    )]
    LevelOfSuite {
        /// The workload's name.
        workload: String,
        /// Its level, in percent.
        own: u8,
    },
    /// One name for several workloads.
    #[error("the suite has {0} workloads, which cannot all have this name: leave the option out")]
    OneNameForMany(usize),
    /// What `--set` was given is no pair.
    #[error("--set `{0}`: KEY=VALUE is expected, e.g. --set block=4k")]
    NotAPair(String),
}

fn list<S: AsRef<str>>(known: &[S]) -> String {
    known.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

fn key_or_param(params: &[String]) -> &'static str {
    if params.is_empty() { "suite key" } else { "suite key or parameter" }
}

fn known_params(suite: &str, params: &[String]) -> String {
    match params {
        [] => format!("the keys are {}", list(&keys().iter().map(|key| key.name).collect::<Vec<_>>())),
        params => format!("the parameters of suite `{suite}` are {}", list(params)),
    }
}

fn prefix(written: Option<&str>) -> String {
    written.map(|text| format!("{text}: ")).unwrap_or_default()
}
