//! A suite, from wherever it comes.

use std::fmt;
use std::fs::File;
use std::io::Read as _;

use flashmark_core::record::Form;
use flashmark_core::workload::Workload;

use crate::built_in::built_in;
use crate::document::{self, Document, Entry, Row};
use crate::error::{Place, Problem, SuiteError};
use crate::expand::{Layers, entry_of_setting};
use crate::keys;
use crate::nearest::nearest;
use crate::params::{self, Param};
use crate::settings::Settings;

/// The originals whose output formats a suite can name in `original`.
pub const ORIGINALS: &[&str] = &["esp-idf", "sdfat", "sd-bench"];

/// Longer files are no suites.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// A named list of workloads.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Where it came from.
    pub source: Source,
    /// Its text. For a suite from the command line alone: TOML that expands to the same.
    pub text: String,
    document: Document,
}

/// Where a suite came from; its text is the record's `suite_source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Compiled in.
    BuiltIn,
    /// This file.
    Path(String),
    /// The command line alone.
    CommandLine,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::Path(path) => f.write_str(path),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}

impl Suite {
    /// The built-in suite of this name, or the suite in a file: what contains a path separator or ends in `.toml` is a
    /// path.
    ///
    /// # Errors
    /// [`Problem::UnknownSuite`], [`Problem::Unreadable`], or what [`Suite::parse`] finds.
    pub fn load(name_or_path: &str) -> Result<Self, SuiteError> {
        if name_or_path.contains(std::path::is_separator) || name_or_path.ends_with(".toml") {
            let text = read_text(name_or_path)?;
            return Self::parse(&text, name_or_path);
        }
        match built_in().iter().find(|suite| suite.name == name_or_path) {
            Some(found) => {
                let file = format!("suites/{name_or_path}.toml");
                Self::from_text(found.text, &file, Source::BuiltIn)
            }
            None => {
                let known: Vec<&str> = built_in().iter().map(|suite| suite.name).collect();
                let nearest = nearest(name_or_path, known.iter().copied()).map(str::to_owned);
                let problem = Problem::UnknownSuite { name: name_or_path.to_owned(), nearest, known };
                Err(SuiteError::new(Place::Suite(format!("suite `{name_or_path}`")), problem))
            }
        }
    }

    /// Reads a suite's text; `path` is where it is from. Both forms are expanded once with the defaults of all
    /// parameters, so that whatever is wrong with a suite shows here.
    ///
    /// # Errors
    /// [`SuiteError`] at the first thing that is wrong.
    pub fn parse(text: &str, path: &str) -> Result<Self, SuiteError> {
        Self::from_text(text, path, Source::Path(path.to_owned()))
    }

    fn from_text(text: &str, file: &str, source: Source) -> Result<Self, SuiteError> {
        let suite = Self { source, text: text.to_owned(), document: document::read(text, file)? };
        let none = Settings::new();
        let scope = params::evaluate(&suite.document.params, &none)?;
        let defaults = suite.defaults(Form::Compat);
        Layers { defaults, settings: &none, scope: &scope }.check_defaults()?;
        for form in suite.forms() {
            suite.expand(*form, &none)?;
        }
        Ok(suite)
    }

    /// A suite of one workload from the command line alone. It is named for what it does unless `name` is set.
    ///
    /// # Errors
    /// [`SuiteError`] for a key that does not exist or a value that it does not take, and for settings that cannot go
    /// together.
    pub fn ad_hoc(settings: &Settings) -> Result<Self, SuiteError> {
        let name = "command line".to_owned();
        let mut document = Document {
            name,
            about: "a single workload".to_owned(),
            original: None,
            params: Vec::new(),
            defaults: Vec::new(),
            corrected: Vec::new(),
            compat: None,
        };
        check_keys(&document, settings)?;
        let last_of =
            |key: &'static keys::KeyDoc| settings.last(key.name).map(|setting| entry_of_setting(key, setting));
        let entries: Vec<Entry> = keys::keys().iter().filter_map(last_of).collect();
        document.corrected.push(Row { header: Place::CommandLine, entries });
        let mut suite = Self { source: Source::CommandLine, text: String::new(), document };
        let workloads = suite.expand(Form::Corrected, &Settings::new())?;
        suite.text = ad_hoc_text(&suite.document, &workloads);
        Ok(suite)
    }

