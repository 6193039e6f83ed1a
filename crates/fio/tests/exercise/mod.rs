//! What the fuzz targets and the property tests do with text that may be anything.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "what tests share fails as tests do")]

use std::io;

use flashmark_fio::iolog::{IologWriter, Record, Trace, TraceFormat};
use flashmark_fio::{CommandLine, FioError, JobFile, JobSet, Rules, Source, Surroundings, Unsupported};

/// A machine with nothing but the text itself to include.
struct Bare<'a>(&'a [u8]);

impl Surroundings for Bare<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        (name.len() < 4).then(|| "4k".to_owned())
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path.ends_with("self") { Ok(self.0.to_vec()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn exists(&self, path: &str) -> bool {
        path.ends_with("self")
    }

    fn is_special(&self, path: &str) -> bool {
        path.starts_with("/dev/")
    }

    fn page_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        u64::MAX
    }

    fn processors(&self) -> u64 {
        1
    }
}

/// Reads `bytes` as a job file and as a command line with a word a line. What is taken means the same when it is printed
/// and read again, and what is refused is refused at a place that is in it.
pub fn exercise_job(bytes: &[u8]) {
    let machine = Bare(bytes);
    let Ok(text) = str::from_utf8(bytes) else {
        assert!(JobFile::load("self", &machine).is_err());
        return;
    };
    let file = match JobFile::parse("self", text, &machine) {
        Ok(file) => file,
        Err(error) => return check_place(&error, text),
    };
    let printed = JobFile::parse("self", &file.to_string(), &machine).unwrap_or_else(|error| panic!("{error}\n{file}"));
    assert_eq!(file.to_string(), printed.to_string());
    let said = |file: &JobFile| -> Vec<(String, Vec<String>)> {
        let settings = |settings: &[flashmark_fio::Setting]| settings.iter().map(ToString::to_string).collect();
        file.sections.iter().map(|section| (section.name.clone(), settings(&section.settings))).collect()
    };
    assert_eq!(said(&file), said(&printed));
    for unsupported in [Unsupported::Stop, Unsupported::LeaveOut] {
        match JobSet::from_file(&file, &machine, Rules { unsupported, ..Rules::default() }) {
            Ok(set) => {
                for job in &set.jobs {
                    assert!(job.file_names(1, &machine).next().is_some());
                }
            }
            Err(error) => check_place(&error, text),
        }
    }
    if let Ok(line) = CommandLine::parse(text.lines()) {
        drop(line.resolve(&machine));
    }
}

fn check_place(error: &FioError, text: &str) {
    let Source::File(_) = &error.place.source else { panic!("{error}: no place in the file") };
    let line = text.split('\n').nth(error.place.line as usize - 1).unwrap_or_else(|| panic!("{error}: no such line"));
    assert!(error.place.column >= 1, "{error}");
    assert!(error.place.column as usize <= line.chars().count() + 1, "{error}: the line is `{line}`");
}

/// Reads `bytes` as a trace. Places of errors go forwards, and what is read means the same when it is written and read
/// again.
pub fn exercise_trace(bytes: &[u8]) {
    let Ok(trace) = Trace::new(bytes, "trace") else { return };
    let mut records = Vec::new();
    let mut last_line = 0;
    for record in trace {
        match record {
            Ok(record) => records.push(record),
            Err(error) => {
                assert!(error.place.line > last_line, "{error}");
                last_line = error.place.line;
            }
        }
    }
    let mut writer = IologWriter::new(Vec::new(), TraceFormat::Version3).unwrap();
    let mut written: Vec<Record> = Vec::new();
    for record in records {
        if writer.write(&record).is_ok() {
            written.push(Record { time_ns: record.time_ns / 1000 * 1000, ..record });
        }
    }
    let text = writer.finish(0).unwrap();
    let io = |record: &Record| record.action.is_io();
    let again: Vec<Record> = Trace::new(text.as_slice(), "again").unwrap().map(Result::unwrap).filter(io).collect();
    written.retain(io);
    assert_eq!(again, written);
}
