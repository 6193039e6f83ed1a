//! Writing logs while jobs run: one thread for all of them, so that no job waits for the disk that its log is on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use flashmark_fio::Job;
use flashmark_fio::options::LogWindow;
use flashmark_fio::output::{LogKind, LogLine, log_files};

use crate::files::create_output;
use crate::series::{Chunk, Sample};

/// How often what was written goes to the files.
const FLUSH: Duration = Duration::from_secs(1);

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
                    let file = create_output(&path).map_err(|error| (path.clone(), error))?;
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

    /// Writes what threads send, until the last of them is done. What was sent is in the files within a second.
    pub(crate) fn write(mut self, receiver: &Receiver<Chunk>) -> Result<(), (PathBuf, io::Error)> {
        let mut flush_at = Instant::now() + FLUSH;
        loop {
            match receiver.recv_timeout(flush_at.saturating_duration_since(Instant::now())) {
                Ok(chunk) => self.write_chunk(&chunk)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.flush(),
            }
            if Instant::now() >= flush_at {
                self.flush()?;
                flush_at = Instant::now() + FLUSH;
            }
        }
    }

    fn write_chunk(&mut self, chunk: &Chunk) -> Result<(), (PathBuf, io::Error)> {
        let Some(thread) = self.threads.get(chunk.thread) else { return Ok(()) };
        for sample in &chunk.samples {
            let Some((_, place)) = thread.files.iter().find(|(kind, _)| *kind == sample.kind) else { continue };
            let (path, file) = &mut self.files[*place];
            writeln!(file, "{}", thread.line(sample)).map_err(|error| (path.clone(), error))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), (PathBuf, io::Error)> {
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use flashmark_fio::{JobFile, JobSet, Rules, ThisMachine};

    use super::*;
    use crate::accesses::Direction;

    #[test]
    fn lines_are_in_the_file_while_the_run_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("log");
        let text = format!("[job]\nioengine=null\nsize=4k\nwrite_bw_log={}\n", name.display());
        let file = JobFile::parse("test.fio", &text, &ThisMachine).unwrap();
        let set = JobSet::from_file(&file, &ThisMachine, Rules::default()).unwrap();
        let mut writer = LogWriter::default();
        writer.add(&set.jobs[0], 1, 0).unwrap();
        let path = writer.files[0].0.clone();
        let (sender, receiver) = sync_channel(4);
        let thread = std::thread::spawn(move || writer.write(&receiver));
        let line = |time_ns| Sample {
            kind: LogKind::Bandwidth,
            time_ns,
            value: 77,
            max: 77,
            direction: Direction::Read,
            bytes: 4096,
            offset: 0,
        };
        let lines = || std::fs::read_to_string(&path).unwrap().lines().count();
        let wait_for = |count: usize| {
            let start = Instant::now();
            while lines() < count {
                assert!(start.elapsed() < Duration::from_secs(60), "{} lines are there", lines());
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        for count in 1..=3 {
            sender.send(Chunk { thread: 0, samples: vec![line(count * 1_000_000)] }).unwrap();
            // The sender is still there, and the file is not full of lines.
            wait_for(count as usize);
        }
        sender.send(Chunk { thread: 0, samples: vec![line(4_000_000); 100] }).unwrap();
        drop(sender);
        assert!(thread.join().unwrap().is_ok());
        assert_eq!(lines(), 103);
    }
}
