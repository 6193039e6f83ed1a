//! The one table of suite keys.
//!
//! The parser, the command line's options and the table in `docs/suites.md` are all made from it: a new key is one entry
//! here.

use std::fmt::Write as _;

use flashmark_core::workload::{Access, Data, Direct, Erase, FileMode, Medium, Reopen};

use crate::draft::{Draft, Op};
use crate::expression::Scope;
use crate::nearest::nearest;
use crate::values::{self, Misfit, Value};

/// A key of a workload: what it is called, what it takes and what it means.
#[derive(Clone, Copy, Debug)]
pub struct KeyDoc {
    /// The key, as in a suite and, with `--` before it, on the command line.
    pub name: &'static str,
    /// What stands for the value in a usage line, e.g. `BYTES`.
    pub value_name: &'static str,
    /// One sentence on what it sets.
    pub about: &'static str,
    /// The values it takes, with their units.
    pub values: &'static str,
    /// What holds where it is not written.
    pub default: &'static str,
    /// Which workloads take it from `[defaults]` or from the command line.
    pub applies: Applies,
    /// What other tools call it, to recognise what was meant.
    also: &'static [&'static str],
    /// Reads a value into the draft.
    pub(crate) read: fn(&mut Draft, &Value, &Scope) -> Result<(), Misfit>,
}

/// Which workloads take a key that is set for many at once, in `[defaults]` or on the command line; the others pass it
/// over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// All.
    Always,
    /// Those whose operations are mixed, or not said otherwise.
    Mixed,
    /// Those that write.
    Writing,
    /// Those that only write.
    OnlyWriting,
    /// Those that write a new file.
    NewFile,
    /// Those whose data is a text.
    TextData,
}

impl Applies {
    /// The condition, to follow the key's name in a sentence.
    #[must_use]
    pub const fn condition(self) -> &'static str {
        match self {
            Self::Always => "is for every workload",
            Self::Mixed => "is for workloads with op = \"mixed\"",
            Self::Writing => "is for workloads that write",
            Self::OnlyWriting => "is for workloads with op = \"write\"",
            Self::NewFile => "is for workloads that write a new file",
            Self::TextData => "is for workloads with data = \"text:…\"",
        }
    }

    /// Whether a workload, as far as it is known, takes the key. Keys are read in the table's order, which puts what
    /// this asks for first.
    pub(crate) fn holds(self, draft: &Draft) -> bool {
        match self {
            Self::Always => true,
            Self::Mixed => matches!(draft.op, None | Some(Op::Mixed)),
            Self::Writing => draft.read_percent() < 100,
            Self::OnlyWriting => draft.read_percent() == 0,
            Self::NewFile => draft.file_mode() == FileMode::New,
            Self::TextData => matches!(draft.workload.data, Data::Text { .. }),
        }
    }
}

/// The keys in the order of the guide.
#[must_use]
pub fn keys() -> &'static [KeyDoc] {
    KEYS
}

/// The key of this name.
pub(crate) fn find(name: &str) -> Option<&'static KeyDoc> {
    KEYS.iter().find(|key| key.name == name)
}

/// The key that was probably meant.
pub(crate) fn nearest_key(found: &str) -> Option<&'static str> {
    let lower = found.to_lowercase();
    let synonym = KEYS.iter().find(|key| key.also.contains(&lower.as_str())).map(|key| key.name);
    synonym.or_else(|| nearest(found, KEYS.iter().map(|key| key.name)))
}

