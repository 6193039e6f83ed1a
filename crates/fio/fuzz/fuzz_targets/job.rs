//! Reads what the fuzzer makes up as a job file and as a command line.
#![no_main]

#[path = "../../tests/exercise/mod.rs"]
mod exercise;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| exercise::exercise_job(input));
