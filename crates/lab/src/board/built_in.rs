//! The boards that flashmark brings along.

/// A board's profile, compiled in.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInBoard {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Its profile.
    pub text: &'static str,
}

/// One line a board; the name is the file's.
static BOARDS: &[BuiltInBoard] = &[
    BuiltInBoard { name: "esp32", text: include_str!("../../../../boards/esp32.toml") },
    BuiltInBoard { name: "esp32-s2", text: include_str!("../../../../boards/esp32-s2.toml") },
    BuiltInBoard { name: "esp32-s3", text: include_str!("../../../../boards/esp32-s3.toml") },
    BuiltInBoard { name: "esp32-c3", text: include_str!("../../../../boards/esp32-c3.toml") },
];

/// The boards in the order of the list.
#[must_use]
pub fn built_in_boards() -> &'static [BuiltInBoard] {
    BOARDS
}

pub(super) fn find(name: &str) -> Option<&'static BuiltInBoard> {
    BOARDS.iter().find(|board| board.name == name)
}
