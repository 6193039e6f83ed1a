//! The command line. The options that set suite keys are made from the suite crate's table of keys, so that every key
//! can be given here.

mod lab;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use flashmark_host::consent::ConsentArgs;
use flashmark_report::figures::RateUnit;
use flashmark_report::format::formats;
use flashmark_report::sweep::Metric;
use flashmark_suite::{Settings, Suite, built_in, keys};

use crate::fio::FioArgs;
use crate::run::{Shard, Sweep};
pub use lab::{BoardsArgs, BoardsCommand, ChipsArgs, ChipsCommand, ValidateArgs};

/// What was asked for.
pub enum Command {
    /// `flashmark run`, with the suite keys given as options.
    Run(Box<RunArgs>, Settings),
    /// `flashmark suites`.
    Suites(SuitesArgs),
    /// `flashmark show`.
    Show(ShowArgs),
    /// `flashmark boards`.
    Boards(BoardsArgs),
    /// `flashmark chips`.
    Chips(ChipsArgs),
    /// `flashmark validate`.
    Validate(ValidateArgs),
    /// `flashmark fio`.
    Fio(FioArgs),
    /// `flashmark clean`.
    Clean(CleanArgs),
}

/// A storage benchmark for flash media: directories, files, block devices, simulated boards
#[derive(Parser)]
#[command(version, about, after_help = "Start with `flashmark run .`; `flashmark help run` has examples.")]
struct Cli {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Measure a directory, a file, a block device or a simulated board
    Run(Box<RunArgs>),
    /// List the suites, or print one
    Suites(SuitesArgs),
    /// Show the records of earlier runs
    Show(ShowArgs),
    /// List the simulated boards, or print one or what can be set
    Boards(BoardsArgs),
    /// List the simulated flash chips, or print one
    Chips(ChipsArgs),
    /// Show how far published measurements are from what simulated boards predict for them
    Validate(ValidateArgs),
    /// Run fio's command lines and job files
    Fio(FioArgs),
    /// Remove test files that a killed run left behind
    Clean(CleanArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  flashmark run .                                  the current directory, about fifteen seconds
  flashmark run /media/card -o card.jsonl          keep the records, one JSON line each
  flashmark run --resume card.jsonl                finish that run after an interruption
  flashmark run /dev/sdb --suite raw-read          read a whole device
  flashmark run . --suite sdfat --compat --format sdfat
                                                   what SdFat's bench measures, in its own words
  flashmark run . --op write --block 4k --size 64m --order random --sync every:1
                                                   one workload from the command line
  flashmark run /dev/sdb --destroy /dev/sdb        also write: everything on /dev/sdb is lost
  sudo flashmark run /media/card --suite emmc-sd --mkfs ext4,btrfs:compress=zstd,ext4:encrypt,xfs
                                                   file systems side by side, each in an image on the card
  flashmark run lab:esp32 --suite esp-idf --compat --set tries=100 --format esp-idf
                                                   every storage of a simulated board, in virtual time
  flashmark run lab:esp32/fatfs --set fatfs.cluster=16k --where
                                                   one storage, set otherwise, and where its time goes
  flashmark run lab:esp32 --suite fill             its file systems side by side, as they get fuller
  flashmark run lab:esp32/fatfs --suite esp-idf --sweep fatfs.cluster=4k,16k,64k --sweep chip=w25q32jv,gd25q32c
                                                   each combination, the fastest first

A target lab:BOARD[/STORAGE][,KEY=VALUE...] is simulated: it takes milliseconds, and gives the same
results every time (flashmark boards).

Without --destroy, existing files and devices are only read. In a directory flashmark writes
a file of its own and removes it at the end.

Exit codes: 0 done, 1 a workload failed, 2 wrong usage, 3 refused because data would be
destroyed, 130 interrupted.";

const TARGETS_HELP: &str = "Directories, files, block devices, or simulated boards: lab:BOARD[/STORAGE][,KEY=VALUE...]";

/// `flashmark run`.
#[derive(Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// Directories, files, block devices, or simulated boards (`lab:BOARD/STORAGE,KEY=VALUE`)
    #[arg(value_name = "TARGET", required_unless_present_any = ["resume", "mkfs"], help = TARGETS_HELP)]
    pub targets: Vec<PathBuf>,

    /// Suite to run: a name (see `flashmark suites`) or a path of a TOML file [default: quick, or the single workload
    /// that --op describes]
    #[arg(short, long, value_name = "NAME|PATH")]
    pub suite: Option<String>,

    /// Run the suite's compatibility form: the original's steps, defects included
    #[arg(long)]
    pub compat: bool,

    /// Run only the workloads whose name contains this text (repeatable)
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub only: Vec<String>,

    /// Set a suite key, a parameter of the suite, or a key of the simulated boards (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Run with each of these values of a key (1..50 counts, 4k..64k doubles); several --sweep multiply
    #[arg(long, value_name = "KEY=VALUE,VALUE...")]
    pub sweep: Vec<Sweep>,

    /// Run part K of N of the targets only; the files of all parts, joined with cat, are the file of the whole run
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,

    /// Simulate on so many threads, which changes no result [default: all processors]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,

    /// Begin with this content of the simulated storage's partition (one lab target with a storage)
    #[arg(long, value_name = "FILE")]
    pub image: Option<PathBuf>,

    /// Write what the simulated storage's partition holds after the run to this new file (one lab target with a storage)
    #[arg(long, value_name = "FILE")]
    pub save_image: Option<PathBuf>,

    /// Make these file systems in the target directory, one after the other, and measure each: NAME[:OPTION[=VALUE]]...,
    /// separated by commas (`--mkfs list` shows which there are)
    #[arg(long, value_name = "LIST")]
    pub mkfs: Vec<String>,

    /// Size of the image file that each of them gets [default: 512MiB]
    #[arg(long, value_name = "SIZE", requires = "mkfs")]
    pub image_size: Option<String>,

    /// Append a record of each workload to this new file (JSON Lines), on the medium before the next one starts
    #[arg(short, long, value_name = "FILE", conflicts_with = "resume")]
    pub output: Option<PathBuf>,

    /// Record what is done to the target in this new file, in fio's language (replay: flashmark fio --read_iolog=FILE)
    #[arg(long, value_name = "FILE", conflicts_with = "sweep")]
    pub iolog: Option<PathBuf>,

    /// Finish the interrupted run in this file; suite, settings and targets are taken from it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["targets", "suite", "compat", "only", "set", "sweep", "image", "mkfs"])]
    pub resume: Option<PathBuf>,

    #[command(flatten)]
    pub consent: ConsentArgs,

    #[command(flatten)]
    pub show: FormatArgs,

    /// Put serial numbers of devices into the records
    #[arg(long)]
    pub serials: bool,

    /// Show no progress, and on standard error only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// How results are shown.
#[derive(Args)]
pub struct FormatArgs {
    /// How to print the results
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = format_names())]
    pub format: String,

