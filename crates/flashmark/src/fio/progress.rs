//! Where jobs are, on standard error.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use flashmark_core::units::format_bytes;
use flashmark_fio::{EtaWhen, Program};
use flashmark_load::{Status, Watch};
use flashmark_report::figures::{RateUnit, rate};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::message::say;
use crate::run::interrupt::Interrupt;
use crate::run::terminal::Terminal;

/// The bar's length; what it shows is a share.
const WHOLE: u64 = 1000;

/// Watches a run for the user.
pub struct Progress {
    interrupt: Interrupt,
    bar: Option<ProgressBar>,
    /// How often a line is told where there is no terminal, or the user wants lines.
    lines: Option<Duration>,
    last_line: Instant,
    /// What was moved when the rate was last looked at, and when.
    before: (Instant, [u64; 3], u64),
    rates: [u64; 3],
    iops: u64,
}

impl Progress {
    /// A bar on a terminal; lines where fio's options ask for them.
    pub fn start(is_shown: bool, program: &Program, interrupt: Interrupt) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let lines = match (program.eta, program.eta_newline_ms) {
            _ if !is_shown => None,
            (_, Some(ms)) => Some(Duration::from_millis(ms)),
            (EtaWhen::Always, None) if !is_terminal => Some(Duration::from_millis(program.eta_interval_ms)),
            _ => None,
        };
        let bar = (is_shown && is_terminal && lines.is_none()).then(|| {
            let bar = ProgressBar::with_draw_target(
                Some(WHOLE),
                ProgressDrawTarget::term_like_with_hz(Box::new(Terminal), 10),
            );
            if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Self { interrupt, bar, lines, last_line: now, before: (now, [0; 3], 0), rates: [0; 3], iops: 0 }
    }

    /// Whether it is time for the next line, where lines are told.
    fn is_line_due(&mut self) -> bool {
        let is_due = self.lines.is_some_and(|interval| self.last_line.elapsed() >= interval);
        if is_due {
            self.last_line = Instant::now();
        }
        is_due
    }

    fn measure(&mut self, status: &Status) {
        let (then, bytes, count) = self.before;
        let elapsed = then.elapsed();
        // A batch that begins counts from 0 again.
        if status.count < count {
            self.before = (Instant::now(), status.bytes, status.count);
            return;
        }
        if elapsed < Duration::from_millis(500) {
            return;
        }
        let a_second =
            |now: u64, before: u64| (u128::from(now.saturating_sub(before)) * 1000 / elapsed.as_millis().max(1)) as u64;
        self.rates = std::array::from_fn(|index| a_second(status.bytes[index], bytes[index]));
        self.iops = a_second(status.count, count);
        self.before = (Instant::now(), status.bytes, status.count);
    }

    fn text(&self, status: &Status) -> String {
        let mut text = format!("jobs {}", status.running);
        for (name, bytes) in ["r", "w", "t"].iter().zip(self.rates) {
            if bytes > 0 {
                text += &format!(" {name}={}", rate(bytes, 1_000_000_000, RateUnit::MB));
            }
        }
        text += &format!(" {} IOPS", self.iops);
        if let Some(left) = left_s(status) {
            text += &format!(", {left} s left");
        }
        text
    }
}

/// A part in thousandths of the whole.
fn of(part: u64, whole: u64) -> u64 {
    (u128::from(part) * u128::from(WHOLE) / u128::from(whole.max(1))).min(u128::from(WHOLE)) as u64
}

/// The share that is done, in thousandths.
fn share(status: &Status) -> Option<u64> {
    match (status.ends_ns, status.total_bytes) {
        (Some(ends), _) => Some(of(status.elapsed_ns, ends)),
        (None, Some(total)) => Some(of(status.bytes.iter().sum(), total)),
        (None, None) => None,
    }
}

fn left_s(status: &Status) -> Option<u64> {
    let share = share(status).filter(|share| *share > 0)?;
    let total_ns = u128::from(status.elapsed_ns) * u128::from(WHOLE) / u128::from(share);
    u64::try_from(total_ns.saturating_sub(u128::from(status.elapsed_ns)) / 1_000_000_000).ok()
}

impl Watch for Progress {
    fn making(&mut self, path: &Path, bytes: u64, of_bytes: u64) {
        let made = of(bytes, of_bytes);
        if let Some(bar) = &self.bar {
            bar.set_message(format!("making {}", path.display()));
            bar.set_position(made);
        }
        if self.is_line_due() {
            say(format_args!("{}%, making {} of {}", made / 10, path.display(), format_bytes(of_bytes)));
        }
    }

    fn progress(&mut self, status: &Status) {
        self.measure(status);
        if let Some(bar) = &self.bar {
            bar.set_position(share(status).unwrap_or(0));
            bar.set_message(self.text(status));
        }
        if self.is_line_due() {
            let done = share(status).map(|share| format!("{}%, ", share / 10)).unwrap_or_default();
            say(format_args!("{done}{}", self.text(status)));
        }
    }

    fn stop(&mut self) -> bool {
        self.interrupt.is_set()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
