//! Job files (fio HOWTO, "Job file format").
//!
//! A file is sections, `[name]`, with an option a line below each: `name=value`, or `name` alone. `;` and `#` begin a
//! comment anywhere in a line, so no value can have one. There are no quotes and no continued lines: what stands between
//! the `=` and the end of the line is the value. A section whose name begins with `global` sets defaults for those below
//! it in the file. A byte order mark before the text is skipped, which fio takes for a part of the first line. `include FILE`
//! takes over the options of another file; they may not have sections of their own.

mod lines;
mod print;

use std::sync::Arc;

use crate::error::{FioError, Problem};
use crate::place::{Place, ordinal};
use crate::setting::Setting;
use crate::surroundings::Surroundings;
use lines::{BYTE_ORDER_MARK, Line, lines};

/// How deep files may include others.
const INCLUDES_MAX: usize = 32;

/// The sections of a job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// The file's name.
    pub file: Arc<str>,
    /// Its sections in order.
    pub sections: Vec<Section>,
}

/// A section: a job, or defaults for those that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub place: Place,
    /// Its options in order, those of included files where these are included.
    pub settings: Vec<Setting>,
}

impl Section {
    /// Whether it sets defaults: its name begins with `global`.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

impl JobFile {
    /// Reads a file and those it includes; `-` is the standard input.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is not a job file.
    pub fn load(path: &str, surroundings: &dyn Surroundings) -> Result<Self, FioError> {
        let file: Arc<str> = path.into();
        let text = read(&file, &Place::file(&file, 1, 1), surroundings)?;
        Self::parse(path, &text, surroundings)
    }

    /// Reads text as if it were the file of this name, and the files it includes.
    ///
    /// # Errors
    ///
    /// If it is not a job file, or an included file cannot be read.
    pub fn parse(name: &str, text: &str, surroundings: &dyn Surroundings) -> Result<Self, FioError> {
        let file: Arc<str> = name.into();
        let mut sections: Vec<Section> = Vec::new();
        for line in lines(&file, text) {
            match line? {
                Line::Section { name, place } => sections.push(Section { name, place, settings: Vec::new() }),
                Line::Setting(setting) => match sections.last_mut() {
                    Some(section) => section.settings.push(setting),
                    None => return Err(outside(setting.place.clone(), &setting.to_string())),
                },
                Line::Include { path, place } => match sections.last_mut() {
                    Some(section) => {
                        include(&path, &place, &[Arc::clone(&file)], surroundings, &mut section.settings)?;
                    }
                    None => return Err(outside(place, &format!("include {path}"))),
                },
            }
        }
        Ok(Self { file, sections })
    }
}

fn outside(place: Place, line: &str) -> FioError {
    FioError::new(place, Problem::OutsideSection(line.to_owned()))
}

/// A file's text.
fn read(file: &Arc<str>, place: &Place, surroundings: &dyn Surroundings) -> Result<String, FioError> {
    let bytes = surroundings.read(file).map_err(|error| {
        FioError::new(place.clone(), Problem::Unreadable { path: file.to_string(), why: error.to_string() })
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count();
        let start = good.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let last = String::from_utf8_lossy(&good[start..]);
        let last = if line == 0 { last.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&last) } else { &last };
        let column = last.chars().count();
        FioError::new(Place::file(file, ordinal(line), ordinal(column)), Problem::NotText)
    })
}

/// Adds the options of an included file. A name that is nowhere as it stands is looked for beside the including file.
fn include(
    path: &str,
    place: &Place,
    above: &[Arc<str>],
    surroundings: &dyn Surroundings,
    settings: &mut Vec<Setting>,
) -> Result<(), FioError> {
    let including = above.last().map_or("", |file| &**file);
    let file: Arc<str> = match including.rsplit_once('/') {
        Some((directory, _)) if !surroundings.exists(path) => format!("{directory}/{path}").into(),
        _ => path.into(),
    };
    if above.contains(&file) || above.len() >= INCLUDES_MAX {
        return Err(FioError::new(place.clone(), Problem::IncludeCircle(file.to_string())));
    }
    let text = read(&file, place, surroundings)?;
    let mut chain = above.to_vec();
    chain.push(Arc::clone(&file));
    for line in lines(&file, &text) {
        match line? {
            Line::Section { name, place } => return Err(FioError::new(place, Problem::SectionInInclude(name))),
            Line::Setting(setting) => settings.push(setting),
            Line::Include { path, place } => include(&path, &place, &chain, surroundings, settings)?,
        }
    }
    Ok(())
}
