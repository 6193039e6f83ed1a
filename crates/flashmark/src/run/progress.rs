//! The progress bar: on a terminal only, drawn by a thread of its own, so that the measuring thread does no more than
//! count.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use flashmark_core::runner::{Observer, Phase, Step};
use flashmark_report::figures::{self, RateUnit};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike as _};

use super::interrupt::Interrupt;
use super::terminal::Terminal;

const REDRAW: Duration = Duration::from_millis(100);
/// How long simulated targets may take without a bar: most runs are over by then.
const PATIENCE: Duration = Duration::from_secs(1);
/// The bar's length; what it shows is a share.
const WHOLE: u64 = 1000;

/// Shows where a run is, if standard error is a terminal.
pub struct Progress {
    shared: Arc<Shared>,
    drawer: Option<JoinHandle<()>>,
}

struct Shared {
    moved: AtomicU64,
    ended: AtomicBool,
    now: Mutex<Now>,
}

struct Now {
    title: String,
    step: Option<Step>,
    targets: Option<Targets>,
    since: Instant,
}

/// How many simulated targets are done, which says more than where each of them is.
#[derive(Clone, Copy)]
struct Targets {
    done: usize,
    total: usize,
    workloads_done: usize,
    workloads: usize,
}

impl Shared {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    /// A bar, unless `quiet` or not on a terminal.
    pub fn start(quiet: bool, unit: RateUnit) -> Self {
        let now = Now { title: String::new(), step: None, targets: None, since: Instant::now() };
        let shared = Arc::new(Shared { moved: AtomicU64::new(0), ended: AtomicBool::new(false), now: Mutex::new(now) });
        let wanted = !quiet && io::stderr().is_terminal();
        let drawer = wanted.then(|| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || draw(&shared, unit))
        });
        Self { shared, drawer }
    }

    /// Says which workload is next; titles of one width keep the bar in its place.
    pub fn workload(&self, title: String) {
        let mut now = self.shared.now();
        now.title = title;
        (now.step, now.targets) = (None, None);
        now.since = Instant::now();
        self.shared.moved.store(0, Ordering::Relaxed);
    }

    /// Says that so many simulated targets with so many workloads are next. They show when they take longer than
    /// [`PATIENCE`].
    pub fn targets(&self, total: usize, workloads: usize) {
        let mut now = self.shared.now();
        now.step = None;
        now.targets = Some(Targets { done: 0, total, workloads_done: 0, workloads });
        now.since = Instant::now();
    }

    /// One of their workloads is done.
    pub fn workload_done(&self) {
        if let Some(targets) = &mut self.shared.now().targets {
            targets.workloads_done += 1;
        }
    }

    /// One of them is done.
    pub fn target_done(&self) {
        if let Some(targets) = &mut self.shared.now().targets {
            targets.done += 1;
        }
    }

    /// The runner's view of it.
    pub fn watcher(&self, interrupt: Interrupt) -> Watcher<'_> {
        Watcher { shared: &self.shared, interrupt, moved: 0 }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            // A drawer that panicked has drawn its last; the run is none the worse.
            let _ = drawer.join();
        }
    }
}

/// Counts for the bar, and asks for the user's wish.
pub struct Watcher<'a> {
    shared: &'a Shared,
    interrupt: Interrupt,
    moved: u64,
}

impl Observer for Watcher<'_> {
    fn step(&mut self, step: Step) {
        self.moved = 0;
        let mut now = self.shared.now();
        now.step = Some(step);
        now.since = Instant::now();
        self.shared.moved.store(0, Ordering::Relaxed);
    }

    #[inline]
    fn moved(&mut self, bytes: u64) {
        self.moved += bytes;
        // Only this thread writes it: a plain store, not a locked addition.
        self.shared.moved.store(self.moved, Ordering::Relaxed);
    }

    #[inline]
    fn stop(&self) -> bool {
        self.interrupt.is_set()
    }
}

