//! Names of lab targets: `lab:BOARD[/STORAGE][,key=value…]`.

use std::fmt;
use std::str::FromStr;

/// What every lab target's name begins with.
pub const PREFIX: &str = "lab:";

/// A lab target as it is named on the command line and in records: a board, one of its storages, and what is set
/// otherwise than in the board's profile. The name alone repeats the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetName {
    /// A built-in board's name, or the path of a profile.
    pub board: String,
    /// One storage of the board; `None` is all of them.
    pub storage: Option<String>,
    /// Settings over the profile's, in the order given.
    pub settings: Vec<(String, String)>,
}

/// Why a name is not that of a lab target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It does not begin with [`PREFIX`].
    #[error("{0} does not begin with lab:")]
    NotLab(String),
    /// No board.
    #[error("{0} names no board: lab:BOARD, lab:BOARD/STORAGE (flashmark boards lists them)")]
    NoBoard(String),
    /// A setting without a value.
    #[error("{setting} in {name} is no setting: key=value is expected after each comma (lab:esp32,fatfs.cluster=4k)")]
    NoValue {
        /// The whole name.
        name: String,
        /// The part that is wrong.
        setting: String,
    },
}

impl TargetName {
    /// Whether a target is meant for the lab.
    #[must_use]
    pub fn is_lab(target: &str) -> bool {
        target.starts_with(PREFIX)
    }
}

impl FromStr for TargetName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let rest = name.strip_prefix(PREFIX).ok_or_else(|| NameError::NotLab(name.to_owned()))?;
        let mut parts = rest.split(',');
        let place = parts.next().unwrap_or_default();
        let settings = parts
            .map(|setting| match setting.split_once('=') {
                Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
                _ => Err(NameError::NoValue { name: name.to_owned(), setting: setting.to_owned() }),
            })
            .collect::<Result<_, _>>()?;
        // A path may have slashes of its own: the storage comes after its `.toml/`.
        let (board, storage) = match place.find(".toml/") {
            Some(at) => (&place[..at + 5], Some(&place[at + 6..])),
            None if place.ends_with(".toml") => (place, None),
            None => place.split_once('/').map_or((place, None), |(board, storage)| (board, Some(storage))),
        };
        if board.is_empty() {
            return Err(NameError::NoBoard(name.to_owned()));
        }
        let storage = storage.filter(|storage| !storage.is_empty()).map(str::to_owned);
        Ok(Self { board: board.to_owned(), storage, settings })
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.board)?;
        if let Some(storage) = &self.storage {
            write!(f, "/{storage}")?;
        }
        self.settings.iter().try_for_each(|(key, value)| write!(f, ",{key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> (String, Option<String>, usize) {
        let target: TargetName = name.parse().unwrap();
        assert_eq!(target.to_string(), name);
        (target.board, target.storage, target.settings.len())
    }

    #[test]
    fn names_have_up_to_three_parts() {
        assert_eq!(parsed("lab:esp32"), ("esp32".into(), None, 0));
        assert_eq!(parsed("lab:esp32/fatfs"), ("esp32".into(), Some("fatfs".into()), 0));
        assert_eq!(parsed("lab:esp32/fatfs,fatfs.cluster=4k,chip=w25q32jv"), ("esp32".into(), Some("fatfs".into()), 2));
        assert_eq!(parsed("lab:./my/board.toml"), ("./my/board.toml".into(), None, 0));
        assert_eq!(parsed("lab:/my/board.toml/raw,seed=2"), ("/my/board.toml".into(), Some("raw".into()), 1));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(matches!("esp32".parse::<TargetName>(), Err(NameError::NotLab(_))));
        assert!(matches!("lab:/fatfs".parse::<TargetName>(), Err(NameError::NoBoard(_))));
        assert!(matches!("lab:esp32,cluster".parse::<TargetName>(), Err(NameError::NoValue { .. })));
    }
}
