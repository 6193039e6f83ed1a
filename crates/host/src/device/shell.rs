//! Paths and names in the commands that messages propose.

use std::ffi::OsStr;

/// A word as a shell reads it back: in quotes, if it has anything that a shell might take apart.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    let text = word.as_ref().to_string_lossy().into_owned();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("/dev/mmcblk0p1"), "/dev/mmcblk0p1");
        assert_eq!(quoted("/mnt/my card"), "'/mnt/my card'");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
