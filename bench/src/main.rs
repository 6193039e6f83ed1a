//! flashmark-bench: measures flashmark itself, and prints what it promises next to what was found.
//!
//! * `overhead`: what the runner and its histogram add to an operation;
//! * `startup`: the time until the first I/O;
//! * `memory`: the peak of resident memory, whatever the size of the test;
//! * `lab`: how fast simulated boards run, whatever the length of the run and the size of the chip;
//! * `spiffs`: what a call of the crate `spiffs` costs, beside the C implementation where that is at hand;
//! * `rivals`: the same work done by `fio`, `dd` and `ioping`;
//! * `vs-fio`: the same fio command lines run by `flashmark fio` and by `fio`.
//!
//! Everything is measured in rounds that take turns (`linux/rounds.rs`), so that a machine whose speed drifts does so for all
//! alike. `docs/performance.md` says how to read the results.

#[cfg(target_os = "linux")]
mod linux;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("flashmark-bench: it measures with strace, loop devices and /dev/shm, and so runs on Linux only");
    ExitCode::from(2)
}
