//! A machine made up for tests, and short ways to jobs.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "what tests share fails as tests do")]

use std::collections::BTreeMap;
use std::io;

use flashmark_fio::options::Options;
use flashmark_fio::{FioError, Job, JobFile, JobSet, Rules, Surroundings};

/// Four processors, 8000 MiB, pages of 4096 bytes, and the variables and files it is given.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    variables: BTreeMap<String, String>,
    files: BTreeMap<String, Vec<u8>>,
    special: Vec<String>,
}

impl Machine {
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn with_file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.insert(path.to_owned(), content.as_ref().to_vec());
        self
    }

    pub fn with_device(mut self, path: &str) -> Self {
        self.special.push(path.to_owned());
        self
    }

    pub fn jobs(&self, text: &str) -> Result<JobSet, FioError> {
        let file = JobFile::parse("test.fio", text, self)?;
        JobSet::from_file(&file, self, Rules::default())
    }
}

impl Surroundings for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "not found"))
    }

    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn is_special(&self, path: &str) -> bool {
        self.special.iter().any(|special| special == path)
    }

    fn page_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        8000
    }

    fn processors(&self) -> u64 {
        4
    }
}

/// The jobs of a file.
pub fn jobs(text: &str) -> Result<JobSet, FioError> {
    Machine::default().jobs(text)
}

/// The only job of a file with these options.
pub fn job(options: &str) -> Job {
    let set = jobs(&format!("[job]\n{options}\n")).unwrap_or_else(|error| panic!("{error}"));
    set.jobs.into_iter().next().unwrap()
}

/// The options of a job with these.
pub fn options(options: &str) -> Options {
    job(options).options
}

/// What is wrong with a job that has these options.
pub fn refusal(options: &str) -> String {
    match jobs(&format!("[job]\n{options}\n")) {
        Ok(_) => panic!("`{options}` is taken"),
        Err(error) => error.to_string(),
    }
}

/// The warnings about a job with these options.
pub fn warnings(options: &str) -> Vec<String> {
    let set = jobs(&format!("[job]\n{options}\n")).unwrap_or_else(|error| panic!("{error}"));
    set.warnings.into_iter().map(|warning| format!("{}: {}", warning.place, warning.text)).collect()
}
