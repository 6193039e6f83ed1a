//! What an entry of the table is, and finding one by name.

use super::unsupported::{GIVEN_UP, UNSUPPORTED, WITHOUT_EFFECT};
use super::{Options, access, buffers, engine, engine_options, files, log, pace, replay, report, run, verify};
use crate::value::{Misfit, Part, Scope};

/// An option that is supported.
#[derive(Debug)]
pub struct Entry {
    /// fio's name for it.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Whether it may stand without a value.
    pub bare: bool,
    /// The engines that have it; empty for an option of every job.
    pub engines: &'static [&'static str],
    /// Reads the value into the options.
    pub(crate) set: fn(&mut Options, Option<Part<'_>>, &mut Scope) -> Result<(), Misfit>,
}

impl Entry {
    /// In which order a section's options are looked at; fio's `prio`.
    pub(crate) fn turn(&self) -> u8 {
        match self.name {
            "kb_base" | "unit_base" | "cpus_allowed_policy" => 0,
            "filename" | "filename_format" => 2,
            _ => 1,
        }
    }
}

/// Defines the options of one subject: a structure with a field for each, and `ENTRIES`.
///
/// In `fields`, an entry is `field: Type = default, "name" ["alias"] => reader;`. After the reader may follow `bare` (the
/// option may stand alone, which means 1), `named` (it may stand alone, which is an empty text) and `of "engine"`. In
/// `triples` stand those for reads, writes and trims, with a reader of one part. In `also` stand options without a field
/// of their own, with a function that sets others.
macro_rules! options {
    (
        $(#[$doc:meta])* $kind:ident in $group:ident;
        fields {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr, $name:literal [$($alias:literal),*]
                => $reader:expr $(, $flag:ident $($engine:literal)*)*;)*
        }
        triples {
            $($(#[$triple_doc:meta])* $triple:ident: $one:ty = $triple_default:expr, $triple_name:literal
                [$($triple_alias:literal),*] => $triple_reader:expr;)*
        }
        also {
            $($also:literal [$($also_alias:literal),*] => $set:expr $(, $also_flag:ident)*;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $kind {
            $($(#[$field_doc])* pub $field: $type,)*
            $($(#[$triple_doc])* pub $triple: $crate::value::triple::Triple<$one>,)*
        }

        impl Default for $kind {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($triple: $crate::value::triple::Triple::all($triple_default),)*
                }
            }
        }

        pub(super) static ENTRIES: &[$crate::options::Entry] = &[
            $($crate::options::table::with_flags($crate::options::Entry {
                name: $name,
                aliases: &[$($alias),*],
                bare: false,
                engines: &[$($($engine,)*)*],
                set: |options, part, scope| {
                    let alone = $crate::options::table::alone(&[$(stringify!($flag)),*]);
                    let part = part.unwrap_or($crate::value::Part::whole(alone));
                    options.$group.$field = ($reader)(part, scope)?;
                    Ok(())
                },
            }, &[$(stringify!($flag)),*]),)*
            $($crate::options::Entry {
                name: $triple_name,
                aliases: &[$($triple_alias),*],
                bare: false,
                engines: &[],
                set: |options, part, scope| {
                    let part = part.unwrap_or($crate::value::Part::whole(""));
                    let value = $crate::value::triple::triple(&options.$group.$triple, part, scope, $triple_reader)?;
                    options.$group.$triple = value;
                    Ok(())
                },
            },)*
            $($crate::options::table::with_flags($crate::options::Entry {
                name: $also,
                aliases: &[$($also_alias),*],
                bare: false,
                engines: &[],
                set: $set,
            }, &[$(stringify!($also_flag)),*]),)*
        ];
    };
}
pub(super) use options;

/// `entry` with what its flags say.
pub(super) const fn with_flags(mut entry: Entry, flags: &[&str]) -> Entry {
    let mut index = 0;
    while index < flags.len() {
        match flags[index].as_bytes() {
            b"bare" | b"named" => entry.bare = true,
            _ => {}
        }
        index += 1;
    }
    entry
}

/// What an option that stands alone means, by its flags.
pub(super) const fn alone(flags: &[&str]) -> &'static str {
    match flags {
        [flag, ..] if matches!(flag.as_bytes(), b"named") => "",
        _ => "1",
    }
}

static TABLES: &[&[Entry]] = &[
    access::ENTRIES,
    files::ENTRIES,
    engine::ENTRIES,
    pace::ENTRIES,
    buffers::ENTRIES,
    verify::ENTRIES,
    run::ENTRIES,
    log::ENTRIES,
    report::ENTRIES,
    replay::ENTRIES,
];

/// What is known about a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// It is supported.
    Supported(&'static Entry),
    /// fio has it, and it is not supported.
    Unsupported { name: &'static str, way: &'static str },
    /// fio takes it and does nothing with it.
    WithoutEffect { name: &'static str, way: &'static str },
    /// fio refuses it.
    GivenUp { name: &'static str, way: &'static str },
}

/// Whether an option is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Supported,
    /// fio has it, and it is not supported.
    Unsupported,
    /// fio takes it and does nothing with it, and so does this crate, with a warning.
    WithoutEffect,
    /// fio refuses it.
    GivenUp,
}

/// An option by name.
#[derive(Clone, Copy, Debug)]
pub struct KnownOption {
    /// fio's name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Whether it is supported.
    pub standing: Standing,
    /// The nearest way, if it is not.
    pub way: &'static str,
}

/// Every option of fio.
pub fn known_options() -> impl Iterator<Item = KnownOption> {
    let supported = TABLES.iter().copied().flatten().map(|entry| KnownOption {
        name: entry.name,
        aliases: entry.aliases,
        standing: Standing::Supported,
        way: "",
    });
    let line = |standing| {
        move |line: &(&'static str, &'static [&'static str], &'static str)| KnownOption {
            name: line.0,
            aliases: line.1,
            standing,
            way: line.2,
        }
    };
    supported
        .chain(UNSUPPORTED.iter().map(line(Standing::Unsupported)))
        .chain(WITHOUT_EFFECT.iter().map(line(Standing::WithoutEffect)))
        .chain(GIVEN_UP.iter().map(line(Standing::GivenUp)))
        .chain(engine_options::ENGINE_OPTIONS.iter().flat_map(|(_, names)| names.iter()).map(|name| KnownOption {
            name,
            aliases: &[],
            standing: Standing::Unsupported,
            way: engine_options::WAY,
        }))
}

/// The option of this name or alias.
pub(crate) fn find(name: &str) -> Option<Found> {
    let supported = TABLES.iter().copied().flatten().find(|entry| entry.name == name || entry.aliases.contains(&name));
    if let Some(entry) = supported {
        return Some(Found::Supported(entry));
    }
    let known = known_options().find(|known| known.name == name || known.aliases.contains(&name))?;
    let KnownOption { name, way, .. } = known;
    Some(match known.standing {
        Standing::Supported | Standing::Unsupported => Found::Unsupported { name, way },
        Standing::WithoutEffect => Found::WithoutEffect { name, way },
        Standing::GivenUp => Found::GivenUp { name, way },
    })
}
