//! The output formats, behind one trait and one registry.
//!
//! Each format is a file beside this one, with its tests. What each is good for and the units it uses are described in
//! `docs/formats.md`.

use std::io;

use flashmark_core::record::{Form, Record};

use crate::figures::RateUnit;

mod csv;
mod esp_idf;
mod json;
pub mod markdown;
mod sd_bench;
mod sdfat;
mod table;

/// Every format, in the order of the help text. This is the place to add one.
static FORMATS: [&dyn Format; 7] =
    [&table::Table, &json::Json, &csv::Csv, &markdown::Markdown, &esp_idf::EspIdf, &sdfat::SdFat, &sd_bench::SdBench];

/// Every format that flashmark writes.
#[must_use]
pub fn formats() -> &'static [&'static dyn Format] {
    &FORMATS
}

/// The format of a name.
///
/// # Errors
/// [`FormatError::Unknown`] names those that there are.
pub fn format_named(name: &str) -> Result<&'static dyn Format, FormatError> {
    let found = formats().iter().find(|format| format.name() == name);
    found.copied().ok_or_else(|| FormatError::Unknown {
        given: name.into(),
        known: formats().iter().map(|format| format.name()).collect::<Vec<_>>().join(", "),
    })
}

/// The originals whose output a format writes: the values of [`Format::original`], each once.
#[must_use]
pub fn originals() -> Vec<&'static str> {
    let mut originals: Vec<&str> = formats().iter().filter_map(|format| format.original()).collect();
    originals.sort_unstable();
    originals.dedup();
    originals
}

/// The formats that show every record, as a choice: `table, json or csv`.
fn that_show_all() -> String {
    let names: Vec<&str> = formats().iter().filter(|f| f.original().is_none()).map(|f| f.name()).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// A way of showing records.
pub trait Format: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it is for, in a line.
    fn about(&self) -> &'static str;

    /// Whether it is data, for a program or as an original printed it. Then nothing else may stand beside it on
    /// standard output, and it holds no warnings, or warnings only as data: whoever writes it has to put them on
    /// standard error.
    fn is_machine(&self) -> bool;

    /// The value of `run.original` in the records that the format can show; `None` if it shows every record. It can be
    /// asked before a run, so that nobody waits for results that cannot be shown.
    fn original(&self) -> Option<&'static str> {
        None
    }

    /// Whether the format can show bits instead of bytes ([`Style::bits`]); the others pass that over, so that whoever
    /// is asked for bits has to refuse them.
    fn knows_bits(&self) -> bool {
        false
    }

    /// Whether the format can show the views of simulated boards ([`Style::attribution`], [`Style::wear`]) and of several
    /// targets ([`Style::compare`]); the others pass them over. What can be written beside those is in [`crate::views`].
    fn knows_views(&self) -> bool {
        false
    }

    /// Whether the format can show these records.
    ///
    /// # Errors
    /// [`FormatError::NotApplicable`] names the first record that it cannot show and the suite to run instead.
    fn applies(&self, records: &[Record]) -> Result<(), FormatError> {
        let Some(original) = self.original() else { return Ok(()) };
        match records.iter().find(|record| record.run.original.as_deref() != Some(original)) {
            None => Ok(()),
            Some(record) => Err(FormatError::NotApplicable {
                format: self.name(),
                original,
                suite: crate::figures::printable(&record.run.suite),
            }),
        }
    }

    /// Writes the records.
    ///
    /// # Errors
    /// As [`Format::applies`], before anything is written; [`FormatError::Write`] if `out` fails.
    fn write(&self, records: &[Record], style: &Style, out: &mut dyn io::Write) -> Result<(), FormatError>;
}

/// How to show what a format leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; `None` leaves the width to the content.
    pub width: Option<usize>,
    /// Whether colours can be shown.
    pub color: bool,
    /// The unit of rates in the formats for people (table, markdown). The others have theirs fixed.
    pub rate_unit: RateUnit,
    /// Bits instead of bytes, in the formats whose original can do that ([`Format::knows_bits`]).
    pub bits: bool,
    /// Where the time of simulated boards went, below each target's rows, in the formats that can ([`Format::knows_views`]).
    pub attribution: bool,
    /// The wear of simulated media, below each target's rows, in the formats that can ([`Format::knows_views`]).
    pub wear: bool,
    /// The targets of a run side by side, below all of them, in the formats that can ([`Format::knows_views`]). Without it
    /// they are shown where file systems were filled, which is done to be compared.
    pub compare: bool,
    /// Whether the output can show ASCII only. It concerns the map of wear alone.
    pub ascii: bool,
}

/// What an original's format takes for the time of all operations: in the compatibility form the sum of the calls, as
/// the original has it. In the corrected form it is the elapsed time, so that a sync inside the time is in the rate, as
/// it is in every other format.
const fn whole_ns(form: Form, calls_ns: u64, elapsed_ns: u64) -> u64 {
    match form {
        Form::Compat => calls_ns,
        Form::Corrected => elapsed_ns,
    }
}

