//! The command line of the benchmarks, and what to measure.

mod failure;
mod interrupt;
mod lab;
mod machine;
mod media;
mod memory;
mod overhead;
mod program;
mod report;
mod rivals;
mod rounds;
mod spiffs;
mod startup;
mod vs_fio;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;
use report::Report;

/// Measures flashmark itself: what it costs an operation, how fast it starts, how much memory it takes, how fast its
/// simulated boards and its SPIFFS run, whether its rates are those of other tools, and what it costs beside fio
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    what: What,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,

    /// The flashmark to measure [default: the one beside this program]
    #[arg(long, value_name = "PATH", global = true)]
    flashmark: Option<PathBuf>,

    /// How many rounds; more are steadier and take longer
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,

    /// Where files on a real disk are made (overhead and memory use /dev/shm)
    #[arg(long, value_name = "DIRECTORY", global = true, default_value = ".")]
    dir: PathBuf,
}

#[derive(Clone, Subcommand)]
enum What {
    /// What the runner and the histogram add to an operation, in nanoseconds
    Overhead,
    /// The time until the first I/O (needs strace; the loop device needs root)
    Startup,
    /// The peak of resident memory for small and large tests
    Memory,
    /// How fast simulated boards run, and what they take
    Lab,
    /// What a call of SPIFFS costs, in Rust and in C
    ///
    /// CPU time of whole workloads on a flash that is an array in memory: of this project's crate `spiffs`, and of the C
    /// implementation where the variable FLASHMARK_SPIFFS_C names a program that runs it. Without it only our side is
    /// shown. Both sides take turns, and the ratio of their times is judged.
    ///
    /// The program is called with `-t N SCRIPT`: it reads the file SCRIPT, a file system call a line in the language that
    /// crates/spiffs/tests/data/README.txt describes, makes all its calls N times, each time from an erased flash and
    /// without a mounted volume on, and prints a line `runs=N cpu_us=MEAN best_us=LEAST`: the CPU time of a run in
    /// microseconds. Reading the script, making the data that it writes and erasing the flash between runs are left out
    /// of the time, and the flash does nothing but copy when it is read, combine with AND when it is programmed, and fill
    /// with ones when it is erased. The example `replay` of the crate is such a program of our own side.
    Spiffs,
    /// The same work done by fio, dd and ioping (the zram device needs root)
    Rivals,
    /// The same fio command lines run by `flashmark fio` and by fio
    ///
    /// Both get the same options, in turn, on the same CPUs and the same file or device, and their JSON is compared. The
    /// variable FLASHMARK_T_IO_URING may name `t/io_uring`, the bare loop of fio's own source tree (`./configure && make
    /// t/io_uring` there); without it that row is skipped. What needs root, or a means that this kernel does not have, is
    /// skipped with its reason too.
    VsFio {
        /// What to compare [default: everything]
        #[arg(value_name = "PART")]
        parts: Vec<vs_fio::Part>,
    },
}

pub(super) fn main() -> ExitCode {
    let cli = Cli::parse();
    match measure(&cli) {
        Ok(report) => {
            if cli.json {
                println!("{:#}", report.to_json())
            } else {
                print!("{report}")
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("flashmark-bench: {failure}");
            failure.exit_code()
        }
    }
}

fn measure(cli: &Cli) -> Result<Report, Failure> {
    if cfg!(debug_assertions) {
        return Err(Failure::DebugBuild);
    }
    interrupt::install()?;
    let load = machine::load();
    let flashmark = || program::flashmark(cli.flashmark.as_deref());
    // strace shows paths as they are, without links and dots.
    let dir = cli.dir.canonicalize().map_err(Failure::io("finding the directory"))?;
    let mut report = match &cli.what {
        What::Overhead => overhead::measure(cli.rounds.unwrap_or(31)),
        What::Startup => startup::measure(&flashmark()?, &dir, cli.rounds.unwrap_or(21)),
        What::Memory => memory::measure(&flashmark()?),
        What::Lab => lab::measure(&flashmark()?, cli.rounds.unwrap_or(9)),
        What::Spiffs => spiffs::measure(cli.rounds.unwrap_or(9)),
        What::Rivals => rivals::measure(&flashmark()?, &dir, cli.rounds.unwrap_or(9)),
        What::VsFio { parts } => vs_fio::measure(&flashmark()?, &dir, cli.rounds.unwrap_or(5), parts),
    }?;
    report.machine = format!("{}, load {load} at the start", machine::describe());
    Ok(report)
}
