//! The options of fio itself.

use super::values;
use crate::error::{FioError, Problem};
use crate::place::Place;
use crate::value::choice::words;

words! {
    /// When the time that is left is shown.
    EtaWhen:
    /// On a terminal.
    Auto = "auto",
    /// Always.
    Always = "always",
    /// Never.
    Never = "never",
}

words! {
    /// A form of the result.
    OutputFormat:
    /// For people.
    Normal = "normal",
    /// Fields between semicolons.
    Terse = "terse" | "minimal" | "csv",
    /// JSON.
    Json = "json",
    /// JSON with whole histograms.
    JsonPlus = "json+",
}

/// Something to tell instead of running jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `--help`.
    Help,
    /// `--version`.
    Version,
    /// `--cmdhelp`: an option, or all.
    OptionHelp(Option<String>),
    /// `--enghelp`: an engine, or all.
    EngineHelp(Option<String>),
}

/// The options of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where results go; nothing is the standard output.
    pub output: Option<String>,
    /// In what forms, each once.
    pub formats: Vec<OutputFormat>,
    /// Which terse form, 2 to 5.
    pub terse_version: u8,
    /// When the time that is left is shown.
    pub eta: EtaWhen,
    /// How often.
    pub eta_interval_ms: u64,
    /// How often on a new line; nothing is never.
    pub eta_newline_ms: Option<u64>,
    /// How often results so far are told; nothing is never.
    pub status_interval_ms: Option<u64>,
    /// The only sections to run, and where they are asked for; none is all.
    pub sections: Vec<(String, Place)>,
    /// Whether nothing is run.
    pub parse_only: bool,
    /// Whether the jobs are told as a command line.
    pub show_command: bool,
    /// Whether writes and trims are refused.
    pub read_only: bool,
    /// The beginning of the names of logs of the bandwidth of all jobs together.
    pub bandwidth_log: Option<String>,
    /// Whether a warning is an error.
    pub warnings_fatal: bool,
    /// Where files that fio makes for itself (verification state) are.
    pub auxiliary_path: Option<String>,
    /// Whether options that are known but not supported are left out and listed. It is none of fio's options.
    pub ignore_unsupported: bool,
    /// What is to be told instead.
    pub request: Option<Request>,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            output: None,
            formats: vec![OutputFormat::Normal],
            terse_version: 3,
            eta: EtaWhen::Auto,
            eta_interval_ms: 1000,
            eta_newline_ms: None,
            status_interval_ms: None,
            sections: Vec::new(),
            parse_only: false,
            show_command: false,
            read_only: false,
            bandwidth_log: None,
            warnings_fatal: false,
            auxiliary_path: None,
            ignore_unsupported: false,
            request: None,
        }
    }
}

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// None.
    Nothing,
    /// One, behind `=` or as the next word.
    Value,
    /// None, or one behind `=`.
    Maybe,
}

type Value<'a> = values::Given<'a>;

