//! `embedded_hal`'s delays on virtual time.

use embedded_hal::delay::DelayNs;
use flashmark_core::ledger::{Account, Ledger};

/// Lets time pass on a ledger instead of waiting.
#[derive(Clone, Copy, Debug)]
pub struct Delay<'a> {
    ledger: &'a Ledger,
    account: Account,
}

impl<'a> Delay<'a> {
    /// Delays that are booked as [`Account::Sleep`].
    #[must_use]
    pub const fn new(ledger: &'a Ledger) -> Self {
        Self::on(ledger, Account::Sleep)
    }

    /// Delays that are booked on `account`: a driver that spins through its delays works, it does not sleep.
    #[must_use]
    pub const fn on(ledger: &'a Ledger, account: Account) -> Self {
        Self { ledger, account }
    }
}

impl DelayNs for Delay<'_> {
    fn delay_ns(&mut self, ns: u32) {
        self.ledger.spend(self.account, u64::from(ns));
    }

    fn delay_us(&mut self, us: u32) {
        self.ledger.spend(self.account, u64::from(us) * 1_000);
    }

    fn delay_ms(&mut self, ms: u32) {
        self.ledger.spend(self.account, u64::from(ms) * 1_000_000);
    }
}
