//! The measuring core of flashmark.
//!
//! Everything here runs alike on a PC, on a microcontroller and in virtual time: `no_std`, no threads, and in the
//! measuring path no allocation and no floats. From the outside in:
//!
//! * [`workload`]: what is measured, one access pattern a value;
//! * [`runner`]: drives a [`target::Target`] through a workload, timing each operation with a [`clock::Clock`];
//! * [`histogram`]: where the latencies go;
//! * [`record`]: the result, and what a run's JSON Lines hold;
//! * [`ledger`]: virtual time that knows what it was spent on;
//! * [`simulation`]: what a simulated board tells beside the times;
//! * [`order`], [`data`]: which block comes next, and what is written to it;
//! * [`environment`]: what the machine was, filled in by whoever knows it;
//! * [`units`]: sizes and times as people write them.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod clock;
pub mod data;
pub mod environment;
pub mod histogram;
pub mod ledger;
mod names;
pub mod order;
pub mod queue;
pub mod record;
pub mod runner;
pub mod simulation;
pub mod target;
pub mod units;
pub mod workload;
