//! The command line of `flashmark fio`: fio's own words, and a few of flashmark's between them.

use std::path::PathBuf;

use clap::{Args, Parser};
use flashmark_host::consent::ConsentArgs;

const EXAMPLES: &str = "\
Examples:
  flashmark fio --name=test --rw=randread --bs=4k --size=64m --ioengine=io_uring --iodepth=32
                                                   a job from the command line
  flashmark fio job.fio                            the jobs of a file
  flashmark fio job.fio --output-format=json --output=result.json
                                                   fio's JSON, for the tools that read it
  flashmark fio --name=w --rw=write --filename=/dev/sdb --size=1g --destroy /dev/sdb
                                                   write to a device: what is on it is lost
  flashmark fio job.fio --records result.jsonl     keep flashmark's records as well (flashmark show)
  flashmark fio --cmdhelp                          fio's options, and what is done about each

flashmark's own options, anywhere on the line:
  --destroy DEVICE|FILE   allow jobs to overwrite this device or file; everything on it is lost (repeatable)
  --records FILE          write a record of each job to this new file (JSON Lines)
  --ignore-unsupported    leave out options that are known and not supported, and list them
  --quiet                 show no progress and no warnings

Jobs write to files that flashmark made, and to what --destroy names; everything else is only read. Files that
jobs make stay, as fio's do (unlink=1 removes them).

Exit codes: 0 done, 1 a job failed, 2 wrong usage, 3 refused because data would be destroyed, 130 interrupted.";

/// `flashmark fio`.
#[derive(Args)]
#[command(after_help = EXAMPLES, disable_help_flag = true)]
pub struct FioArgs {
    /// fio's options, job files, and the options below
    #[arg(value_name = "OPTION|JOBFILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// What is flashmark's own.
#[derive(Parser)]
#[command(name = "flashmark fio", no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
pub struct Own {
    #[command(flatten)]
    pub consent: ConsentArgs,

    /// Write a record of each job to this new file
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,

    /// Show no progress and no warnings
    #[arg(long)]
    pub quiet: bool,
}

impl Own {
    /// Tells flashmark's own words from fio's.
    ///
    /// # Errors
    /// An own option without its value.
    pub fn split(words: &[String]) -> anyhow::Result<(Self, Vec<String>)> {
        let (mut own, mut rest) = (Vec::new(), Vec::new());
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            match name {
                "--destroy" | "--records" => {
                    own.push(word.clone());
                    // Another option is no value: that one is missing is what has to be told.
                    if name == word {
                        own.extend(words.next_if(|next| !next.starts_with("--")).cloned());
                    }
                }
                "--quiet" => own.push(word.clone()),
                _ => rest.push(word.clone()),
            }
        }
        let own = Self::try_parse_from(own).map_err(|error| anyhow::anyhow!("{}", one_line(&error)))?;
        Ok((own, rest))
    }
}

/// clap's message without its heading and its advice on usage, which would not know of fio's words.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

/// The text of `flashmark fio --help`.
pub(super) const fn examples() -> &'static str {
    EXAMPLES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(words: &[&str]) -> anyhow::Result<(Own, Vec<String>)> {
        Own::split(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn own_words_stand_anywhere() {
        let (own, rest) = split(&["--name=a", "--records", "r.jsonl", "--bs=4k", "--quiet", "job.fio"]).unwrap();
        assert_eq!(own.records, Some("r.jsonl".into()));
        assert!(own.quiet);
        assert_eq!(rest, ["--name=a", "--bs=4k", "job.fio"]);
        let error = split(&["--destroy", "--output-format=json", "job.fio"]).err().unwrap().to_string();
        assert!(error.contains("a value is required for '--destroy"), "{error}");
        let (own, rest) = split(&["--records=x", "--destroy=/dev/null"]).unwrap();
        assert_eq!((own.records, rest.len()), (Some("x".into()), 0));
    }

    #[test]
    fn a_missing_value_is_told() {
        let error = split(&["--name=a", "--destroy"]).err().unwrap().to_string();
        assert!(error.contains("--destroy"), "{error}");
    }
}