    /// Unit of rates in tables: MB/s is 10^6 bytes, MiB/s is 2^20
    #[arg(long, value_name = "UNIT", default_value = "MB", value_parser = ["MB", "MiB"])]
    rate_unit: String,

    /// Print bits instead of bytes, in the format esp-idf
    #[arg(long)]
    pub bits: bool,

    /// Sort by this figure, the best first: rate, mean, p99, max, elapsed, write-amplification or wear [default: rate for
    /// a sweep, the order of the run otherwise]
    #[arg(long, value_name = "METRIC")]
    pub sort: Option<Metric>,

    /// Show where the time of simulated boards went, and what their devices did
    #[arg(long = "where")]
    pub attribution: bool,

    /// Show the targets side by side: a line for each workload that several of them ran (suite fill does so anyway)
    #[arg(long)]
    pub compare: bool,

    /// Show how simulated media wore
    #[arg(long)]
    pub wear: bool,
}

impl FormatArgs {
    /// The unit of rates.
    pub fn rate_unit(&self) -> RateUnit {
        if self.rate_unit == "MiB" { RateUnit::MiB } else { RateUnit::MB }
    }
}

/// `flashmark suites`.
#[derive(Args)]
pub struct SuitesArgs {
    #[command(subcommand)]
    pub command: Option<SuitesCommand>,
}

#[derive(Subcommand)]
pub enum SuitesCommand {
    /// Print a suite's text, as a start for one of your own
    Show {
        /// A suite's name or path
        #[arg(value_name = "NAME|PATH")]
        name: String,
    },
}

/// `flashmark show`.
#[derive(Args)]
#[command(after_help = "Example:\n  flashmark show card.jsonl --format markdown > card.md")]
pub struct ShowArgs {
    /// Files that `flashmark run -o` wrote; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub show: FormatArgs,
}

