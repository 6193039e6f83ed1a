//! How a file system to be made is written: `NAME[:OPTION[=VALUE]]...`, several of them separated by commas.
//!
//! A value with a comma or a colon in it stands in brackets:
//! `xfs:mkfs=[-b size=1024],ext4:mount=[noatime,commit=30]`. Brackets do not nest.

use std::fmt;
use std::str::FromStr;

use super::recipe::Recipe;
use super::registry::{FILE_SYSTEMS, FsEntry, FsOption, Takes};

/// A file system to be made, with its options. Shown, it is the text that it can be read from.
#[derive(Clone)]
pub struct FsSpec {
    entry: &'static FsEntry,
    /// With their values; the value of an option that takes none is empty.
    options: Vec<(&'static FsOption, String)>,
}

/// What is wrong with the text of file systems.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Nothing stands where a file system should.
    #[error("a file system's name is missing; there are {}", names())]
    Empty,
    /// A bracket without its partner, or one in another.
    #[error("`{text}`: brackets stand around a value, one pair to a value: xfs:mkfs=[-b size=1024]")]
    Brackets {
        /// The text.
        text: String,
    },
    /// No such file system.
    #[error("there is no file system `{name}` to be made{}; there are {}", hint(nearest.as_deref()), names())]
    UnknownFileSystem {
        /// As given.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// No such option.
    #[error("{file_system} has no option `{option}`{}; it has {known}", hint(nearest.as_deref()))]
    UnknownOption {
        /// The file system.
        file_system: &'static str,
        /// As given.
        option: String,
        /// What was probably meant.
        nearest: Option<String>,
        /// All that it has.
        known: String,
    },
    /// A value that the option does not take.
    #[error("{file_system}:{option}: {}", taken(*takes, value.as_deref()))]
    Value {
        /// The file system.
        file_system: &'static str,
        /// The option.
        option: &'static str,
        /// As given.
        value: Option<String>,
        /// What it takes.
        takes: Takes,
    },
    /// An option that is given twice.
    #[error("{file_system}:{option} is given twice: leave one out")]
    Twice {
        /// The file system.
        file_system: &'static str,
        /// The option.
        option: &'static str,
    },
}

fn names() -> String {
    FILE_SYSTEMS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

fn taken(takes: Takes, value: Option<&str>) -> String {
    let found = value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"));
    match takes {
        Takes::Nothing => format!("it takes no value, not {found}"),
        Takes::Text => format!("a text is expected, not {found}"),
        Takes::OneOf { values, levels } => {
            let level = if levels { ", or with a level: [zstd:3]" } else { "" };
            format!("{} is expected{level}, not {found}", values.join(", "))
        }
    }
}

fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let distances = known.map(|name| (strsim::damerau_levenshtein(name, given), name));
    distances.filter(|(distance, _)| *distance <= 2).min().map(|(_, name)| name.to_owned())
}

/// Splits at a separator that stands in no brackets.
fn split(text: &str, separator: char) -> Result<Vec<&str>, SpecError> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, found) in text.char_indices() {
        match found {
            '[' | ']' if inside == (found == '[') => return Err(SpecError::Brackets { text: text.to_owned() }),
            '[' | ']' => inside = !inside,
            _ if found == separator && !inside => {
                parts.push(&text[start..at]);
                start = at + found.len_utf8();
            }
            _ => {}
        }
    }
    if inside {
        return Err(SpecError::Brackets { text: text.to_owned() });
    }
    parts.push(&text[start..]);
    Ok(parts)
}

impl FsSpec {
    /// Reads a list, separated by commas.
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn list(text: &str) -> Result<Vec<Self>, SpecError> {
        split(text, ',')?.into_iter().map(|part| part.trim().parse()).collect()
    }

    /// The file system.
    #[must_use]
    pub const fn entry(&self) -> &'static FsEntry {
        self.entry
    }

    /// The options that are given.
    pub fn options(&self) -> impl Iterator<Item = &'static FsOption> {
        self.options.iter().map(|(option, _)| *option)
    }

    /// Whether mkfs gets words of the user's, which can change what it needs.
    pub(super) fn has_own_mkfs(&self) -> bool {
        self.options().any(|option| option.name == "mkfs")
    }

    /// How it is made and mounted.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        let mut recipe = self.entry.recipe();
        // The user's own words come last, whatever their place.
        let (own, named): (Vec<_>, Vec<_>) =
            self.options.iter().partition(|(option, _)| matches!(option.takes, Takes::Text));
        for (option, value) in named.into_iter().chain(own) {
            (option.apply)(&mut recipe, value);
        }
        recipe
    }

    fn push(&mut self, text: &str) -> Result<(), SpecError> {
        let file_system = self.entry.name;
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let Some(option) = self.entry.all_options().find(|option| option.name == name) else {
            let known = || self.entry.all_options().map(|option| option.name);
            return Err(SpecError::UnknownOption {
                file_system,
                option: name.to_owned(),
                nearest: nearest(name, known()),
                known: known().collect::<Vec<_>>().join(", "),
            });
        };
        if self.options().any(|known| known.name == name) {
            return Err(SpecError::Twice { file_system, option: option.name });
        }
        let bracketed = value.and_then(|value| value.strip_prefix('[')).and_then(|value| value.strip_suffix(']'));
        let value = match (bracketed, value) {
            (Some(inner), _) => Some(inner),
            (None, Some(plain)) if plain.contains(['[', ']']) => {
                return Err(SpecError::Brackets { text: text.to_owned() });
            }
            (None, plain) => plain,
        };
        let value = match (option.takes, value) {
            (Takes::Nothing, None) => String::new(),
            (Takes::OneOf { values, .. }, None) => values.first().copied().unwrap_or_default().to_owned(),
            (takes, Some(value)) if takes.takes(value) => value.to_owned(),
            (takes, value) => {
                let value = value.map(str::to_owned);
                return Err(SpecError::Value { file_system, option: option.name, value, takes });
            }
        };
        self.options.push((option, value));
        Ok(())
    }
}

