//! Which files, and how they are made (fio HOWTO, "Target file/device").

use super::table::options;
use crate::nearest::nearest;
use crate::value::choice::{choice, pick, words};
use crate::value::decimal::{Billionths, decimal};
use crate::value::names::names;
use crate::value::quantity::{count32, size_or_range};
use crate::value::{Misfit, Part, Scope, boolean, some, text};

words! {
    /// How space is reserved.
    Fallocate:
    /// Not at all.
    None = "none" | "0",
    /// With `fallocate`, if there is one.
    Native = "native",
    /// With `posix_fallocate`.
    Posix = "posix" | "1",
    /// With `fallocate` that leaves the file's size.
    Keep = "keep",
    /// By extending the file.
    Truncate = "truncate",
}

words! {
    /// What the kernel is told about accesses.
    Fadvise:
    /// Nothing.
    None = "0",
    /// What the job does.
    ByPattern = "1",
    /// That they are random.
    Random = "random",
    /// That they are sequential.
    Sequential = "sequential",
    /// That nothing comes twice.
    NoReuse = "noreuse",
}

words! {
    /// In which order files are used.
    ServiceKind:
    /// At random.
    Random = "random",
    /// At random, Zipf's distribution.
    Zipf = "zipf",
    /// At random, Pareto's distribution.
    Pareto = "pareto",
    /// At random, Gauss's distribution.
    Normal = "normal" | "gauss",
    /// In turn.
    RoundRobin = "roundrobin",
    /// One to its end, then the next.
    Sequential = "sequential",
}

/// [`ServiceKind`] with what stands behind its colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileService {
    /// The order.
    pub kind: ServiceKind,
    /// How many accesses a file gets before the next file.
    pub accesses: u32,
    /// The parameter of a distribution, if given.
    pub parameter: Option<Billionths>,
}

fn file_service(part: Part<'_>, scope: &mut Scope) -> Result<FileService, Misfit> {
    let part = part.trimmed();
    let (word, rest) = part.split_once(':').map_or((part, None), |(word, rest)| (word, Some(rest)));
    let plain = FileService { kind: pick(word, ServiceKind::ALL)?, accesses: 1, parameter: None };
    match (plain.kind, rest) {
        (_, None) => Ok(plain),
        (ServiceKind::Zipf | ServiceKind::Pareto | ServiceKind::Normal, Some(rest)) => {
            let parameter = decimal(rest, scope)?;
            let expected = match plain.kind {
                ServiceKind::Zipf if parameter == Billionths::ONE => "an exponent other than 1",
                ServiceKind::Pareto if parameter == Billionths(0) || parameter >= Billionths::ONE => {
                    "a number between 0 and 1"
                }
                ServiceKind::Normal if parameter >= Billionths::whole(100) => "a deviation in percent of less than 100",
                _ => return Ok(FileService { parameter: Some(parameter), ..plain }),
            };
            Err(Misfit::new(rest, expected))
        }
        (_, Some(rest)) => Ok(FileService { accesses: count32(1, u32::MAX)(rest, scope)?, ..plain }),
    }
}

/// The words that `filename_format` replaces.
const FORMAT_WORDS: [&str; 4] = ["$jobname", "$jobnum", "$filenum", "$clientuid"];

fn format(part: Part<'_>, scope: &mut Scope) -> Result<String, Misfit> {
    let format = text(part, scope)?;
    let lower = format.to_lowercase();
    for (at, _) in lower.match_indices('$') {
        let rest = &lower[at..];
        if !FORMAT_WORDS.iter().any(|word| rest.starts_with(word)) {
            let word: String = rest.chars().take_while(|next| *next == '$' || next.is_ascii_alphabetic()).collect();
            if let Some(meant) = nearest(&word, FORMAT_WORDS) {
                scope
                    .remarks
                    .push(format!("`{word}` is no word of filename_format and stays as it is; `{meant}` is one"));
            }
        }
    }
    if lower.contains("$clientuid") {
        return Err(Misfit::unsupported(part, "there are no clients; use $jobname, $jobnum and $filenum"));
    }
    Ok(format)
}

options! {
    /// Which files, and how they are made.
    FileOptions in files;
    fields {
        /// The files; nothing is files that are named after the job.
        filename: Vec<String> = Vec::new(), "filename" [] => names;
        /// Where they are; copies of the job take turns with them.
        directory: Vec<String> = Vec::new(), "directory" [] => names;
        /// How they are named, see [`crate::Job::file_names`].
        filename_format: String = "$jobname.$jobnum.$filenum".to_owned(), "filename_format" [] => format;
        /// The size of each, or between what sizes it is.
        filesize: Option<(u64, u64)> = None, "filesize" [] => some(size_or_range);
        /// Whether I/O begins at the end of each.
        file_append: bool = false, "file_append" [] => boolean;
        /// How many there are, if `filename` does not say.
        nrfiles: u32 = 1, "nrfiles" ["nr_files"] => count32(1, 1_000_000);
        /// How many are open at a time; 0 is all.
        openfiles: u32 = 0, "openfiles" [] => count32(0, u32::MAX);
        /// In which order they are used.
        file_service_type: FileService = FileService { kind: ServiceKind::RoundRobin, accesses: 1, parameter: None },
            "file_service_type" [] => file_service;
        /// How their space is reserved.
        fallocate: Fallocate = Fallocate::Native, "fallocate" [] => choice(Fallocate::ALL);
        /// What the kernel is told.
        fadvise_hint: Fadvise = Fadvise::ByPattern, "fadvise_hint" [] => choice(Fadvise::ALL);
        /// Whether files are synced when made.
        create_fsync: bool = true, "create_fsync" [] => boolean;
        /// Whether files are made when a job opens them.
        create_on_open: bool = false, "create_on_open" [] => boolean;
        /// Whether files are made and nothing else.
        create_only: bool = false, "create_only" [] => boolean;
        /// Whether files may be made.
        allow_file_create: bool = true, "allow_file_create" [] => boolean;
        /// Whether files that are written are made in full before.
        overwrite: bool = false, "overwrite" [] => boolean;
        /// Whether files are read before the job.
        pre_read: bool = false, "pre_read" [] => boolean;
        /// Whether their cached pages are dropped before the job.
        invalidate: bool = true, "invalidate" [] => boolean;
        /// Whether they are synced at the end.
        end_fsync: bool = false, "end_fsync" [] => boolean;
        /// Whether they are synced when closed.
        fsync_on_close: bool = false, "fsync_on_close" [] => boolean;
        /// Whether they are removed after the job.
        unlink: bool = false, "unlink" [] => boolean;
    }
    triples {}
    also {}
}