fn draw(shared: &Shared, unit: RateUnit) {
    // A narrow terminal has room for the words only.
    let is_narrow = Terminal.width() < 60;
    let bar = ProgressBar::with_draw_target(Some(WHOLE), ProgressDrawTarget::term_like(Box::new(Terminal)));
    let template = if is_narrow { "{percent:>3} % {wide_msg}" } else { "{bar:12} {percent:>3} % {wide_msg}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("█▌ "));
    }
    while !shared.ended.load(Ordering::Relaxed) {
        // Copied out: a terminal that takes nothing must not hold the lock that the measuring thread needs.
        let (title, step, targets, elapsed) = {
            let now = shared.now();
            (now.title.clone(), now.step, now.targets, now.since.elapsed())
        };
        let moved = shared.moved.load(Ordering::Relaxed);
        let share = match targets {
            Some(Targets { workloads_done, workloads, .. }) => workloads_done as f64 / workloads.max(1) as f64,
            None => step.map_or(0.0, |step| share(step, moved, elapsed)),
        };
        if targets.is_some() && elapsed < PATIENCE {
            thread::park_timeout(REDRAW);
            continue;
        }
        bar.set_position((share * WHOLE as f64) as u64);
        // What matters most comes first: a narrow terminal cuts the end off.
        bar.set_message(match targets {
            Some(targets) => targets_message(targets, elapsed, share),
            None => format!("{} · {title}", message(step, moved, elapsed, share, unit)),
        });
        thread::park_timeout(REDRAW);
    }
    bar.finish_and_clear();
}

/// How much of a step is done: whichever of its limits is nearer.
fn share(step: Step, moved: u64, elapsed: Duration) -> f64 {
    let of_bytes = step.bytes.filter(|b| *b > 0).map_or(0.0, |bytes| moved as f64 / bytes as f64);
    let of_time = step.time_ns.filter(|t| *t > 0).map_or(0.0, |ns| elapsed.as_nanos() as f64 / ns as f64);
    of_bytes.max(of_time).clamp(0.0, 1.0)
}

fn message(step: Option<Step>, moved: u64, elapsed: Duration, share: f64, unit: RateUnit) -> String {
    let Some(step) = step else { return "preparing".into() };
    let doing = match step.phase {
        Phase::Layout => ", writing the test file".into(),
        Phase::WarmUp => ", warm-up".into(),
        Phase::Measure if step.repeat > 0 => format!(", repeat {}", step.repeat + 1),
        Phase::Measure => String::new(),
        Phase::Pause => ", pause".into(),
        Phase::Verify => ", verifying".into(),
    };
    let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
    let rate = if moved > 0 { figures::rate(moved, elapsed_ns, unit) } else { "-".into() };
    let left =
        if share > 0.001 { elapsed.as_secs_f64() * (1.0 - share) / share } else { return format!("{rate}{doing}") };
    format!("{rate}, {} left{doing}", left_text(left))
}

fn targets_message(Targets { done, total, .. }: Targets, elapsed: Duration, share: f64) -> String {
    let left = (share > 0.001).then(|| elapsed.as_secs_f64() * (1.0 - share) / share);
    let left = left.map(|left| format!(", {} left", left_text(left))).unwrap_or_default();
    format!("{done} of {total} simulated targets{left}")
}

fn left_text(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(bytes: Option<u64>, time_ns: Option<u64>) -> Step {
        Step { phase: Phase::Measure, repeat: 0, bytes, time_ns }
    }

    #[test]
    fn the_nearer_limit_counts() {
        let second = Duration::from_secs(1);
        assert!((share(step(Some(100), None), 50, second) - 0.5).abs() < 1e-9);
        assert!((share(step(Some(100), Some(4_000_000_000)), 10, second) - 0.25).abs() < 1e-9);
        assert!(share(step(None, None), 10, second) < 1e-9);
        assert!(share(step(Some(100), None), 200, second) <= 1.0);
    }

    #[test]
    fn rate_and_remaining_time_are_told() {
        let text = message(Some(step(Some(40_000_000), None)), 10_000_000, Duration::from_secs(1), 0.25, RateUnit::MB);
        assert_eq!(text, "10.0 MB/s, 3 s left");
        let targets = Targets { done: 1, total: 4, workloads_done: 2, workloads: 8 };
        assert_eq!(targets_message(targets, Duration::from_secs(2), 0.25), "1 of 4 simulated targets, 6 s left");
        assert_eq!(left_text(61.0), "1 min 1 s");
        assert_eq!(left_text(7261.0), "2 h 1 min");
    }
}
