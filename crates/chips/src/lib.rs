//! Simulated flash chips at command level, in virtual time.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
