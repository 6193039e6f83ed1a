//! Suites: named lists of workloads, read from TOML.
//!
//! A [`Suite`] comes from a name (compiled in, see [`built_in`]), from a file, or from the command line alone. With the
//! command line's [`Settings`] it expands to the workloads to run, every one of them checked:
//!
//! ```
//! use flashmark_core::record::Form;
//! use flashmark_suite::{Settings, Suite};
//!
//! let mut settings = Settings::new();
//! settings.push("block", "512");
//! let workloads = Suite::load("sdfat")?.expand(Form::Compat, &settings)?;
//! assert_eq!(workloads[0].block_bytes, 512);
//! # Ok::<(), flashmark_suite::SuiteError>(())
//! ```
//!
//! From the outside in: [`Suite`]; `document` reads the TOML and keeps where everything stands; `expand` lays
//! defaults, a workload's own keys and the command line over each other; `keys` is the one table of keys that the
//! parser, the command line and the guide (`docs/suites.md`) are made from; `values` and `expression` read what
//! stands behind a key. Every error ([`SuiteError`]) says where, what was found, what is taken, and what was probably
//! meant.
#![forbid(unsafe_code)]

mod built_in;
mod digest;
mod document;
mod draft;
mod error;
mod expand;
mod expression;
mod keys;
mod nearest;
mod params;
mod settings;
mod suite;
mod values;

pub use built_in::{BuiltIn, built_in};
pub use digest::digest;
pub use error::{Place, Problem, SuiteError};
pub use keys::{Applies, KeyDoc, keys, keys_markdown};
pub use params::{Param, ParamUnit};
pub use settings::{Setting, Settings};
pub use suite::{ORIGINALS, Source, Suite};
