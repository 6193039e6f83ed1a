//! Simulated boards in virtual time.
#![forbid(unsafe_code)]

pub mod target_name;
