//! Reads what the fuzzer makes up as a trace, and writes what it means.
#![no_main]

#[path = "../../tests/exercise/mod.rs"]
mod exercise;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| exercise::exercise_trace(input));
