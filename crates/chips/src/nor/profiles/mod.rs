//! Chips as files: profiles in TOML, and SFDP dumps.
//!
//! Every number of a profile is written with where it comes from: `{ value = 45, unit = "ms", source = "data sheet ..." }`,
//! or, where there are two to a thing, `{ typical = 45, max = 400, unit = "ms", source = "..." }`. A profile can rest on an
//! SFDP dump (`[sfdp] dump = "53 46 44 50 ..."`); then it need only say what the dump does not tell, or tells otherwise than
//! it is. Keys that are unknown, missing or impossible are refused, with file, line and column.

mod built_in;
mod file;
mod quantity;
mod read;

use std::format;
use std::io::Read as _;
use std::path::Path;
use std::string::{String, ToString};
use std::vec::Vec;

use thiserror::Error;

use super::profile::Profile;
pub use built_in::{BuiltIn, built_in};

/// A number of a profile, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its key, as `program.page` or `erase[0].time`.
    pub key: String,
    /// The value with its unit, as it is written.
    pub value: String,
    /// Where it comes from.
    pub source: String,
}

/// A profile, and where its numbers come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFile {
    /// The chip.
    pub profile: Profile,
    /// Its numbers, in the order of the file.
    pub facts: Vec<Fact>,
}

/// Why a profile could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProfileFileError {
    /// The file says something that it may not say.
    #[error("{file}:{line}:{column}: {reason}")]
    Content {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// Why.
        reason: String,
    },
    /// A dump that is none.
    #[error("{file}: {error}")]
    Dump {
        /// The file's name.
        file: String,
        /// Why.
        error: super::SfdpError,
    },
    /// Neither a chip's name nor a file.
    #[error("no chip is named '{name}': there are {known}; or give a file that ends in .toml, .sfdp or .bin")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
}

/// Reads a profile. `file_name` is for messages.
///
/// # Errors
/// [`ProfileFileError::Content`].
pub fn parse(text: &str, file_name: &str) -> Result<Profile, ProfileFileError> {
    parse_with_facts(text, file_name).map(|file| file.profile)
}

/// Reads a profile with the sources of its numbers. `file_name` is for messages.
///
/// # Errors
/// [`ProfileFileError::Content`].
pub fn parse_with_facts(text: &str, file_name: &str) -> Result<ProfileFile, ProfileFileError> {
    read::read(text).map_err(|fault| {
        let before = &text[..text.floor_char_boundary(fault.at)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |start| start.chars().count()) + 1;
        ProfileFileError::Content { file: file_name.to_string(), line, column, reason: fault.reason }
    })
}

/// The chip of that name, in any case, or of that file: a profile that ends in `.toml`, a dump of an SFDP table that ends in
/// `.sfdp` or `.bin`.
///
/// # Errors
/// All of [`ProfileFileError`].
pub fn load(name_or_path: &str) -> Result<Profile, ProfileFileError> {
    load_with_facts(name_or_path).map(|file| file.profile)
}

/// As [`load`], with the sources of the numbers; those of a dump have none but the file.
///
/// # Errors
/// All of [`ProfileFileError`].
pub fn load_with_facts(name_or_path: &str) -> Result<ProfileFile, ProfileFileError> {
    if let Some(chip) = built_in().iter().find(|chip| chip.name.eq_ignore_ascii_case(name_or_path)) {
        return parse_with_facts(chip.text, &format!("{}.toml", chip.name));
    }
    let file = || name_or_path.to_string();
    let unreadable = |error: std::io::Error| ProfileFileError::Unreadable { file: file(), reason: error.to_string() };
    let path = Path::new(name_or_path);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => {
            let text = String::from_utf8(read_file(path).map_err(unreadable)?)
                .map_err(|_| unreadable(std::io::Error::other("it is not UTF-8")))?;
            parse_with_facts(&text, name_or_path)
        }
        Some("sfdp" | "bin") => {
            let dump = read_file(path).map_err(unreadable)?;
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(name_or_path);
            let profile = Profile::from_sfdp(name, &dump);
            let profile = profile.map_err(|error| ProfileFileError::Dump { file: file(), error })?;
            let facts = read::told_by_dump(&profile, name_or_path);
            Ok(ProfileFile { profile, facts })
        }
        _ => {
            let names: Vec<_> = built_in().iter().map(|chip| chip.name).collect();
            Err(ProfileFileError::Unknown { name: file(), known: names.join(", ") })
        }
    }
}

/// No profile and no SFDP dump is longer.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A file's content; what has no end, or is no file, is refused.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut content = Vec::new();
    std::fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut content)?;
    if content.len() as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other("it has more than 1 MiB, so that it is neither a profile nor an SFDP dump"));
    }
    Ok(content)
}