/// What an option does.
#[derive(Clone, Copy)]
enum Does {
    /// It is read.
    Sets(fn(&mut Program, Value<'_>) -> Result<(), FioError>),
    /// It is about how fio manages memory; there is nothing to do.
    Nothing,
    /// It is not supported, and here is the nearest way.
    Unsupported(&'static str),
}

/// An option of the program.
pub(super) struct ProgramOption {
    pub(super) name: &'static str,
    pub(super) letter: Option<char>,
    pub(super) takes: Takes,
    does: Does,
}

impl ProgramOption {
    /// Takes it over.
    pub(super) fn apply(
        &self,
        program: &mut Program,
        place: &Place,
        value: Option<(Place, String)>,
    ) -> Result<(), FioError> {
        match self.does {
            Does::Sets(set) => {
                let (place, text) = value.map_or((place.clone(), None), |(place, text)| (place, Some(text)));
                set(program, Value { name: self.name, text: text.as_deref(), place: &place })
            }
            Does::Nothing => Ok(()),
            Does::Unsupported(way) => {
                let problem = Problem::Unsupported { name: format!("--{}", self.name), way: way.to_owned() };
                Err(FioError::new(place.clone(), problem))
            }
        }
    }
}

const fn option(name: &'static str, letter: char, takes: Takes, does: Does) -> ProgramOption {
    ProgramOption { name, letter: Some(letter), takes, does }
}

const NETWORK: &str = "there are no servers and clients; run the program on each machine";
const TRIGGER: &str = "there are no triggers; stop the run with a signal";
const CHECKS: &str = "it measures fio itself";

/// All of them. The letters are those that fio has for a single dash.
pub(super) static PROGRAM: &[ProgramOption] = &[
    option("output", 'o', Takes::Value, Does::Sets(|p, v| v.text().map(|text| p.output = Some(text)))),
    option("latency-log", 'l', Takes::Value, Does::Unsupported("use the job's write_lat_log")),
    option(
        "bandwidth-log",
        'b',
        Takes::Maybe,
        Does::Sets(|p, v| {
            p.bandwidth_log = Some(v.text.unwrap_or("agg").to_owned());
            Ok(())
        }),
    ),
    option(
        "minimal",
        'm',
        Takes::Nothing,
        Does::Sets(|p, _| {
            p.formats = vec![OutputFormat::Terse];
            Ok(())
        }),
    ),
    option("output-format", 'F', Takes::Value, Does::Sets(|p, v| v.formats().map(|formats| p.formats = formats))),
    option(
        "append-terse",
        'f',
        Takes::Maybe,
        Does::Sets(|p, _| {
            if !p.formats.contains(&OutputFormat::Terse) {
                p.formats.push(OutputFormat::Terse);
            }
            Ok(())
        }),
    ),
    option("version", 'v', Takes::Nothing, Does::Sets(|p, _| request(p, Request::Version))),
    option("help", 'h', Takes::Nothing, Does::Sets(|p, _| request(p, Request::Help))),
    option("cmdhelp", 'c', Takes::Maybe, Does::Sets(|p, v| request(p, Request::OptionHelp(v.text.map(str::to_owned))))),
    option("enghelp", 'i', Takes::Maybe, Does::Sets(|p, v| request(p, Request::EngineHelp(v.text.map(str::to_owned))))),
    option("showcmd", 's', Takes::Nothing, Does::Sets(|p, _| flag(&mut p.show_command))),
    option("readonly", 'r', Takes::Nothing, Does::Sets(|p, _| flag(&mut p.read_only))),
    option("eta", 'e', Takes::Value, Does::Sets(|p, v| v.word(EtaWhen::ALL).map(|eta| p.eta = eta))),
    option(
        "eta-interval",
        'O',
        Takes::Value,
        Does::Sets(|p, v| v.milliseconds(250).map(|time| p.eta_interval_ms = time)),
    ),
    option(
        "eta-newline",
        'E',
        Takes::Value,
        Does::Sets(|p, v| v.milliseconds(1).map(|time| p.eta_newline_ms = Some(time))),
    ),
    option("debug", 'd', Takes::Value, Does::Unsupported("errors tell what was read and where")),
    option("parse-only", 'P', Takes::Nothing, Does::Sets(|p, _| flag(&mut p.parse_only))),
    option(
        "section",
        'x',
        Takes::Value,
        Does::Sets(|p, v| v.section().map(|section| p.sections.push((section, v.place.clone())))),
    ),
    option("inflate-log", 'X', Takes::Value, Does::Unsupported("logs are not compressed")),
    option("alloc-size", 'a', Takes::Value, Does::Nothing),
    option("profile", 'p', Takes::Value, Does::Unsupported("write the jobs of the profile in a job file")),
    option("warnings-fatal", 'w', Takes::Nothing, Does::Sets(|p, _| flag(&mut p.warnings_fatal))),
    option("max-jobs", 'j', Takes::Value, Does::Nothing),
    option(
        "terse-version",
        'V',
        Takes::Value,
        Does::Sets(|p, v| v.word(values::TERSE_VERSIONS).map(|version| p.terse_version = version)),
    ),
    option("server", 'S', Takes::Maybe, Does::Unsupported(NETWORK)),
    option("daemonize", 'D', Takes::Value, Does::Unsupported(NETWORK)),
    option("client", 'C', Takes::Value, Does::Unsupported(NETWORK)),
    option("remote-config", 'R', Takes::Value, Does::Unsupported(NETWORK)),
    option("cpuclock-test", 'T', Takes::Nothing, Does::Unsupported(CHECKS)),
    option("crctest", 'G', Takes::Maybe, Does::Unsupported(CHECKS)),
    option("memcpytest", 'M', Takes::Maybe, Does::Unsupported(CHECKS)),
    option("idle-prof", 'I', Takes::Value, Does::Unsupported("the result has the processor time of each job")),
    option(
        "status-interval",
        'L',
        Takes::Value,
        Does::Sets(|p, v| v.milliseconds(1).map(|time| p.status_interval_ms = Some(time))),
    ),
    option("trigger-file", 'W', Takes::Value, Does::Unsupported(TRIGGER)),
    option("trigger-timeout", 'B', Takes::Value, Does::Unsupported(TRIGGER)),
    option("trigger", 'H', Takes::Value, Does::Unsupported(TRIGGER)),
    option("trigger-remote", 'J', Takes::Value, Does::Unsupported(TRIGGER)),
    option("aux-path", 'K', Takes::Value, Does::Sets(|p, v| v.text().map(|text| p.auxiliary_path = Some(text)))),
    option("merge-blktrace-only", 'A', Takes::Nothing, Does::Unsupported("traces are replayed one at a time")),
    ProgramOption {
        name: "ignore-unsupported",
        letter: None,
        takes: Takes::Nothing,
        does: Does::Sets(|p, _| flag(&mut p.ignore_unsupported)),
    },
];

fn flag(flag: &mut bool) -> Result<(), FioError> {
    *flag = true;
    Ok(())
}

fn request(program: &mut Program, request: Request) -> Result<(), FioError> {
    program.request.get_or_insert(request);
    Ok(())
}
