//! Virtual time with a bookkeeper: every nanosecond of a simulated board is spent on an account, for a layer.
//!
//! The parts of a board share one [`Ledger`]. Each says how long its work takes and on what account
//! ([`Ledger::spend`]); whoever starts work for another purpose says so first ([`Ledger::enter`]). The sum over accounts
//! and layers is the time that passed, always and exactly, because there is no other way to move the clock.

use core::cell::Cell;

use serde::{Deserialize, Serialize};

use crate::clock::Clock;

/// What time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Account {
    /// The processor works: calls, copies, the driver's code.
    Cpu,
    /// Bits move between host and medium.
    Bus,
    /// The host waits for the medium: programming, erasing.
    Busy,
    /// The task sleeps: waits for a tick of the RTOS, pauses.
    Sleep,
}

/// What part of the stack time is spent for. The bus transfers and busy times of a device belong to the layer that asked
/// for the data, the driver's own work to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The system above the file system: system calls, locks, the application's pauses.
    Runtime,
    /// What a file system needs beside the data: tables, directories, indices, its own code.
    Metadata,
    /// The data of files.
    Data,
    /// Wear levelling and other address translation.
    Translation,
    /// The driver of the medium: its code, its locks, its way of waiting.
    Driver,
}

impl Account {
    /// All of them, in the order of the matrix.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Bus, Self::Busy, Self::Sleep];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Bus => "bus",
            Self::Busy => "busy",
            Self::Sleep => "sleep",
        }
    }
}

impl Layer {
    /// All of them, in the order of the matrix.
    pub const ALL: [Self; 5] = [Self::Runtime, Self::Metadata, Self::Data, Self::Translation, Self::Driver];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Metadata => "metadata",
            Self::Data => "data",
            Self::Translation => "translation",
            Self::Driver => "driver",
        }
    }
}

/// Time by layer and account, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    ns: [[u64; Account::ALL.len()]; Layer::ALL.len()],
}

impl Spent {
    /// What a layer spent on an account.
    #[must_use]
    pub const fn get(&self, layer: Layer, account: Account) -> u64 {
        self.ns[layer as usize][account as usize]
    }

    /// Adds `ns`; stops at the end of the range.
    pub const fn add(&mut self, layer: Layer, account: Account, ns: u64) {
        let cell = &mut self.ns[layer as usize][account as usize];
        *cell = cell.saturating_add(ns);
    }

    /// What one account was charged, over all layers.
    #[must_use]
    pub fn account_ns(&self, account: Account) -> u64 {
        self.ns.iter().fold(0, |sum: u64, row| sum.saturating_add(row[account as usize]))
    }

    /// What one layer was charged, over all accounts.
    #[must_use]
    pub fn layer_ns(&self, layer: Layer) -> u64 {
        self.ns[layer as usize].iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns))
    }

    /// All of it.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.ns.iter().flatten().fold(0, |sum: u64, ns| sum.saturating_add(*ns))
    }

    /// What was spent since `earlier`, a reading of the same ledger.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut spent = *self;
        for (row, before) in spent.ns.iter_mut().zip(&earlier.ns) {
            for (ns, before) in row.iter_mut().zip(before) {
                *ns = ns.saturating_sub(*before);
            }
        }
        spent
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (row, more) in self.ns.iter_mut().zip(&other.ns) {
            for (ns, more) in row.iter_mut().zip(more) {
                *ns = ns.saturating_add(*more);
            }
        }
    }
}

/// A virtual clock that knows what its time was spent on. Starts at 0, on behalf of [`Layer::Runtime`].
#[derive(Debug)]
pub struct Ledger {
    now_ns: Cell<u64>,
    layer: Cell<Layer>,
    spent: [[Cell<u64>; Account::ALL.len()]; Layer::ALL.len()],
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    /// A clock that stands at 0.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            now_ns: Cell::new(0),
            layer: Cell::new(Layer::Runtime),
            spent: [const { [const { Cell::new(0) }; Account::ALL.len()] }; Layer::ALL.len()],
        }
    }

    /// Lets `ns` pass on an account, for the current layer.
    #[inline]
    pub fn spend(&self, account: Account, ns: u64) {
        self.spend_for(self.layer.get(), account, ns);
    }

    /// Lets `ns` pass on an account, for `layer` whatever the current one.
    #[inline]
    pub fn spend_for(&self, layer: Layer, account: Account, ns: u64) {
        self.now_ns.set(self.now_ns.get().saturating_add(ns));
        let cell = &self.spent[layer as usize][account as usize];
        cell.set(cell.get().saturating_add(ns));
    }

    /// Lets time pass until `at_ns`, if that is still to come.
    #[inline]
    pub fn spend_until(&self, account: Account, at_ns: u64) {
        self.spend(account, at_ns.saturating_sub(self.now_ns.get()));
    }

    /// The layer on whose behalf time passes now.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.layer.get()
    }

    /// From here on time passes for `layer`; gives the layer before, to be set again when the work is done.
    pub fn enter(&self, layer: Layer) -> Layer {
        self.layer.replace(layer)
    }

    /// Runs `work` on behalf of `layer`.
    pub fn within<T>(&self, layer: Layer, work: impl FnOnce() -> T) -> T {
        let before = self.enter(layer);
        let result = work();
        self.enter(before);
        result
    }

    /// All time that has passed so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        Spent { ns: core::array::from_fn(|layer| core::array::from_fn(|account| self.spent[layer][account].get())) }
    }
}

impl Clock for Ledger {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn sleep_ns(&self, ns: u64) {
        self.spend_for(Layer::Runtime, Account::Sleep, ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_the_sum_of_what_was_spent() {
        let ledger = Ledger::new();
        ledger.spend(Account::Cpu, 5);
        ledger.within(Layer::Data, || {
            ledger.spend(Account::Bus, 7);
            ledger.within(Layer::Translation, || ledger.spend(Account::Busy, 11));
            ledger.spend_for(Layer::Driver, Account::Cpu, 13);
        });
        let before = ledger.spent();
        ledger.sleep_ns(17);
        ledger.spend_until(Account::Busy, 10);
        assert_eq!(ledger.layer(), Layer::Runtime);
        let spent = ledger.spent();
        assert_eq!(spent.get(Layer::Translation, Account::Busy), 11);
        assert_eq!(spent.account_ns(Account::Cpu), 18);
        assert_eq!(spent.layer_ns(Layer::Runtime), 22);
        assert_eq!((spent.total_ns(), ledger.now_ns()), (53, 53));
        let since = spent.since(&before);
        assert_eq!(since.total_ns(), 17);
        let mut sum = before;
        sum.merge(&since);
        assert_eq!(sum, spent);
    }
}
