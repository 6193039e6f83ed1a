//! Queues to test, and files for them.

use std::fs::{File, OpenOptions};
use std::path::Path;

use flashmark_core::queue::{Completion, IoKind, Patience, Queue, Request};
use flashmark_host::engine::{ENGINES, EngineEntry, QueueOptions, QueueSetup};

pub const BUFFER_BYTES: usize = 4096;

/// An engine with options.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub entry: &'static EngineEntry,
    pub options: QueueOptions,
}

impl Case {
    pub fn depth(&self, wanted: u32) -> u32 {
        self.entry.queue_side().unwrap().depth_max.min(wanted)
    }

    pub fn queue(&self, files: Vec<File>, depth: u32) -> Box<dyn Queue + Send> {
        let setup = QueueSetup { files, depth, buffer_bytes: BUFFER_BYTES, buffer_align: 4096, options: self.options };
        self.entry.queue(setup).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

/// Every engine that moves data, with each of the sets of options that files of any kind can have.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in ENGINES.iter().filter(|entry| entry.name != "null") {
        let none = QueueOptions::default();
        cases.push(Case { entry, options: none });
        #[cfg(target_os = "linux")]
        {
            let thread = Some(flashmark_host::engine::SubmissionThread { cpu: None });
            let more = match entry.name {
                "io_uring" => vec![
                    QueueOptions { fixed_buffers: true, ..none },
                    QueueOptions { registered_files: true, ..none },
                    QueueOptions { fixed_buffers: true, registered_files: true, force_async: 2, ..none },
                    QueueOptions { vectored: true, force_async: 1, ..none },
                    QueueOptions { submission_thread: thread, ..none },
                    QueueOptions { submission_thread: thread, fixed_buffers: true, registered_files: true, ..none },
                ],
                "libaio" => vec![
                    QueueOptions { vectored: true, ..none },
                    QueueOptions { userspace_reap: true, ..none },
                    QueueOptions { userspace_reap: true, vectored: true, ..none },
                ],
                _ => Vec::new(),
            };
            cases.extend(more.into_iter().map(|options| Case { entry, options }));
        }
    }
    cases
}

/// A new file of so many bytes, open for reading and writing; it has no name any more.
pub fn new_file(bytes: u64) -> File {
    let dir = tempfile::tempdir().unwrap();
    let file = open(&dir.path().join("file"), OpenOptions::new().read(true).write(true).create_new(true));
    file.set_len(bytes).unwrap();
    file
}

pub fn open(path: &Path, how: &OpenOptions) -> File {
    how.open(path).unwrap()
}

pub fn request(slot: u32, kind: IoKind, offset: u64, bytes: usize) -> Request {
    Request { slot, kind, file: 0, offset, bytes: bytes as u32 }
}

/// Runs requests of different slots to their end, all at once. Their results, by slot.
pub fn run(queue: &mut dyn Queue, requests: &[Request]) -> Vec<Result<u32, i32>> {
    let mut results = vec![None; queue.depth() as usize];
    let mut done: Vec<Completion> = Vec::with_capacity(16);
    let mut pushed = 0;
    for request in requests {
        match queue.push(request).unwrap() {
            Some(completion) => done.push(completion),
            None => pushed += 1,
        }
        keep(&mut results, &mut done);
    }
    let mut submitted = 0;
    while submitted < pushed {
        submitted += queue.submit().unwrap();
        assert_eq!(done.capacity(), 16);
        queue.reap(0, Patience::None, &mut done).unwrap();
        keep(&mut results, &mut done);
    }
    while queue.under_way() > 0 {
        reap_some(queue, 3, &mut done);
        keep(&mut results, &mut done);
    }
    requests.iter().map(|request| results[request.slot as usize].take().expect("every request completes")).collect()
}

/// Waits for completions. A wait of all patience may end early for reasons of the kernel's own (work that it has for the
/// thread), but goes on then.
pub fn reap_some(queue: &mut dyn Queue, at_least: u32, done: &mut Vec<Completion>) {
    for _ in 0..1000 {
        queue.reap(at_least, Patience::Forever, done).unwrap();
        if !done.is_empty() {
            return;
        }
    }
    panic!("nothing completes, with {} under way", queue.under_way());
}

fn keep(results: &mut [Option<Result<u32, i32>>], done: &mut Vec<Completion>) {
    for Completion { slot, result } in done.drain(..) {
        let before = results[slot as usize].replace(result.map_err(|code| code.number()));
        assert!(before.is_none(), "slot {slot} completed twice");
    }
}
