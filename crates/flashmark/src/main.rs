//! flashmark: the command line. It turns arguments into a suite and targets, lets the core run one on the other, and has
//! the results shown and kept; it does no I/O of its own beyond that.

mod args;
mod boards;
mod chips;
mod clean;
mod exit;
mod fio;
mod message;
mod output;
mod run;
mod show;
mod suites;
mod validate;

use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    let command = args::parse();
    let result = match command {
        Command::Run(args, settings) => run::run(*args, settings),
        Command::Suites(args) => suites::run(args),
        Command::Show(args) => show::run(&args),
        Command::Boards(args) => boards::run(args),
        Command::Chips(args) => chips::run(args),
        Command::Validate(args) => validate::run(&args),
        Command::Fio(args) => fio::run(&args),
        Command::Clean(args) => clean::run(&args),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error).into(),
    }
}
