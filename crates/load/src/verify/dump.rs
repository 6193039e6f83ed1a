//! The files that `verify_dump` keeps of wrong blocks.

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpFile {
    /// Its name without a folder; fio puts it into `aux-path`, or else where it runs.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// `NAME.OFFSET.KIND`, with the last part of the file's path.
pub(super) fn file_name(file: &str, offset: u64, kind: &str) -> String {
    let name = file.trim_end_matches('/').rsplit('/').next().unwrap_or(file);
    format!("{name}.{offset}.{kind}")
}
