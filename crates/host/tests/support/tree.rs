//! `/sys` and `/proc` trees of machines that aren't there.
//!
//! They are cut down to what flashmark reads, in the form in which the kernel shows it; serial numbers are made up.
//!
//! A tree is a text file, since no checkout on every system can hold names such as `179:0` and links. Its lines:
//! `PATH = CONTENT` is a file of one line, `PATH:` a file of the following lines that start with a tab, `PATH -> TARGET`
//! a link, `PATH/` an empty directory, `# ...` a comment.

use std::fs;
use std::path::Path;

use flashmark_host::device::Sysfs;

/// A tree laid out in a temporary directory.
pub struct Tree {
    pub dir: tempfile::TempDir,
}

impl Tree {
    /// Lays out `tests/trees/NAME.txt`.
    pub fn named(name: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(format!("{name}.txt"));
        Self::of(&fs::read_to_string(file).unwrap())
    }

    pub fn of(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = |path: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if line.is_empty() || line.starts_with('#') {
            } else if let Some((path, target)) = line.split_once(" -> ") {
                std::os::unix::fs::symlink(target, place(path)).unwrap();
            } else if let Some((path, content)) = line.split_once(" = ") {
                fs::write(place(path), format!("{content}\n")).unwrap();
            } else if let Some(path) = line.strip_suffix(':') {
                let mut content = String::new();
                while let Some(more) = lines.next_if(|line| line.starts_with('\t')) {
                    content.push_str(&more[1..]);
                    content.push('\n');
                }
                fs::write(place(path), content).unwrap();
            } else {
                let path = line.strip_suffix('/').unwrap_or_else(|| panic!("not a line of a tree: {line}"));
                fs::create_dir_all(dir.path().join(path)).unwrap();
            }
        }
        Self { dir }
    }

    pub fn sysfs(&self) -> Sysfs {
        Sysfs::below(self.dir.path())
    }
}
