//! Runs a script of file system calls on a flash in RAM, and prints what each call did to the flash.
//!
//! `replay [-v] [-i FILE] [-b FILE] [-t N] SCRIPT`, or `replay -w WORKLOAD`
//!
//! * `-v` prints each flash operation, too.
//! * `-i FILE` writes the flash's content to a file at the end.
//! * `-b FILE` starts with a flash that has the file's content, and is erased behind it.
//! * `-t N` runs the script N times, and prints only how much CPU time a run took: `runs=N cpu_us=MEAN best_us=LEAST`.
//!   Within that time are the calls and a flash that is nothing but RAM; neither the reading of the script, the making of
//!   data, nor the erasing of the flash before a run.
//! * `-w WORKLOAD` prints the script of a workload of `tests/data/WORKLOAD.totals`.
//!
//! The language of the scripts is that of the recordings in `tests/data`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use support::nor::Nor;
use support::run::Runner;
use support::script::Script;
use support::workloads::Workload;

#[derive(Default)]
struct Arguments {
    trace: bool,
    image: Option<String>,
    base: Option<String>,
    runs: u32,
    workload: Option<String>,
    script: String,
}

fn arguments() -> Option<Arguments> {
    let mut arguments = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-v" => arguments.trace = true,
            "-i" => arguments.image = Some(words.next()?),
            "-b" => arguments.base = Some(words.next()?),
            "-w" => arguments.workload = Some(words.next()?),
            "-t" => arguments.runs = words.next()?.parse().ok()?,
            word if word.starts_with('-') => return None,
            _ => arguments.script = word,
        }
    }
    (!arguments.script.is_empty() || arguments.workload.is_some()).then_some(arguments)
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("usage: replay [-v] [-i FILE] [-b FILE] [-t N] SCRIPT\n       replay -w WORKLOAD");
        return ExitCode::from(2);
    };
    match replay(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            eprintln!("replay: {error}");
            ExitCode::from(2)
        }
    }
}

/// An I/O error with the file's name.
fn named(name: &str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{name}: {error}")
}

fn replay(arguments: &Arguments) -> Result<bool, String> {
    if let Some(name) = &arguments.workload {
        let workload = Workload::named(name).ok_or_else(|| format!("{name}: no such workload"))?;
        print!("{}", workload.script());
        return Ok(true);
    }
    let name = &arguments.script;
    let script = Script::parse(&std::fs::read_to_string(name).map_err(named(name))?)?;
    let mut first = match &arguments.base {
        Some(name) => std::fs::read(name).map_err(named(name))?,
        None => Vec::new(),
    };
    first.resize(script.settings.flash_bytes(), 0xff);
    let mut runner = Runner::new(&script);
    if arguments.runs > 0 {
        if script.has_cut() {
            return Err(format!("{name}: a flash that loses its power is not measured"));
        }
        runner.outcomes = None;
        let mut flash = Nor::<false>::new(first.clone());
        let (mut sum, mut best) = (0, u64::MAX);
        for _ in 0..arguments.runs {
            flash.bytes.copy_from_slice(&first);
            let from = cpu::time_ns();
            runner.run(&mut flash);
            let run = cpu::time_ns() - from;
            sum += run;
            best = best.min(run);
        }
        let mean = sum / u64::from(arguments.runs);
        println!(
            "runs={} cpu_us={}.{:03} best_us={}.{:03}",
            arguments.runs,
            mean / 1000,
            mean % 1000,
            best / 1000,
            best % 1000
        );
        return Ok(true);
    }
    let mut flash = Nor::<true>::new(first);
    flash.trace = arguments.trace.then(String::new);
    let ended = runner.run(&mut flash);
    for outcome in runner.outcomes.unwrap_or_default() {
        println!("{}", outcome.full());
    }
    if let Some(name) = &arguments.image {
        std::fs::write(name, &flash.bytes).map_err(named(name))?;
    }
    Ok(ended)
}

/// The CPU time of this process.
#[cfg(target_os = "linux")]
mod cpu {
    #![allow(unsafe_code)] // the standard library has no CPU time

    use std::ffi::{c_int, c_long};

    #[repr(C)]
    struct Timespec {
        seconds: c_long,
        nanoseconds: c_long,
    }

    const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;

    unsafe extern "C" {
        fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    }

    pub fn time_ns() -> u64 {
        let mut time = Timespec { seconds: 0, nanoseconds: 0 };
        // SAFETY: `time` is a `struct timespec` that may be written, and the call keeps no pointer to it.
        let result = unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        assert_eq!(result, 0, "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)");
        time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
    }
}

/// Time since the first call, where CPU time is not known how to be got.
#[cfg(not(target_os = "linux"))]
mod cpu {
    use std::sync::OnceLock;
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();

    pub fn time_ns() -> u64 {
        FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}
