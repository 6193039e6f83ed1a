//! What is told instead of running jobs.

use std::fmt::Write as _;

use anyhow::{anyhow, bail};
use flashmark_fio::options::{Engine, KnownOption, Standing, known_options};
use flashmark_fio::{JobSet, Request};
use flashmark_host::engine::{ENGINES, find};

use super::arguments::examples;

/// The text that was asked for.
///
/// # Errors
/// An option or engine that there is not.
pub fn answer(request: &Request) -> anyhow::Result<String> {
    Ok(match request {
        Request::Help => format!(
            "Run fio's command lines and job files\n\nUsage: flashmark fio [OPTION|JOBFILE]...\n\n{}\n",
            examples()
        ),
        // Scripts look whether the word begins with fio's name.
        Request::Version => format!("fio-3.33 (flashmark {})\n", env!("CARGO_PKG_VERSION")),
        Request::OptionHelp(None) => known_options().fold(String::new(), |text, option| text + &line(&option) + "\n"),
        Request::OptionHelp(Some(name)) => {
            let is_it = |option: &KnownOption| option.name == name || option.aliases.contains(&name.as_str());
            let option = known_options().find(is_it);
            let option = option.ok_or_else(|| anyhow!("`{name}` is no option of fio's (--cmdhelp lists all)"))?;
            line(&option) + "\n"
        }
        Request::EngineHelp(None) => Engine::ALL.iter().fold(String::new(), |text, (name, _)| text + name + "\n"),
        Request::EngineHelp(Some(name)) => {
            let known = Engine::ALL.iter().any(|(known, _)| known == name);
            let Some(entry) = find(if name == "psync" { "sync" } else { name }).filter(|_| known) else {
                let names: Vec<&str> = ENGINES.iter().map(|entry| entry.name).collect();
                bail!("there is no engine `{name}`; there are {}", names.join(", "));
            };
            format!("{name}: {}\n", entry.about)
        }
    })
}

fn line(option: &KnownOption) -> String {
    let aliases = if option.aliases.is_empty() { String::new() } else { format!(" ({})", option.aliases.join(", ")) };
    let standing = match option.standing {
        Standing::Supported => "supported",
        Standing::Unsupported => "not supported",
        Standing::WithoutEffect => "taken, without effect",
        Standing::GivenUp => "given up by fio",
    };
    let way = if option.way.is_empty() { String::new() } else { format!(": {}", option.way) };
    format!("{}{aliases}: {standing}{way}", option.name)
}

/// The jobs as command lines, as fio's `--showcmd` tells them.
pub fn as_command_lines(set: &JobSet) -> String {
    let mut text = String::from("fio");
    for job in &set.jobs {
        let _ = write!(text, " --name={}", quoted(&job.name));
        for setting in job.global_settings.iter().chain(&job.settings) {
            let setting = setting.to_string();
            if !setting.starts_with("name=") {
                let _ = write!(text, " --{}", quoted(&setting));
            }
        }
    }
    text + "\n"
}

/// For a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-=./,:%+@".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
