//! Every engine's queues, with every option that this machine can have.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../support/mod.rs"]
mod support;

mod common;
#[cfg(target_os = "linux")]
mod in_flight;
mod kinds;
mod model;
