//! Writing logs while jobs run: one thread for all of them, so that no job waits for the disk that its log is on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use flashmark_fio::Job;
use flashmark_fio::options::LogWindow;
use flashmark_fio::output::{LogKind, LogLine, log_files};

use crate::series::{Chunk, Sample};

/// How a thread's lines look, and where they go.
#[derive(Debug)]
struct ThreadLogs {
    /// The files, by their place in [`LogWriter::files`].
    files: Vec<(LogKind, usize)>,
    offsets: bool,
    window: LogWindow,
    averaged: bool,
    /// What is added to times: since 1970, if the job wants that.
    epoch_ms: u64,
}

/// The logs of a run.
#[derive(Debug, Default)]
pub(crate) struct LogWriter {
    threads: Vec<ThreadLogs>,
    files: Vec<(PathBuf, BufWriter<File>)>,
    names: BTreeMap<String, usize>,
}

impl LogWriter {
    /// Makes the logs of the next thread; `number` is its number in the run, from 1.
    pub(crate) fn add(&mut self, job: &Job, number: u32, now_unix_ms: u64) -> Result<(), (PathBuf, io::Error)> {
        let mut files = Vec::new();
        for log in log_files(job, number) {
            let place = match self.names.get(&log.name) {
                Some(place) => *place,
                None => {
                    let path = PathBuf::from(&log.name);
                    let file = File::create(&path).map_err(|error| (path.clone(), error))?;
                    self.files.push((path, BufWriter::with_capacity(1 << 16, file)));
                    self.names.insert(log.name, self.files.len() - 1);
                    self.files.len() - 1
                }
            };
            files.push((log.kind, place));
        }
        let options = &job.options.log;
        self.threads.push(ThreadLogs {
            files,
            offsets: options.log_offset,
            window: options.log_window_value,
            averaged: options.log_avg_msec > 0,
            epoch_ms: if options.log_alternate_epoch { now_unix_ms } else { 0 },
        });
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes what threads send, until the last of them is done.
    pub(crate) fn write(mut self, receiver: &Receiver<Chunk>) -> Result<(), (PathBuf, io::Error)> {
        for chunk in receiver {
            let Some(thread) = self.threads.get(chunk.thread) else { continue };
            for sample in &chunk.samples {
                let Some((_, place)) = thread.files.iter().find(|(kind, _)| *kind == sample.kind) else { continue };
                let (path, file) = &mut self.files[*place];
                writeln!(file, "{}", thread.line(sample)).map_err(|error| (path.clone(), error))?;
            }
        }
        for (path, file) in &mut self.files {
            file.flush().map_err(|error| (path.clone(), error))?;
        }
        Ok(())
    }
}

impl ThreadLogs {
    fn line(&self, sample: &Sample) -> LogLine {
        let both = self.averaged && self.window == LogWindow::Both;
        let value = if self.averaged && self.window == LogWindow::Maximum { sample.max } else { sample.value };
        LogLine {
            time_ms: self.epoch_ms + sample.time_ns / 1_000_000,
            value,
            maximum: both.then_some(sample.max),
            direction: sample.direction,
            block_bytes: u64::from(sample.bytes),
            offset_bytes: self.offsets.then_some(sample.offset),
        }
    }
}
