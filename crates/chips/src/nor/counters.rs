//! What was asked of a chip, in numbers.

/// Operations that a chip carried out, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads of memory.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Page programs.
    pub programs: u64,
    /// Bytes given to programs, whether they changed anything or not.
    pub program_bytes: u64,
    /// Bits that programs changed from 1 to 0.
    pub changed_bits: u64,
    /// Bits that programs wanted to be 1 and that were and stayed 0.
    pub stuck_bits: u64,
    /// Erases of sectors and blocks, without erases of the chip.
    pub erases: u64,
    /// Bytes erased, by all erases.
    pub erase_bytes: u64,
    /// Erases by type, in the order of [`crate::nor::Profile::erase_types`].
    pub erases_by_type: [u64; 4],
    /// Of those, erases of units that were blank.
    pub blank_erases: u64,
    /// Erases of the whole chip.
    pub chip_erases: u64,
    /// Writes of status registers.
    pub status_writes: u64,
    /// Time of programs, erases and status writes together.
    pub busy_ns: u64,
}
