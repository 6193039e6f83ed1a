//! Simulated boards: each made when its turn comes, measured on any processor, and thrown away.
//!
//! Records come out in the order of the plan, whatever the number of threads: what is measured out of turn waits.

mod queue;
mod seat;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use anyhow::{Context as _, anyhow};
use flashmark_core::record::Record;

use super::hosts::Shared;
use super::place::Place;
use super::plan::{Plan, Seat};
use super::recorder::Recorder;
use queue::Queue;
use seat::Ended;

/// How many targets a thread may be ahead of the one whose turn it is, so that few records wait.
const AHEAD: usize = 8;

/// Looks whether every simulated target can be made and whether its workloads fit it, as far as that makes a mistake of
/// the command line. In a sweep it is a result like any other that a combination cannot be.
///
/// # Errors
/// The target and what is wrong.
pub fn check(plan: &Plan) -> anyhow::Result<()> {
    if plan.asked.is_sweep() {
        return Ok(());
    }
    for (_, seat) in plan.own() {
        let Place::Lab(place) = &seat.place else { continue };
        let name = seat.name();
        let board = place.board().with_context(|| name.to_owned())?;
        let mut target = place.open(&board, plan.image.as_deref()).with_context(|| name.to_owned())?;
        for workload in seat.workloads() {
            let fit = target.check(workload).map_err(|fault| anyhow!("{name}: {}: {fault}", workload.name))?;
            plan.fits(name, fit)?;
        }
    }
    Ok(())
}

/// What a thread has to tell of the target that it measures.
enum Told {
    Record(Box<Record>),
    End(Ended),
}

/// Measures targets, which must all be simulated, and gives what the last one's storage holds at the end if
/// `with_image`. An interrupted run leaves the records of an unbroken one up to some place.
///
/// # Errors
/// A record that differs from the one that the run to resume has.
pub fn measure(
    seats: &[usize],
    threads: NonZeroUsize,
    with_image: bool,
    shared: &Shared<'_>,
    recorder: &mut Recorder<'_>,
) -> anyhow::Result<Option<Vec<u8>>> {
    let Shared { plan, progress, interrupt } = *shared;
    let ours: Vec<&Seat> =
        seats.iter().filter_map(|nth| plan.seats.get(*nth)).filter(|seat| with_image || has_work(plan, seat)).collect();
    let threads = threads.get().min(ours.len());
    let queue = Queue::new(ours.len(), threads * AHEAD, interrupt);
    progress.targets(ours.len(), ours.iter().map(|seat| seat.workloads().len()).sum());
    thread::scope(|scope| {
        let (tell, told) = mpsc::sync_channel(threads * AHEAD);
        for _ in 0..threads {
            let tell = tell.clone();
            let (queue, ours) = (&queue, &ours);
            scope.spawn(move || {
                let _guard = queue.guard();
                while let Some((nth, seat)) = queue.next().and_then(|nth| Some((nth, *ours.get(nth)?))) {
                    // Nobody listens any more when the run has failed.
                    let to = |what| tell.send((nth, what)).is_ok();
                    let keep = |record| to(Told::Record(Box::new(record)));
                    let ended = seat::measure(plan, seat, with_image, interrupt, keep);
                    if !to(Told::End(ended)) {
                        break;
                    }
                }
            });
        }
        drop(tell);
        let mut waiting: BTreeMap<usize, Vec<Told>> = BTreeMap::new();
        let (mut turn, mut image) = (0, None);
        while let Some((nth, what)) = next_told(&told, recorder) {
            match &what {
                Told::Record(_) => progress.workload_done(),
                Told::End(_) => progress.target_done(),
            }
            waiting.entry(nth).or_default().push(what);
            while let Some(ready) = waiting.get_mut(&turn) {
                let mut ended = false;
                for what in ready.drain(..) {
                    match what {
                        Told::Record(record) => recorder.keep_repeatable(*record).inspect_err(|_| queue.close())?,
                        // What was measured out of turn would leave a gap.
                        Told::End(Ended::Early) => return Ok(None),
                        Told::End(Ended::Through { image: held }) => (ended, image) = (true, held),
                    }
                }
                if !ended {
                    break;
                }
                waiting.remove(&turn);
                turn += 1;
                queue.turn(turn);
            }
        }
        recorder.flush();
        image.transpose().map_err(|fault| anyhow!("the storage cannot be read back: {fault}"))
    })
}

/// What is told next, however long it takes; records that have waited long enough are written meanwhile. `None` when there
/// is no more.
fn next_told<T>(told: &Receiver<T>, recorder: &mut Recorder<'_>) -> Option<T> {
    loop {
        let Some(patience) = recorder.patience() else { return told.recv().ok() };
        match told.recv_timeout(patience) {
            Ok(what) => return Some(what),
            Err(RecvTimeoutError::Timeout) => recorder.flush(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Whether an earlier part of the run has left anything to do.
fn has_work(plan: &Plan, seat: &Seat) -> bool {
    seat.steps().any(|(index, _)| !plan.done.contains_key(&index))
}
