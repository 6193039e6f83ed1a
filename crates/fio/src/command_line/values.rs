//! The values of the program's own options.

use super::program::OutputFormat;
use crate::error::{FioError, Problem};
use crate::place::Place;
use crate::value::choice::pick;
use crate::value::{Misfit, Part, Scope, time};

/// The terse forms there are.
pub(super) const TERSE_VERSIONS: &[(&str, u8)] = &[("2", 2), ("3", 3), ("4", 4), ("5", 5)];

/// An option's value.
pub(super) struct Given<'a> {
    pub(super) name: &'static str,
    pub(super) text: Option<&'a str>,
    pub(super) place: &'a Place,
}

impl Given<'_> {
    fn part(&self) -> Part<'_> {
        Part::whole(self.text.unwrap_or_default())
    }

    fn refuse(&self, misfit: Misfit) -> FioError {
        let before = self.part().text.get(..misfit.at).unwrap_or_default().chars().count();
        FioError::new(self.place.right(before), Problem::Value { name: format!("--{}", self.name), misfit })
    }

    pub(super) fn text(&self) -> Result<String, FioError> {
        crate::value::text(self.part(), &mut Scope::default()).map_err(|misfit| self.refuse(misfit))
    }

    pub(super) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, FioError> {
        pick(self.part(), words).map_err(|misfit| self.refuse(misfit))
    }

    /// A time, in seconds without a unit, of at least so much.
    pub(super) fn milliseconds(&self, least_ms: u64) -> Result<u64, FioError> {
        let time_us = time::seconds(self.part(), &mut Scope::default()).map_err(|misfit| self.refuse(misfit))?;
        match time_us / 1000 {
            short if short < least_ms => Err(self.refuse(Misfit::new(self.part(), format!("at least {least_ms}ms")))),
            time_ms => Ok(time_ms),
        }
    }

    /// The forms between commas, each once.
    pub(super) fn formats(&self) -> Result<Vec<OutputFormat>, FioError> {
        let mut formats = Vec::new();
        for piece in self.part().split(',') {
            let format = pick(piece, OutputFormat::ALL).map_err(|misfit| self.refuse(misfit))?;
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        Ok(formats)
    }

    /// The name of a section that is a job.
    pub(super) fn section(&self) -> Result<String, FioError> {
        let name = self.text()?;
        if name == "global" {
            return Err(self.refuse(Misfit::new(self.part(), "the name of a job; `global` is always read")));
        }
        Ok(name)
    }
}
