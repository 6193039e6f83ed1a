//! The suites that are compiled in.

/// A suite that is compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// What it is called by; the `name` in its text is the same.
    pub name: &'static str,
    /// Its TOML, as in `suites/NAME.toml`.
    pub text: &'static str,
}

macro_rules! registry {
    ($($name:literal),* $(,)?) => {
        &[$(BuiltIn { name: $name, text: include_str!(concat!("../../../suites/", $name, ".toml")) }),*]
    };
}

/// All of them, in the order in which they are listed.
#[must_use]
pub fn built_in() -> &'static [BuiltIn] {
    registry!["quick", "raw-read", "esp-idf", "sd-bench", "sdfat", "stream-10m", "sync-async", "emmc-sd", "fill"]
}
