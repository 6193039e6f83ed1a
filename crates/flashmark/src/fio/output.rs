//! Where results go: standard output, or the file of `--output`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use flashmark_host::device::Identity;

/// Where results go.
pub(super) enum Output {
    Standard,
    /// The file keeps what it holds until there is something to be written.
    File {
        file: File,
        path: String,
        is_begun: bool,
    },
}

#[cfg(unix)]
fn is_block_device(found: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type())
}

#[cfg(not(unix))]
const fn is_block_device(_: &std::fs::Metadata) -> bool {
    false
}

/// Whether two paths are one file, or will be when it is made.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| -> Option<PathBuf> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    match (Identity::of_path(one), Identity::of_path(other)) {
        (Ok(Some(one)), Ok(Some(other))) => one == other,
        _ => one == other || whole(one).is_some_and(|one| whole(other) == Some(one)),
    }
}

impl Output {
    /// Opens it; `used` are the files that the run reads or writes, which results must not go over.
    ///
    /// # Errors
    /// A device, a file that is used, a file that cannot be opened. Nothing is changed, but an empty file made.
    pub(super) fn open(path: Option<&str>, used: &[PathBuf]) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::Standard) };
        if std::fs::metadata(path).is_ok_and(|found| is_block_device(&found)) {
            bail!("--output={path}: this is a device, not a place for results: name a file");
        }
        if let Some(used) = used.iter().find(|used| is_same(used, Path::new(path))) {
            bail!("--output={path}: the run itself needs {}: name another file for the results", used.display());
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        // Nothing has run: it is the path that is wrong, and not what was to be written.
        let file = file.map_err(|error| anyhow!("--output={path}: {error}"))?;
        Ok(Self::File { file, path: path.to_owned(), is_begun: false })
    }

    pub(super) fn put(&mut self, text: &str) -> anyhow::Result<()> {
        match self {
            Self::Standard => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Self::File { file, path, is_begun } => {
                let mut write = || {
                    if !*is_begun && file.metadata()?.is_file() {
                        file.set_len(0)?;
                    }
                    file.write_all(text.as_bytes())
                };
                write().with_context(|| format!("--output={path}"))?;
                *is_begun = true;
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        if let Self::File { file, path, .. } = self {
            file.flush().with_context(|| format!("--output={path}"))?;
        }
        Ok(())
    }
}
