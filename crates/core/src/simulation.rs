//! What a simulated board tells of a workload beside the times: where the time went, what the device did, how it wore.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ledger::{Account, Layer, Spent};

/// The part of a record that lab targets alone have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    /// Where the measured time went, by layer; together it is the outcome's `elapsed_ns`, exactly.
    pub spent: Vec<LayerTime>,
    /// What the device did in the measured time.
    pub device: DeviceWork,
    /// All that happened since the workload before: opening, closing, laying out and warming up as well, but not filling.
    pub whole: Whole,
    /// What it took to get the storage ready (mounting, formatting), in order; in the first record of a target only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseTime>,
    /// How full the file system was made before the first repeat; only where the workload asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<Filled>,
    /// The wear of the medium at the end of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<Wear>,
}

/// The time of one layer by account, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerTime {
    /// Whose time.
    pub layer: Layer,
    /// The processor's work.
    pub cpu_ns: u64,
    /// Transfers.
    pub bus_ns: u64,
    /// Waiting for the medium.
    pub busy_ns: u64,
    /// Sleeping until a tick of the RTOS.
    pub sleep_ns: u64,
}

impl LayerTime {
    /// All four accounts.
    #[must_use]
    pub const fn total_ns(&self) -> u64 {
        self.cpu_ns.saturating_add(self.bus_ns).saturating_add(self.busy_ns).saturating_add(self.sleep_ns)
    }
}

/// The rows of a ledger's reading; layers that spent nothing are left out.
#[must_use]
pub fn layer_times(spent: &Spent) -> Vec<LayerTime> {
    let rows = Layer::ALL.iter().map(|&layer| LayerTime {
        layer,
        cpu_ns: spent.get(layer, Account::Cpu),
        bus_ns: spent.get(layer, Account::Bus),
        busy_ns: spent.get(layer, Account::Busy),
        sleep_ns: spent.get(layer, Account::Sleep),
    });
    rows.filter(|row| row.total_ns() > 0).collect()
}

/// What a device was asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceWork {
    /// Read commands.
    pub reads: u64,
    /// Bytes they moved.
    pub read_bytes: u64,
    /// Program (write) commands.
    pub programs: u64,
    /// Bytes they moved.
    pub program_bytes: u64,
    /// Erase commands.
    pub erases: u64,
    /// Bytes they erased.
    pub erase_bytes: u64,
}

impl DeviceWork {
    /// What was done since `earlier`, a count of the same device.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            programs: self.programs.saturating_sub(earlier.programs),
            program_bytes: self.program_bytes.saturating_sub(earlier.program_bytes),
            erases: self.erases.saturating_sub(earlier.erases),
            erase_bytes: self.erase_bytes.saturating_sub(earlier.erase_bytes),
        }
    }

    /// Adds what was done elsewhere or at another time.
    pub const fn add(&mut self, more: &Self) {
        self.reads = self.reads.saturating_add(more.reads);
        self.read_bytes = self.read_bytes.saturating_add(more.read_bytes);
        self.programs = self.programs.saturating_add(more.programs);
        self.program_bytes = self.program_bytes.saturating_add(more.program_bytes);
        self.erases = self.erases.saturating_add(more.erases);
        self.erase_bytes = self.erase_bytes.saturating_add(more.erase_bytes);
    }
}

/// A workload with everything around the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    /// Virtual time from the end of the workload before (or of getting ready) to the end of this one, without filling.
    pub elapsed_ns: u64,
    /// Where it went.
    pub spent: Vec<LayerTime>,
    /// What the device did in it.
    pub device: DeviceWork,
    /// Bytes that the workload read in all repeats, warm-up and layout included; what read amplification is measured by.
    pub read_bytes: u64,
    /// Bytes that the workload wrote in all repeats, warm-up and layout included; what write amplification is measured by.
    pub write_bytes: u64,
}

/// A step of getting a storage ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTime {
    /// Which, e.g. `mount wear levelling`, `format`.
    pub name: String,
    /// Virtual time in nanoseconds.
    pub elapsed_ns: u64,
}

/// A file system that was brought to a level of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filled {
    /// What is in use, as the file system itself tells, with the measured file at its full size.
    pub used_bytes: u64,
    /// What the file system can hold, as it tells.
    pub total_bytes: u64,
    /// The files that fill it.
    pub files: u64,
    /// Virtual time that it took, which is in no other figure.
    pub elapsed_ns: u64,
}

/// How often the sectors of a medium were erased since the board was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wear {
    /// The unit that wears, in bytes.
    pub sector_bytes: u32,
    /// How many there are in the storage's part of the medium.
    pub sectors: u64,
    /// Erases of all of them.
    pub erases: u64,
    /// Erases of the one that was erased most.
    pub max: u32,
    /// Erase cycles that the data sheet promises.
    pub endurance: u32,
    /// The storage in equal parts, at most [`WEAR_CELLS`]: the most erases of a sector in each.
    pub map: Vec<u32>,
}

/// The most parts that a map of wear has.
pub const WEAR_CELLS: usize = 256;
