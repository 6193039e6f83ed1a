//! Booking times shorter than the ledger's nanoseconds.

use std::cell::Cell;

use flashmark_core::ledger::{Account, Layer, Ledger};

/// What was spent and not booked yet, always less than a nanosecond: a thousand short times lose nothing.
#[derive(Debug, Default)]
pub(crate) struct Carry(Cell<u64>);

impl Carry {
    /// Books picoseconds, in whole nanoseconds with what was left of the last ones.
    pub(crate) fn spend_ps(&self, ledger: &Ledger, layer: Layer, account: Account, ps: u64) {
        let ps = ps + self.0.get();
        self.0.set(ps % 1000);
        ledger.spend_for(layer, account, ps / 1000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let (ledger, carry) = (Ledger::new(), Carry::default());
        (0..1000).for_each(|_| carry.spend_ps(&ledger, Layer::Driver, Account::Cpu, 1_234));
        assert_eq!(ledger.spent().get(Layer::Driver, Account::Cpu), 1_234);
    }
}
