//! What a simulated board's record has to show: sums over layers and accounts, and amplification.

use flashmark_core::ledger::{Account, Layer};
use flashmark_core::record::Record;
use flashmark_core::simulation::{LayerTime, Wear, Whole};

/// What one account was charged, over all layers, in nanoseconds.
pub(crate) fn account_ns(spent: &[LayerTime], account: Account) -> u64 {
    let of = |row: &LayerTime| match account {
        Account::Cpu => row.cpu_ns,
        Account::Bus => row.bus_ns,
        Account::Busy => row.busy_ns,
        Account::Sleep => row.sleep_ns,
    };
    spent.iter().map(of).fold(0, u64::saturating_add)
}

/// What one layer was charged, over all accounts, in nanoseconds.
pub(crate) fn layer_ns(spent: &[LayerTime], layer: Layer) -> u64 {
    let rows = spent.iter().filter(|row| row.layer == layer);
    rows.map(LayerTime::total_ns).fold(0, u64::saturating_add)
}

/// Bytes that the device programmed over bytes that the workload wrote, in thousandths, rounded down; `None` if it wrote
/// nothing.
pub(crate) fn write_amplification_milli(whole: &Whole) -> Option<u64> {
    ratio_milli(whole.device.program_bytes, whole.write_bytes)
}

/// Bytes that the device read over bytes that the workload read, in thousandths, rounded down; `None` if it read
/// nothing.
pub(crate) fn read_amplification_milli(whole: &Whole) -> Option<u64> {
    ratio_milli(whole.device.read_bytes, whole.read_bytes)
}

fn ratio_milli(over: u64, under: u64) -> Option<u64> {
    let milli = (u128::from(over) * 1000).checked_div(u128::from(under))?;
    Some(u64::try_from(milli).unwrap_or(u64::MAX))
}

/// Thousandths as a number with three decimals.
pub(crate) fn decimal(milli: u64) -> String {
    format!("{}.{:03}", milli / 1000, milli % 1000)
}

/// Erases per sector on average, in thousandths, rounded down; `None` if there is no sector.
pub(crate) fn mean_erases_milli(wear: &Wear) -> Option<u64> {
    ratio_milli(wear.erases, wear.sectors)
}

/// The wear at the end of a record's workload.
pub(crate) fn wear(record: &Record) -> Option<&Wear> {
    record.simulation.as_ref()?.wear.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn sums_over_layers_and_over_accounts_are_the_elapsed_time() {
        for record in samples::simulated::on_fatfs() {
            let spent = &record.simulation.as_ref().unwrap().spent;
            let by_account: u64 = Account::ALL.iter().map(|account| account_ns(spent, *account)).sum();
            let by_layer: u64 = Layer::ALL.iter().map(|layer| layer_ns(spent, *layer)).sum();
            assert_eq!((by_account, by_layer), (record.outcome.elapsed_ns, record.outcome.elapsed_ns));
            let whole = &record.simulation.as_ref().unwrap().whole;
            assert_eq!(whole.spent.iter().map(LayerTime::total_ns).sum::<u64>(), whole.elapsed_ns);
        }
    }

    #[test]
    fn amplification_is_what_the_device_moved_for_each_byte() {
        let records = samples::simulated::on_fatfs();
        let whole = |nth: usize| &records[nth].simulation.as_ref().unwrap().whole;
        // 320 KiB for 256 KiB; 136 KiB for 128 KiB.
        assert_eq!((write_amplification_milli(whole(0)), read_amplification_milli(whole(0))), (Some(1_250), None));
        assert_eq!((write_amplification_milli(whole(1)), read_amplification_milli(whole(1))), (None, Some(1_062)));
        assert_eq!(ratio_milli(u64::MAX, 1), Some(u64::MAX));
        assert_eq!(decimal(1_062), "1.062");
        assert_eq!(mean_erases_milli(wear(&records[0]).unwrap()), Some(4_132));
    }
}
