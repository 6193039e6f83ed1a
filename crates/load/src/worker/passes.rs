//! A thread's passes: its work once or several times, what it wrote read back, and the end.

use flashmark_core::clock::Clock;
use flashmark_core::record::{Warning, WarningCode};
use flashmark_fio::options::{SubmitMode, VerifyKind};
use flashmark_host::cache::forget_clean_pages;

use super::supply::{Backlog, BacklogState, Endless, Next, ReadBack, UpTo};
use super::{Halt, Supply, WRONG_DATA, Worker, WorkerResult, graver};
use crate::accesses::Accesses;

/// Syncs of every file, once.
struct Syncs {
    next: u32,
    files: u32,
}

impl Supply for Syncs {
    fn next(&mut self) -> Next {
        if self.next == self.files {
            return Next::End;
        }
        self.next += 1;
        Next::Sync(self.next - 1)
    }
}

impl Supply for Box<dyn Supply + Send> {
    fn next(&mut self) -> Next {
        (**self).next()
    }
}

impl<C: Clock> Worker<C> {
    /// Does all of the thread's work.
    pub(crate) fn run(mut self) -> WorkerResult {
        let now = self.clock.now_ns();
        self.start(now);
        if let Some(flow) = &mut self.flow {
            flow.begin();
        }
        let result = self.all_passes();
        // Others share among themselves from here on, and also if this thread panics.
        self.flow = None;
        let end_ns = self.clock.now_ns();
        if self.ramp_end_ns > 0 {
            // Nothing was measured.
            self.start_measuring(end_ns);
        }
        if let Some(series) = &mut self.series {
            series.finish(end_ns);
        }
        let doubts = self.doubts(end_ns.saturating_sub(self.start_ns));
        // A job that wrote everything has verified it, or leaves it to the next one.
        let is_partial = matches!(result, Err(Halt::Stopped | Halt::TimeUp | Halt::Failed { .. }));
        let leaves_state = is_partial && !self.is_verified;
        let state = self.recent.take().filter(|_| leaves_state).map(|recent| {
            let newest_first = recent.into_iter().rev().collect();
            (self.writes_issued, newest_first)
        });
        self.progress.done.store(true, std::sync::atomic::Ordering::Release);
        let (failure, stopped) = match result {
            Ok(()) | Err(Halt::TimeUp | Halt::Full) if self.wrong_count > 0 => {
                (Some((WRONG_DATA, format!("{} blocks hold wrong data", self.wrong_count))), false)
            }
            Ok(()) | Err(Halt::TimeUp | Halt::Full) => (None, false),
            Err(Halt::Stopped) => (None, true),
            Err(Halt::Failed { code, text }) => (Some((code, text)), false),
        };
        WorkerResult {
            start_ns: self.start_ns,
            end_ns,
            failure,
            stopped,
            doubts,
            wrong_count: self.wrong_count,
            passed_over: self.passed_over,
            first_passed_over: self.first_passed_over,
            state,
            lost_trace: self.recorder.take().and_then(|recorder| recorder.finish(end_ns)),
            tally: self.tally,
        }
    }

    /// What casts doubt on the numbers of so long a time.
    fn doubts(&self, elapsed_ns: u64) -> Vec<Warning> {
        let mut doubts = Vec::new();
        let waited = self.series.as_ref().map_or(0, |series| series.waited().as_nanos());
        // Less than one in a hundred is lost among what else varies.
        if waited > u128::from(elapsed_ns / 100) {
            let text = format!(
                "the thread waited {} ms for its logs to be written, in which it did no work: average them (log_avg_msec), or \
                 put them on another disk",
                waited.div_ceil(1_000_000)
            );
            doubts.push(Warning::new(WarningCode::Environment, text));
        }
        let engine = &self.options.engine;
        if engine.io_submit_mode == SubmitMode::Offload && engine.ioengine.is_synchronous() {
            let text =
                "io_submit_mode=offload: CPU times are those of the thread that submits, without those that carry out";
            doubts.push(Warning::new(WarningCode::Environment, text));
        }
        doubts
    }

    fn start(&mut self, now: u64) {
        self.start_ns = now;
        let ramp_ns = self.limits.ramp_ns;
        if ramp_ns > 0 {
            self.ramp_end_ns = now.saturating_add(ramp_ns);
            self.next_sample_ns = self.ramp_end_ns;
        } else {
            self.start_measuring(now);
        }
        if let Some(runtime_ns) = self.limits.runtime_ns {
            self.deadline_ns = now.saturating_add(ramp_ns).saturating_add(runtime_ns);
        }
        if let Some(pace) = &mut self.pace {
            pace.start(now);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.start(now);
        }
    }

    fn all_passes(&mut self) -> Result<(), Halt> {
        if let Some(mut trace) = self.trace.take() {
            return self.pass(&mut trace);
        }
        let Some(mut accesses) = self.accesses.take() else { return Ok(()) };
        let earlier = self.earlier.take();
        // A job that reads checks what it reads anyway.
        if self.options.verify.verify_only && self.options.access.rw.access.writes() {
            let mut read_back = ReadBack::new(accesses, u64::MAX, 0, false);
            return match earlier {
                Some(state) => self.phase(&mut UpTo::new(read_back, state)),
                None => self.phase(&mut read_back),
            };
        }
        if let (Some(state), true) = (earlier, self.check_reads) {
            return self.phase(&mut UpTo::new(accesses, state));
        }
        let loops = self.options.run.loops.max(1);
        let mut index = 0;
        loop {
            let result = self.one_pass(&mut accesses);
            match result {
                Ok(()) => {}
                Err(halt) => return Err(halt),
            }
            index += 1;
            if index >= loops && !self.limits.time_based {
                return Ok(());
            }
            if self.limits.time_based {
                accesses.go_on();
            } else {
                accesses.restart();
            }
            self.dropped.iter().for_each(forget_clean_pages);
        }
    }

