//! Laying options over each other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Dropped, Job, JobSet, Rules, Unsupported, Warning, checks};
use crate::error::{FioError, Problem};
use crate::job::Section;
use crate::nearest::nearest;
use crate::options::{Entry, Found, Options, find, known_options};
use crate::place::{Place, Source};
use crate::setting::Setting;
use crate::substitute::{substitute, unset};
use crate::surroundings::Surroundings;
use crate::value::names::escaped;
use crate::value::{Misfit, Part, Scope, alternatives};

/// Options in the making.
#[derive(Clone, Default)]
struct Draft {
    options: Options,
    given: BTreeMap<&'static str, Place>,
    settings: Vec<Setting>,
}

/// Jobs in the making.
pub(crate) struct Assembly<'a> {
    surroundings: &'a dyn Surroundings,
    rules: Rules,
    defaults: Draft,
    set: JobSet,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(surroundings: &'a dyn Surroundings, rules: Rules) -> Self {
        Self { surroundings, rules, defaults: Draft::default(), set: JobSet::default() }
    }

    /// Forgets the defaults that were set, as fio does between job files.
    pub(crate) fn reset_defaults(&mut self) {
        self.defaults = Draft::default();
    }

    /// Adds jobs, those named in `only` if it is not empty. With `wall`, the first one waits for all before.
    pub(crate) fn add_sections(&mut self, sections: &[Section], only: &[&str], wall: bool) -> Result<(), FioError> {
        let mut wall = wall;
        for section in sections {
            if section.is_global() {
                let mut draft = std::mem::take(&mut self.defaults);
                self.apply(&mut draft, section)?;
                self.defaults = draft;
            } else if only.is_empty() || only.contains(&section.name.as_str()) {
                self.add_job(section, std::mem::take(&mut wall))?;
            }
        }
        Ok(())
    }

    fn add_job(&mut self, section: &Section, wall: bool) -> Result<(), FioError> {
        let mut draft = Draft { settings: Vec::new(), ..self.defaults.clone() };
        draft.options.run.stonewall |= wall;
        self.apply(&mut draft, section)?;
        let mut job = Job {
            name: section.name.clone(),
            place: section.place.clone(),
            options: draft.options,
            given: draft.given,
            global_settings: self.defaults.settings.clone(),
            settings: draft.settings,
            group: 0,
        };
        for (place, text) in checks::finish(&mut job, self.rules)? {
            self.warn(place, text)?;
        }
        job.group = match self.set.jobs.last() {
            Some(last) if job.options.run.stonewall || job.options.run.new_group => last.group + 1,
            Some(last) => last.group,
            None => 0,
        };
        checks::same_group(&self.set.jobs, &job)?;
        self.set.jobs.push(job);
        Ok(())
    }

    /// The jobs.
    pub(crate) fn finish(self) -> JobSet {
        self.set
    }

    fn warn(&mut self, place: Place, text: String) -> Result<(), FioError> {
        if self.rules.warnings_fatal {
            return Err(FioError::new(place, Problem::FatalWarning(text)));
        }
        self.set.warnings.push(Warning { place, text });
        Ok(())
    }

    /// Lays a section's options over `draft`.
    fn apply(&mut self, draft: &mut Draft, section: &Section) -> Result<(), FioError> {
        let mut settings: Vec<&Setting> = section.settings.iter().collect();
        // fio looks at some options of a file before or after the others; on the command line it takes them as they come.
        settings.sort_by_key(|setting| match (&setting.place.source, find(&setting.name)) {
            (Source::File(_), Some(Found::Supported(entry))) => entry.turn(),
            _ => 1,
        });
        let mut of_engines = Vec::new();
        for setting in settings {
            if let Some(entry) = self.entry(setting)? {
                self.take_over(draft, entry, setting)?;
                if !entry.engines.is_empty() {
                    of_engines.push((entry, setting));
                }
            }
        }
        let engine = draft.options.engine.ioengine;
        let other = of_engines.iter().find(|(entry, _)| !entry.engines.contains(&engine.name()));
        other.map_or(Ok(()), |(entry, setting)| {
            let name = setting.name.clone();
            let engines = alternatives(entry.engines.iter().copied());
            let problem = Problem::OtherEngine { name, engines, engine: engine.name().to_owned() };
            Err(FioError::new(setting.place.clone(), problem))
        })
    }

    /// The entry of an option, if it is one to take over.
    fn entry(&mut self, setting: &Setting) -> Result<Option<&'static Entry>, FioError> {
        let error = |problem| FioError::new(setting.place.clone(), problem);
        match find(&setting.name) {
            Some(Found::Supported(entry)) => Ok(Some(entry)),
            Some(Found::Unsupported { way, .. }) if self.rules.unsupported == Unsupported::LeaveOut => {
                self.set.dropped.push(Dropped { place: setting.place.clone(), setting: setting.to_string(), way });
                Ok(None)
            }
            Some(Found::Unsupported { name, way }) => {
                Err(error(Problem::Unsupported { name: name.to_owned(), way: way.to_owned() }))
            }
            Some(Found::GivenUp { name, way }) => {
                Err(error(Problem::GivenUp { name: name.to_owned(), way: way.to_owned() }))
            }
            Some(Found::WithoutEffect { name, way }) => {
                self.warn(setting.place.clone(), format!("`{name}` has no effect: {way}"))?;
                Ok(None)
            }
            None => {
                let names =
                    known_options().flat_map(|known| [known.name].into_iter().chain(known.aliases.iter().copied()));
                let nearest = nearest(&setting.name, names).map(str::to_owned);
                Err(error(Problem::UnknownOption { name: setting.name.clone(), nearest }))
            }
        }
    }

    fn take_over(&mut self, draft: &mut Draft, entry: &'static Entry, setting: &Setting) -> Result<(), FioError> {
        let value = match (&setting.value, &setting.place.source) {
            (Some(value), Source::File(_)) => Some(substitute(value, self.surroundings).map_err(|(found, why)| {
                let why = with_origin(Some(why.to_owned()), setting, self.surroundings).unwrap_or_default();
                FioError::new(setting.value_place.clone(), Problem::Keyword { found, why })
            })?),
            (Some(value), Source::CommandLine) => Some(Cow::Borrowed(value.as_str())),
            (None, _) if entry.bare => None,
            (None, _) => {
                let problem = Problem::NeedsValue { name: setting.name.clone() };
                return Err(FioError::new(setting.place.clone(), problem));
            }
        };
        let files_before = if entry.name == "filename" { draft.options.files.filename.clone() } else { Vec::new() };
        let mut scope = Scope { kb_base: draft.options.report.kb_base, remarks: Vec::new() };
        (entry.set)(&mut draft.options, value.as_deref().map(Part::whole), &mut scope).map_err(|misfit| {
            let why = with_origin(misfit.why.clone(), setting, self.surroundings);
            not_taken(setting, value.as_deref(), Misfit { why, ..misfit })
        })?;
        for remark in scope.remarks {
            self.warn(setting.value_place.clone(), format!("`{}`: {remark}", setting.name))?;
        }
        if !files_before.is_empty() {
            let added = std::mem::replace(&mut draft.options.files.filename, files_before);
            draft.options.files.filename.extend(added);
            let all = escaped(&draft.options.files.filename);
            self.warn(
                setting.place.clone(),
                format!("`filename` adds to what was given before; the job uses `{all}`"),
            )?;
        }
        draft.given.insert(entry.name, setting.place.clone());
        draft.settings.push(Setting { value: value.map(Cow::into_owned), ..setting.clone() });
        Ok(())
    }
}