/// `flashmark clean`.
#[derive(Args)]
#[command(after_help = "Example:\n  flashmark clean /media/card\n\n\
Test files are named flashmark-test-*.tmp with check digits in the name. Those in use by a running flashmark are kept.")]
pub struct CleanArgs {
    /// Directories to look in (not below)
    #[arg(value_name = "DIRECTORY", default_value = ".")]
    pub directories: Vec<PathBuf>,
}

fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        formats().iter().map(|format| clap::builder::PossibleValue::new(format.name()).help(format.about())),
    )
}

const KEYS_HEADING: &str = "Suite keys (for every workload of the suite)";

/// The whole command line, with the suite keys as options of `run`.
fn command() -> clap::Command {
    Cli::command().mut_subcommand("run", |run| {
        keys().iter().fold(run, |run, key| {
            let about = key.about.trim_end_matches('.').to_owned();
            let mut option = Arg::new(key.name)
                .long(key.name)
                .value_name(key.value_name)
                .help(about)
                .long_help(format!(
                    "{} Values: {}. Default: {}.",
                    key.about,
                    key.values.replace('`', ""),
                    key.default.replace('`', "")
                ))
                .help_heading(KEYS_HEADING)
                .conflicts_with("resume")
                // `--size -4k` is for the suite's parser to refuse, with its own words.
                .allow_hyphen_values(true)
                .action(ArgAction::Set);
            if key.value_name == "BOOL" || key.name == "verify" {
                // Without a value it is a switch, so that the next option must not be taken for one.
                option = option.num_args(0..=1).default_missing_value("true").allow_hyphen_values(false);
            }
            run.arg(option)
        })
    })
}

/// Reads the command line, or ends the process with clap's message (exit code 2, or 0 for help).
pub fn parse() -> Command {
    let matches = command().try_get_matches().unwrap_or_else(|error| {
        let error = with_parameter_hint(error);
        error.exit()
    });
    let settings = matches.subcommand().map(|(_, sub)| settings(sub)).unwrap_or_default();
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => match cli.command {
            Subcommands::Run(args) => Command::Run(args, settings),
            Subcommands::Suites(args) => Command::Suites(args),
            Subcommands::Show(args) => Command::Show(args),
            Subcommands::Boards(args) => Command::Boards(args),
            Subcommands::Chips(args) => Command::Chips(args),
            Subcommands::Validate(args) => Command::Validate(args),
            Subcommands::Fio(args) => Command::Fio(args),
            Subcommands::Clean(args) => Command::Clean(args),
        },
        Err(error) => error.exit(),
    }
}

/// A suite's parameter is not an option; who takes it for one is told how it is given.
fn with_parameter_hint(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return error };
    let name = given.trim_start_matches('-').to_owned();
    let suites = built_in().iter().filter_map(|entry| Suite::load(entry.name).ok());
    let having: Vec<String> = suites
        .filter(|suite| suite.params().iter().any(|param| param.name == name))
        .map(|suite| suite.name().to_owned())
        .collect();
    if error.kind() == ErrorKind::UnknownArgument && !having.is_empty() {
        let hint = format!("{name} is a parameter of suite {}: give it as --set {name}=VALUE", having.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    error
}

fn settings(matches: &ArgMatches) -> Settings {
    let mut settings = Settings::new();
    for key in keys() {
        if let Ok(Some(value)) = matches.try_get_one::<String>(key.name) {
            settings.push(key.name, value);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_suite_key_is_an_option() {
        let run = command().find_subcommand("run").cloned().unwrap();
        for key in keys() {
            assert!(run.get_arguments().any(|arg| arg.get_long() == Some(key.name)), "{}", key.name);
        }
    }

    /// What the suites know of outputs and engines is what there is.
    #[test]
    fn the_crates_agree() {
        let mut originals = flashmark_suite::ORIGINALS.to_vec();
        originals.sort_unstable();
        assert_eq!(originals, flashmark_report::format::originals());
        let engine = keys().iter().find(|key| key.name == "engine").unwrap();
        for entry in flashmark_host::engine::ENGINES {
            assert!(engine.values.contains(&format!("\"{}\"", entry.name)), "{} is not in the guide", entry.name);
        }
    }

    #[test]
    fn keys_become_settings_and_a_bare_switch_is_true() {
        let line = ["flashmark", "run", ".", "--block", "4k", "--verify", "--preallocate", "--sync", "never"];
        let matches = command().try_get_matches_from(line).unwrap();
        let (_, run) = matches.subcommand().unwrap();
        let pairs = settings(run).to_pairs();
        assert_eq!(pairs, ["block=4k", "preallocate=true", "sync=never", "verify=true"]);
    }
}
