//! What can be wrong with a board, and where.

use std::fmt;
use std::path::PathBuf;

/// A place in a profile, or the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a profile.
    Line {
        /// The profile's name or path.
        file: String,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
    },
    /// The profile as a whole.
    File(String),
    /// A setting given beside the profile.
    Setting,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Self::File(file) => f.write_str(file),
            Self::Setting => f.write_str("setting"),
        }
    }
}

/// Why a board cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// Neither a built-in board nor a file.
    #[error("there is no board {name}{}; flashmark boards lists them, and a path ends in .toml", did_you_mean(.nearest))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// The file cannot be read.
    #[error("cannot read the board {}: {reason}", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// Not TOML, or not laid out as a profile.
    #[error("{place}: {reason}")]
    Form {
        /// Where.
        place: Place,
        /// What is expected.
        reason: String,
    },
    /// A key that no part of the board knows.
    #[error("{place}: {key} is no setting of a board{}; flashmark boards keys lists them", did_you_mean(.nearest))]
    UnknownKey {
        /// Where.
        place: Place,
        /// What was found.
        key: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A key that is needed and not there.
    #[error("{file}: {key} is missing: {about}")]
    Missing {
        /// The profile.
        file: String,
        /// The key.
        key: String,
        /// What it sets.
        about: String,
    },
    /// A value that does not fit its key, or the rest of the board.
    #[error("{place}: {key} = {value}: {reason}")]
    Value {
        /// Where.
        place: Place,
        /// The key.
        key: String,
        /// What was given.
        value: String,
        /// Why it does not fit.
        reason: String,
    },
    /// A storage that the board does not have.
    #[error("board {board} has no storage {storage}{}; it has {}", did_you_mean(.nearest), .has.join(", "))]
    NoStorage {
        /// The board.
        board: String,
        /// What was asked for.
        storage: String,
        /// What was probably meant.
        nearest: Option<String>,
        /// What there is.
        has: Vec<String>,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// The candidate that is nearest to what was written, if any is near.
pub fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let found = found.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&found, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= (candidate.len() / 3).max(1) || (found.len() > 1 && candidate.starts_with(&found))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}
