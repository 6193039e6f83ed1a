//! Job files as text, and as command lines.

use std::fmt;

use super::JobFile;

impl fmt::Display for JobFile {
    /// A job file that means the same; included files are in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, section) in self.sections.iter().enumerate() {
            let above = if index == 0 { "" } else { "\n" };
            writeln!(f, "{above}[{}]", section.name)?;
            for setting in &section.settings {
                writeln!(f, "{setting}")?;
            }
        }
        Ok(())
    }
}

impl JobFile {
    /// The arguments that mean the same, as `fio --showcmd` tells them; variables and keywords stay as they are.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for section in &self.sections {
            arguments.push(format!("--name={}", section.name));
            arguments.extend(section.settings.iter().map(|setting| format!("--{setting}")));
        }
        arguments
    }
}
