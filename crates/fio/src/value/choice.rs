//! Words of a fixed list.

use super::{Misfit, Part, Scope, alternatives};

/// Reads one of `words`.
pub fn choice<T: Copy + 'static>(
    words: &'static [(&'static str, T)],
) -> impl Fn(Part<'_>, &mut Scope) -> Result<T, Misfit> {
    move |part, _| pick(part.trimmed(), words)
}

/// As [`choice`], where fio knows further words that have no counterpart here: pairs of a word and the nearest way.
pub fn choice_but<T: Copy + 'static>(
    words: &'static [(&'static str, T)],
    unsupported: &'static [(&'static str, &'static str)],
) -> impl Fn(Part<'_>, &mut Scope) -> Result<T, Misfit> {
    move |part, _| {
        let part = part.trimmed();
        let word = part.text.split(':').next().unwrap_or_default();
        match unsupported.iter().find(|(known, _)| *known == word) {
            Some((_, way)) => Err(Misfit::unsupported(part, *way)),
            None => pick(part, words),
        }
    }
}

pub(crate) fn pick<T: Copy>(part: Part<'_>, words: &[(&'static str, T)]) -> Result<T, Misfit> {
    match words.iter().find(|(word, _)| *word == part.text) {
        Some((_, value)) => Ok(*value),
        None => {
            let names = || words.iter().map(|(word, _)| *word);
            Err(Misfit::new(part, alternatives(names())).near(names()))
        }
    }
}

/// Defines an enum whose variants have words: `ALL` with the pairs, and `name`.
macro_rules! words {
    ($(#[$doc:meta])* $kind:ident: $($(#[$variant_doc:meta])* $variant:ident = $name:literal $(| $alias:literal)*),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind {
            $($(#[$variant_doc])* $variant),+
        }

        impl $kind {
            /// Every word with what it means; the first of several for one meaning is its name.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($name, Self::$variant), $(($alias, Self::$variant),)*)+];

            /// fio's word for it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use words;