/// The table of keys as it stands in `docs/suites.md`.
#[must_use]
pub fn keys_markdown() -> String {
    let mut out = String::from("| key | sets | values | default |\n|---|---|---|---|\n");
    for key in KEYS {
        let only = match key.applies {
            Applies::Always => String::new(),
            applies => format!(" It {}.", applies.condition()),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| `{}` | {}{only} | {} | {} |", key.name, key.about, key.values, key.default);
    }
    out
}

macro_rules! key {
    (
        $name:literal $value_name:literal $applies:ident, $about:literal, $values:literal, $default:literal,
        [$($also:literal),*], $read:expr
    ) => {
        KeyDoc {
            name: $name,
            value_name: $value_name,
            about: $about,
            values: $values,
            default: $default,
            applies: Applies::$applies,
            also: &[$($also),*],
            read: $read,
        }
    };
}

// `op`, `read-percent`, `file` and `data` come before the keys whose `Applies` asks for them.
static KEYS: &[KeyDoc] = &[
    key!("name" "TEXT" Always, "The row's name, unique in its form of the suite.",
    "one line", "none: a suite's workload needs one; from the command line alone it is made up from the settings",
    ["title", "label"], |d, v, _| {
        d.workload.name = values::line(v, "a name")?;
        d.named = true;
        Ok(())
    }),
    key!("op" "OP" Always, "What the operations do.",
    "`\"read\"`, `\"write\"`, `\"mixed\"`", "`\"read\"`, or `\"mixed\"` if `read-percent` is given",
    ["rw", "readwrite", "operation", "mode", "type"], |d, v, _| {
        let ops = [("read", Op::Read), ("write", Op::Write), ("mixed", Op::Mixed)];
        d.op = Some(values::choice(v, &ops)?);
        Ok(())
    }),
    key!("read-percent" "PERCENT" Mixed, "How many of 100 operations read; exact in every run of 100.",
    "whole number of 0 to 100", "`50`",
    ["rwmixread", "mix", "percent"], |d, v, s| {
        let percent = values::count(v, s, 100)?;
        d.percent = Some(u8::try_from(percent).unwrap_or(100));
        Ok(())
    }),
    key!("order" "ORDER" Always, "Which block comes next.",
    "`\"sequential\"`; `\"random\"` (each block as likely as any other, every time); `\"random-once\"` (each block \
     once, in random order); `\"zipf:THETA\"` (few blocks often; theta of 0.001 to 10, `\"zipf\"` is 1.2)",
    "`\"sequential\"`",
    ["pattern"], |d, v, _| {
        d.workload.order = values::order(v)?;
        Ok(())
    }),
    key!("block" "BYTES" Always, "Bytes that one operation moves.",
    "size of 1 B to 4 GiB - 1 B", "`\"1MiB\"`",
    ["bs", "blocksize", "block-size", "block_size", "iosize", "io-size", "buffer", "chunk"], |d, v, s| {
        let bytes = values::bytes(v, s)?;
        d.workload.block_bytes =
            u32::try_from(bytes).map_err(|_| Misfit::new(format!("a block has at most 4294967295 bytes, not {bytes}")))?;
        Ok(())
    }),
    key!("size" "BYTES" Always,
    "Bytes to move in each repeat, in whole blocks: what is left of a block at the end is not moved.",
    "size of at least one block, or `\"all\"` (as many as `file-size` has, or until `time` is up)", "`\"all\"`",
    ["total", "io_size", "length"], |d, v, s| {
        d.workload.size_bytes = values::bytes_or_all(v, s)?;
        Ok(())
    }),
    key!("file-size" "BYTES" Always,
    "The part of the file or device, from its start, that the blocks are taken from.",
    "size of at least one block, or `\"all\"` (the whole file or device)",
    "`size`, so that each block is met once; `\"all\"` if there is no `size` or the file is appended to",
    ["filesize", "region", "span"], |d, v, s| {
        d.file_bytes = Some(values::bytes_or_all(v, s)?);
        Ok(())
    }),
    key!("time" "TIME" Always,
    "Each repeat ends after this time at the latest; with no `size`, it goes over the file again and again until then.",
    "time, or `\"none\"`", "`\"none\"`",
    ["runtime", "duration", "timeout", "time-limit"], |d, v, _| {
        d.workload.time_ns = values::time_or_none_ns(v)?;
        Ok(())
    }),
    key!("file" "MODE" OnlyWriting, "What the file is when a repeat starts.",
    "`\"new\"` (created, or truncated to nothing); `\"existing\"` or `\"overwrite\"` (written in full before, outside \
     the time, then read or overwritten in place); `\"append\"` (kept and written at its end)",
    "`\"new\"` for `op = \"write\"`, otherwise `\"existing\"`",
    ["file-mode", "overwrite"], |d, v, _| {
        d.file = Some(values::choice(v, &[
            ("new", FileMode::New),
            ("existing", FileMode::Existing),
            ("append", FileMode::Append),
            ("overwrite", FileMode::Existing),
        ])?);
        Ok(())
    }),
    key!("reopen" "WHEN" Always,
    "When the file is opened. A new file that is opened once is truncated for each further repeat.",
    "`\"once\"` (before the first repeat), `\"each\"` (in every repeat)", "`\"each\"`",
    ["open"], |d, v, _| {
        d.workload.reopen = values::choice(v, &[("once", Reopen::Once), ("each", Reopen::EachRepeat)])?;
        Ok(())
    }),
    key!("preallocate" "BOOL" NewFile, "Reserves the file's space before it is written, outside the time.",
    "`true`, `false`", "`false`",
    ["fallocate", "prealloc"], |d, v, _| {
        d.workload.preallocate = values::boolean(v)?;
        Ok(())
    }),
    key!("sync" "WHEN" Writing, "When written data is made durable, inside the time.",
    "`\"never\"`; `\"end\"` (after a repeat's last operation); `\"every:N\"` or N (after every N writes and after \
     the last)", "`\"never\"`",
    ["fsync", "fdatasync", "flush"], |d, v, s| {
        d.workload.sync = values::sync(v, s)?;
        Ok(())
    }),
    key!("erase" "WHEN" Writing,
    "When raw flash that the host has to erase is erased for a write; means nothing where a write replaces what was there.",
    "`\"inside\"` (as part of the write, inside its time); `\"outside\"` (before the repeat, outside the time: what is \
     measured is programming); `\"never\"` (only to repeat what an original did: bits that are 0 stay 0)",
    "`\"inside\"`",
    ["discard", "trim", "pre-erase", "erase-before"], |d, v, _| {
        d.workload.erase = values::choice(v, &[
            ("inside", Erase::Inside),
            ("outside", Erase::Outside),
            ("never", Erase::Never),
        ])?;
        Ok(())
    }),
    key!("drain" "BOOL" Always,
    "Whether operations that an engine still has under way at the end must be finished inside the time.",
    "`true`, `false` (only to repeat what an original did)", "`true`",
    ["wait"], |d, v, _| {
        d.workload.drain = values::boolean(v)?;
        Ok(())
    }),
    key!("data" "DATA" Always, "What is written, also when a file is laid out to be read.",
    "`\"zeros\"`; `\"random\"` (no two blocks alike); `\"fixed\"` (random, the same in every block and repeat); `\"text:ABC\"` (the text over and over from the start of each \
     block); `\"compressible:PERCENT\"` (that share zeros, the rest random, in every 512 bytes)", "`\"random\"`",
    ["content", "buffer-pattern", "compress"], |d, v, _| {
        d.workload.data = values::data(v)?;
        Ok(())
    }),
    key!("data-end" "TEXT" TextData, "How each block of a text ends.",
    "text no longer than a block", "`\"\"`",
    ["end"], |d, v, _| {
        let text = values::text(v)?;
        if let Data::Text { end, .. } = &mut d.workload.data {
            *end = text;
        }
        Ok(())
    }),
    key!("verify" "WHAT" Always, "What is checked of the data read, outside the time.",
    "`\"none\"` or `false`; `\"last-byte\"` (of each block; data a text or zeros); `\"full\"` or `true` (every byte, its place and its age; \
     what was written is read back after each repeat)", "`\"none\"`",
    ["check", "do_verify"], |d, v, _| {
        d.workload.verify = values::verify(v)?;
        Ok(())
    }),
    key!("repeats" "N" Always, "How often the whole is measured.",
    "whole number of 1 to 100000", "`1`",
    ["repeat", "runs", "tries", "loops", "passes", "iterations"], |d, v, s| {
        d.workload.repeats = values::repeats(v, s)?;
        Ok(())
    }),
    key!("warm-up" "N" Always, "Repeats that run first and do not count.",
    "whole number of 0 to 100000", "`0`",
    ["warmup", "ramp_time"], |d, v, s| {
        d.workload.warm_up = values::repeats(v, s)?;
        Ok(())
    }),
    key!("pause" "TIME" Always, "Time without work between repeats.",
    "time", "`0`",
    ["sleep", "delay", "thinktime"], |d, v, _| {
        d.workload.pause_ns = values::time_ns(v)?;
        Ok(())
    }),
    key!("queue-depth" "N" Always, "Operations under way at once.",
    "whole number of at least 1", "`1`",
    ["iodepth", "qd", "depth", "numjobs", "queue"], |d, v, s| {
        d.workload.queue_depth = values::count_u32(v, s)?;
        Ok(())
    }),
    key!("seed" "N" Always, "Seed of the order, the mix and the data: the same seed gives the same run.",
    "whole number of 64 bits", "`0`",
    ["randseed", "random-seed"], |d, v, s| {
        d.workload.seed = values::count(v, s, u64::MAX)?;
        Ok(())
    }),
    key!("engine" "NAME" Always, "How the I/O of a real target is issued.",
    "`\"sync\"` (one system call an operation), `\"pvsync\"`, `\"pvsync2\"`, `\"vsync\"` (with vectors), `\"mmap\"` (a \
     mapping), `\"tokio\"` (its `fs` module), `\"libaio\"`, `\"io_uring\"` (queues), `\"threads\"` (a thread for \
     each operation under way), `\"null\"` (nothing: what all the rest \
     costs)", "`\"sync\"`",
    ["ioengine"], |d, v, _| {
        d.workload.engine = values::line(v, "an engine's name")?;
        Ok(())
    }),
    key!("direct" "HOW" Always, "Whether the operating system's cache is passed by.",
    "`\"auto\"` (where target and block size allow it; the record says what came of it), `\"required\"` (or else an \
     error), `\"buffered\"` (through the cache)", "`\"auto\"`",
    ["buffered", "o_direct", "odirect"], |d, v, _| {
        d.workload.direct = values::choice(v, &[
            ("auto", Direct::Auto),
            ("required", Direct::Required),
            ("buffered", Direct::Buffered),
        ])?;
        Ok(())
    }),
    key!("time-open-close" "BOOL" Always, "Times opening and closing as rows of their own.",
    "`true`, `false`", "`false`",
    ["time-open", "time-close", "open-close"], |d, v, _| {
        d.workload.time_open_close = values::boolean(v)?;
        Ok(())
    }),
    key!("time-repeats" "BOOL" Always,
    "Times each repeat as a whole, opening (or truncating) and closing included, as a row of its own.",
    "`true`, `false`", "`false`",
    ["time-whole", "time-repeat"], |d, v, _| {
        d.workload.time_repeats = values::boolean(v)?;
        Ok(())
    }),
    key!("fill" "PERCENT" Always,
    "How full the file system is made before the first repeat, outside the time, with files of flashmark's own; the \
     measured file counts as if it were there. Simulated boards only. The level stays until another `fill`.",
    "`\"0%\"` to `\"99%\"` of what the file system can hold, or `\"none\"` (as it is)", "`\"none\"`",
    ["fill-level", "fill-percent", "full", "level", "used"], |d, v, _| {
        d.workload.fill_percent = values::fill_percent(v)?;
        Ok(())
    }),
    key!("max-errors" "N" Always,
    "How many failed operations are passed over, and reported, before the workload stops.",
    "whole number; 0 stops at the first", "`0`",
    ["errors", "continue_on_error"], |d, v, s| {
        d.workload.max_errors = values::count_u32(v, s)?;
        Ok(())
    }),
    key!("accept-short" "BOOL" Always,
    "Counts a short transfer at full size, with a warning, instead of as an error.",
    "`true` (only to repeat what an original did), `false`", "`false`",
    ["short"], |d, v, _| {
        d.workload.accept_short = values::boolean(v)?;
        Ok(())
    }),
    key!("access" "ACCESS" Always,
    "Chooses targets, and says nothing of the work: it runs only on targets that show their storage so.",
    "`\"any\"`; `\"raw\"` (the storage itself: a device, a partition without a file system); `\"files\"` (a file in a \
     file system)", "`\"any\"`",
    ["interface", "via"], |d, v, _| {
        d.workload.access =
            values::choice(v, &[("any", Access::Any), ("raw", Access::Raw), ("files", Access::Files)])?;
        Ok(())
    }),
    key!("medium" "MEDIUM" Always,
    "Chooses targets, and says nothing of the work: it runs only on targets with such a medium.",
    "`\"any\"`; `\"nor\"` (NOR flash that the host erases itself); `\"not-nor\"` (what takes writes without an erase: \
     cards, disks, a file of the machine)", "`\"any\"`",
    ["media", "storage"], |d, v, _| {
        d.workload.medium =
            values::choice(v, &[("any", Medium::Any), ("nor", Medium::Nor), ("not-nor", Medium::NotNor)])?;
        Ok(())
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_well_formed() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(KEYS.iter().skip(index + 1).all(|other| other.name != key.name), "{}", key.name);
            assert!(key.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", key.name);
            assert!(key.about.ends_with('.'), "{}", key.name);
        }
    }

    #[test]
    fn other_tools_names_are_recognised() {
        for (found, meant) in [("bs", "block"), ("iodepth", "queue-depth"), ("RW", "op"), ("blok", "block")] {
            assert_eq!(nearest_key(found), Some(meant));
        }
    }
}