impl FromStr for FsSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let parts = split(text, ':')?;
        let Some((name, options)) = parts.split_first().filter(|(name, _)| !name.is_empty()) else {
            return Err(SpecError::Empty);
        };
        let entry = FsEntry::named(name).ok_or_else(|| SpecError::UnknownFileSystem {
            name: (*name).to_owned(),
            nearest: nearest(name, FILE_SYSTEMS.iter().map(|entry| entry.name)),
        })?;
        let mut spec = Self { entry, options: Vec::new() };
        options.iter().try_for_each(|option| spec.push(option))?;
        Ok(spec)
    }
}

impl fmt::Display for FsSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        for (option, value) in &self.options {
            write!(f, ":{}", option.name)?;
            if value.contains([',', ':', ' ', '=']) {
                write!(f, "=[{value}]")?;
            } else if !value.is_empty() {
                write!(f, "={value}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for FsSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FsSpec({self})")
    }
}

impl PartialEq for FsSpec {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for FsSpec {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::recipe::DirectoryStep;
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        FsSpec::list(text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_and_options() {
        let text = "ext4,btrfs:compress=zstd,ext4:encrypt,xfs";
        assert_eq!(shown(text), ["ext4", "btrfs:compress=zstd", "ext4:encrypt", "xfs"]);
        assert_eq!(shown("btrfs:compress, f2fs:compress"), ["btrfs:compress=zlib", "f2fs:compress=lz4"]);
        let text = "xfs:mkfs=[-b size=1024],ext4:mount=[noatime,commit=30]:encrypt,btrfs:compress=[zstd:3]";
        let same = ["xfs:mkfs=[-b size=1024]", "ext4:mount=[noatime,commit=30]:encrypt", "btrfs:compress=[zstd:3]"];
        assert_eq!(shown(text), same);
        assert_eq!(shown("ext4:mount=noatime"), ["ext4:mount=noatime"]);
    }

    #[test]
    fn recipes() {
        let recipe = |text: &str| text.parse::<FsSpec>().unwrap().recipe();
        let encrypted = recipe("ext4:mkfs=[-E stride=4 -O ^has_journal]:mount=[noatime]:encrypt");
        let words = "-F -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0,stride=4 -O encrypt,^has_journal";
        assert_eq!(encrypted.mkfs.join(" "), words);
        assert_eq!((encrypted.mount, encrypted.directory), (vec!["noatime".to_owned()], vec![DirectoryStep::Encrypt]));
        let compressed = recipe("f2fs:compress=zstd");
        assert_eq!(compressed.mkfs.join(" "), "-f -q -t 0 -O extra_attr,compression");
        assert_eq!(compressed.mount, ["nodiscard", "compress_algorithm=zstd"]);
        assert_eq!(recipe("btrfs:mount=discard=async:compress=[zstd:3]").mount, ["compress=zstd:3", "discard=async"]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let cases = [
            ("", "a file system's name is missing; there are ext4, ext3, ext2, xfs, btrfs, f2fs, vfat, exfat"),
            ("ext4,,xfs", "a file system's name is missing"),
            (":encrypt", "a file system's name is missing"),
            ("exf4", "there is no file system `exf4` to be made (did you mean `ext4`?)"),
            ("zfs", "there is no file system `zfs` to be made (did you mean `xfs`?)"),
            ("ext4:encrypted", "ext4 has no option `encrypted` (did you mean `encrypt`?); it has encrypt, mkfs, mount"),
            ("xfs:encrypt", "xfs has no option `encrypt`; it has mkfs, mount"),
            ("ext4:encrypt=yes", "ext4:encrypt: it takes no value, not `yes`"),
            (
                "btrfs:compress=gzip",
                "btrfs:compress: zlib, lzo, zstd is expected, or with a level: [zstd:3], not `gzip`",
            ),
            ("btrfs:compress=[zstd:x]", "not `zstd:x`"),
            ("btrfs:compress=zstd:3", "btrfs has no option `3`"),
            ("xfs:mkfs", "xfs:mkfs: a text is expected, not nothing"),
            ("xfs:mkfs=[]", "xfs:mkfs: a text is expected, not ``"),
            ("ext4:encrypt:encrypt", "ext4:encrypt is given twice"),
            ("xfs:mkfs=[-b", "brackets stand around a value"),
            ("xfs:mkfs=[[a]]", "brackets stand around a value"),
            ("xfs:mkfs=a[b]", "brackets stand around a value"),
            ("xfs]", "brackets stand around a value"),
        ];
        for (text, words) in cases {
            let error = FsSpec::list(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,40}") {
            let _ = FsSpec::list(&text);
        }

        #[test]
        fn what_is_shown_can_be_read(value in "[a-z0-9=, :-]{1,20}") {
            let Ok(spec) = format!("ext4:mount=[{value}]:encrypt").parse::<FsSpec>() else {
                return Err(TestCaseError::reject("blank"));
            };
            prop_assert_eq!(spec.to_string().parse::<FsSpec>().unwrap(), spec);
        }
    }
}
