//! What the measured program does with its file beside reading and writing it.

use crate::board::Board;

/// The program's habits, as a board's profile tells them; where it does not, those of the current `perf_benchmark`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Habits {
    /// A file to be written is opened for writing alone (`fopen` with `"wb"`), not for both (`O_RDWR`).
    pub write_only: bool,
    /// The file is never removed, but truncated when it is opened anew.
    pub keeps_file: bool,
}

impl Habits {
    pub fn of(board: &Board) -> Self {
        Self {
            write_only: board.text_or("app.open", "read-write") == "write-only",
            keeps_file: board.text_or("app.replace", "remove") == "truncate",
        }
    }
}