/// Why records cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// No such format.
    #[error("there is no format `{given}`; there are {known}")]
    Unknown {
        /// What was asked for.
        given: String,
        /// The names of all formats.
        known: String,
    },
    /// An original's format, and records of another suite.
    #[error(
        "format {format} prints what the original of suite {original} prints, and these records are of suite \
         `{suite}`: run suite {original}, or choose format {}",
        that_show_all()
    )]
    NotApplicable {
        /// The format.
        format: &'static str,
        /// The suite it is for.
        original: &'static str,
        /// The suite of the first record that does not fit.
        suite: String,
    },
    /// The output failed.
    #[error("cannot write the output: {0}")]
    Write(#[from] io::Error),
}

#[cfg(test)]
mod tests {
    use flashmark_core::record::{Outcome, Status};

    use super::*;
    use crate::samples;

    /// What a format makes of records.
    pub(super) fn shown(format: &dyn Format, records: &[Record], style: &Style) -> String {
        let mut out = Vec::new();
        format.write(records, style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_are_unique_and_found() {
        for format in formats() {
            assert_eq!(formats().iter().filter(|other| other.name() == format.name()).count(), 1);
            assert_eq!(format_named(format.name()).unwrap().name(), format.name());
            assert!(!format.about().is_empty());
        }
        let error = format_named("tabel").err().unwrap().to_string();
        assert_eq!(error, "there is no format `tabel`; there are table, json, csv, markdown, esp-idf, sdfat, sd-bench");
    }

    #[test]
    fn originals_are_those_of_the_formats() {
        assert_eq!(originals(), ["esp-idf", "sd-bench", "sdfat"]);
    }

    #[test]
    fn an_originals_format_is_for_its_suite_alone() {
        for format in formats() {
            let result = format.write(&samples::mixed_bag(), &Style::default(), &mut io::sink());
            match format.original() {
                None => result.unwrap(),
                Some(original) => {
                    let message = result.unwrap_err().to_string();
                    assert!(message.contains(&format!("run suite {original}")), "{message}");
                    assert!(message.contains("suite `quick`"), "{message}");
                    assert!(message.ends_with("or choose format table, json, csv or markdown"), "{message}");
                }
            }
        }
    }

    /// A format either knows bits, and shows something else then, or it does not.
    #[test]
    fn bits_are_known_or_not() {
        for format in formats() {
            let records = samples::of_original(format.original());
            let with = |bits| shown(*format, &records, &Style { bits, ..Style::default() });
            assert_eq!(with(true) != with(false), format.knows_bits(), "{}", format.name());
        }
        assert!(format_named("esp-idf").unwrap().knows_bits());
    }

    /// A format either knows the views, and shows each of them, or it does not.
    #[test]
    fn views_are_known_or_not() {
        for format in formats() {
            let records = match format.original() {
                Some(original) => samples::of_original(Some(original)),
                None => samples::simulated::on_fatfs(),
            };
            let with = |attribution, wear| shown(*format, &records, &Style { attribution, wear, ..Style::default() });
            let all = [with(false, false), with(true, false), with(false, true), with(true, true)];
            let differ = all.iter().enumerate().all(|(nth, one)| all.iter().skip(nth + 1).all(|other| other != one));
            assert_eq!(differ, format.knows_views(), "{}", format.name());
            assert!(differ || all.iter().all(|one| *one == all[0]), "{}", format.name());
        }
        let those: Vec<&str> = formats().iter().filter(|f| f.knows_views()).map(|f| f.name()).collect();
        assert_eq!(those, ["table", "markdown"]);
    }

    /// Where file systems were filled, the formats that know views compare them; otherwise on request.
    #[test]
    fn targets_are_compared_in_the_formats_that_know_views() {
        let mut records = samples::simulated::side_by_side();
        for filled in [true, false] {
            for format in formats().iter().filter(|format| format.original().is_none()) {
                let with = |compare| shown(*format, &records, &Style { compare, ..Style::default() });
                let has = |text: &str| text.contains("side by side");
                let expected = [format.knows_views(), format.knows_views() && filled];
                assert_eq!([has(&with(true)), has(&with(false))], expected, "{}", format.name());
            }
            records.iter_mut().for_each(|record| record.workload.fill_percent = None);
        }
    }

    #[test]
    fn a_closed_pipe_is_an_error_and_no_panic() {
        struct Closed;
        impl io::Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        for format in formats() {
            let records = samples::of_original(format.original());
            let error = format.write(&records, &Style::default(), &mut Closed).unwrap_err();
            let FormatError::Write(source) = error else { panic!("{}: {error}", format.name()) };
            assert_eq!(source.kind(), io::ErrorKind::BrokenPipe, "{}", format.name());
        }
    }

    #[test]
    fn no_record_is_too_empty_to_show() {
        for format in formats() {
            let records = samples::of_original(format.original());
            for status in [Status::Done, Status::Skipped, Status::Failed, Status::Interrupted] {
                let mut bare = records.clone();
                bare.iter_mut().for_each(|record| record.outcome = Outcome::not_run(status));
                format.write(&bare, &Style::default(), &mut io::sink()).unwrap();
            }
            format.write(&[], &Style::default(), &mut io::sink()).unwrap();
        }
    }
}
