//! What is written (fio HOWTO, "Buffers and memory").

use super::table::options;
use crate::value::choice::{choice_but, words};
use crate::value::pattern::{Pattern, plain};
use crate::value::quantity::{count32, percent};
use crate::value::{Misfit, Part, Scope, boolean, some, switch};

words! {
    /// Where buffers are.
    BufferMemory:
    /// Allocated memory.
    Malloc = "malloc",
    /// Mapped memory of their own.
    Mmap = "mmap",
}

words! {
    /// What repeated blocks repeat.
    DedupeMode:
    /// An earlier block.
    Repeat = "repeat",
}

const HUGE: &str = "buffers are ordinary memory; use malloc or mmap";

fn memory(part: Part<'_>, scope: &mut Scope) -> Result<BufferMemory, Misfit> {
    if part.text.contains(':') {
        return Err(Misfit::unsupported(part.trimmed(), "buffers are in no file; use malloc or mmap"));
    }
    choice_but(
        BufferMemory::ALL,
        &[("shm", HUGE), ("shmhuge", HUGE), ("mmapshared", HUGE), ("mmaphuge", HUGE), ("cudamalloc", HUGE)],
    )(part, scope)
}

options! {
    /// What is written.
    BufferOptions in buffers;
    fields {
        /// Where buffers are.
        mem: BufferMemory = BufferMemory::Malloc, "mem" ["iomem"] => memory;
        /// What their addresses are multiples of; 0 is a page with `direct`, and nothing special without.
        iomem_align: u32 = 0, "iomem_align" ["mem_align"] => count32(0, u32::MAX);
        /// Whether they are zero.
        zero_buffers: bool = false, "zero_buffers" [] => switch, bare;
        /// Whether each write has new data.
        refill_buffers: bool = false, "refill_buffers" [] => switch, bare;
        /// Whether some bytes change from write to write even so.
        scramble_buffers: bool = true, "scramble_buffers" [] => boolean;
        /// How much of the data can be compressed away.
        buffer_compress_percentage: Option<u8> = None, "buffer_compress_percentage" [] => some(percent);
        /// In what pieces it can; 0 is the whole block.
        buffer_compress_chunk: u32 = 512, "buffer_compress_chunk" [] => count32(0, u32::MAX);
        /// Of a hundred writes, how many repeat earlier ones.
        dedupe_percentage: u8 = 0, "dedupe_percentage" [] => percent;
        /// What these repeat.
        dedupe_mode: DedupeMode = DedupeMode::Repeat, "dedupe_mode" [] => choice_but(DedupeMode::ALL, &[
            ("working_set", "`repeat` repeats earlier blocks of the job"),
        ]);
        /// What blocks consist of.
        buffer_pattern: Option<Pattern> = None, "buffer_pattern" [] => some(plain);
    }
    triples {}
    also {}
}
