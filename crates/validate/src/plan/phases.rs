//! What a phase of an original's log is, by the words in its description.

/// A step of a storage's way from power-on to its last workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Mounting wear levelling.
    MountLevelling,
    /// Mounting the file system.
    Mount,
    /// Making the file system.
    Format,
    /// All workloads with everything around them.
    Tests,
}

/// A description that was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    /// Of which storage.
    pub(super) storage: &'static str,
    pub(super) step: Step,
    /// On an SD card.
    pub(super) on_card: bool,
    /// How often each test ran, if it is said.
    pub(super) tries: Option<u32>,
}

/// Words that name a storage.
const STORAGES: &[(&str, &str)] =
    &[("fatfs", "fatfs"), ("fat", "fatfs"), ("littlefs", "littlefs"), ("spiffs", "spiffs"), ("raw", "raw")];

const CARDS: &[&str] = &["sd", "sdmmc", "sdspi", "card", "sdcard"];

/// The storage that a word names, in any of its spellings.
pub(super) fn storage_named(word: &str) -> Option<&'static str> {
    STORAGES.iter().find(|(known, _)| *known == word).map(|(_, storage)| *storage)
}

/// Reads a description, e.g. `fatfs format on spi-nor`; `fs` is the row's file system, if it says one.
///
/// # Errors
/// What is not said.
pub(super) fn parse(description: &str, fs: &str) -> Result<Phase, String> {
    let lower = description.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let says = |any: &[&str]| words.iter().any(|word| any.contains(word));
    let levelling = says(&["wl"]) || lower.contains("wear levelling") || lower.contains("wear leveling");
    let named = storage_named(fs).or_else(|| words.iter().find_map(|word| storage_named(word)));
    let storage = match named {
        Some(storage) => storage,
        None if levelling => "raw",
        None => return Err(format!("{description:?} names no storage: raw, fatfs, littlefs, spiffs")),
    };
    let mounts = says(&["mount", "mounting"]);
    let step = if says(&["format", "formatting", "mkfs"]) {
        Step::Format
    } else if mounts && levelling {
        Step::MountLevelling
    } else if mounts {
        Step::Mount
    } else if says(&["test", "tests", "write", "writes", "read", "reads"]) {
        Step::Tests
    } else {
        return Err(format!("{description:?} names no step: mount, format, tests"));
    };
    let tries = words.iter().find_map(|word| word.strip_prefix('x').or_else(|| word.strip_suffix('x'))?.parse().ok());
    Ok(Phase { storage, step, on_card: says(CARDS), tries: tries.filter(|tries| *tries > 0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Step::{Format, Mount, MountLevelling, Tests};

    #[test]
    fn descriptions_are_understood_by_their_words() {
        for (description, storage, step, on_card, tries) in [
            ("wl mount (blank 2 MiB partition)", "raw", MountLevelling, false, None),
            ("raw write+read, 100x each, + wl unmount", "raw", Tests, false, Some(100)),
            ("fatfs format on spi-nor", "fatfs", Format, false, None),
            ("fatfs spi-nor 8 tests x100 incl. untimed open/close/unlink", "fatfs", Tests, false, Some(100)),
            ("spiffs format 2 MiB (512 sectors)", "spiffs", Format, false, None),
            ("spiffs 8 tests x1", "spiffs", Tests, false, Some(1)),
            ("littlefs format spi-nor", "littlefs", Format, false, None),
            ("sd littlefs format (incl. full erase)", "littlefs", Format, true, None),
            ("Mounting of LittleFS", "littlefs", Mount, false, None),
            ("FAT: wear levelling mount", "fatfs", MountLevelling, false, None),
            ("FAT on SD card: reads x5", "fatfs", Tests, true, Some(5)),
        ] {
            assert_eq!(parse(description, ""), Ok(Phase { storage, step, on_card, tries }), "{description}");
        }
        assert_eq!(parse("format", "littlefs").map(|phase| phase.storage), Ok("littlefs"));
    }

    #[test]
    fn what_is_not_said_is_not_guessed() {
        assert!(parse("boot", "").is_err());
        assert!(parse("format", "").is_err());
        assert!(parse("littlefs unmount", "").unwrap_err().contains("no step"));
    }
}
