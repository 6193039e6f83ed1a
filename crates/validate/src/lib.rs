//! Published measurements against what simulated boards predict for them.
//!
//! ```text
//! tables (CSV)  ->  rows              table.rs, table/, quantity.rs, metric.rs
//! rows          ->  jobs              plan.rs, plan/: which suite, on which storage of which board
//! jobs          ->  measurements      machine.rs: the boards run, in virtual time
//! measurements  ->  predictions       predict.rs
//! rows and predictions  ->  report    report.rs, summary.rs: pure comparing, nothing runs
//! report        ->  text              format.rs, format/
//! ```
//!
//! The format of the tables and of the output is described in `docs/validation.md`.
#![forbid(unsafe_code)]

mod built_in;
mod fits;
pub mod format;
mod machine;
mod metric;
mod plan;
mod predict;
mod quantity;
mod report;
mod summary;
mod table;
mod validate;

pub use built_in::built_in_tables;
pub use metric::{Kind, Stat};
pub use predict::Prediction;
pub use quantity::{Decimal, Quantity, Unit};
pub use report::{Report, RowReport, Verdict, report};
pub use summary::{Limit, Limits, Mean, Summary};
pub use table::{Row, Table, TableError};
pub use validate::{validate, validate_with_limits};