    /// The workloads to run, in order, every one of them passed by [`Workload::check`].
    ///
    /// # Errors
    /// [`SuiteError`] for a setting that is not one, for a value that its key does not take, for settings that cannot
    /// go together or that no workload takes, and for a form that the suite does not have.
    pub fn expand(&self, form: Form, settings: &Settings) -> Result<Vec<Workload>, SuiteError> {
        check_keys(&self.document, settings)?;
        let rows = match (form, &self.document.compat) {
            (Form::Corrected, _) => &self.document.corrected,
            (Form::Compat, Some(compat)) => &compat.rows,
            (Form::Compat, None) => {
                let place = Place::Suite(format!("suite `{}`", self.document.name));
                return Err(SuiteError::new(place, Problem::NoCompatForm));
            }
        };
        let scope = params::evaluate(&self.document.params, settings)?;
        Layers { defaults: self.defaults(form), settings, scope: &scope }.expand(rows)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// What it measures, on one line; may be empty.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.document.about
    }

    /// The original whose output format fits it, one of [`ORIGINALS`].
    #[must_use]
    pub fn original(&self) -> Option<&str> {
        self.document.original.as_deref()
    }

    /// Its parameters, in the order of its text.
    #[must_use]
    pub fn params(&self) -> &[Param] {
        &self.document.params
    }

    /// The forms it has; the corrected one always.
    #[must_use]
    pub fn forms(&self) -> &'static [Form] {
        if self.document.compat.is_some() { &[Form::Corrected, Form::Compat] } else { &[Form::Corrected] }
    }

    fn defaults(&self, form: Form) -> Vec<&Entry> {
        let compat = self.document.compat.as_ref().filter(|_| form == Form::Compat);
        self.document.defaults.iter().chain(compat.iter().flat_map(|compat| &compat.defaults)).collect()
    }
}

/// Whether every setting is of a suite key or of a parameter.
fn check_keys(document: &Document, settings: &Settings) -> Result<(), SuiteError> {
    for setting in &settings.0 {
        let key = setting.key.as_str();
        let params = || document.params.iter().map(|param| param.name.as_str());
        if keys::find(key).is_some() || params().any(|name| name == key) {
            continue;
        }
        let nearest = nearest(key, params()).or_else(|| keys::nearest_key(key)).map(str::to_owned);
        let suite = document.name.clone();
        let known = params().map(str::to_owned).collect();
        let problem = Problem::UnknownSetting { found: key.to_owned(), suite, nearest, known };
        return Err(SuiteError::new(Place::Setting(setting.clone()), problem));
    }
    Ok(())
}

/// The TOML of a workload from the command line.
fn ad_hoc_text(document: &Document, workloads: &[Workload]) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut lines = vec![format!("name = {}", quoted(&document.name)), format!("about = {}", quoted(&document.about))];
    for (row, workload) in document.corrected.iter().zip(workloads) {
        lines.push("\n[[workload]]".to_owned());
        lines.push(format!("name = {}", quoted(&workload.name)));
        for Entry { key, value, .. } in row.entries.iter().filter(|entry| entry.key.name != "name") {
            let word = value.shown();
            let bare = matches!(word.as_str(), "true" | "false");
            lines.push(format!("{} = {}", key.name, if bare { word } else { quoted(&word) }));
        }
    }
    lines.join("\n") + "\n"
}

fn read_text(path: &str) -> Result<String, SuiteError> {
    let unreadable = |why: String| SuiteError::new(Place::Suite(path.to_owned()), Problem::Unreadable(why));
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(unreadable(format!("it has more than {TEXT_BYTES_MAX} bytes, which no suite has")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(error.as_bytes().get(..at).unwrap_or_default());
        let (line, column) = document::position(&valid, at);
        let place = Place::Text { file: path.to_owned(), line, column };
        SuiteError::new(place, Problem::Unreadable("it is not UTF-8 text here".to_owned()))
    })
}
