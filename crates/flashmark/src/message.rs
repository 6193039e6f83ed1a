//! Messages for people, on standard error.

use std::fmt::Display;
use std::io::{self, Write};

/// Says something. A standard error that is full or closed costs the message, and nothing else.
pub fn say(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "flashmark: {text}");
}
