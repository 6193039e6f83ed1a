//! What fio prints: results for people and for programs, and the lines of logs.
//!
//! The forms are those of fio 3.33, which is what most readers of them were written for, byte for byte where the figures
//! are the same. What later versions up to 3.42 have besides is there too where it is an entry more of an object
//! (`job_start`, sectors of disks), since readers of JSON pass over what they do not know; lines of text and terse fields
//! are as in 3.33, since their readers count columns.
//!
//! The figures are flashmark's own: rates are over times in nanoseconds, quantiles come from its histogram (whose buckets
//! are those of fio, without fio's end at 17 s), and a distribution's highest quantile is never above its maximum.
//!
//! To add a form: a word in [`OutputFormat`], a file here, and a line in [`FORMS`].

mod clock;
mod figures;
mod groups;
mod header;
mod json;
mod logs;
mod normal;
mod number;
mod terse;

pub use header::{before_run, job_header};
pub use logs::{Direction, LogFile, LogKind, LogLine, aggregate_log_name, log_files};

use crate::command_line::OutputFormat;
use crate::results::Results;

/// What else a form may need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// What stands where fio's version would: by default `flashmark-` and this crate's version. No reader of results that
    /// is known looks into it; some scripts want the word that `--version` prints to begin with `fio-`, which is another
    /// matter.
    pub version: String,
    /// Which terse form: 2 to 5; anything else counts as 3.
    pub terse_version: u8,
    /// How many seconds local time is ahead of UTC, for times that people read; fio tells them in local time.
    pub ahead_of_utc_s: i32,
    /// What the user should know about the numbers; in JSON, below `flashmark`.
    pub warnings: Vec<String>,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            version: concat!("flashmark-", env!("CARGO_PKG_VERSION")).to_owned(),
            terse_version: 3,
            ahead_of_utc_s: 0,
            warnings: Vec::new(),
        }
    }
}

/// A form of results.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The word that asks for it.
    pub format: OutputFormat,
    /// Makes the text; it ends with a line break, or is empty.
    pub render: fn(&Results, &RenderOptions) -> String,
}

/// All forms, in the order in which fio prints them if several are asked for.
pub static FORMS: &[Form] = &[
    Form { format: OutputFormat::Terse, render: terse::render },
    Form { format: OutputFormat::JsonPlus, render: json::render_with_bins },
    Form { format: OutputFormat::Json, render: json::render },
    Form { format: OutputFormat::Normal, render: normal::render },
];

/// The results in one form.
#[must_use]
pub fn render(results: &Results, format: OutputFormat, how: &RenderOptions) -> String {
    render_all(results, &[format], how)
}

/// The results in several forms, one after the other in fio's order. JSON is not repeated where JSON with bins is asked
/// for too.
#[must_use]
pub fn render_all(results: &Results, formats: &[OutputFormat], how: &RenderOptions) -> String {
    let is_wanted = |format: OutputFormat| match format {
        OutputFormat::Json => formats.contains(&format) && !formats.contains(&OutputFormat::JsonPlus),
        _ => formats.contains(&format),
    };
    FORMS.iter().filter(|form| is_wanted(form.format)).map(|form| (form.render)(results, how)).collect()
}
