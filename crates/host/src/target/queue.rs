//! The queue that a workload's operations go through.

use flashmark_core::runner::BUFFER_ALIGN;
use flashmark_core::target::{Fault, FaultKind};
use flashmark_core::workload::Workload;

use super::HostTarget;
use crate::engine::{self, EngineEntry, QueueOptions, QueueSetup};

/// What it is to be.
#[derive(Clone, Copy)]
pub(super) struct QueuePlan {
    pub entry: &'static EngineEntry,
    pub depth: u32,
    pub block_bytes: u32,
}

impl HostTarget {
    /// Makes the queue on the file that is open.
    pub(super) fn make_queue(&mut self, plan: QueuePlan) -> Result<(), Fault> {
        let QueuePlan { entry, depth, block_bytes } = plan;
        let mut file = None;
        let opened = self.engine.with_file(&mut |open| {
            file = Some(open.try_clone()?);
            Ok(())
        });
        opened.map_err(|error| self.fault(error))?;
        let setup = QueueSetup {
            files: file.into_iter().collect(),
            depth,
            buffer_bytes: block_bytes as usize,
            buffer_align: if block_bytes < 4096 { 512 } else { BUFFER_ALIGN },
            options: QueueOptions::default(),
        };
        let queue = entry.queue(setup);
        self.queue = Some(queue.map_err(|error| Fault::new(FaultKind::Unsupported, error.to_string()))?);
        Ok(())
    }
}

/// Whether a workload's operations go through a queue of the engine: where there is to be more than one at once, or where the
/// engine has nothing else.
pub(super) fn goes_through_queue(workload: &Workload, entry: &EngineEntry) -> bool {
    workload.queue_depth > 1 || !entry.has_blocking_side() || entry.queue_side().is_some_and(|side| side.concurrent)
}

/// Why the engine cannot keep so many operations under way, if it cannot.
pub(super) fn too_deep(workload: &Workload, entry: &EngineEntry) -> Option<String> {
    let depth = workload.queue_depth;
    let most = match entry.queue_side() {
        Some(side) if side.concurrent || !entry.has_blocking_side() => side.depth_max,
        _ => 1,
    };
    (depth > most).then(|| {
        let plural = if most == 1 { "" } else { "s" };
        format!(
            "queue-depth = {depth}, but the engine `{}` keeps at most {most} operation{plural} under way: {}",
            entry.name,
            remedy(depth, most)
        )
    })
}

/// What to do about a queue that is deeper than the `most` that its engine can keep.
fn remedy(depth: u32, most: u32) -> String {
    let concurrent = |entry: &&'static EngineEntry| entry.queue_side().is_some_and(|side| side.concurrent);
    let depth_max = |entry: &&EngineEntry| entry.queue_side().map_or(0, |side| side.depth_max);
    let with_queues = || engine::ENGINES.iter().filter(concurrent);
    let deeper: Vec<&str> = with_queues().filter(|e| depth_max(e) >= depth).map(|e| e.name).collect();
    let shallower = match most {
        1 => "leave queue-depth out".to_owned(),
        most => format!("queue-depth = {most} or less"),
    };
    match (deeper.as_slice(), with_queues().max_by_key(depth_max)) {
        ([], Some(deepest)) if most == 1 => {
            format!("{shallower}, or use engine = \"{}\" with at most {}", deepest.name, depth_max(&deepest))
        }
        ([], _) if most == 1 => shallower,
        ([], _) => format!("use {shallower}"),
        (names, _) => format!("use engine = \"{}\", or {shallower}", names.join("\" or \"")),
    }
}

/// The engine that a workload names.
pub(super) fn engine_of(workload: &Workload) -> Result<&'static EngineEntry, Fault> {
    engine::find(&workload.engine).ok_or_else(|| {
        let names: Vec<&str> = engine::ENGINES.iter().map(|e| e.name).collect();
        let nearest = names.iter().find(|name| strsim::damerau_levenshtein(name, &workload.engine) <= 2);
        let hint = nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
        let message = format!("there is no engine `{}`{hint}; there are {}", workload.engine, names.join(", "));
        Fault::new(FaultKind::Unsupported, message)
    })
}