    /// The work once, and what it wrote read back.
    fn one_pass(&mut self, accesses: &mut Accesses) -> Result<(), Halt> {
        let verify = &self.options.verify;
        let writes = self.options.access.rw.access.writes();
        let reads_back = verify.verify != VerifyKind::None
            && verify.verify != VerifyKind::Null
            && verify.do_verify
            && writes
            && self.verifier.is_some();
        let first = self.writes_issued;
        self.unwritten.clear();
        self.is_verified = false;
        let sequence = reads_back.then(|| accesses.clone());
        let check_numbers = verify.verify_write_sequence;
        let (backlog, batch) = (verify.verify_backlog, u64::from(verify.verify_backlog_batch));
        let result = match &sequence {
            Some(sequence) if backlog > 0 => {
                let read_back = ReadBack::new(sequence.clone(), 0, first, check_numbers);
                let batch = if batch == 0 { backlog } else { batch };
                let mut supply = Backlog {
                    accesses,
                    read_back,
                    every: backlog,
                    batch,
                    written: 0,
                    given: 0,
                    state: BacklogState::Writing,
                };
                let result = self.pass(&mut supply);
                // What the last writes left to be read back. Not every write that was to be issued was.
                let Backlog { mut read_back, given, .. } = supply;
                read_back.allow((self.writes_issued - first).saturating_sub(given));
                return match result {
                    Ok(()) | Err(Halt::TimeUp | Halt::Full) => self.verify_pass(&mut read_back).and(result),
                    result => result,
                };
            }
            None if self.limits.time_based && !self.options.files.end_fsync && self.dropped.is_empty() => {
                self.pass(&mut Endless(accesses))
            }
            _ => self.pass(accesses),
        };
        let Some(sequence) = sequence else { return result };
        match result {
            // Time that is over is over for writing: what was written is still read back.
            Ok(()) | Err(Halt::TimeUp | Halt::Full) => {
                let written = self.writes_issued - first;
                self.read_back(sequence, written, first).and(result)
            }
            result => result,
        }
    }

    fn read_back(&mut self, sequence: Accesses, writes: u64, first: u64) -> Result<(), Halt> {
        let check_numbers = self.options.verify.verify_write_sequence;
        self.verify_pass(&mut ReadBack::new(sequence, writes, first, check_numbers))
    }

    /// A pass that reads back is not bound by the job's time, nor by its rates.
    fn verify_pass(&mut self, read_back: &mut ReadBack) -> Result<(), Halt> {
        if read_back.is_done() {
            self.is_verified = true;
            return Ok(());
        }
        let start = self.clock.now_ns();
        let deadline_ns = std::mem::replace(&mut self.deadline_ns, u64::MAX);
        let minimum = self.minimum.take();
        let result = self.phase(read_back);
        self.deadline_ns = deadline_ns;
        self.minimum = minimum.map(|minimum| self.minimum_from_here(minimum));
        if let Some(pace) = &mut self.pace {
            pace.pause(self.clock.now_ns().saturating_sub(start));
        }
        self.is_verified = result.is_ok();
        result
    }

    /// Goes through `supply`, waits for what is under way, and syncs the files if that is the job's end.
    fn pass<S: Supply>(&mut self, supply: &mut S) -> Result<(), Halt> {
        let files = &self.options.files;
        let syncs_at_end = (files.end_fsync || files.fsync_on_close) && self.options.access.rw.access.writes();
        let start = self.clock.now_ns();
        self.pass_start_ns = start;
        let result = self.flow(supply);
        let result = match result {
            Ok(()) | Err(Halt::TimeUp | Halt::Full) if syncs_at_end => {
                let deadline_ns = std::mem::replace(&mut self.deadline_ns, u64::MAX);
                let synced = self.flow(&mut Syncs { next: 0, files: self.paths.len() as u32 });
                self.deadline_ns = deadline_ns;
                synced.and(result)
            }
            result => result,
        };
        self.end_phase(start);
        result
    }

    /// A part of the work whose time counts for what was done in it.
    fn phase<S: Supply>(&mut self, supply: &mut S) -> Result<(), Halt> {
        let start = self.clock.now_ns();
        self.pass_start_ns = start;
        let result = self.flow(supply);
        self.end_phase(start);
        result
    }

    fn end_phase(&mut self, start: u64) {
        // Where the ramp ended inside it, it began then.
        let elapsed_ns = self.clock.now_ns().saturating_sub(start.max(self.start_ns));
        self.tally.end_phase(elapsed_ns);
    }

    fn flow<S: Supply>(&mut self, supply: &mut S) -> Result<(), Halt> {
        let result = if self.inline { self.one_by_one(supply) } else { self.queue_up(supply) };
        // What is held would belong to a pass that is over.
        self.held = None;
        self.sync_due = None;
        self.think_due = false;
        self.has_urgent = false;
        // An error behind the end of the time is an error.
        graver(result, self.drain())
    }
}
