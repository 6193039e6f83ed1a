//! What is refused in spite of consent, and processes that cause it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use flashmark_host::device::{self, Part, Refusal, Use, claim, claim_file};

use super::devices::consent_to;

/// What a device or file is refused for in spite of consent.
pub fn used(path: &Path) -> (Part, Use, String) {
    let refusal = match device::node_number(path) {
        Some(_) => claim(path, &consent_to(path)).unwrap_err(),
        None => claim_file(path, &consent_to(path)).unwrap_err(),
    };
    let message = refusal.to_string();
    match refusal {
        Refusal::InUse { usage, path: refused } => {
            assert_eq!(refused, path);
            (usage.part, usage.by, message)
        }
        other => panic!("{other:?}"),
    }
}

/// Another process, ended when dropped. [`Holder::open`] takes flags as Python writes them: `os.O_RDWR`.
pub struct Holder(pub Child);

impl Holder {
    pub fn open(path: &Path, flags: &str) -> Self {
        Self::python(&format!(
            "import os, time\nos.open('{}', {flags})\nprint('open', flush=True)\ntime.sleep(600)",
            path.display()
        ))
    }

    /// Runs a Python script up to its first line of output.
    pub fn python(script: &str) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", script]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let read = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line);
        let holder = Self(child);
        assert!(matches!(read, Ok(1..)), "the script came to nothing: {script}");
        holder
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
