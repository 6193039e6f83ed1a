//! Simulated boards in virtual time: chip, bus, driver, translation and file system put together, as a target of the
//! runner.
//!
//! ```text
//! Bench      runs workloads on targets                     bench.rs
//! Board      a profile in TOML with settings over it        board.rs, board/
//! LabTarget  one storage of a board, a `core::Target`       target.rs, target/
//!   Store    a file system, or the partition itself         storage.rs, storage/
//!   driver   what the board's software does on the bus      driver.rs, driver/
//!   bus      how long a transaction takes                   bus.rs
//!   chip     flashmark-chips
//! ```
//!
//! All parts of a target share one [`flashmark_core::ledger::Ledger`]; nothing else moves its time. A target is made from
//! its profile and seed alone, so that it does the same on every machine, in every thread and every time.
#![forbid(unsafe_code)]

mod bench;
pub mod board;
mod booking;
pub mod bus;
pub mod driver;
pub mod rtos;
pub mod storage;
mod target;
pub mod target_name;

pub use bench::Bench;
pub use board::{Board, BoardError, BoardKey, BuiltInBoard, SettingView, built_in_boards};
pub use storage::LabError;
pub use target::LabTarget;
