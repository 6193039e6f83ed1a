//! The words of a command line, one after another.

use super::CommandLine;
use super::program::{PROGRAM, Takes};
use crate::error::{FioError, Problem};
use crate::job::Section;
use crate::nearest::nearest;
use crate::options::{Found, find, known_options};
use crate::place::{Place, ordinal};
use crate::setting::Setting;

/// Reads all of them.
pub(super) fn read(arguments: &[&str]) -> Result<CommandLine, FioError> {
    let mut words = Words { arguments, next: 0 };
    let mut line = CommandLine::default();
    let mut options_over = false;
    while let Some((number, word)) = words.take() {
        let place = Place::argument(number, 1);
        if options_over || word == "-" || !word.starts_with('-') {
            line.files.push((word.to_owned(), place));
        } else if word == "--" {
            options_over = true;
        } else {
            option(&mut line, &mut words, number, word)?;
        }
    }
    Ok(line)
}

struct Words<'a> {
    arguments: &'a [&'a str],
    next: usize,
}

impl<'a> Words<'a> {
    /// The next word and its number.
    fn take(&mut self) -> Option<(u32, &'a str)> {
        let word = self.arguments.get(self.next)?;
        self.next += 1;
        Some((ordinal(self.next - 1), word))
    }

    /// The word that comes next.
    fn peek(&self) -> Option<&'a str> {
        self.arguments.get(self.next).copied()
    }

    /// The value of an option that needs one, if it is not behind `=`.
    fn value(&mut self) -> Option<(Place, String)> {
        let (number, word) = self.take()?;
        Some((Place::argument(number, 1), word.to_owned()))
    }
}

fn option(line: &mut CommandLine, words: &mut Words<'_>, number: u32, word: &str) -> Result<(), FioError> {
    let dashes = if word.starts_with("--") { 2 } else { 1 };
    let body = &word[dashes..];
    let (name, value) = body.split_once('=').map_or((body, None), |(name, value)| (name, Some(value)));
    let place = Place::argument(number, 1).right(dashes);
    let mut value = value.map(|value| (place.right(name.chars().count() + 1), value.to_owned()));

    let known = find(name);
    let letter = name.chars().next().filter(|_| dashes == 1 && name.chars().count() == 1);
    let program = PROGRAM.iter().find(|option| option.name == name || (letter.is_some() && option.letter == letter));
    if let Some(option) = program {
        if option.takes == Takes::Nothing && value.is_some() {
            return Err(FioError::new(place, Problem::TakesNoValue(option.name.to_owned())));
        }
        if option.takes == Takes::Value && value.is_none() {
            value = words.value();
            if value.is_none() {
                return Err(FioError::new(place, Problem::NeedsValue { name: option.name.to_owned() }));
            }
        }
        return option.apply(&mut line.program, &place, value);
    }
    let Some(known) = known else {
        let names = known_options().flat_map(|known| [known.name].into_iter().chain(known.aliases.iter().copied()));
        let nearest =
            nearest(name, names.chain(PROGRAM.iter().map(|option| option.name))).map(|name| format!("--{name}"));
        let name = format!("{}{name}", &word[..dashes]);
        return Err(FioError::new(Place::argument(number, 1), Problem::UnknownArgument { name, nearest }));
    };
    if value.is_none() && !stands_alone(known, words.peek()) {
        value = words.value();
        if value.is_none() {
            return Err(FioError::new(place, Problem::NeedsValue { name: name.to_owned() }));
        }
    }
    job_option(line, name, place, value)
}

/// Whether an option of a job takes no value but behind `=`. Of one that is not supported it is not known whether it may
/// stand alone; what looks like another option is not taken for its value then.
fn stands_alone(known: Found, next: Option<&str>) -> bool {
    match known {
        Found::Supported(entry) => {
            entry.bare && !matches!(entry.name, "write_bw_log" | "write_lat_log" | "write_iops_log")
        }
        _ => next.is_none_or(|next| next.starts_with('-')),
    }
}

fn job_option(
    line: &mut CommandLine,
    name: &str,
    place: Place,
    value: Option<(Place, String)>,
) -> Result<(), FioError> {
    let needs = || FioError::new(place.clone(), Problem::NeedsValue { name: name.to_owned() });
    if name == "name" {
        let (value_place, value) = value.filter(|(_, value)| !value.is_empty()).ok_or_else(needs)?;
        line.sections.push(Section { name: value, place: value_place, settings: Vec::new() });
        return Ok(());
    }
    let (value_place, value) = value.map_or((place.clone(), None), |(place, value)| (place, Some(value)));
    if line.sections.is_empty() {
        line.sections.push(Section { name: "global".to_owned(), place: place.clone(), settings: Vec::new() });
    }
    if let Some(section) = line.sections.last_mut() {
        section.settings.push(Setting { name: name.to_owned(), value, place, value_place });
    }
    Ok(())
}
