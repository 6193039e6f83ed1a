//! How a file system is made and mounted, as far as it does not depend on where.

/// Arguments of mkfs, options of the mount, and what is done to the directory that is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Words before the device.
    pub mkfs: Vec<String>,
    /// Mount options, each `name` or `name=value`.
    pub mount: Vec<String>,
    /// In this order, while the directory is empty.
    pub directory: Vec<DirectoryStep>,
    /// mkfs's options whose values are lists and of which the program obeys the last one only.
    pub(super) lists: &'static [&'static str],
}

/// What is done to the directory that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryStep {
    /// fscrypt: a policy of version 2, AES-256-XTS for contents and AES-256-CTS for names, with a random key.
    Encrypt,
    /// `chattr +c`.
    Compress,
}

impl DirectoryStep {
    /// As records tell of it.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Encrypt => "fscrypt v2, AES-256-XTS and AES-256-CTS, on the measured directory",
            Self::Compress => "chattr +c on the measured directory",
        }
    }
}

impl Recipe {
    /// Adds words of mkfs. A list that was given before is made longer, where the program would forget the first one.
    pub(super) fn mkfs<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let at = self.mkfs.iter().position(|known| known == word).filter(|_| self.lists.contains(&word));
            match at.and_then(|at| self.mkfs.get_mut(at + 1)) {
                Some(list) => {
                    if let Some(more) = words.next() {
                        list.push(',');
                        list.push_str(more);
                    }
                }
                None => self.mkfs.push(word.to_owned()),
            }
        }
    }

    /// Adds mount options, separated by commas; one of the same name as an earlier one takes its place.
    pub(super) fn mount(&mut self, options: &str) {
        let name_of = |option: &str| option.split('=').next().unwrap_or_default().to_owned();
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let name = name_of(option);
            // `discard` takes back `nodiscard`.
            let opposite = name.strip_prefix("no").map_or_else(|| format!("no{name}"), str::to_owned);
            self.mount.retain(|known| name_of(known) != name && name_of(known) != opposite);
            self.mount.push(option.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_grow_where_the_program_takes_one_only() {
        let mut recipe = Recipe { lists: &["-E"], ..Recipe::default() };
        recipe.mkfs(["-F", "-E", "nodiscard"]);
        recipe.mkfs(["-b", "1024", "-E", "stride=4", "-F"]);
        assert_eq!(recipe.mkfs, ["-F", "-E", "nodiscard,stride=4", "-b", "1024", "-F"]);
    }

    #[test]
    fn later_mount_options_win() {
        let mut recipe = Recipe::default();
        recipe.mount("nodiscard,compress=zstd");
        recipe.mount("noatime,,discard,compress=lzo");
        assert_eq!(recipe.mount, ["noatime", "discard", "compress=lzo"]);
    }
}
