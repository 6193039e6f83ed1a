//! The chips that come with flashmark.

/// A chip that comes with flashmark.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name, which is also its file's.
    pub name: &'static str,
    /// Its profile's text.
    pub text: &'static str,
}

macro_rules! chips {
    ($($name:literal),* $(,)?) => {
        &[$(BuiltIn { name: $name, text: include_str!(concat!("../../../../../chips/", $name, ".toml")) }),*]
    };
}

/// One line a chip, in the order of their names.
const CHIPS: &[BuiltIn] = chips![
    "esp32-devkit-4mb",
    "esp32-s3-devkit-8mb",
    "espressif-devkit-4mb",
    "gd25q32c",
    "mx25l8005",
    "mx25r6435f",
    "w25q01jv",
    "w25q128jv",
    "w25q32jv",
    "w25q64jv",
    "xm25qh128a",
];

/// The chips that come with flashmark, in the order of their names.
#[must_use]
pub const fn built_in() -> &'static [BuiltIn] {
    CHIPS
}
