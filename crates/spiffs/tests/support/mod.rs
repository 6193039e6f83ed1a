//! Scripts of file system calls, run on a flash in RAM that counts what is done to it.
#![allow(dead_code)] // each user takes a part of it

pub mod codes;
pub mod crc;
pub mod nor;
pub mod outcome;
pub mod run;
pub mod script;
pub mod workloads;
