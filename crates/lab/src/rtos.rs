//! The RTOS as far as it costs time: its ticks.

use std::rc::Rc;

use flashmark_core::clock::Clock as _;
use flashmark_core::ledger::{Account, Layer, Ledger};

/// Tasks wait in whole ticks, and the ticks come at their own times, whatever the task does.
#[derive(Clone, Debug)]
pub struct Rtos {
    ledger: Rc<Ledger>,
    tick_ns: u64,
}

impl Rtos {
    /// A system with this many ticks a second, the first at power-on.
    #[must_use]
    pub fn new(ledger: Rc<Ledger>, tick_hz: u64) -> Self {
        Self { ledger, tick_ns: (1_000_000_000 / tick_hz.max(1)).max(1) }
    }

    /// Sleeps until the `ticks`-th tick from now, as FreeRTOS's `vTaskDelay(ticks)`: one tick is anything between no
    /// time and a whole tick. Booked as the driver's, whose way of waiting it is.
    pub fn delay(&self, ticks: u64) {
        let now_ns = self.ledger.now_ns();
        let wake_ns = (now_ns / self.tick_ns).saturating_add(ticks).saturating_mul(self.tick_ns);
        self.ledger.spend_for(Layer::Driver, Account::Sleep, wake_ns.saturating_sub(now_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_ends_on_a_tick() {
        let ledger = Rc::new(Ledger::new());
        let rtos = Rtos::new(Rc::clone(&ledger), 100);
        ledger.spend(Account::Cpu, 24_900_000);
        rtos.delay(1);
        assert_eq!(ledger.now_ns(), 30_000_000);
        rtos.delay(1);
        assert_eq!(ledger.now_ns(), 40_000_000);
        rtos.delay(2);
        assert_eq!(ledger.now_ns(), 60_000_000);
        assert_eq!(ledger.spent().get(Layer::Driver, Account::Sleep), 35_100_000);
    }
}
