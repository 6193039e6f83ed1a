//! Random interleavings of `push`, `submit` and `reap`, against files in memory.

use flashmark_core::queue::{Completion, IoKind, Patience, Queue, Request};
use proptest::prelude::*;

use crate::common::{Case, cases, new_file};

const FILES: usize = 2;
const FILE_BYTES: usize = 32 * 512;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push { kind: IoKind, file: u32, at: u32, bytes: u32, fill: u8 },
    Submit,
    Reap { at_least: u32, patience: Patience },
    Both { at_least: u32, patience: Patience },
}

fn patience() -> impl Strategy<Value = Patience> {
    prop_oneof![
        Just(Patience::None),
        Just(Patience::Forever),
        // Long enough for anything here; nothing is asserted of what comes sooner.
        Just(Patience::Nanoseconds(1_000_000_000)),
        Just(Patience::Nanoseconds(1)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        4 => Just(IoKind::Read),
        4 => Just(IoKind::Write),
        1 => Just(if cfg!(target_os = "linux") { IoKind::Trim } else { IoKind::Read }),
        1 => Just(IoKind::DataSync),
        1 => Just(IoKind::Sync),
    ];
    let push = (kind, 0..FILES as u32, 0..32_u32, 1..=4096_u32, any::<u8>())
        .prop_map(|(kind, file, at, bytes, fill)| Step::Push { kind, file, at: at * 512, bytes, fill });
    prop_oneof![
        12 => push,
        2 => Just(Step::Submit),
        2 => (0..5_u32, patience()).prop_map(|(at_least, patience)| Step::Reap { at_least, patience }),
        1 => (0..5_u32, patience()).prop_map(|(at_least, patience)| Step::Both { at_least, patience }),
    ]
}

/// What a queue's files should hold, and what is under way.
struct Model {
    files: Vec<Vec<u8>>,
    /// By slot: the request, and what a read should find.
    slots: Vec<Option<(Request, Vec<u8>)>>,
    pushed: u32,
    submitted: u32,
}

impl Model {
    fn meets(&self, request: &Request) -> bool {
        let range = |r: &Request| r.offset..r.offset + u64::from(r.bytes);
        self.slots.iter().flatten().any(|(other, _)| {
            other.file == request.file
                && !(other.kind == IoKind::Read && request.kind == IoKind::Read)
                && range(other).start < range(request).end
                && range(request).start < range(other).end
        })
    }

    fn push(&mut self, queue: &mut dyn Queue, request: Request, fill: u8) {
        let file = &mut self.files[request.file as usize];
        let start = request.offset as usize;
        let end = (start + request.bytes as usize).min(FILE_BYTES);
        match request.kind {
            IoKind::Write => {
                queue.buffer(request.slot).fill(fill);
                file[start..end].fill(fill);
            }
            IoKind::Trim => file[start..end].fill(0),
            _ => {}
        }
        let found = file[start..end].to_vec();
        self.slots[request.slot as usize] = Some((request, found));
        match queue.push(&request).unwrap() {
            Some(completion) => self.complete(queue, completion),
            None => self.pushed += 1,
        }
    }

    fn submit(&mut self, taken: u32) {
        assert!(taken <= self.pushed);
        self.pushed -= taken;
        self.submitted += taken;
    }

    fn reaped(&mut self, queue: &mut dyn Queue, done: &mut Vec<Completion>) {
        self.submitted -= done.len() as u32;
        for completion in done.drain(..) {
            self.complete(queue, completion);
        }
    }

    fn complete(&mut self, queue: &mut dyn Queue, completion: Completion) {
        let (request, found) = self.slots[completion.slot as usize].take().expect("completed once");
        let expected = if matches!(request.kind, IoKind::Read | IoKind::Write) { found.len() as u32 } else { 0 };
        assert_eq!(completion.result, Ok(expected), "{request:?}");
        if request.kind == IoKind::Read {
            assert_eq!(queue.buffer(request.slot)[..found.len()], found, "{request:?}");
        }
    }
}

/// A wait of all patience may end early for reasons of the kernel's own (work that it has for the thread), but goes on then.
fn wait_on(queue: &mut dyn Queue, wanted: u32, patience: Patience, done: &mut Vec<Completion>) {
    let mut turns = 0;
    while patience == Patience::Forever && (done.len() as u32) < wanted {
        assert!(turns < 1000, "{} of {wanted}", done.len());
        queue.reap(wanted - done.len() as u32, patience, done).unwrap();
        turns += 1;
    }
}

fn replay(case: Case, steps: &[Step], room: usize) {
    let depth = case.depth(8);
    let files: Vec<_> = (0..FILES).map(|_| new_file(FILE_BYTES as u64)).collect();
    let mut queue = case.queue(files, depth);
    let queue = &mut *queue;
    let mut model =
        Model { files: vec![vec![0; FILE_BYTES]; FILES], slots: vec![None; depth as usize], pushed: 0, submitted: 0 };
    let mut done = Vec::with_capacity(room);
    for step in steps {
        match *step {
            Step::Push { kind, file, at, bytes, fill } => {
                let Some(slot) = model.slots.iter().position(Option::is_none) else { continue };
                // Files keep their length.
                let end = if kind == IoKind::Read { u32::MAX } else { FILE_BYTES as u32 };
                let bytes = bytes.min(end - at);
                let request = Request { slot: slot as u32, kind, file, offset: at.into(), bytes };
                if !model.meets(&request) {
                    model.push(queue, request, fill);
                }
            }
            Step::Submit => model.submit(queue.submit().unwrap()),
            Step::Reap { at_least, patience } => {
                queue.reap(at_least, patience, &mut done).unwrap();
                wait_on(queue, at_least.min(model.submitted).min(room as u32), patience, &mut done);
                model.reaped(queue, &mut done);
            }
            Step::Both { at_least, patience } => {
                let taken = queue.submit_and_reap(at_least, patience, &mut done).unwrap();
                model.submit(taken);
                wait_on(queue, at_least.min(model.submitted).min(room as u32), patience, &mut done);
                model.reaped(queue, &mut done);
            }
        }
        assert_eq!(done.capacity(), room, "reaping does not grow the vector");
        assert_eq!(queue.under_way(), model.submitted, "after {step:?}");
    }
    while model.pushed > 0 || model.submitted > 0 {
        let taken = queue.submit_and_reap(1, Patience::Forever, &mut done).unwrap();
        model.submit(taken);
        model.reaped(queue, &mut done);
    }
    queue.drain().unwrap();
    for file in 0..FILES as u32 {
        for at in (0..FILE_BYTES).step_by(4096) {
            let request = Request { slot: 0, kind: IoKind::Read, file, offset: at as u64, bytes: 4096 };
            model.push(queue, request, 0);
            while model.slots[0].is_some() {
                let taken = queue.submit_and_reap(1, Patience::Forever, &mut done).unwrap();
                model.submit(taken);
                model.reaped(queue, &mut done);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_moves_the_data_that_was_asked_for(
        steps in proptest::collection::vec(step(), 1..120),
        room in 1..12_usize,
    ) {
        for case in cases() {
            replay(case, &steps, room);
        }
    }
}