/// Why a value is not taken, with the variables that left nothing in it: what is found then is not what was written.
fn with_origin(why: Option<String>, setting: &Setting, surroundings: &dyn Surroundings) -> Option<String> {
    let value = setting.value.as_deref().filter(|_| matches!(setting.place.source, Source::File(_)));
    let names = unset(value.unwrap_or_default(), surroundings);
    let names: Vec<String> = names.iter().map(|name| format!("`${{{name}}}`")).collect();
    let origin = match names.as_slice() {
        [] => return why,
        [name] => format!("the value came from {name}, which is not set"),
        names => format!("the value came from {}, which are not set", names.join(" and ")),
    };
    Some(match why {
        Some(why) => format!("{why}; {origin}"),
        None => origin,
    })
}

/// What is wrong with a value, at the character it is about, unless a replacement has moved that.
fn not_taken(setting: &Setting, value: Option<&str>, misfit: Misfit) -> FioError {
    let as_written = setting.value.as_deref() == value;
    let before = value.filter(|_| as_written).and_then(|value| value.get(..misfit.at)).unwrap_or_default();
    let place = setting.value_place.right(before.chars().count());
    let name = setting.name.clone();
    if misfit.unsupported {
        let way = misfit.why.unwrap_or_default();
        return FioError::new(place, Problem::UnsupportedValue { name, value: misfit.found, way });
    }
    FioError::new(place, Problem::Value { name, misfit })
}
