//! The commands that are about simulated boards alone.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use flashmark_validate::format::FORMATS;

/// `flashmark boards`.
#[derive(Args)]
pub struct BoardsArgs {
    #[command(subcommand)]
    pub command: Option<BoardsCommand>,
}

#[derive(Subcommand)]
pub enum BoardsCommand {
    /// Print a board's profile, as a start for one of your own
    Show {
        /// A board's name, or the path of a profile
        #[arg(value_name = "NAME|PATH")]
        name: String,
    },
    /// List the keys that can be set, and what a board sets them to
    Keys {
        /// A board's name, or the path of a profile
        #[arg(value_name = "NAME|PATH")]
        name: Option<String>,
    },
}

/// `flashmark chips`.
#[derive(Args)]
pub struct ChipsArgs {
    #[command(subcommand)]
    pub command: Option<ChipsCommand>,
}

#[derive(Subcommand)]
pub enum ChipsCommand {
    /// Print a chip's profile, as a start for one of your own
    Show {
        /// A chip's name, or the path of a profile
        #[arg(value_name = "NAME|PATH")]
        name: String,
    },
}

/// `flashmark validate`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
flashmark validate                               the published tables that flashmark brings along\n  \
flashmark validate mine.csv --format markdown    a table of your own, for a document\n  \
flashmark validate --limits                      exit code 1 if a limit is not kept\n\n\
A table names a board in its column `board` and a suite in `set` or `suite`; docs/validation.md\n\
describes the format.\n\n\
Exit codes: 0 done, 1 a workload failed (with --limits: or a limit is not kept), 2 wrong usage\n\
or a table that is wrong.")]
pub struct ValidateArgs {
    /// Published tables (CSV) [default: those that flashmark brings along]
    #[arg(value_name = "TABLE.csv")]
    pub tables: Vec<PathBuf>,

    /// How to print the comparison
    #[arg(short, long, value_name = "FORMAT", default_value = FORMATS[0].name, value_parser = format_names())]
    pub format: String,

    /// End with exit code 1 if a limit of the accuracy is not kept
    #[arg(long)]
    pub limits: bool,
}

fn format_names() -> PossibleValuesParser {
    let formats = FORMATS.iter();
    PossibleValuesParser::new(formats.map(|format| PossibleValue::new(format.name).help(format.about)))
}
